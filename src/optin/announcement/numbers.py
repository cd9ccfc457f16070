"""The numbers of an announcement: those that everyone reads, and exact sums, which bind it and are kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optin.formats.strict_json import Fields, real, wide
from optin.planning.promise import PromisedVariance


@dataclass(frozen=True)
class PublicNumbers:
    """What everyone may read: how many people, the cap, the noise, the tilt, the variance of each question.

    ``shares`` is how an epsilon is divided among the questions; ``promise`` what people with costs are promised.
    """

    people: int
    cap: float
    eta: float
    tilt: float
    variances: tuple[float, ...]
    shares: tuple[float, ...] = (1.0,)
    cap_lowered: bool = False
    promise: PromisedVariance | None = None

    def to_record(self) -> dict[str, Any]:
        """Write them as JSON holds them."""
        return {
            "people": self.people,
            "cap": real(self.cap),
            "cap_lowered": self.cap_lowered,
            "eta": real(self.eta),
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
            eta=fields.take_real("eta"),
            tilt=fields.take_real("tilt"),
            variances=fields.take_reals("variances"),
            shares=fields.take_reals("shares"),
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
    def from_fields(cls, fields: Fields) -> ExactSums:
        """Read them, and leave other fields alone."""
        return cls(fields.take_int("total_grains"), fields.take_int("total_squared_grains"))
