"""What an announcement keeps under seal: the exact numbers, and a salted hash in public that binds them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from optin.announcement.exact import exact_numbers
from optin.announcement.numbers import AnnouncedDesign, ExactNumbers, ExactSums, PublicNumbers
from optin.announcement.offered import Offered
from optin.errors import BadInput
from optin.formats import strict_json
from optin.questions import Sheet

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement

_SALT_BYTES = 32


@dataclass(frozen=True)
class Seal:
    """The hash that is public, and the salt that opens it for whoever is shown the exact numbers; None where it is not known."""

    commitment: str
    salt: str | None = field(default=None, compare=False, repr=False)


def new_salt() -> str:
    """Make a salt of 256 random bits: without it, nobody can try sums until one has the right hash."""
    return secrets.token_hex(_SALT_BYTES)


def commitment_to(designs: Sequence[AnnouncedDesign], salt: str) -> str:
    """Bind exact numbers without telling them: the SHA-256 of salt and numbers, in canonical bytes."""
    return strict_json.fingerprint({"salt": salt, "designs": [each.exact_record() for each in designs]})


@dataclass(frozen=True, repr=False)
class Sealed(Offered):
    """The exact numbers of an announcement, by the names that it has for the rounded ones, and the exact sums of grains."""

    announcement: Announcement

    def __repr__(self) -> str:
        return f"Sealed(announcement {self.announcement.id})"

    @property
    def id(self) -> str:
        """Campaign and round."""
        return self.announcement.id

    @property
    def sheet(self) -> Sheet:
        """What is asked."""
        return self.announcement.sheet

    @property
    def people(self) -> int:
        """How many people it is announced to, in all groups together."""
        return sum(design.known.numbers.people for design in self.announcement.designs)

    @property
    def public(self) -> PublicNumbers:
        """The exact numbers, where people are in no groups."""
        return self.announcement.only_design.known.numbers

    @property
    def open_sums(self) -> tuple[ExactSums, ...]:
        """The exact sums of each question, where people are in no groups."""
        return self.question_sums

    @property
    def question_sums(self) -> tuple[ExactSums, ...]:
        """The exact sums of each question over everyone, where people are in no groups."""
        return self.announcement.only_design.known.sums

    @property
    def total_grains(self) -> int:
        """The exact sum of everyone's grains, over all questions and groups."""
        return sum(each.total_grains for design in self.announcement.designs for each in design.known.sums)

    @property
    def total_squared_grains(self) -> int:
        """The exact sum of their squares, where there is one question."""
        (only,) = self.question_sums
        return only.total_squared_grains

    @property
    def groups(self) -> Mapping[str, Sealed]:
        """The exact numbers of each public group, by its name."""
        return {name: Sealed(offer) for name, offer in self.announcement.groups.items()}


def sealed_record(designs: Sequence[AnnouncedDesign], seal: Seal) -> dict[str, Any]:
    """Write exact numbers and salt, as JSON holds them, for the ledger and for whoever an act is opened to."""
    return {"salt": seal.salt, "designs": [design.exact_record() for design in designs]}


def opened(
    designs: Sequence[AnnouncedDesign], sheet: Sheet, seal: Seal, fields: strict_json.Fields
) -> tuple[tuple[AnnouncedDesign, ...], Seal]:
    """Read what `sealed_record` wrote, and refuse it unless it is what the public hash binds and public numbers follow."""
    salt, parts = fields.take_text("salt"), fields.take_objects("designs")
    fields.finish()
    if len(parts) != len(designs):
        fields.refuse("it has public and sealed numbers of different groups")
    exact_designs = tuple(
        replace(design, exact=_read(design, sheet, each)) for design, each in zip(designs, parts, strict=True)
    )
    if commitment_to(exact_designs, salt) != seal.commitment:
        raise BadInput(
            "these sealed numbers are not those that the announcement is bound to: they were changed, or are another's"
        )
    if any(each.rounded(sheet).public != each.public for each in exact_designs):
        raise BadInput("this announcement contradicts itself: its public numbers do not follow from the sealed ones")
    return exact_designs, replace(seal, salt=salt)


def _read(design: AnnouncedDesign, sheet: Sheet, fields: strict_json.Fields) -> ExactNumbers:
    people = design.public.people if design.group is None else fields.take_int("people")
    tilt = fields.take_real("tilt")
    sums = tuple(ExactSums.from_record(each) for each in fields.take_objects("questions"))
    fields.finish()
    if len(sums) != len(sheet):
        fields.refuse("it has sums of other questions than its sheet")
    return exact_numbers(sheet, replace(design.public, people=people, tens=False, tilt=tilt), sums)
