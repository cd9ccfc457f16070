"""An announcement to public groups (E27): one offer each, and each of them is what its people would be announced alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from optin.agents import Agents
from optin.announcement.numbers import AnnouncedDesign
from optin.errors import Argument, BadInput, PromiseBroken
from optin.grains.people import promises_of
from optin.grains.promised_groups import PromisesByGroup
from optin.wording.groups import listed_groups, shown_group

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement


class Divided:
    """Read off an announcement what it says to each group."""

    designs: tuple[AnnouncedDesign, ...]

    @property
    def grouped(self) -> bool:
        """Whether people are in public groups, each with a design of its own (E27)."""
        return self.designs[0].group is not None

    @cached_property
    def groups(self: Announcement) -> Mapping[str, Announcement]:  # type: ignore[misc]
        """What is announced to each public group, by its name: the numbers of its people alone, under the terms of all.

        With one question these state ``min_people``, as they would not to undivided people: a group may be withheld.
        """
        parts = {design.group: replace(self, designs=(_alone(design),), everyone=None) for design in self.designs}
        return {name: offer for name, offer in parts.items() if name is not None}

    @property
    def parts(self: Announcement) -> tuple[Announcement, ...]:  # type: ignore[misc]
        """What is announced to each group, or to everyone where there are none."""
        return tuple(self.groups.values()) if self.grouped else (self,)

    def of_group(self: Announcement, label: str) -> Announcement:  # type: ignore[misc]
        """Return what is announced to whoever is in this group, whether or not it was merged with others."""
        return self.groups[self.name_of(label)]

    def name_of(self: Announcement, label: str) -> str:  # type: ignore[misc]
        """Return under which name this group was announced, which is another one if it was merged with others."""
        for design in self.designs:
            if design.group is not None and (label in design.labels or label == design.group):
                return design.group
        raise BadInput(
            "this announcement knows no group {group}; it has {groups}",
            group=shown_group(label),
            groups=listed_groups([each for design in self.designs for each in design.labels]) or "none",
        )

    def promises_by_group(self: Announcement, agents: Agents) -> PromisesByGroup:  # type: ignore[misc]
        """Join the offer to each group with the limits of its people; nothing is computed yet."""
        self.expect_model(agents)
        return promises_of(self.as_announced(agents), self.parts, grouped=self.grouped)

    def as_announced(self: Announcement, agents: Agents) -> Agents:  # type: ignore[misc]
        """Put people into the groups they were announced in; people of a group that was not announced are refused."""
        if not self.grouped:
            return agents
        if agents.groups is None:
            raise BadInput(
                "this announcement is to people in groups, and these people have none: give {groups} as when it was planned",
                groups=Argument("groups"),
            )
        places = {label: at for at, design in enumerate(self.designs) for label in design.labels}
        other = next((label for label in agents.groups.names if label not in places), None)
        if other is not None:
            raise PromiseBroken(
                "nobody was announced in a group {group}; the groups are {groups}: use the announced table, by the columns it was"
                " planned by and in their order, or plan and announce a new round",
                group=shown_group(other),
                groups=listed_groups(list(places)),
                other_people=True,
            )
        return agents.put_into(places, [str(design.group) for design in self.designs])

    @property
    def only_design(self) -> AnnouncedDesign:
        """What is announced to everyone; BadInput where there are groups."""
        if self.grouped:
            raise BadInput(
                "this announcement has an offer to each of {count:,} groups: ask for one, as in announcement.groups[{group}]",
                count=len(self.designs),
                group=shown_group(str(self.designs[0].group)),
            )
        (only,) = self.designs
        return only


def _alone(design: AnnouncedDesign) -> AnnouncedDesign:
    """Leave out of a design that it is a group's."""
    return AnnouncedDesign(design.public, design.exact)
