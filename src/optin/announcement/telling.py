"""What an offer prints: whom it asks what, what it takes at most, and the ± of each question at full turnout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.wording.amounts import plus_minus_of
from optin.wording.numbers import count, largest, people_like, percent
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement
    from optin.announcement.one_question import AnnouncedQuestion

HEAD = ("question", "kind", "epsilon share", "95 % interval", "as accurate as")


class ToldOffer(Told):
    """An offer that prints what everyone is asked and promised; sealed sums stay in its file."""

    def telling(self: Announcement) -> Telling:  # type: ignore[misc]
        """List what a person wants to know: who is asked what, the cap, and what full turnout leads to."""
        most = "infinite: no noise is added" if self.noiseless else largest(self.cap)
        title = [("asks", self.sheet.title)] if self.sheet.title else []
        lines = [*title, ("people", f"{count(self.people)} ({self.model})"), ("cap on epsilon", most)]
        rows = tuple(question_row(self[question.name]) for question in self.sheet)
        return Telling(f"Announcement {self.id}", tuple(lines), HEAD, rows, more="announcement[name]")


class ToldOfferedQuestion(Told):
    """One question of an offer."""

    def telling(self: AnnouncedQuestion) -> Telling:  # type: ignore[misc]
        """Say what it takes, and what full turnout leads to."""
        lines = tuple(zip(HEAD[1:], question_row(self)[1:], strict=True))
        return Telling(f'Question "{self.question.name}" of announcement {self.announcement.id}', lines)


def question_row(asked: AnnouncedQuestion) -> tuple[str, ...]:
    """Write what a question takes of everyone's epsilon and what that gives."""
    question = asked.question
    half = plus_minus_of(asked.half_width(0.95), proportion=question.proportion, unit=question.unit)
    return question.name, question.kind, percent(asked.epsilon_share), half, people_like(asked.effective_people)
