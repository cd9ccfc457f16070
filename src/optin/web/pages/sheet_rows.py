"""A sheet as a form has it: a row of texts for each question, read into TOML, so that an editor refuses what a file would be."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optin.errors import BadInput
from optin.questions import Question, Sheet
from optin.questions.sheet import MOST_QUESTIONS
from optin.questions.toml import unreadable
from optin.web.pages.numbers import spelled, typed_number
from optin.wording.language import N_, _
from optin.wording.numbers import short
from optin.wording.sentences import Sentence


@dataclass(frozen=True)
class Form:
    """What a kind of question is called on pages, the fields that its form has of its own, and what they hold at first."""

    words: str
    fields: tuple[str, ...] = ()
    usual: Mapping[str, str] = field(default_factory=dict)
    order: str = ""
    """In which order options are to be written, if that matters."""


FORMS = {
    "number": Form(N_("a number"), ("unit", "low", "high", "sd")),
    "yes-no": Form(N_("yes or no")),
    "choice": Form(N_("one of several"), ("options",)),
    "scale": Form(
        N_("one of several, in order"),
        ("options",),
        {"options": N_("very bad\nbad\nfair\ngood\nvery good")},
        N_("from the least to the most"),
    ),
    "score": Form(
        N_("several items, added up"), ("unit", "items", "low", "high", "sd"), {"low": "0", "high": "3", "items": "9"}
    ),
    "histogram": Form(N_("a number, in ranges"), ("unit", "edges")),
    "multiple-choice": Form(N_("several of several"), ("options", "at_most")),
}
"""The form of every kind; a kind that needs no field but these is one line here."""
_UNKNOWN = Form(N_("a question"))
COLUMNS = (
    *("kind", "name", "text", "unit", "low", "high", "sd", "options", "edges", "items", "at_most", "importance"),
    *("max_gap", "max_error", "very_low", "very_high", "typical"),
)
SHEET_WORDS = ("title", "purpose", "asked_by")
_LONGEST_NAME = 40
_WORDS = {
    "low": N_("the smallest answer"),
    "high": N_("the largest answer"),
    "sd": N_("the spread"),
    "items": N_("the number of items"),
    "at_most": N_("how many may be chosen"),
    "importance": N_("the importance"),
    "max_gap": N_("the largest gap"),
    "max_error": N_("the largest ±"),
    "very_low": N_("what would be very low"),
    "very_high": N_("what would be very high"),
    "typical": N_("what would be typical"),
}
Row = dict[str, str]


def blank_row(kind: str) -> Row:
    """Begin a question of a kind, with what is usual in it."""
    return {**dict.fromkeys(COLUMNS, ""), "kind": kind, "importance": "1", **_usual(kind)}


def _usual(kind: str) -> Row:
    """Say what a form holds at first, in the language of whoever fills it in."""
    return {name: _(text) for name, text in FORMS.get(kind, _UNKNOWN).usual.items()}


def rows_in(form: Mapping[str, str]) -> list[Row]:
    """Read the rows of a form, in their order."""
    rows = []
    for place in range(MOST_QUESTIONS):
        if f"q{place}-kind" not in form:
            break
        rows.append({column: form.get(f"q{place}-{column}", "") for column in COLUMNS})
    return rows


def moved_rows(rows: Sequence[Row], do: str) -> list[Row]:
    """Do what a button of the editor says: add a kind, move a question up or down, take one out, work out its bounds.

    >>> [row["kind"] for row in moved_rows([blank_row("number"), blank_row("scale")], "down-0")]
    ['scale', 'number']
    """
    verb, _, what = do.partition("-")
    rows = list(rows)
    if verb == "add" and what in FORMS:
        if len(rows) >= MOST_QUESTIONS:
            raise BadInput("a sheet has at most {most} questions", most=MOST_QUESTIONS)
        return [*rows, blank_row(what)]
    if not (what.isdecimal() and int(what) < len(rows)):
        return rows
    at = int(what)
    if verb == "out":
        return rows[:at] + rows[at + 1 :]
    if verb == "help":
        rows[at] = _with_bounds(rows[at], at + 1)
        return rows
    to = at - 1 if verb == "up" else at + 1
    if verb in ("up", "down") and 0 <= to < len(rows):
        rows[at], rows[to] = rows[to], rows[at]
    return rows


def bounds_from(very_low: float, very_high: float, typical: float) -> tuple[float, float, float]:
    """Work out bounds and sd from what nineteen of twenty people lie between.

    The sd is half of the longer way from the typical answer to either end, as it is where answers are spread like a bell;
    bounds lie three sd from the typical one, so that next to nobody is cut off, and not below 0 where nothing is.

    >>> bounds_from(30, 50, 40), bounds_from(0, 12, 2)
    ((25.0, 55.0, 5.0), (0.0, 17.0, 5.0))
    """
    sd = max(typical - very_low, very_high - typical) / 2
    low = typical - 3 * sd
    return max(low, 0.0) if very_low >= 0 else low, typical + 3 * sd, sd


def _with_bounds(row: Row, place: int) -> Row:
    low, high, typical = (_number(row, name, place) for name in ("very_low", "very_high", "typical"))
    if not low < high or not low <= typical <= high:
        raise BadInput(
            "question {place}: the typical answer lies between the very low and the very high one", place=place
        )
    worked_out = zip(("low", "high", "sd"), bounds_from(low, high, typical), strict=True)
    return row | {name: spelled(float(f"{number:.6g}")) for name, number in worked_out}


def toml_of(words: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Write a form's sheet as TOML: what is wrong with it is then told as it is of a file."""
    if not rows:
        raise BadInput("there is no question yet: add one")
    parts = [_lines({name: words.get(name, "").replace("\r\n", "\n").strip() for name in SHEET_WORDS})]
    parts += ["[[question]]\n" + _lines(_arguments(row, place)) for place, row in enumerate(rows, 1)]
    return "\n".join(parts)


