"""What an offer prints: whom it asks what, what it takes at most, and the ± of each question at full turnout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.wording.groups import listed_groups, shown_group
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
        if self.grouped:
            return _of_groups(self)
        most = "infinite: no noise is added" if self.noiseless else largest(self.cap)
        title = [("asks", self.sheet.title)] if self.sheet.title else []
        lines = [*title, ("people", f"{count(self.people)} ({self.model})"), ("cap on epsilon", most)]
        rows = tuple(question_row(self[question.name]) for question in self.sheet)
        return Telling(f"Announcement {self.id}", tuple(lines), HEAD, rows, more="announcement[name]")


def _of_groups(offer: Announcement) -> Telling:
    """List the offer to each group, and which groups were merged."""
    title = [("asks", offer.sheet.title)] if offer.sheet.title else []
    merged = [
        ("merged", f"{shown_group(str(each.group))}: {listed_groups(each.merged)}")
        for each in offer.designs
        if each.merged
    ]
    people = f"{count(offer.people)} in {len(offer.designs):,} groups, which are public ({offer.model})"
    rows = tuple(row for name, part in offer.groups.items() for row in _group_rows(name, part))
    head = ("group", "people", "cap", *HEAD)
    more = 'announcement.groups["…"]'
    return Telling(f"Announcement {offer.id}", (*title, ("people", people), *merged), head, rows, len(head), more)


def _group_rows(name: str, offer: Announcement) -> list[tuple[str, ...]]:
    group = (shown_group(name)[1:-1], offer.public.people_in_words)
    if offer.public.empty:
        return [(*group, "0", "nothing can be published", *[""] * (len(HEAD) - 1))]
    cap = "infinite" if offer.noiseless else largest(offer.cap)
    return [(*group, cap, *question_row(offer[question.name])) for question in offer.sheet]


class ToldOfferedQuestion(Told):
    """One question of an offer."""

    def telling(self: AnnouncedQuestion) -> Telling:  # type: ignore[misc]
        """Say what it takes, and what full turnout leads to."""
        lines = tuple(zip(HEAD[1:], question_row(self)[1:], strict=True))
        return Telling(f'Question "{self.question.name}" of announcement {self.announcement.id}', lines)


def question_row(asked: AnnouncedQuestion) -> tuple[str, ...]:
    """Write what a question takes of everyone's epsilon and what that gives."""
    question = asked.question
    half = question.plus_minus(asked.half_width(0.95))
    return question.name, question.kind, percent(asked.epsilon_share), half, people_like(asked.effective_people)
