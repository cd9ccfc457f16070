"""An announcement to public groups (E27): one offer each, and each of them is what its people would be announced alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from optin.announcement.numbers import AnnouncedDesign
from optin.errors import BadInput
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
        """What is announced to each public group, by its name, as if to its people alone."""
        found = {design.group: replace(self, designs=(_alone(design),)) for design in self.designs}
        return {name: offer for name, offer in found.items() if name is not None}

    @property
    def parts(self: Announcement) -> tuple[Announcement, ...]:  # type: ignore[misc]
        """What is announced to each group, or to everyone where there are none."""
        return tuple(self.groups.values()) if self.grouped else (self,)

    def of_group(self: Announcement, label: str) -> Announcement:  # type: ignore[misc]
        """Return what is announced to whoever is in this group, whether or not it was merged with others."""
        for design, offer in zip(self.designs, self.parts, strict=True):
            if label in design.labels or label == design.group:
                return offer
        raise BadInput(
            "this announcement knows no group {group}; it has {groups}",
            group=shown_group(label),
            groups=listed_groups([each for design in self.designs for each in design.labels]) or "none",
        )

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
    return AnnouncedDesign(design.public, design.sealed)
