"""What a plan and an announcement share: the one question they are about, and what people with costs are promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast

from optin.formats.strict_json import Fields, real
from optin.planning.units import units_of
from optin.questions import Number, Sheet


@dataclass(frozen=True)
class PromisedVariance:
    """What people who weigh costs are promised: V_p, and what it is worth where that is the same for all.

    ``surplus`` is B = f(V_p) - o; it, ``benefit_at_promise`` f(V_p) and ``outside`` o are None where people differ.
    """

    variance: float
    surplus: float | None = None
    benefit_name: str | None = None
    benefit_at_promise: float | None = None
    outside: float | None = None

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        numbers = {name: real(getattr(self, name)) for name in ("variance", "surplus", "benefit_at_promise", "outside")}
        return {**numbers, "benefit_name": self.benefit_name}

    @classmethod
    def from_fields(cls, fields: Fields) -> PromisedVariance:
        """Read what `to_record` wrote."""
        promise = cls(
            variance=fields.take_real("variance"),
            surplus=fields.maybe("surplus", fields.take_real),
            benefit_name=fields.maybe("benefit_name", fields.take_text),
            benefit_at_promise=fields.maybe("benefit_at_promise", fields.take_real),
            outside=fields.maybe("outside", fields.take_real),
        )
        fields.finish()
        return promise


class _Sheeted(Protocol):
    @property
    def sheet(self) -> Sheet: ...


class _Promising(Protocol):
    @property
    def promise(self) -> PromisedVariance | None: ...


class OneQuestion:
    """Read the numbers of the one question off a record that holds a sheet; several have some of them, and no bounds."""

    @property
    def question(self: _Sheeted) -> Number:
        """The one number of the sheet; a score has all that is asked of a number here."""
        return cast("Number", self.sheet.only)

    @property
    def bounds(self: _Sheeted) -> tuple[float, float]:
        """The range that every value is clamped to."""
        return self.sheet.only.bounds

    @property
    def width(self: _Sheeted) -> float:
        """R, the distance between the bounds."""
        return self.sheet.only.width

    @property
    def data_variance(self: _Sheeted) -> float:
        """The declared variance of an answer; 1 where there are several questions, for v counts in these (E18)."""
        return units_of(self.sheet).data_variance

    @property
    def max_gap(self: _Sheeted) -> float:
        """How far means of cautious and open people may lie apart (E15)."""
        return self.sheet.alone.max_gap

    @property
    def spread(self: _Sheeted) -> float:
        """The variance of an answer in the solver's unit: sigma^2 / R^2 of a number, 1 of several questions."""
        return units_of(self.sheet).spread


class Promising:
    """Read off a record what people with costs were promised; all of it is None for people with limits."""

    @property
    def promised_variance(self: _Promising) -> float | None:
        """V_p, which turnout must not exceed."""
        return None if self.promise is None else self.promise.variance

    @property
    def surplus(self: _Promising) -> float | None:
        """B, what V_p is worth beyond the outside option; None where people differ."""
        return None if self.promise is None else self.promise.surplus

    @property
    def benefit_name(self: _Promising) -> str | None:
        """The name of the benefit, which is never re-created."""
        return None if self.promise is None else self.promise.benefit_name

    @property
    def benefit_at_promise(self: _Promising) -> float | None:
        """f(V_p); None where people differ."""
        return None if self.promise is None else self.promise.benefit_at_promise

    @property
    def outside(self: _Promising) -> float | None:
        """The outside option; None where people differ."""
        return None if self.promise is None else self.promise.outside
