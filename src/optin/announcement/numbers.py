"""The numbers of an announcement: those that everyone reads, and exact sums, which bind it and are kept apart.

People in public groups (E27) have them group by group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optin.formats.strict_json import Fields, real, wide
from optin.grains.splitting import ALONE
from optin.planning.promise import PromisedVariance


@dataclass(frozen=True)
class PublicNumbers:
    """What everyone may read: how many people, the cap, whether there is noise, the tilt, the variance of each question.

    ``shares`` says how many 2^-20ths of an epsilon each question gets (E20); ``tilt`` is the largest over the questions;
    ``promise`` is what people with costs are promised.
    """

    people: int
    cap: float
    noiseless: bool
    tilt: float
    variances: tuple[float, ...]
    shares: tuple[int, ...] = ALONE
    cap_lowered: bool = False
    promise: PromisedVariance | None = None

    def to_record(self) -> dict[str, Any]:
        """Write them as JSON holds them."""
        return {
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
    def from_fields(cls, fields: Fields) -> PublicNumbers:
        """Read what `to_record` wrote."""
        found = cls(
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
        return found


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
    def from_whole(cls, fields: Fields) -> ExactSums:
        """Read what `to_record` wrote, and nothing else."""
        found = cls.from_fields(fields)
        fields.finish()
        return found

    @classmethod
    def from_fields(cls, fields: Fields) -> ExactSums:
        """Read them, and leave other fields alone."""
        return cls(fields.take_int("total_grains"), fields.take_int("total_squared_grains"))


@dataclass(frozen=True)
class AnnouncedDesign:
    """What is announced to everyone, or to one public group: numbers that everyone reads, and for each question exact sums.

    ``merged`` are the labels of which a group is made, where several were too small.
    """

    public: PublicNumbers
    sealed: tuple[ExactSums, ...]
    group: str | None = None
    merged: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the people it is for: its own name, or those that were merged."""
        return self.merged or (() if self.group is None else (self.group,))

    @property
    def empty(self) -> bool:
        """Whether nobody in this group is promised anything, so that nothing will be published of it."""
        return self.group is not None and not any(each.total_grains for each in self.sealed)

    def sealed_record(self) -> dict[str, Any]:
        """Write the exact sums as JSON holds them."""
        return {"questions": [each.to_record() for each in self.sealed]}

    def public_record(self) -> dict[str, Any]:
        """Write what everyone reads of a group as JSON holds it."""
        return {"group": self.group, "merged": list(self.merged), **self.public.to_record()}

    @classmethod
    def from_fields(cls, public: Fields, sealed: Fields, *, grouped: bool) -> AnnouncedDesign:
        """Read what the two records hold."""
        named = (public.take_text("group"), public.take_texts("merged")) if grouped else (None, ())
        numbers = PublicNumbers.from_fields(public)
        sums = tuple(ExactSums.from_whole(each) for each in sealed.take_objects("questions"))
        sealed.finish()
        return cls(numbers, sums, *named)
