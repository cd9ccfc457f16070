"""What a sheet says in other languages than its own: title, purpose, what people read, units, and labels of options.

Answers are compared with the options themselves, byte for byte; a label is only what a reader is shown. All of it was asked, and
is bound with the rest of a sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from optin.errors import BadInput
from optin.questions.coding import first_twice
from optin.questions.kinds import Question, checked_words

MOST_LANGUAGES = 40


@dataclass(frozen=True)
class QuestionWords:
    """One question in another language; what is empty is said as in the sheet's own."""

    text: str = ""
    unit: str = ""
    labels: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Write what is said, as JSON holds it."""
        return {"text": self.text, "unit": self.unit, "labels": list(self.labels)}


@dataclass(frozen=True)
class SheetWords:
    """A sheet in another language."""

    title: str = ""
    purpose: str = ""
    questions: Mapping[str, QuestionWords] = field(default_factory=dict)

    def to_record(self) -> dict[str, Any]:
        """Write what is said, as JSON holds it."""
        told = {name: words.to_record() for name, words in self.questions.items()}
        return {"title": self.title, "purpose": self.purpose, "questions": told}


def checked_languages(given: object, questions: Iterable[Question]) -> dict[str, SheetWords]:
    """Read what a sheet says in other languages, by their tags; questions that it does not have are refused by name.

    >>> from optin.questions import YesNo
    >>> languages = checked_languages({"de": {"questions": {"break": {"text": "Pause?"}}}}, [YesNo("break")])
    >>> languages["de"].questions["break"].text
    'Pause?'
    """
    tags = _object(given, "languages")
    if len(tags) > MOST_LANGUAGES:
        raise BadInput("a sheet has at most {most} languages besides its own", most=MOST_LANGUAGES)
    known = {question.name: question for question in questions}
    return {_tag(tag): _sheet_words(_object(words, str(tag)), str(tag), known) for tag, words in tags.items()}


def _tag(tag: object) -> str:
    if not isinstance(tag, str) or not 2 <= len(tag) <= 35 or not tag.replace("-", "").isalnum() or not tag.isascii():
        raise BadInput('languages go by tags such as "de" or "pt-BR"')
    return tag


def _object(given: object, name: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise BadInput('what a sheet says in another language is a table: "{name}" is none', name=name)
    return given


def _sheet_words(given: Mapping[str, Any], tag: str, known: Mapping[str, Question]) -> SheetWords:
    _expect_known(given, ("title", "purpose", "questions"), tag)
    told = _object(given.get("questions", {}), "questions")
    _expect_known(told, known, tag)
    return SheetWords(
        checked_words(given.get("title", ""), "title"),
        checked_words(given.get("purpose", ""), "purpose"),
        {name: _question_words(_object(words, name), tag, known[name]) for name, words in told.items()},
    )


def _question_words(given: Mapping[str, Any], tag: str, question: Question) -> QuestionWords:
    _expect_known(given, ("text", "unit", "labels"), tag)
    labels = given.get("labels", ())
    listed = tuple(labels) if isinstance(labels, list | tuple) else ()
    options, texts = question.labels, [str(label) for label in listed]
    if labels and (len(listed) != len(options) or first_twice(texts) is not None):
        raise BadInput(
            'question "{question}" has {count} options: give as many labels in "{tag}", each another one, in the same order',
            question=question.name,
            count=len(options),
            tag=tag,
        )
    return QuestionWords(
        checked_words(given.get("text", ""), "text"),
        checked_words(given.get("unit", ""), "unit"),
        tuple(checked_words(label, "labels") for label in listed),
    )


def _expect_known(given: Mapping[str, Any], known: Iterable[str], tag: str) -> None:
    odd = sorted(str(name) for name in given if name not in tuple(known))
    if odd:
        raise BadInput('in the language "{tag}" this sheet has no "{name}"', tag=tag, name=odd[0])


def gathered(sheet: dict[str, Any], questions: list[Any]) -> dict[str, Any]:
    """Take what a file says in other languages out of it, where it stands beside what it translates."""
    languages: dict[str, Any] = {}
    for plural, name in (("titles", "title"), ("purposes", "purpose")):
        for tag, words in _object(sheet.pop(plural, {}), plural).items():
            languages.setdefault(tag, {})[name] = words
    for each in questions:
        for plural, name in (("texts", "text"), ("units", "unit"), ("labels", "labels")):
            for tag, words in _object(each.pop(plural, {}), plural).items() if isinstance(each, dict) else ():
                told = languages.setdefault(tag, {}).setdefault("questions", {})
                told.setdefault(str(each.get("name")), {})[name] = words
    return languages
