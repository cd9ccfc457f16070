"""What a release keeps under seal: the noisy integers and exact sums, of which the public is told rounded numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optin.announcement.numbers import ExactSums
from optin.announcement.sealed import Seal
from optin.errors import BadInput
from optin.formats import strict_json
from optin.releasing.answered import Answered
from optin.releasing.dividing import GroupAnswered
from optin.releasing.one_number import OneNumber
from optin.releasing.results import ByQuestion

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.releasing.record import Release


@dataclass(frozen=True, repr=False)
class SealedRelease(OneNumber, ByQuestion):
    """The exact results of a release, by the names that it has for the rounded ones, and what they follow from."""

    release: Release

    def __repr__(self) -> str:
        return f"SealedRelease({self.release.id})"

    @property
    def announcement(self) -> Announcement:  # type: ignore[override]
        """What was announced."""
        return self.release.announcement

    @property
    def grouped(self) -> bool:
        """Whether people are in public groups."""
        return self.release.grouped

    def expect_undivided(self) -> None:
        """Refuse what has no one meaning where people are in groups."""
        self.release.expect_undivided()

    @property
    def answered(self) -> tuple[Answered, ...]:  # type: ignore[override]
        """The exact numbers of each question."""
        return exact_answered(self.release.answered, open_sums=self.release.seal is None)

    @property
    def parts(self) -> tuple[GroupAnswered, ...]:
        """The exact numbers of each group."""
        if self.release.seal is None:
            return self.release.parts
        return tuple(part.sealed for part in self.release.parts if part.sealed is not None)

    @property
    def joined_people(self) -> int:
        """How many people joined."""
        return self.release.joined_people if self.release.joined_exactly is None else self.release.joined_exactly

    @property
    def groups(self) -> Mapping[str, SealedRelease]:
        """The exact results of each public group, by its name."""
        return {name: SealedRelease(each) for name, each in self.release.groups.items()}

    @property
    def dropped(self) -> dict[str, str]:
        """Why questions were dropped, by their names."""
        return self.release.dropped

    @property
    def group_people(self) -> dict[str, int]:
        """How many people each group was announced to, exactly: by these `optin.releasing.comparing.total_of` gives the whole."""
        return {name: each.announcement.expect_sealed().people for name, each in self.groups.items()}

    @property
    def noisy_total(self) -> int:
        """Return N + Z of E13, where the sheet is one number."""
        return self.answered[0].noisy_totals[0]

    @property
    def question_sums(self) -> tuple[ExactSums | None, ...]:
        """Return the exact sums of each question over those who answered it; None where it was dropped."""
        self.expect_undivided()
        return tuple(None if each.dropped else each.sums for each in self.answered)

    @property
    def total_grains(self) -> int:
        """Return the exact sum of the grains that were charged, over all questions and groups."""
        parts = [part.answered for part in self.parts] if self.grouped else [self.answered]
        return sum(each.sums.total_grains for answered in parts for each in answered)

    @property
    def total_squared_grains(self) -> int:
        """Return the exact sum of their squares, where there is one question."""
        (only,) = self.answered
        return only.sums.total_squared_grains


def exact_answered(answered: Sequence[Answered], *, open_sums: bool) -> tuple[Answered, ...]:
    """Return the exact numbers of each question; where sums are public, they are these."""
    return tuple(answered) if open_sums else tuple(each.sealed for each in answered if each.sealed is not None)


def is_opened(release: Release) -> bool:
    """Say whether the exact numbers are known."""
    if release.seal is None:
        return True
    sealed_parts = release.parts if release.grouped else release.answered
    return all(each.sealed is not None for each in sealed_parts)


def exact_records(release: Release) -> dict[str, Any]:
    """Write the exact numbers, as JSON holds them."""
    exact = SealedRelease(release)
    if release.grouped:
        return {"groups": [part.exact_record(sealed=True) for part in exact.parts]}
    return {"questions": [each.exact_record(sealed=True) for each in exact.answered]}


def commitment_of(release: Release, salt: str) -> str:
    """Bind exact numbers without telling them."""
    return strict_json.fingerprint({"salt": salt, **exact_records(release)})


def opened(release: Release, fields: strict_json.Fields) -> Release:
    """Read what was kept under seal, and refuse it unless it is what the public hash binds and public numbers follow."""
    assert release.seal is not None  # noqa: S101 - only what is under seal is opened
    salt, parts = fields.take_text("salt"), fields.take_objects("groups" if release.grouped else "questions")
    fields.finish()
    if len(parts) != len(release.parts if release.grouped else release.answered):
        fields.refuse("it has public and sealed numbers of different questions or groups")
    read = replace(_beside(release, parts), seal=Seal(release.seal.commitment, salt))
    if commitment_of(read, salt) != release.seal.commitment:
        raise BadInput(
            "these sealed numbers are not those that the release is bound to: they were changed, or are another's"
        )
    return read


def _beside(release: Release, parts: Sequence[strict_json.Fields]) -> Release:
    """Put exact numbers beside those that the public is told."""
    if release.grouped:
        groups = zip(release.parts, parts, strict=True)
        return replace(release, parts=tuple(each.opened(part) for each, part in groups))
    questions = zip(release.answered, parts, strict=True)
    return replace(release, answered=tuple(each.opened(part) for each, part in questions))
