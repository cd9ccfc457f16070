"""The numbers of an announcement: those that everyone reads, rounded, and exact sums, which bind it and are kept apart.

People in public groups (E27) have them group by group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from optin.formats.strict_json import Fields, real, wide
from optin.grains.splitting import ALONE
from optin.kernel.coarse import told_up, two_figures_up
from optin.kernel.noise import noise_variance, variance
from optin.kernel.sharing import SHARES
from optin.planning.shared_numbers import PromisedVariance
from optin.questions import Question, Sheet
from optin.wording.groups import SMALLEST_GROUP, in_tens, tens_in_words


@dataclass(frozen=True)
class PublicNumbers:
    """What everyone may read: how many people, the cap, whether there is noise, the tilt, the variance of each question.

    ``shares`` says how many 2^-20ths of an epsilon each question gets (E20); ``tilt`` is the largest over the questions;
    ``promise`` is what people with costs are promised. ``noises`` are 1/E, E the sum of what those who answer a question give to
    all questions, 0 without noise: where everyone answers, it is one number, so that many questions tell no more than one.
    ``squares`` are the sums of squared weights. Where sums are public, these two follow from them and are not written.
    ``tens`` says that people, those of a group under seal, are counted in tens: there are up to nine more.
    """

    people: int
    cap: float
    noiseless: bool
    tilt: float
    variances: tuple[float, ...]
    shares: tuple[int, ...] = ALONE
    cap_lowered: bool = False
    promise: PromisedVariance | None = None
    noises: tuple[float, ...] = ()
    squares: tuple[float, ...] = ()
    tens: bool = False

    @property
    def most_people(self) -> int:
        """How many people there are at most."""
        return self.people + (SMALLEST_GROUP - 1 if self.tens else 0)

    @property
    def people_in_words(self) -> str:
        """How many people there are, as far as it is told."""
        return tens_in_words(self.people) if self.tens else f"{self.people:,}"

    @property
    def empty(self) -> bool:
        """Whether nobody is promised anything, so that nothing will be published."""
        return not any(map(math.isfinite, self.variances))

    def noise(self, place: int) -> float:
        """Return 1/E of one question, E the sum of epsilons that it gets."""
        return noise_of_share(self.noises[place], self.shares[place])

    def rounded(self, sheet: Sheet) -> PublicNumbers:
        """Round what follows from limits up, to two figures at most: no noise and no error is told smaller than it is.

        Errors follow from the rounded noise and squares: each rounded by itself would be one more look at the same sums.
        """
        numbers = replace(
            self,
            tilt=min(told_up(self.tilt, self.people), 1.0),
            noises=tuple(told_up(each, self.people) for each in self.noises),
            squares=tuple(min(told_up(each, self.people), 1.0) for each in self.squares),
        )
        return replace(numbers, variances=numbers.variances_told(sheet))

    def variances_told(self, sheet: Sheet) -> tuple[float, ...]:
        """Return the variance of each question that follows from noise and squares, up to two figures."""
        return tuple(two_figures_up(self._variance(place, question)) for place, question in enumerate(sheet))

    def at_turnout(self, turnout: float) -> PublicNumbers:
        """Return the noise and squares where a share of people join, taking sums at their average (E12)."""
        return replace(
            self,
            noises=tuple(noise / turnout for noise in self.noises),
            squares=tuple(min(squares / turnout, 1.0) for squares in self.squares),
        )

    def _variance(self, place: int, question: Question) -> float:
        reach = self.reach(place)
        noise = noise_variance(question.noise_constant, reach) if reach else math.inf
        return variance(question.data_variance, self.squares[place], 1.0, noise)

    def reach(self, place: int) -> float:
        """Return E of one question, the sum of epsilons that it gets."""
        noise = self.noise(place)
        return 1.0 / noise if noise else math.inf

    def to_record(self, *, sealed: bool = False) -> dict[str, Any]:
        """Write them as JSON holds them; where sums are sealed, with what would follow from them."""
        told = {name: [real(each) for each in getattr(self, name)] for name in ("noises", "squares")}
        return (told if sealed else {}) | {
            "people": self.people,
            "cap": real(self.cap),
            "cap_lowered": self.cap_lowered,
            "noiseless": self.noiseless,
            "tilt": real(self.tilt),
            "variances": [real(variance) for variance in self.variances],
            "shares": list(self.shares),
            "promise": None if self.promise is None else self.promise.to_record(),
        }

    @classmethod
    def from_fields(cls, fields: Fields, *, sealed: bool = False, of_group: bool = False) -> PublicNumbers:
        """Read what `to_record` wrote."""
        numbers = cls(
            tens=sealed and of_group,
            noises=fields.take_reals("noises") if sealed else (),
            squares=fields.take_reals("squares") if sealed else (),
            people=fields.take_int("people"),
            cap=fields.take_real("cap"),
            cap_lowered=fields.take_bool("cap_lowered"),
            noiseless=fields.take_bool("noiseless"),
            tilt=fields.take_real("tilt"),
            variances=fields.take_reals("variances"),
            shares=fields.take_counts("shares"),
            promise=fields.maybe("promise", lambda name: PromisedVariance.from_fields(fields.take_object(name))),
        )
        fields.finish()
        return numbers


def noise_of_share(noise: float, share: int) -> float:
    """Return 1/E of a question that gets so many 2^-20ths of epsilon, where 1/E over all questions is given."""
    return noise * (SHARES / share)


@dataclass(frozen=True)
class ExactSums:
    """Exact sums of grains and of their squares: a limit edited afterwards is noticed by them."""

    total_grains: int
    total_squared_grains: int

    def to_record(self) -> dict[str, Any]:
        """Write them as JSON holds them."""
        return {
            "total_grains": wide(self.total_grains),
            "total_squared_grains": wide(self.total_squared_grains),
        }

    @classmethod
    def from_record(cls, fields: Fields) -> ExactSums:
        """Read what `to_record` wrote, and nothing else."""
        sums = cls.from_fields(fields)
        fields.finish()
        return sums

    @classmethod
    def from_fields(cls, fields: Fields) -> ExactSums:
        """Read them, and leave other fields alone."""
        return cls(fields.take_int("total_grains"), fields.take_int("total_squared_grains"))


@dataclass(frozen=True)
class ExactNumbers:
    """What is known to the last digit where it is not sealed: exact sums of each question, and all that follows from them."""

    numbers: PublicNumbers
    sums: tuple[ExactSums, ...]

    def to_record(self, *, of_group: bool = False) -> dict[str, Any]:
        """Write what cannot be computed from the rest, as JSON holds it; of a group, how many people it has."""
        counted = {"people": self.numbers.people} if of_group else {}
        return counted | {"tilt": real(self.numbers.tilt), "questions": [each.to_record() for each in self.sums]}


@dataclass(frozen=True)
class AnnouncedDesign:
    """What is announced to everyone, or to one public group: numbers that everyone reads, and exact ones where they are known.

    ``merged`` are the labels of which a group is made, where several were too small.
    """

    public: PublicNumbers
    exact: ExactNumbers | None = field(compare=False)
    group: str | None = None
    merged: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the people it is for: its own name, or those that were merged."""
        return self.merged or (() if self.group is None else (self.group,))

    @property
    def empty(self) -> bool:
        """Whether nobody in this group is promised anything, so that nothing will be published of it."""
        return self.group is not None and self.public.empty

    def rounded(self, sheet: Sheet) -> AnnouncedDesign:
        """Tell everyone rounded numbers, people of a group in tens, and keep the exact ones."""
        numbers = self.known.numbers.rounded(sheet)
        if self.group is None:
            return replace(self, public=numbers)
        return replace(self, public=replace(numbers, people=in_tens(numbers.people), tens=True))

    @property
    def known(self) -> ExactNumbers:
        """The exact numbers, asked for only where they are known (`Announcement.sealed`)."""
        assert self.exact is not None  # noqa: S101 - nothing is sealed where it is not known
        return self.exact

    def exact_record(self) -> dict[str, Any]:
        """Write what is kept under seal, as JSON holds it."""
        return self.known.to_record(of_group=self.group is not None)

    def public_record(self, *, sealed: bool) -> dict[str, Any]:
        """Write what everyone reads, of a group with its name, as JSON holds it."""
        named = {} if self.group is None else {"group": self.group, "merged": list(self.merged)}
        return named | self.public.to_record(sealed=sealed)