def languages_text(sheet: Sheet) -> str:
    r"""Write what a sheet says in other languages as the editor shows it: TOML, a table for each language.

    >>> sheet = Sheet.from_toml_text('title = "t"\n[titles]\nde = "T"\n[[question]]\nkind = "yes-no"\nname = "b"')
    >>> print(languages_text(sheet))
    [de]
    title = "T"
    <BLANKLINE>
    """
    return "\n".join(_language(tag, words.to_record()) for tag, words in sheet.languages.items())


def _language(tag: str, said: Mapping[str, Any]) -> str:
    own = _lines({name: text for name, text in said.items() if name != "questions"})
    told = {name: _lines({k: v for k, v in words.items() if v}) for name, words in said["questions"].items()}
    return f"[{tag}]\n{own}" + "".join(
        f"[{tag}.questions.{json.dumps(name, ensure_ascii=False)}]\n{text}" for name, text in told.items() if text
    )


def languages_in(text: str) -> dict[str, Any]:
    """Read what the editor holds in other languages."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput("the other languages are not TOML: {why}", why=unreadable(error)) from None


def _arguments(row: Row, place: int) -> dict[str, Any]:
    kind, text = row["kind"], row["text"].replace("\r\n", "\n").strip()
    arguments: dict[str, Any] = {"kind": kind, "name": row["name"].strip() or _short_name(text, place), "text": text}
    arguments |= _answers(row, FORMS.get(kind, _UNKNOWN).fields, place)
    for name in ("importance", "max_gap", "max_error"):
        if row[name].strip():
            arguments[name] = _number(row, name, place)
    return arguments


def _answers(row: Row, fields: Collection[str], place: int) -> dict[str, Any]:
    """Read what a kind has of its own."""
    arguments: dict[str, Any] = {"unit": row["unit"].strip()} if "unit" in fields else {}
    if "low" in fields:
        ends = [_number(row, name, place) for name in ("low", "high")]
        arguments |= {"each" if "items" in fields else "bounds": ends}
    if "sd" in fields and row["sd"].strip():
        arguments["sd"] = _number(row, "sd", place)
    if "edges" in fields:
        arguments["edges"] = [_edge(text, place) for text in re.split(r"[\s;]+|,\s+", row["edges"].strip()) if text]
    if "options" in fields:
        arguments["options"] = [line.strip() for line in row["options"].splitlines() if line.strip()]
    return arguments | {name: _integer(row, name, place) for name in ("items", "at_most") if name in fields}


def _short_name(text: str, place: int) -> str:
    words = text.rstrip("?. ")
    return words if 0 < len(words) <= _LONGEST_NAME else _("question {place}", place=place)


def _number(row: Row, name: str, place: int) -> float:
    return typed_number(
        row[name], Sentence("question {place}: {words}", place=place, words=Sentence(_WORDS[name]))
    ).number


def _integer(row: Row, name: str, place: int) -> int:
    text = row[name].strip()
    if not (text.isdecimal() and len(text) < 9):
        raise BadInput("question {place}: {words} must be a whole number", place=place, words=Sentence(_WORDS[name]))
    return int(text)


def _edge(text: str, place: int) -> float:
    return typed_number(text.rstrip(","), Sentence("question {place}: an edge of a range", place=place)).number


def rows_of(sheet: Sheet) -> list[Row]:
    """Write a sheet as a form has it."""
    return [_row(question) for question in sheet]


def _row(question: Any) -> Row:  # noqa: ANN401 - what kinds have besides
    row, fields = blank_row(question.kind) | {"options": ""}, FORMS[question.kind].fields
    row |= {"name": question.name, "text": question.text, "unit": question.unit}
    row |= {"importance": short(question.importance, 6)} | {
        name: spelled(getattr(question, name)) for name in ("max_gap", "max_error") if getattr(question, name)
    }
    if "low" in fields:
        low, high = question.each if "items" in fields else question.bounds
        row |= {"low": spelled(low), "high": spelled(high), "sd": _sd_text(question)}
    row |= {name: str(getattr(question, name)) for name in ("items", "at_most") if name in fields}
    row |= {"edges": " ".join(map(spelled, question.edges))} if "edges" in fields else {}
    return row | ({"options": "\n".join(question.options)} if "options" in fields else {})


def _sd_text(question: Any) -> str:  # noqa: ANN401
    """Write the declared sd; nothing where it is the largest there can be, as it is where none was declared."""
    return "" if 4 * question.data_variance >= question.width**2 else spelled(math.sqrt(question.data_variance))


def as_toml(sheet: Sheet) -> str:
    r"""Write a sheet as people write one; what is as usual is left out.

    >>> print(as_toml(Sheet.from_toml_text('title = "t" \n[[question]]\nkind = "number"\nname = "b"\nbounds = [0, 80]\nsd = 9')))
    title = "t"
    <BLANKLINE>
    [[question]]
    kind = "number"
    name = "b"
    bounds = [0.0, 80.0]
    sd = 9.0
    <BLANKLINE>
    """
    words = {name: getattr(sheet, name) for name in SHEET_WORDS}
    said = sheet.languages.items()
    titles = {"titles": {tag: each.title for tag, each in said if each.title}}
    purposes = {"purposes": {tag: each.purpose for tag, each in said if each.purpose}}
    tables = "".join(f"\n[{name}]\n{_lines(lines)}" for name, lines in (titles | purposes).items() if lines)
    return "\n".join([_lines(words) + tables, *(_toml_question(sheet, question) for question in sheet)])


def _toml_question(sheet: Sheet, question: Question) -> str:
    usual = {"column": question.name, "importance": 1.0, "max_gap": 0.0}
    record = {name: value for name, value in question.to_record().items() if value != usual.get(name, "")}
    variance = record.get("data_variance")
    if variance is not None and math.sqrt(variance) ** 2 == variance:
        text = _sd_text(question)
        record = {name: value for name, value in record.items() if name != "data_variance"}
        record |= {"sd": math.sqrt(variance)} if text else {}
    said = {tag: each.questions.get(question.name) for tag, each in sheet.languages.items()}
    others = {
        plural: {tag: getattr(words, name) for tag, words in said.items() if words is not None and getattr(words, name)}
        for plural, name in (("texts", "text"), ("units", "unit"), ("labels", "labels"))
    }
    tables = "".join(f"\n[question.{name}]\n{_lines(lines)}" for name, lines in others.items() if lines)
    return "[[question]]\n" + _lines(record) + tables


def _lines(record: Mapping[str, Any]) -> str:
    """Write keys and values; JSON's texts, numbers and lists are TOML's."""
    return "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in record.items()
        if value is not None and value != ""
    )
