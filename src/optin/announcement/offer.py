"""The announcement: the public offer, of constant size, that freezes what everyone is promised (E12, E13)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Description
from optin.announcement.consistency import check_consistent
from optin.announcement.dividing import Divided
from optin.announcement.exact import announced_eta
from optin.announcement.numbers import AnnouncedDesign, ExactSums, PublicNumbers
from optin.announcement.one_question import AnnouncedQuestion, place_of_question
from optin.announcement.telling import ToldOffer
from optin.announcement.terms import PRIVACY_CONSTRAINED, Terms
from optin.announcement.version_1 import flat, read_version_1
from optin.errors import BadInput
from optin.formats import strict_json
from optin.grains.array_people import ArrayPeople
from optin.grains.arrays import GRAIN, HIGHEST_EPSILON, GrainRule, everyone_capped, everyone_grains
from optin.grains.people import Promises, people_of
from optin.grains.splitting import part
from optin.planning.cautions import limit_cautions, sheet_cautions
from optin.planning.promise import OneQuestion, PromisedVariance, Promising
from optin.planning.reach import reach
from optin.questions import Sheet
from optin.wording.groups import by_group

VERSION = 2
READABLE = (VERSION, VERSION - 1)


@dataclass(frozen=True, repr=False)
class Announcement(OneQuestion, Promising, Divided, ToldOffer):
    """What is offered to everyone, in public: it names nobody and lists nobody's limit.

    ``terms`` say what is asked, word for word. There is one of ``designs``, or one for each public group (E27): its
    ``public`` holds the numbers that follow; its ``sealed``, for each question, the exact sums of the promises and of their
    squares, so that a limit edited afterwards is noticed. From it and their own limit (or cost, and group), each person
    computes what they are promised: ``optin.explain``. ``version`` is that of the format it was written in.
    """

    terms: Terms
    designs: tuple[AnnouncedDesign, ...]
    version: int = VERSION

    @classmethod
    def undivided(
        cls, terms: Terms, public: PublicNumbers, sealed: tuple[ExactSums, ...], *, version: int = VERSION
    ) -> Announcement:
        """Announce one design to everyone."""
        return cls(terms, (AnnouncedDesign(public, sealed),), version)

    def stating(
        self, *, public: PublicNumbers | None = None, sealed: tuple[ExactSums, ...] | None = None
    ) -> Announcement:
        """Return the same offer to everyone with other numbers."""
        design = AnnouncedDesign(public or self.public, self.sealed if sealed is None else sealed)
        return replace(self, designs=(design,))

    @property
    def public(self) -> PublicNumbers:
        """What everyone may read, where people are in no groups."""
        return self.only_design.public

    @property
    def sealed(self) -> tuple[ExactSums, ...]:
        """The exact sums of each question, where people are in no groups."""
        return self.only_design.sealed

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
        """How many people it is announced to, in all groups together."""
        return sum(design.public.people for design in self.designs)

    @property
    def cap(self) -> float:
        """The most epsilon anyone gives."""
        return self.public.cap

    @property
    def cap_lowered(self) -> bool:
        """Whether the plan's cap is above the highest that one release promises."""
        return self.public.cap_lowered

    @property
    def shares(self) -> tuple[int, ...]:
        """How many 2^-20ths of everyone's epsilon each question gets (E20)."""
        return self.public.shares

    @property
    def data_variance(self) -> float:
        """The declared variance of the one question; in a sheet of several, accuracy is counted in units of it."""
        return self.sheet.questions[0].data_variance if len(self.sheet) == 1 else 1.0

    @property
    def eta(self) -> float:
        """The Laplace rate at full turnout where one number is asked for; infinite without noise."""
        return math.inf if self.noiseless else announced_eta(self.total_grains, self.width)

    @property
    def tilt(self) -> float:
        """How far the weights are from equal (E15)."""
        return self.public.tilt

    @property
    def variance(self) -> float:
        """E13's variance at full turnout, where one number is asked for."""
        assert self.question  # noqa: S101 - BadInput where there are several
        return self.public.variances[0]

    @property
    def question_sums(self) -> tuple[ExactSums, ...]:
        """The exact sums of each question over everyone."""
        return self.sealed

    @property
    def promise(self) -> PromisedVariance | None:
        """What people with costs are promised."""
        return self.public.promise

    @property
    def total_grains(self) -> int:
        """The exact sum of everyone's grains, over all questions and groups."""
        return sum(each.total_grains for design in self.designs for each in design.sealed)

    @property
    def total_squared_grains(self) -> int:
        """The exact sum of their squares, where there is one question."""
        (only,) = self.sealed
        return only.total_squared_grains

    @property
    def id(self) -> str:
        """Name the one release this announcement allows: campaign and round."""
        return f"{self.campaign}-{self.round}"

    @property
    def noiseless(self) -> bool:
        """Say whether no noise is planned, because everyone who counts set no limit; so it is in all groups or in none."""
        return any(design.public.noiseless for design in self.designs)

    @property
    def largest_capped(self) -> int:
        """Return the grains of whoever reaches the cap, before they are split among questions."""
        return int(HIGHEST_EPSILON * GRAIN) if self.noiseless else int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    @property
    def largest_parts(self) -> tuple[int, ...]:
        """Return the most grains that anybody gives for each question."""
        capped = np.array([self.largest_capped])
        return tuple(int(part(capped, share)[0]) for share in self.shares)

    @property
    def largest_promise(self) -> int:
        """Return the most grains this announcement promises anybody: those of whoever reaches the cap."""
        return max(sum(part.largest_parts) for part in self.parts)

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise at full turnout, in the unit of the values."""
        return 1.0 / self.eta

    @property
    def standard_error(self) -> float:
        """Return the root of the variance at full turnout."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to ``max_gap`` (E15)."""
        return self.max_gap * self.tilt

    def __getitem__(self, name: str) -> AnnouncedQuestion:
        return AnnouncedQuestion(self, place_of_question(self.sheet, name))

    @property
    def questions(self) -> tuple[AnnouncedQuestion, ...]:
        """What is announced of each question, in the order of the sheet."""
        return tuple(AnnouncedQuestion(self, place) for place in range(len(self.sheet)))

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval that this offer leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.
        """
        squares = self.total_squared_grains / self.total_grains**2 / turnout
        scale, at_cap = 0.0 if self.noiseless else 1.0 / self.eta, self.largest_promise / self.total_grains
        people = self.people * turnout
        return reach(self, level, people=people, squares=squares, at_cap=at_cap / turnout, scale=scale / turnout)

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this offer, in sentences: nothing is refused for it (`Plan.warnings`)."""
        stated = description if self.model == PRIVACY_CONSTRAINED else None
        if not self.grouped:
            return sheet_cautions(self.questions, stated)
        told = {name: part.warnings() for name, part in self.groups.items() if part.total_grains}
        return (*by_group(told), *limit_cautions(stated, known=False))

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of the canonical bytes of everything announced."""
        return strict_json.fingerprint(self.to_record())

    def grains(self, agents: Agents) -> NDArray[np.int64]:
        """List the promise of each of these people in grains of 2^-32, at most their limit, exactly."""
        if self.grouped:
            found = ArrayPeople(self.as_announced(agents).in_memory()).promises_by_group(self.parts)
            return found.columns(found.scattered(everyone_capped))["grains"]
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
            return {"format": "optin.announcement/1", **flat(self)}
        return {
            "format": f"optin.announcement/{VERSION}",
            "terms": self.terms.to_record(),
            **(self._groups_record() if self.grouped else self._record()),
        }

    def _record(self) -> dict[str, Any]:
        return {"public": self.public.to_record(), "sealed": self.only_design.sealed_record()}

    def _groups_record(self) -> dict[str, Any]:
        return {
            "public": {"groups": [design.public_record() for design in self.designs]},
            "sealed": {"groups": [design.sealed_record() for design in self.designs]},
        }

    def to_json(self) -> str:
        """Write the announcement, with its fingerprint, for everyone to read."""
        return json.dumps({**self.to_record(), "fingerprint": self.fingerprint}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Announcement:
        """Read an announcement; one that does not match its own fingerprint or sums is refused."""
        return cls.from_fields(strict_json.Fields.parse(text, "announcement", READABLE))

    @classmethod
    def from_fields(cls, fields: strict_json.Fields) -> Announcement:
        """Read an announcement from fields already parsed (a release embeds one)."""
        if fields.version == 1:
            found, stated = cls.undivided(*read_version_1(fields), version=1), fields.take_text("fingerprint")
        else:
            stated, found = fields.expect_fingerprint(), cls(*_parts(fields))
        fields.finish()
        if found.fingerprint != stated:
            fields.refuse_changed()
        check_consistent(found)
        return found


def _parts(fields: strict_json.Fields) -> tuple[Terms, tuple[AnnouncedDesign, ...]]:
    """Read terms and designs."""
    terms = Terms.from_fields(fields.take_object("terms"))
    public, sealed = fields.take_object("public"), fields.take_object("sealed")
    if not public.has("groups"):
        return terms, (AnnouncedDesign.from_fields(public, sealed, grouped=False),)
    parts = public.take_objects("groups"), sealed.take_objects("groups")
    public.finish()
    sealed.finish()
    if not 0 < len(parts[0]) == len(parts[1]):
        fields.refuse("it has public and sealed numbers of different groups")
    return terms, tuple(AnnouncedDesign.from_fields(*each, grouped=True) for each in zip(*parts, strict=True))
