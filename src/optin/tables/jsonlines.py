"""JSON lines: one object a person. Numbers keep the digits they are written with; null and what is left out are empty cells."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
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

    def refuse(self, line: int, cells: list[str], words: str) -> None:
        """Note a line that is no row of the table."""


NO_OBJECT = "is no JSON object with each name once; write one object a line, in UTF-8"


def copy_objects(name: Path, path: Path, to: RowWriter) -> None:
    """Write objects as rows of text; the columns are all names that occur, in the order of their first appearance."""
    _expect_lines(name, path)
    columns = list(dict.fromkeys(key for _, _, entry in _objects(path) for key in entry or ()))
    to.head(columns)
    for line, raw, entry in _objects(path):
        if entry is None:
            to.refuse(line, [raw.decode(errors="replace").strip()], NO_OBJECT)
        else:
            to.add(line, [_text(entry.get(key)) for key in columns])


def _expect_lines(name: Path, path: Path) -> None:
    """Refuse a list of objects, which is one JSON text and no lines of it."""
    with path.open("rb") as file:
        top = next((raw.strip() for raw in file if raw.strip()), b"")
    if top.removeprefix(BOM_UTF8)[:1] == b"[":
        raise BadInput("{name} line 1 holds several objects; write one object a line, in UTF-8", name=name)


def _objects(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if raw.strip():
                yield line, raw, _parsed(raw.removeprefix(BOM_UTF8) if line == 1 else raw)


def _parsed(raw: bytes) -> dict[str, Any] | None:
    """Read one object; None where there is none, or one with letters that no text in UTF-8 can hold (half of a pair)."""
    try:
        entry = json.loads(raw.decode(), parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_once)
        if b"\\u" in raw:
            json.dumps(entry, ensure_ascii=False).encode()
    except (UnicodeError, ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        raise ValueError
    return entry


def _text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Write a value as a cell: several options as one text, none of them as what separates them.

    Whatever holds more is written as JSON, which is no number or option.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(part, str) and SEPARATOR not in part for part in value):
        return SEPARATOR.join(value) or SEPARATOR
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
