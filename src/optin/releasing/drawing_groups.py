"""Draw a release of public groups (E27): every group is decided on by itself, and all are added up in the same looks.

A group of which nothing can be published is withheld alone: its people are not charged, and the others are released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from optin.announcement import Announcement
from optin.errors import PromiseBroken
from optin.grains.arrays import Answers, Codes
from optin.grains.batches import PassedGroups
from optin.grains.promised_groups import PromisesByGroup
from optin.participation import check_unchanged, counted
from optin.releasing.deciding import WHY, Decision, Quorum, decide_in_group
from optin.releasing.dividing import GroupAnswered
from optin.releasing.drawing import Measured, versions_of
from optin.releasing.record import Release
from optin.wording.groups import listed_groups


@dataclass(frozen=True)
class Decisions:
    """What was decided on each group; together it is asked what a `Decision` is."""

    parts: tuple[Decision, ...]

    @property
    def released(self) -> tuple[int, ...]:
        """Return, for each group, the number in which the bit of every question is set that is published."""
        return tuple(part.released for part in self.parts)

    @property
    def people(self) -> int:
        """Return how many people joined."""
        return sum(part.people for part in self.parts)

    @property
    def charged(self) -> int:
        """Return what they are charged, for what is published of their group."""
        return sum(part.charged for part in self.parts)

    @property
    def bars(self) -> tuple[tuple[int, ...], ...]:
        """Return an equal share of what is given for each question of each group."""
        return tuple(part.bars for part in self.parts)

    def expect_unchanged(self, passed: PassedGroups) -> None:
        """Refuse what went by if it is not what was decided on."""
        for part, each in zip(self.parts, passed.parts, strict=True):
            part.expect_unchanged(each)

    def knowing(self, announcement: Announcement, above: Sequence[tuple[tuple[int, int], ...]]) -> Decisions:
        """Decide again once it is known what is above the bars of each group."""
        groups = zip(announcement.parts, self.parts, above, strict=True)
        return expect_some(announcement, [decision.knowing(offer, each) for offer, decision, each in groups])

    def waits(self, announcement: Announcement) -> bool:
        """Say whether a question of some group may still be dropped once the tilt is known."""
        return any(part.waits(offer) for offer, part in zip(announcement.parts, self.parts, strict=True))


def decide_by_group(
    announcement: Announcement,
    promises: PromisesByGroup,
    joined: Answers,
    codes: Codes = None,
    *,
    quorum: Quorum | None = None,
) -> Decisions:
    """Add up promises and decide what is published of each group; refuse where nothing of any would be."""
    all_came = joined is None and codes is None
    groups = zip(announcement.parts, promises.sums(joined=joined, codes=codes), strict=True)
    came = [(offer, counted(offer, *sums, all_came=all_came)) for offer, sums in groups]
    return expect_some(announcement, [decide_in_group(offer, each, quorum) for offer, each in came])


def expect_some(announcement: Announcement, decisions: Sequence[Decision]) -> Decisions:
    """Refuse a release of which nothing would be left."""
    if not any(each.released for each in decisions):
        names = [str(design.group) for design in announcement.designs]
        raise PromiseBroken(
            "nothing could be published of any of the groups {groups}, of the first because {why}; wait for more answers, or"
            " cancel",
            groups=listed_groups(names),
            why=WHY[decisions[0].dropped[0]],
        )
    return Decisions(tuple(decisions))


def add_up_groups(
    announcement: Announcement, promises: PromisesByGroup, codes: Codes, *, decision: Decisions, joined: Answers
) -> MeasuredGroups:
    """Make the exact sums of every group, and the tilt of its weights, in one read; then decide what waited for it."""
    bars = () if joined is None and len(announcement.sheet) == 1 else decision.bars
    those = promises.weighed(announcement.sheet.questions, codes, joined=joined, bars=bars)
    for each, sums in zip(decision.parts, those, strict=True):
        check_unchanged(each.came, sums)
    if bars:
        decision = decision.knowing(announcement, [tuple(one.above for one in sums.questions) for sums in those])
    versions = versions_of(noiseless=announcement.noiseless)
    groups = zip(announcement.parts, decision.parts, those, strict=True)
    return MeasuredGroups(announcement, tuple(Measured(*each, versions) for each in groups))


@dataclass(frozen=True)
class MeasuredGroups:
    """A release of groups that lacks only its noise; the exact sums inside are private, and shown nowhere."""

    announcement: Announcement
    parts: tuple[Measured, ...]
    grain_source: Callable[[], NDArray[np.int64]] | None = field(default=None, repr=False)

    @property
    def decision(self) -> Decisions:
        """What was decided on each group."""
        return Decisions(tuple(part.decision for part in self.parts))

    @property
    def marks(self) -> int:
        """What stands for who was promised and answered what."""
        return sum(part.marks for part in self.parts)

    def noises(self, count: int) -> Iterator[list[int]]:
        """Draw the noise of so many releases: one draw for each published integer of each group."""
        size = sum(part.size for part in self.parts)
        drawn = self.parts[0].draw(count * size)
        return (drawn[start : start + size] for start in range(0, count * size, size))

    def drawn(self) -> Release:
        """Draw the noise, once; nothing is checked from here on, so that no draw is thrown away."""
        (noises,) = self.noises(1)
        return self.hidden_by(noises)

    def hidden_by(self, noises: list[int]) -> Release:
        """Add the noise; from here on nothing depends on the values but the totals."""
        ends = list(accumulate((part.size for part in self.parts), initial=0))
        spans = zip(self.parts, ends, ends[1:], strict=False)
        releases = [part.exactly(noises[start:end]) for part, start, end in spans]
        answered = tuple(GroupAnswered(each.joined_people, each.answered) for each in releases)
        people = sum(each.joined_people for each in releases)
        together = replace(
            releases[0], announcement=self.announcement, joined_people=people, answered=(), parts=answered
        )
        return replace(together.as_published(), grain_source=self.grain_source)
