"""The numbers of an announcement: those that everyone reads, and exact sums, which bind it and are kept apart."""

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
