"""Sheets as people write them: TOML, with a [[question]] for each question."""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping
from typing import Any

from optin.errors import Argument, BadInput

_WORDS = ("title", "purpose", "asked_by")


def sheet_in(path: str | os.PathLike[str], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a sheet from a file; a key that nobody knows is refused by name."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise BadInput("{path} cannot be read: {why}", path=os.fspath(path), why=error.strerror) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("{path} is not TOML: {why}", path=os.fspath(path), why=error) from None
    return _arguments(found, os.fspath(path), kinds)


def sheet_in_text(text: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a sheet from text that someone pasted."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput("the sheet is not TOML: {why}", why=error) from None
    return _arguments(found, "the sheet", kinds)


def _arguments(found: dict[str, Any], path: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    questions = found.pop("question", [])
    unknown = sorted(set(found) - set(_WORDS))
    if unknown or not isinstance(questions, list) or not questions:
        raise BadInput(
            "{path}: a sheet has title, purpose, asked_by and a [[question]] for each question{odd}",
            path=path,
            odd=f', and no "{unknown[0]}"' if unknown else "",
        )
    return {"questions": [_question(each, place, kinds) for place, each in enumerate(questions, 1)], **found}


def _question(given: Any, place: int, kinds: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if not isinstance(given, dict) or given.get("kind") not in tuple(kinds):
        raise BadInput("question {place}: give its kind, one of {kinds}", place=place, kinds=", ".join(sorted(kinds)))
    kind = kinds[given["kind"]]
    keys = {name: _plain(value) for name, value in given.items() if name != "kind"}
    known = inspect.signature(kind).parameters
    for name in keys:
        if name not in known:
            raise BadInput(
                'question {place}: a {kind} has no "{key}"; it has {known}',
                place=place,
                kind=given["kind"],
                key=name,
                known=", ".join(known),
            )
    missing = [name for name, one in known.items() if one.default is one.empty and name not in keys]
    if missing:
        raise BadInput('question {place}: "{key}" is missing', place=place, key=missing[0])
    try:
        return kind(**keys)
    except BadInput as error:
        if "question" in error.data:
            raise
        data = {name: _key(value, known) for name, value in error.data.items()}
        raise BadInput("question {place}: " + error.template, place=place, **data) from None


def _key(said: Any, known: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever a template names
    """Name an argument by its key in a sheet, also where the command line has an option of that name."""
    if not isinstance(said, Argument):
        return said
    return {"bounds": "bounds" if "bounds" in known else "each"}.get(said.name, said.name)


def _plain(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value
