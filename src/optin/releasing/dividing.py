"""A release of public groups (E27): one part each, and each of them is what a release to its people alone would be.

How many joined is published in tens; the exact counts, which the exact sums bind, are sealed with these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.releasing.answered import Answered
from optin.releasing.deciding import WHY
from optin.releasing.useless import useless_groups
from optin.wording.groups import in_tens, shown_group

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.questions.kinds import QuestionResult
    from optin.releasing.record import Release


@dataclass(frozen=True)
class GroupAnswered:
    """Who joined of one group, and what was counted for each question."""

    joined_people: int
    answered: tuple[Answered, ...]
    sealed: GroupAnswered | None = field(default=None, compare=False, repr=False)
    """Exact counts and sums, where they are under seal and known."""

    def under_seal(self, offer: Announcement) -> GroupAnswered:
        """Return what the public is told of the group, and keep the rest."""
        questions = zip(self.answered, offer.sheet, offer.portions, strict=True)
        told = tuple(
            each.under_seal(question, portion, announced=offer.people, of_group=True)
            for each, question, portion in questions
        )
        return GroupAnswered(in_tens(self.joined_people), told, self)

    @property
    def released(self) -> int:
        """Return the number in which the bit of every question is set that was published of this group."""
        return sum(1 << place for place, each in enumerate(self.answered) if not each.dropped)

    def public(self, *, sealed: bool = False) -> dict[str, Any]:
        """Write what everyone may read, as JSON holds it."""
        questions = [each.public(of_group=True, sealed=sealed) for each in self.answered]
        return {"joined_people": in_tens(self.joined_people), "questions": questions}

    def exact_record(self, *, sealed: bool = False) -> dict[str, Any]:
        """Write exact counts and sums, as JSON holds them."""
        questions = [each.exact_record(of_group=True, sealed=sealed) for each in self.answered]
        return {"joined_people": self.joined_people, "questions": questions}

    @classmethod
    def from_public(cls, fields: Fields) -> GroupAnswered:
        """Read what `public` wrote where sums are under seal."""
        people, questions = fields.take_count("joined_people"), fields.take_objects("questions")
        fields.finish()
        return cls(people, tuple(Answered.from_public(each, of_group=True) for each in questions))

    def opened(self, fields: Fields) -> GroupAnswered:
        """Read beside it what `exact_record` wrote."""
        people, questions = fields.take_count("joined_people"), fields.take_objects("questions")
        fields.finish()
        if len(questions) != len(self.answered):
            fields.refuse("it has public and sealed numbers of different questions")
        answered = tuple(each.opened(own) for each, own in zip(self.answered, questions, strict=True))
        exact = tuple(each.sealed for each in answered if each.sealed is not None)
        return GroupAnswered(self.joined_people, answered, GroupAnswered(people, exact))

    @classmethod
    def from_fields(cls, public: Fields, sealed: Fields) -> GroupAnswered:
        """Read what `public` and `exact_record` wrote where sums are public."""
        public.take_count("joined_people")
        people = sealed.take_count("joined_people")
        parts = public.take_objects("questions"), sealed.take_objects("questions")
        if len(parts[0]) != len(parts[1]):
            public.refuse("it has public and sealed numbers of different questions")
        public.finish()
        sealed.finish()
        return cls(people, tuple(Answered.from_fields(*each, of_group=True) for each in zip(*parts, strict=True)))


class DividedRelease:
    """Read off a release what it says of each group."""

    announcement: Announcement
    parts: tuple[GroupAnswered, ...]

    @property
    def grouped(self) -> bool:
        """Whether people are in public groups, each with results of its own (E27)."""
        return self.announcement.grouped

    @property
    def groups(self) -> Mapping[str, Release]:
        """What was published of each public group, by its name."""
        return self._groups

    @cached_property
    def _groups(self) -> dict[str, Release]:
        return _by_group(cast("Release", self))

    @property
    def withheld(self) -> dict[str, str]:
        """Why nothing was published of some groups, by their names."""
        names = [str(design.group) for design in self.announcement.designs]
        pairs = zip(names, self.parts, strict=False)
        return {name: WHY[part.answered[0].dropped] for name, part in pairs if not part.released}

    @property
    def mostly_noise(self) -> tuple[str, ...]:
        """Say of which groups a result says nothing; this depends on who answered and what they gave, never on a value."""
        return useless_groups(cast("Release", self))

    def expect_undivided(self) -> None:
        """Refuse what has no one meaning where people are in groups."""
        if self.grouped:
            raise BadInput(
                "this release has results of each of {count:,} groups: ask for one, as in release.groups[{group}]",
                count=len(self.announcement.designs),
                group=shown_group(str(self.announcement.designs[0].group)),
            )


def _by_group(release: Release) -> dict[str, Release]:
    offers = release.announcement.parts
    return {
        design.group: replace(
            release,
            announcement=offer,
            joined_people=part.joined_people,
            answered=part.answered,
            parts=(),
            joined_exactly=None if part.sealed is None else part.sealed.joined_people,
        )
        for design, offer, part in zip(release.announcement.designs, offers, release.parts, strict=False)
        if design.group is not None
    }


def group_statements(groups: Mapping[str, Release]) -> list[dict[str, Any]]:
    """Write the results of each group as JSON holds them."""
    return [
        {"group": name, "results": [{"question": asked, **_stated(each)} for asked, each in release.results.items()]}
        for name, release in groups.items()
    ]


def _stated(result: QuestionResult) -> dict[str, Any]:
    return dict(result.statement())
