"""What a release counted for one question: the noisy integers that were drawn, and what the public is told of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from optin.announcement.exact import told_of
from optin.announcement.numbers import ExactSums, noise_of_share
from optin.announcement.one_question import Portion
from optin.formats.strict_json import Fields, real, wide
from optin.kernel.coarse import COARSEST, told_up
from optin.kernel.rounding import GRAIN
from optin.kernel.sharing import SHARES
from optin.questions import Question
from optin.questions.counted import Counted, Counting, RoundedCounted
from optin.wording.groups import SMALLEST_GROUP, in_tens

NOTHING = ExactSums(0, 0)


@dataclass(frozen=True)
class Told:
    """What the public is told of a question: 1/E and squared weights rounded up (`told_up`), and each cell on a step.

    E is what those who answered it gave to all questions, so that what the same people answered has the same noise.
    """

    noise: float
    squares: float
    cells: tuple[float, ...]

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return {"noise": real(self.noise), "squares": real(self.squares), "cells": list(self.cells)}

    @classmethod
    def from_fields(cls, fields: Fields) -> Told:
        """Read what `to_record` wrote."""
        told = cls(fields.take_real("noise"), fields.take_real("squares"), fields.take_reals("cells"))
        fields.finish()
        return told


@dataclass(frozen=True)
class Answered:
    """Who is counted, in sums: how many people, the tilt of their weights (E15), what they gave in grains, and N + Z (E13).

    A question that was ``dropped`` says why; nothing is published of it, and nobody is charged for it. Under seal it has what is
    ``told`` instead of sums and integers, and these, where they are known, in ``sealed``; a group's people are then in ``tens``.
    """

    people: int
    tilt: float = 0.0
    sums: ExactSums = field(default=NOTHING, repr=False)
    noisy_totals: tuple[int, ...] = field(default=(), repr=False)
    dropped: str = ""
    told: Told | None = None
    tens: bool = False
    sealed: Answered | None = field(default=None, compare=False, repr=False)

    def under_seal(self, question: Question, portion: Portion, *, announced: int, of_group: bool = False) -> Answered:
        """Return what the public is told where so many people were announced, and keep the rest."""
        people = in_tens(self.people) if of_group else self.people
        if self.dropped:
            return Answered(people, dropped=self.dropped, tens=of_group, sealed=self)
        exact = question.result(self.counted(question, portion))
        told = Told(*told_of(self.sums, portion.share, announced), ())
        answered = Answered(people, min(told_up(self.tilt, announced), 1.0), told=told, tens=of_group, sealed=self)
        rounded = replace(
            answered._rounded(question, portion), means=exact.means()
        )  # its steps follow from what is told
        cells = tuple(float(cell) for cell in question.result(rounded).told_cells())
        return replace(answered, told=replace(told, cells=cells))

    def counted(self, question: Question, portion: Portion, *, noiseless: bool = False) -> Counting:
        """Return what a result is read off."""
        if self.told is not None:
            return self._rounded(question, portion)
        return Counted(
            people=self.people,
            grains=self.sums.total_grains,
            squares=self.sums.total_squared_grains,
            most=portion.most,
            noisy=self.noisy_totals,
            noiseless=noiseless,
            tilt=self.tilt,
            max_gap=question.max_gap,
        )

    def _rounded(self, question: Question, portion: Portion) -> RoundedCounted:
        assert self.told is not None  # noqa: S101 - asked only of what is under seal
        told = tuple(Fraction(repr(cell)) for cell in self.told.cells)
        return RoundedCounted(
            people=self.people + (SMALLEST_GROUP - 1 if self.tens else 0),
            noise=noise_of_share(self.told.noise, portion.share),
            squares=self.told.squares,
            most=portion.most,
            means=question.means_told(told) if told else (),
            tilt=self.tilt,
            max_gap=question.max_gap,
        )

    def largest_total(self, share: int) -> int:
        """Bound what all who answered gave together for a question of this share, in grains, by what is told."""
        if self.told is None:
            return self.sums.total_grains
        most = COARSEST * int(GRAIN) / Fraction(repr(self.told.noise))
        return math.ceil(most * Fraction(share, SHARES))

    def public(self, *, of_group: bool = False, sealed: bool = False) -> dict[str, Any]:
        """Write what everyone may read, as JSON holds it; of a group, people are counted in tens."""
        people = in_tens(self.people) if of_group else self.people
        record = {"people": people, "tilt": real(self.tilt), "dropped": self.dropped}
        return record | ({"told": None if self.told is None else self.told.to_record()} if sealed else {})

    def exact_record(self, *, of_group: bool = False, sealed: bool = False) -> dict[str, Any]:
        """Write the exact sums and the noisy integers, as JSON holds them; of a group, the exact count too."""
        counted = {"people": self.people} if of_group or sealed else {}
        tilted = {"tilt": real(self.tilt)} if sealed else {}
        totals = [wide(total) for total in self.noisy_totals]
        return {**counted, **tilted, **self.sums.to_record(), "noisy_totals": totals}

    @classmethod
    def from_fields(cls, public: Fields, sums: Fields, *, of_group: bool = False) -> Answered:
        """Read what `public` and `exact_record` wrote where sums are public."""
        told = public.take_count("people")
        answered = cls(
            people=sums.take_count("people") if of_group else told,
            tilt=public.take_real("tilt"),
            dropped=public.take_text("dropped"),
            sums=ExactSums.from_fields(sums),
            noisy_totals=sums.take_integers("noisy_totals"),
        )
        public.finish()
        sums.finish()
        return answered

    @classmethod
    def from_public(cls, fields: Fields, *, of_group: bool = False) -> Answered:
        """Read what `public` wrote where sums are under seal."""
        answered = cls(
            people=fields.take_count("people"),
            tilt=fields.take_real("tilt"),
            dropped=fields.take_text("dropped"),
            told=fields.maybe("told", lambda name: Told.from_fields(fields.take_object(name))),
            tens=of_group,
        )
        fields.finish()
        return answered

    def opened(self, fields: Fields) -> Answered:
        """Read beside it what `exact_record` wrote."""
        exact = Answered(
            people=fields.take_count("people"),
            tilt=fields.take_real("tilt"),
            dropped=self.dropped,
            sums=ExactSums.from_fields(fields),
            noisy_totals=fields.take_integers("noisy_totals"),
        )
        fields.finish()
        return replace(self, sealed=exact)
