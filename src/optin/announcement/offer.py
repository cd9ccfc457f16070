"""The announcement: the public offer, of constant size, that freezes what everyone is promised (E12, E13)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Description
from optin.announcement.consistency import check_consistent
from optin.announcement.dividing import Divided
from optin.announcement.exact import exact_numbers
from optin.announcement.numbers import AnnouncedDesign, ExactSums, PublicNumbers
from optin.announcement.offered import Offered
from optin.announcement.reading import read_designs, with_sums
from optin.announcement.sealed import Seal, Sealed, commitment_to, new_salt, sealed_record
from optin.announcement.telling import ToldOffer
from optin.announcement.terms import PRIVACY_CONSTRAINED, Terms
from optin.announcement.version_1 import flat, flat_sums, read_version_1
from optin.errors import BadInput
from optin.formats import strict_json
from optin.grains.array_people import ArrayPeople
from optin.grains.arrays import GrainRule, everyone_capped, everyone_grains
from optin.grains.people import Promises, people_of
from optin.planning.cautions import limit_cautions, sheet_cautions
from optin.questions import Sheet
from optin.wording.groups import by_group

VERSION = 2
READABLE = (VERSION, VERSION - 1)


@dataclass(frozen=True, repr=False)
class Announcement(Offered, Divided, ToldOffer):
    """What is offered to everyone, in public: it names nobody and lists nobody's limit.

    ``terms`` say what is asked, word for word. There is one of ``designs``, or one for each public group (E27): its
    ``public`` holds the numbers that follow, rounded, for exactly they would tell limits. The exact ones are in ``sealed``,
    among them for each question the sums of the promises and of their squares, so that a limit edited afterwards is noticed;
    the public file binds them by a salted hash (``seal``) and does not hold them. Where ``seal`` is None (a given eta, no noise,
    people with costs, earlier versions), sums are public. From an announcement and their own limit (or cost, and group), each
    person computes what they are promised: ``optin.explain``. ``version`` is that of the format it was written in.
    """

    terms: Terms
    designs: tuple[AnnouncedDesign, ...]
    version: int = VERSION
    seal: Seal | None = None
    everyone: int | None = None
    """How many people all groups have together, where those of each are told in tens."""

    @classmethod
    def undivided(
        cls, terms: Terms, public: PublicNumbers, sums: tuple[ExactSums, ...], *, version: int = VERSION
    ) -> Announcement:
        """Announce one design to everyone, with its sums in public."""
        return cls(terms, (with_sums(AnnouncedDesign(public, None), sums, terms.sheet),), version)

    def stating(
        self, *, public: PublicNumbers | None = None, sums: tuple[ExactSums, ...] | None = None
    ) -> Announcement:
        """Return the same offer to everyone with other numbers, of which sums are public."""
        exact_sums = self.expect_sealed().question_sums if sums is None else sums
        exact = exact_numbers(self.sheet, public or self.public, exact_sums)
        return replace(self, designs=(AnnouncedDesign(exact.numbers, exact),))

    def under_seal(self, salt: str | None = None) -> Announcement:
        """Return the same offer with its exact numbers under seal: public ones are rounded, and a salted hash binds the rest."""
        people = self.expect_sealed().people if self.grouped else None
        salt = salt or new_salt()
        seal = Seal(commitment_to(self.designs, salt), salt)
        told = tuple(design.rounded(self.sheet) for design in self.designs)
        return replace(self, designs=told, seal=seal, everyone=people)

    @property
    def public(self) -> PublicNumbers:
        """What everyone may read, where people are in no groups."""
        return self.only_design.public

    @property
    def sealed(self) -> Sealed | None:
        """The exact numbers; None where only the public file is known, and they are under seal."""
        return None if any(design.exact is None for design in self.designs) else Sealed(self)

    def expect_sealed(self) -> Sealed:
        """Return the exact numbers; BadInput where they are not known."""
        sealed = self.sealed
        if sealed is None:
            raise BadInput(
                "this announcement is the public one, and its exact sums are under seal: use the ledger it was announced with,"
                " the announcement.sealed.json that was written beside it, or what `optin ledger open` writes"
            )
        return sealed

    @property
    def open_sums(self) -> tuple[ExactSums, ...] | None:
        """The exact sums of each question, where they are public."""
        return None if self.seal is not None else self.expect_sealed().question_sums

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return self.terms.campaign

    @property
    def round(self) -> int:
        """Which round of the campaign this is."""
        return self.terms.round

    @property
    def model(self) -> str:
        """Whom it is for: people with limits, or people who weigh costs."""
        return self.terms.model

    @property
    def sheet(self) -> Sheet:
        """What is asked."""
        return self.terms.sheet

    @property
    def people(self) -> int:
        """How many people it is announced to, in all groups together; of one group under seal, in tens."""
        if self.everyone is not None:
            return self.everyone
        return sum(design.public.people for design in self.designs)

    @property
    def id(self) -> str:
        """Name the one release this announcement allows: campaign and round."""
        return f"{self.campaign}-{self.round}"

    @property
    def noiseless(self) -> bool:
        """Say whether no noise is planned, because everyone who counts set no limit; so it is in all groups or in none."""
        return any(design.public.noiseless for design in self.designs)

    @property
    def largest_promise(self) -> int:
        """Return the most grains this announcement promises anybody: those of whoever reaches the cap."""
        return max(sum(part.largest_parts) for part in self.parts)

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this offer, in sentences: nothing is refused for it (`Plan.warnings`)."""
        stated = description if self.model == PRIVACY_CONSTRAINED else None
        if not self.grouped:
            return sheet_cautions(self.questions, stated)
        parts = {name: part.questions for name, part in self.groups.items() if not part.public.empty}
        told = {name: sheet_cautions(questions, None, of_group=True) for name, questions in parts.items()}
        return (*by_group(told), *limit_cautions(stated, known=False))

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of the canonical bytes of everything announced."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return strict_json.fingerprint(self.to_record())

    def grains(self, agents: Agents) -> NDArray[np.int64]:
        """List the promise of each of these people in grains of 2^-32, at most their limit, exactly."""
        if self.grouped:
            promises = ArrayPeople(self.as_announced(agents).in_memory()).promises_by_group(self.parts)
            return promises.columns(promises.scattered(everyone_capped))["grains"]
        return everyone_grains(self.grain_rule(agents))

    def promises(self, agents: Agents) -> Promises:
        """Join what is announced with people's limits, in memory or in an engine; nothing is computed yet."""
        self.expect_model(agents)
        return people_of(agents).promises(self)

    def grain_rule(self, agents: Agents) -> GrainRule:
        """Join what is announced with limits in memory; nothing is computed yet."""
        self.expect_model(agents)
        return ArrayPeople(agents.in_memory()).promises(self)

    def expect_model(self, agents: Agents) -> None:
        """Refuse people of the other model."""
        if agents.model != self.model:
            raise BadInput(
                "this announcement was made for {model} people, these are {other}",
                model=self.model,
                other=agents.model,
            )

    def flat(self) -> dict[str, Any]:
        """Return what is announced by name, without layers, for scripts; of each group by its name."""
        return {"groups": {name: flat(part) for name, part in self.groups.items()}} if self.grouped else flat(self)

    def to_record(self) -> dict[str, Any]:
        """Return what is announced as JSON holds it, in the version it was read in, without the fingerprint."""
        if self.version == 1:
            return {"format": "optin.announcement/1", **flat(self), **flat_sums(self)}
        record = {"format": f"optin.announcement/{VERSION}", "terms": self.terms.to_record(), "public": self._public()}
        return record | ({"sealed": self._sums()} if self.seal is None else {"commitment": self.seal.commitment})

    def _public(self) -> dict[str, Any]:
        records = [design.public_record(sealed=self.seal is not None) for design in self.designs]
        everyone = {} if self.everyone is None else {"people": self.everyone}
        return everyone | {"groups": records} if self.grouped else records[0]

    def _sums(self) -> dict[str, Any]:
        """Write sums that are public; "sealed" is what earlier versions called them."""
        sums = [part.expect_sealed().question_sums for part in self.parts]
        records = [{"questions": [each.to_record() for each in questions]} for questions in sums]
        return {"groups": records} if self.grouped else records[0]

    def to_public_record(self) -> dict[str, Any]:
        """Return what everyone may read as JSON holds it, with its fingerprint."""
        return {**self.to_record(), "fingerprint": self.fingerprint}

    def to_json(self) -> str:
        """Write the announcement, with its fingerprint, for everyone to read."""
        return json.dumps(self.to_public_record(), indent=2, allow_nan=False)

    def to_sealed_json(self) -> str:
        """Write it with its exact numbers and the salt that opens the seal: for the ledger and for auditors, not for everyone."""
        self.expect_sealed()
        opened = {} if self.seal is None else {"sealed": sealed_record(self.designs, self.seal)}
        record = self.to_public_record()
        stated = {"fingerprint": record.pop("fingerprint")}
        return json.dumps({**record, **opened, **stated}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Announcement:
        """Read an announcement, public or opened; one that does not match its own fingerprint, seal or sums is refused."""
        return cls.from_fields(strict_json.Fields.parse(text, "announcement", READABLE))

    @classmethod
    def from_fields(cls, fields: strict_json.Fields) -> Announcement:
        """Read an announcement from fields already parsed (a release embeds one)."""
        if fields.version == 1:
            announcement, stated = cls.undivided(*read_version_1(fields), version=1), fields.take_text("fingerprint")
        else:
            opening = ("sealed",) if fields.has("commitment") else ()
            stated = fields.expect_fingerprint(without=opening)
            terms = Terms.from_fields(fields.take_object("terms"))
            designs, seal, everyone = read_designs(fields, terms.sheet)
            announcement = cls(terms, designs, seal=seal, everyone=everyone)
        fields.finish()
        if announcement.fingerprint != stated:
            fields.refuse_changed()
        check_consistent(announcement)
        return announcement
