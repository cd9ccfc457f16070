"""JSON lines: one object a person. Numbers keep the digits they are written with; null and what is left out are empty cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from optin.errors import BadInput
from optin.wording.answers import SEPARATOR


class RowWriter(Protocol):
    """Where rows are written to."""

    def head(self, names: list[str]) -> None:
        """Write the names of the columns."""

    def add(self, line: int, cells: list[str]) -> None:
        """Write one person's row."""


def copy_objects(name: Path, path: Path, to: RowWriter) -> None:
    """Write objects as rows of text; the columns are all names that occur, in the order of their first appearance."""
    columns = list(dict.fromkeys(key for _, found in _objects(name, path) for key in found))
    to.head(columns)
    for line, found in _objects(name, path):
        to.add(line, [_text(name, line, key, found.get(key)) for key in columns])


def _objects(name: Path, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if raw.strip():
                yield line, _parsed(name, line, raw)


def _parsed(name: Path, line: int, raw: bytes) -> dict[str, Any]:
    found: Any = None
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
        found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_once)
    except (UnicodeDecodeError, ValueError, RecursionError):
        pass
    if not isinstance(found, dict):
        why = "holds several objects" if raw.lstrip()[:1] == b"[" else "is no JSON object with each name once"
        raise BadInput("{name} line {line} " + why + "; write one object a line, in UTF-8", name=name, line=line)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _text(name: Path, line: int, key: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Write a value as a cell; several options as one text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(part, str) and SEPARATOR not in part for part in value):
        return SEPARATOR.join(value)
    if isinstance(value, str):
        return value
    raise BadInput(
        "{name} line {line}: {key} is neither text nor a number nor a list of texts; write one value there",
        name=name,
        line=line,
        key=key,
    )
