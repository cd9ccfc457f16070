"""Sheets as people write them: TOML, with a [[question]] for each question."""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping
from typing import Any

from optin.errors import Argument, BadInput
from optin.questions.languages import gathered
from optin.wording.sentences import Sentence

_WORDS = ("title", "purpose", "asked_by")


def sheet_in(path: str | os.PathLike[str], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a sheet from a file; a key that nobody knows is refused by name."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            table = tomllib.loads(file.read())
    except OSError as error:
        raise BadInput("{path} cannot be read: {why}", path=os.fspath(path), why=error.strerror) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("{path} is not TOML: {why}", path=os.fspath(path), why=unreadable(error)) from None
    return _arguments(table, os.fspath(path), kinds)


def sheet_in_text(text: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a sheet from text that someone pasted."""
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput("the sheet is not TOML: {why}", why=unreadable(error)) from None
    return _arguments(table, "the sheet", kinds)


def unreadable(error: tomllib.TOMLDecodeError | UnicodeDecodeError | RecursionError) -> Sentence:
    """Say where text stops being TOML; what Python's own reader says of it stands beside that, as its words."""
    if isinstance(error, UnicodeDecodeError):
        return Sentence("it is not written in UTF-8")
    if isinstance(error, RecursionError):
        return Sentence("too much stands within something else")
    said, _, place = str(error).rstrip(")").rpartition(" (at ")
    numbers = [word for word in place.replace(",", " ").split() if word.isdecimal()]
    if len(numbers) != 2:
        return Sentence("it ends too early (“{said}”)", said=said)
    return Sentence("line {line}, column {column} (“{said}”)", line=numbers[0], column=numbers[1], said=said)


def _arguments(table: dict[str, Any], path: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    questions = table.pop("question", [])
    languages = gathered(table, questions if isinstance(questions, list) else [])
    unknown = sorted(set(table) - set(_WORDS))
    if unknown or not isinstance(questions, list) or not questions:
        raise BadInput(
            "{path}: a sheet has title, purpose, asked_by and a [[question]] for each question{odd}",
            path=path,
            odd=f", and no {' and no '.join(map(_quoted, unknown))}" if unknown else "",
        )
    return {"questions": _questions(questions, kinds), "languages": languages, **table}


def _questions(given: list[Any], kinds: Mapping[str, Any]) -> list[Any]:
    """Make the questions; whatever is wrong in any of them is said in one go."""
    made, wrong = list[Any](), list[BadInput]()
    for place, each in enumerate(given, 1):
        try:
            faults = _faults(each, place, kinds)
            wrong += faults
            made += [] if faults else [_question(each, place, kinds[each["kind"]])]
        except BadInput as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        template = "{count} mistakes in this sheet" + "".join(f"\n  {{mistake_{at}}}" for at in range(len(wrong)))
        raise BadInput(template, count=len(wrong), **{f"mistake_{at}": each.sentence for at, each in enumerate(wrong)})
    return made


def _faults(given: Any, place: int, kinds: Mapping[str, Any]) -> list[BadInput]:  # noqa: ANN401
    """List keys that a question does not have, and those that it lacks."""
    if not isinstance(given, dict) or given.get("kind") not in tuple(kinds):
        known = ", ".join(sorted(kinds))
        return [BadInput("question {place}: give its kind, one of {kinds}", place=place, kinds=known)]
    keys = inspect.signature(kinds[given["kind"]]).parameters
    odd = [
        BadInput(
            'question {place}: a {kind} has no "{key}"; it has {known}',
            place=place,
            kind=given["kind"],
            key=name,
            known=", ".join(keys),
        )
        for name in given
        if name not in keys and name != "kind"
    ]
    missing = [name for name, one in keys.items() if one.default is one.empty and name not in given]
    return [*odd, *(BadInput('question {place}: "{key}" is missing', place=place, key=name) for name in missing)]


def _question(given: dict[str, Any], place: int, kind: Any) -> Any:  # noqa: ANN401
    keys = {name: _plain(value) for name, value in given.items() if name != "kind"}
    try:
        return kind(**keys)
    except BadInput as error:
        if "question" in error.data:
            raise
        known = inspect.signature(kind).parameters
        data = {name: _key(value, known) for name, value in error.data.items()}
        raise BadInput("question {place}: " + error.template, place=place, **data) from None


def _quoted(name: str) -> str:
    return f'"{name}"'


def _key(said: Any, known: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever a template names
    """Name an argument by its key in a sheet, also where the command line has an option of that name."""
    if not isinstance(said, Argument):
        return said
    return {"bounds": "bounds" if "bounds" in known else "each"}.get(said.name, said.name)


def _plain(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value
