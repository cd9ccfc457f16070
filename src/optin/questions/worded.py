"""What every kind of question carries besides its own: name, words, column, importance and gap."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.questions.facts import Facts
from optin.questions.kinds import (
    checked_importance,
    checked_max_error,
    checked_name,
    checked_text,
    checked_words,
    number,
)
from optin.wording.language import N_

if TYPE_CHECKING:
    from optin.questions.number import Number

GAP = N_('question "{question}": max_gap must lie between 0 and how far means can be apart')


@dataclass(frozen=True, repr=False)
class Worded(Facts):
    """A question's name and words; kinds add what they ask for."""

    kind = ""
    """The word for it in files: each kind has its own."""
    widest_gap = 1.0
    """What proportions can differ by at most."""

    name: str
    _: KW_ONLY
    text: str = ""
    unit: str = ""
    column: str = ""
    importance: float = 1.0
    max_gap: float = 0.0
    max_error: float | None = None

    def __post_init__(self) -> None:
        """Check what is asked, once, and keep it as plain numbers and words."""
        self._keep(**checked_in(self))
        if not 0 <= self.max_gap <= self.widest_gap:
            raise BadInput(GAP, question=self.name)
        if self.max_error is not None and self.max_error >= self.widest_gap:
            raise BadInput(
                'question "{question}": max_error must be below 1, for it is a part of people: 0.05 is ± 5 points',
                question=self.name,
            )

    def _keep(self, **checked: object) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def columns_in(self, known: Collection[str]) -> tuple[str, ...]:
        """Name the one column that answers stand in."""
        return (self.column,)

    def words(self) -> dict[str, Any]:
        """Write what all kinds share, as JSON holds it."""
        return written_in(self)


def checked_in(question: Worded | Number) -> dict[str, Any]:
    """Check what all kinds share, and return it as plain numbers and words."""
    return {
        "name": checked_name(question.name),
        "text": checked_words(question.text, "a question's text"),
        "unit": checked_words(question.unit, "unit"),
        "column": checked_text(question.name if question.column == "" else question.column, "column"),
        "importance": checked_importance(question.importance),
        "max_gap": number(question.max_gap, "max_gap"),
        "max_error": checked_max_error(question.max_error),
    }


def written_in(question: Worded | Number) -> dict[str, Any]:
    """Write what all kinds share, as JSON holds it."""
    shared = ("kind", "name", "text", "unit", "column", "importance", "max_gap", "max_error")
    return {name: getattr(question, name) for name in shared}


def words_of(fields: Fields) -> dict[str, Any]:
    """Read what `written_in` wrote; the kind was read already."""
    texts = {name: fields.take_text(name) for name in ("name", "text", "unit", "column")}
    numbers = {name: fields.take_real(name) for name in ("importance", "max_gap")}
    return texts | numbers | {"max_error": fields.maybe("max_error", fields.take_real)}
