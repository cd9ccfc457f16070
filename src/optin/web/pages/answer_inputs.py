"""Answers as a form carries them: real inputs for each kind of question, read one way or told back, and shown again as typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import FormData

from optin.errors import BadInput
from optin.questions import Question, Sheet
from optin.web.pages.numbers import spelled, typed_number
from optin.web.pages.rendering import sentence
from optin.wording.language import _
from optin.wording.sentences import Sentence

MOST_ITEMS = 30
"""A score of more items than this is asked for as its total."""


@dataclass(frozen=True)
class Option:
    """One answer to choose: what is sent, byte for byte, and what its reader is shown."""

    value: str
    label: str


@dataclass(frozen=True)
class Entry:
    """One question as the page asks it: what it is called in the form, how it is answered, and what was typed before."""

    name: str
    way: str
    text: str
    unit: str
    hint: str
    options: tuple[Option, ...] = ()
    items: tuple[str, ...] = ()
    chosen: tuple[str, ...] = field(default=(), repr=False)
    typed: str = field(default="", repr=False)
    wrong: str = ""
    negative: bool = False


@dataclass(frozen=True)
class Read:
    """What was understood of a form: answers by question, entries to be shown again, what was wrong, what was read anew."""

    given: dict[str, Any] = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)
    wrong: str
    echoes: tuple[str, ...] = field(repr=False)
    asked: int = 0

    @property
    def left_out(self) -> int:
        """How many questions have no answer."""
        return self.asked - len(self.given)

    def is_known_to_leave_out(self, told: str, *, again: bool) -> bool:
        """Say whether someone who replaces all they sent was told how many questions that leaves out."""
        return not again or not self.left_out or told == str(self.left_out)

    def is_told(self, echoed: str) -> bool:
        """Say whether numbers were told back as they stand there now: by the page's script, or on the page before this one."""
        return not self.echoes or echoed in ("yes", "; ".join(self.echoes))


def answered_words(read: Read) -> str:
    """Say how many questions were answered, and how many left out; nothing where there is one."""
    if read.asked < 2:
        return ""
    said = {"answered": len(read.given), "asked": read.asked, "left_out": read.left_out}
    if not read.left_out:
        return _("You answered all {asked} questions.", asked=read.asked)
    return _("You answered {answered} of {asked} questions and left out {left_out}.", **said)


def entries_of(sheet: Sheet) -> tuple[Entry, ...]:
    """List the questions as an empty form has them."""
    return tuple(_entry(sheet, question, place) for place, question in enumerate(sheet))


def _entry(sheet: Sheet, question: Any, place: int, **more: Any) -> Entry:  # noqa: ANN401 - what kinds have besides
    way = "number" if question.entry == "items" and question.items > MOST_ITEMS else question.entry
    low, _high = _ends(question, way)
    return Entry(
        f"a{place}",
        way,
        sheet.text_said(question),
        sheet.unit_said(question),
        _hint(sheet, question, way),
        options=() if way in ("number", "items") else _options(sheet, question),
        items=tuple(map(str, range(1, question.items + 1))) if way == "items" else (),
        negative=low is not None and low < 0,
        **more,
    )


def _options(sheet: Sheet, question: Any) -> tuple[Option, ...]:  # noqa: ANN401
    """List what can be chosen: the option that is sent, and what its reader is shown."""
    return tuple(Option(option, sheet.answer_said(question, option)) for option in question.options)


def _ends(question: Any, way: str) -> tuple[float | None, float | None]:  # noqa: ANN401
    """Return between which numbers an answer, or each item of one, lies; None where it is words."""
    if way not in ("number", "items"):
        return None, None
    ends = question.each if way == "items" else getattr(question, "bounds", None) or question.edges
    return float(ends[0]), float(ends[-1])


def _hint(sheet: Sheet, question: Any, way: str) -> str:  # noqa: ANN401
    if way == "several":
        few = question.at_most < len(question.options)
        return _("Choose up to {at_most}.", at_most=question.at_most) if few else _("Choose any.")
    low, high = _ends(question, way)
    if low is None or high is None:
        return ""
    said = {"low": spelled(low), "high": spelled(high), "unit": sheet.unit_said(question)}
    told = _("each {low} to {high} {unit}", **said) if way == "items" else _("{low} to {high} {unit}", **said)
    return told.rstrip()


def read_answers(sheet: Sheet, form: FormData) -> Read:
    """Read a form; a question that was left empty is left out."""
    fields = [_read(sheet, question, place, form) for place, question in enumerate(sheet)]
    given = {question.name: one.answer for question, one in zip(sheet, fields, strict=True) if one.answer is not None}
    entries = tuple(one.entry for one in fields)
    wrong = next((_wrong_words(one.entry, alone=len(sheet) == 1) for one in fields if one.entry.wrong), "")
    return Read(given, entries, wrong, tuple(echo for one in fields for echo in one.echoes), len(sheet))


def _wrong_words(entry: Entry, *, alone: bool) -> str:
    """Say what is wrong, and of several questions with which: these words stand above all of them."""
    return entry.wrong if alone else _("“{asked}”: {why}", asked=entry.text, why=entry.wrong)


@dataclass(frozen=True)
class _One:
    answer: Any = field(repr=False)
    entry: Entry = field(repr=False)
    echoes: tuple[str, ...] = field(default=(), repr=False)


def _read(sheet: Sheet, question: Question, place: int, form: FormData) -> _One:
    texts = tuple(text for text in form.getlist(f"a{place}") if isinstance(text, str))
    blank = _entry(sheet, question, place)
    if blank.way in ("number", "items"):
        return _numbers(sheet, question, place, blank.way, tuple(text.strip() for text in texts))
    offered = {option.value for option in blank.options}
    chosen = tuple(text if text in offered else text.strip() for text in texts if text.strip())
    entry = _entry(sheet, question, place, chosen=chosen)
    if not chosen:
        return _One(None, entry)
    answer: Any = list(chosen) if blank.way == "several" else chosen[0]
    return _checked(sheet, question, place, answer, entry)


def _numbers(sheet: Sheet, question: Question, place: int, way: str, texts: tuple[str, ...]) -> _One:
    """Read the number or the items of a question; what was typed in another way than ours is told back."""
    low, high = _ends(question, way)
    entry = _entry(sheet, question, place, typed=texts[0] if texts else "", chosen=texts)
    if not any(texts):
        return _One(None, entry)
    try:
        typed = [typed_number(text, Sentence("your answer"), low=low or 0.0, high=high or 0.0) for text in texts]
    except BadInput as refusal:
        return _One(None, _entry(sheet, question, place, typed=entry.typed, chosen=texts, wrong=sentence(refusal)))
    numbers = [one.number for one in typed]
    again = tuple(spelled(number) for number in numbers)
    echoes = tuple(
        _("{text} as {told} {unit}", text=text, told=told, unit=sheet.unit_said(question)).rstrip()
        for text, told, one in zip(texts, again, typed, strict=True)
        if not one.plain
    )
    shown = _entry(sheet, question, place, typed=again[0], chosen=again)
    checked = _checked(sheet, question, place, numbers if way == "items" else numbers[0], shown)
    return checked if checked.entry.wrong else _One(checked.answer, shown, echoes)


def _checked(sheet: Sheet, question: Question, place: int, answer: Any, entry: Entry) -> _One:  # noqa: ANN401
    try:
        question.by_hand(answer)
    except BadInput as refusal:
        wrong = sentence(refusal)
        return _One(None, _entry(sheet, question, place, typed=entry.typed, chosen=entry.chosen, wrong=wrong))
    return _One(answer, entry)
