"""The sheet: the questions of one campaign, all under one personal limit (E18)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.questions.brief import answers_of
from optin.questions.choice import Choice
from optin.questions.coding import first_twice
from optin.questions.histogram import Histogram
from optin.questions.kinds import Question, checked_words
from optin.questions.languages import QuestionWords, SheetWords, checked_languages
from optin.questions.multiple_choice import MultipleChoice
from optin.questions.number import Number
from optin.questions.scale import Scale
from optin.questions.score import Score
from optin.questions.toml import sheet_in, sheet_in_text
from optin.questions.yes_no import YesNo
from optin.wording.amounts import plus_minus_of
from optin.wording.language import _, localised, spoken_here
from optin.wording.numbers import count
from optin.wording.telling import Telling, Told

MOST_QUESTIONS = 60
"""Which questions someone is charged for is a 64-bit number with a bit for each."""
KINDS: dict[str, Any] = {kind.kind: kind for kind in (Number, YesNo, Choice, Scale, Score, Histogram, MultipleChoice)}
"""Every kind there is; a new one is a file, a name here, its picture (figures) and a law of answers (baselines)."""


class Named(Protocol):
    """Whatever is said of one question and goes by its name."""

    @property
    def name(self) -> str:
        """The name of the question."""


Each = TypeVar("Each", bound=Named)


@dataclass(frozen=True, repr=False)
class Sheet(Told):
    """What is asked of everyone, word for word: questions, a title, why, and by whom.

    >>> sheet = Sheet([Number("hours", bounds=(0, 80))], title="Working hours")
    >>> sheet["hours"].width, len(sheet)
    (80.0, 1)
    """

    questions: tuple[Question, ...]
    title: str = ""
    purpose: str = ""
    asked_by: str = ""
    languages: Mapping[str, SheetWords] = field(default_factory=dict)
    """What it says in other languages than its own, by their tags."""

    def __init__(
        self,
        questions: Sequence[Question] | Question,
        *,
        title: str = "",
        purpose: str = "",
        asked_by: str = "",
        languages: Mapping[str, Any] | None = None,
    ) -> None:
        """Check that each question has a name of its own, and that there is one.

        ``languages`` says title, purpose and questions in others, by tag: ``{"de": {"title": …, "questions": {"hours": {"text":
        …, "unit": …, "labels": […]}}}}``; pages show each reader theirs.
        """
        given = tuple(questions) if isinstance(questions, list | tuple) else (questions,)
        if not given or not all(isinstance(question, tuple(KINDS.values())) for question in given):
            raise BadInput("a sheet takes a list of questions, such as optin.Number(…)")
        if len(given) > MOST_QUESTIONS:
            raise BadInput(
                "a sheet has at most {most} questions, and this one {count}", most=MOST_QUESTIONS, count=len(given)
            )
        twice = first_twice([question.name for question in given])
        if twice is not None:
            raise BadInput('two questions of this sheet are called "{name}"; give each its own name', name=twice)
        object.__setattr__(self, "questions", given)
        for name, words in (("title", title), ("purpose", purpose), ("asked_by", asked_by)):
            object.__setattr__(self, name, checked_words(words, name))
        told = {
            tag: each.to_record() if isinstance(each, SheetWords) else each for tag, each in (languages or {}).items()
        }
        object.__setattr__(self, "languages", checked_languages(told, given))

    def telling(self) -> Telling:
        """Say what is asked, why and by whom."""
        words = (("title", self.title), ("purpose", self.purpose), ("asked by", self.asked_by))
        rows = tuple((each.name, each.kind, each.text, answers_of(each)) for each in self.questions)
        head = ("question", "kind", "asked", "answers")
        return Telling(
            f"Sheet of {count(len(self), 'question', 'questions')}",
            tuple((label, text) for label, text in words if text),
            head,
            rows,
            numbers=len(head),
            more="sheet.questions",
        )

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, name: str) -> Question:
        return question_named(self.questions, name)

    @property
    def alone(self) -> Question:
        """The one question of a sheet of one, of whatever kind."""
        if len(self.questions) > 1:
            raise self._has_several()
        return self.questions[0]

    @property
    def one_number(self) -> Number | Score | None:
        """The number or score of a sheet that asks for nothing else; None for any other sheet."""
        first = self.questions[0]
        return first if len(self.questions) == 1 and isinstance(first, Number | Score) else None

    @property
    def only(self) -> Number | Score:
        """The one number (or score) of a sheet of one; bounds and a rate of noise are those of a number alone."""
        if self.one_number is None:
            raise self._has_several()
        return self.one_number

    def _has_several(self) -> BadInput:
        first = self.questions[0]
        return BadInput(
            'only a sheet of one number has this, and this one has {what}: ask by name, as in plan["{name}"]',
            what=f"a {first.kind}" if len(self.questions) == 1 else f"{len(self.questions)} questions",
            name=first.name,
        )

    def to_record(self) -> dict[str, Any]:
        """Write everything that was asked, as JSON holds it."""
        words = {"title": self.title, "purpose": self.purpose, "asked_by": self.asked_by}
        others = (
            {"languages": {tag: each.to_record() for tag, each in self.languages.items()}} if self.languages else {}
        )
        return {**words, "questions": [question.to_record() for question in self.questions], **others}

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Sheet:
        """Read a sheet from a TOML file: title, purpose, asked_by, and a [[question]] with a kind for each question."""
        return cls(**sheet_in(path, KINDS))

    @classmethod
    def from_toml_text(cls, text: str) -> Sheet:
        r"""Read a sheet from the text of such a file.

        >>> Sheet.from_toml_text('title = "Breaks"\n[[question]]\nkind = "yes-no"\nname = "skipped"').title
        'Breaks'
        """
        return cls(**sheet_in_text(text, KINDS))

    @classmethod
    def from_fields(cls, fields: Fields) -> Sheet:
        """Read what `to_record` wrote."""
        words = {name: fields.take_text(name) for name in ("title", "purpose", "asked_by")}
        questions = [_question(each) for each in fields.take_objects("questions")]
        others: Any = fields.take("languages") if fields.has("languages") else {}
        fields.finish()
        return cls(questions, **words, languages=others)

    @property
    def _here(self) -> SheetWords:
        """What it says in the language spoken here; of one that it does not have, nothing."""
        return self.languages.get(spoken_here().tag, _NOTHING)

    @property
    def title_said(self) -> str:
        """The title in the language spoken here, or else in its own."""
        return self._here.title or self.title

    @property
    def purpose_said(self) -> str:
        """The purpose in the language spoken here, or else in its own."""
        return self._here.purpose or self.purpose

    def text_said(self, question: Question) -> str:
        """Say what is asked in the language spoken here, or else in the sheet's own words, or by its name."""
        return self._words(question).text or question.text or question.name

    def unit_said(self, question: Question) -> str:
        """Say what a question counts in."""
        return self._words(question).unit or question.unit

    def plus_minus(self, question: Question, half: float) -> str:
        """Write ± for a question, as `Question.plus_minus` does, in the unit of the language spoken here."""
        return plus_minus_of(half, proportion=question.proportion, unit=self.unit_said(question))

    def answer_said(self, question: Question, answer: str) -> str:
        """Say an option, or a figure such as the mean, in the language spoken here.

        >>> from optin.wording.language import Language, speaking
        >>> sheet = Sheet(YesNo("break"), languages={"de": {"questions": {"break": {"labels": ["ja", "nein"]}}}})
        >>> with speaking(Language("de")):
        ...     sheet.answer_said(sheet["break"], "yes")
        'ja'
        """
        labels = question.labels
        if answer not in labels:
            return _(answer)
        own = self._words(question).labels
        if own:
            return own[labels.index(answer)]
        if isinstance(question, Histogram):
            low, high = question.edges[labels.index(answer) :][:2]
            return _("{low} to {high}", low=localised(f"{low:.15g}"), high=localised(f"{high:.15g}"))
        return _(answer) if isinstance(question, YesNo) else answer

    def _words(self, question: Question) -> QuestionWords:
        return self._here.questions.get(question.name, _NO_WORDS)


_NOTHING, _NO_WORDS = SheetWords(), QuestionWords()


def question_named(questions: Iterable[Each], name: str) -> Each:
    """Return what is said of the question of this name; KeyError, with the names that are there, for any other."""
    known = {question.name: question for question in questions}
    if name not in known:
        raise KeyError(f'there is no question "{name}"; the questions are: {", ".join(known)}')
    return known[name]


def expect_question(questions: Iterable[Question], name: str) -> Question:
    """Return the question of this name; an argument that names none is refused as any other wrong one."""
    known = {question.name: question for question in questions}
    if name not in known:
        raise BadInput(
            'there is no question "{name}"; the questions are: {questions}', name=name, questions=", ".join(known)
        )
    return known[name]


def _question(fields: Fields) -> Question:
    kind = fields.take_text("kind")
    if kind not in KINDS:
        fields.refuse(f'this optin knows no question of kind "{kind}"')
    question: Question = KINDS[kind].from_fields(fields)
    fields.finish()
    return question
