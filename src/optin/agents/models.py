"""The two agent models: people who set a limit, and people who weigh benefit against privacy cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from optin.agents.benefit import Benefit, LinearBenefit, called, number_or_array
from optin.agents.columns import EXTREME, Wanted, checked_ids, column, numbers, same_rows
from optin.errors import BadInput
from optin.kernel.bound import Tally, tally_of
from optin.kernel.ladder import Array, Limits
from optin.kernel.optimum import Design
from optin.kernel.passes import ArrayLimits

__all__ = ["Agents", "People", "PrivacyConstrained", "QuasiLinear"]


class People(Limits, Protocol):
    """What the planner asks of a table of limits, in memory or in an engine, beyond what the kernel does.

    Limits above ``ceiling`` are read as infinite; all answers are in units of 1 / ``scale``.
    """

    @property
    def scale(self) -> float:
        """A power of two."""

    @property
    def ceiling(self) -> float:
        """The largest cap these answers are right for."""

    @property
    def least(self) -> float:
        """The smallest positive finite limit."""

    @property
    def zeros(self) -> int:
        """How many limits are zero."""

    @property
    def infinite(self) -> int:
        """How many limits are infinite."""


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyConstrained:
    """People who accept any epsilon up to their own limit (tau of the paper).

    ``limits`` are numbers >= 0 (infinity allowed), kept as a view of what was given.

    >>> PrivacyConstrained([1, 4, 9, 9])
    PrivacyConstrained(4 people)
    """

    limits: Array
    ids: tuple[str, ...] | None = field(default=None, kw_only=True)
    most: float = field(init=False)

    model = "privacy-constrained"
    kept = False  # whether rows stay in an engine

    def __post_init__(self) -> None:
        same_rows(self.limits, self.ids, ("limits", "ids"))
        object.__setattr__(self, "limits", column(self.limits, "limits"))
        object.__setattr__(self, "ids", checked_ids(self.ids, len(self.limits)))
        object.__setattr__(self, "most", float(self.limits.max()))

    @classmethod
    def from_budgets(cls, budgets: Any, costs: Any, *, ids: Any = None) -> PrivacyConstrained:  # noqa: ANN401
        """Set each limit to budget over cost; a cost of 0 means no limit at all, also with budget 0.

        >>> PrivacyConstrained.from_budgets([1, 0, 0], [4, 2, 0]).limits.tolist()
        [0.25, 0.0, inf]
        """
        same_rows(budgets, costs, ("budgets", "costs"))
        budget, cost = column(budgets, Wanted.budgets("budgets")), column(costs, Wanted.costs("costs"))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limits = budget / cost
        limits[np.isnan(limits)] = math.inf
        return cls(limits, ids=ids)

    def __len__(self) -> int:
        return len(self.limits)

    def __repr__(self) -> str:
        return f"PrivacyConstrained({len(self)} people)"

    def table(self) -> People:
        """Return the limits as the kernel reads them."""
        extreme = self.most > EXTREME and _largest_finite(self.limits) > EXTREME
        return ArrayLimits(self.limits, ceiling=EXTREME if extreme else math.inf)

    def scaled_table(self) -> People:
        """Return the limits in units of about the largest, for caps so high that squares would overflow."""
        return ArrayLimits(self.limits, scale=2.0 ** -math.frexp(_largest_finite(self.limits))[1])

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Add up what a sceptic would, at the cap of a design."""
        return tally_of(self.limits, design)

    def limits_at(self, variance: float | None = None, *, data_variance: float | None = None) -> Array:
        """Return the limits, which do not depend on the variance here."""
        return self.limits


@dataclass(frozen=True, eq=False, repr=False)
class QuasiLinear:
    """People who join iff benefit(variance) - cost * epsilon is at least their outside option.

    ``benefit`` never rises with the variance: a `LinearBenefit` or any callable, giving one number or one for each person.
    ``outside`` is a number, one for each person, or "own-data": the benefit of using only one's own value.

    >>> QuasiLinear([1, 0.25], benefit=LinearBenefit(base=1.28125, slope=1.0))
    QuasiLinear(2 people, benefit=LinearBenefit(base=1.28125, slope=1.0))
    """

    costs: Array
    benefit: Benefit = field(default_factory=LinearBenefit, kw_only=True)
    outside: Any = field(default=0.0, kw_only=True)
    ids: tuple[str, ...] | None = field(default=None, kw_only=True)

    model = "quasi-linear"
    kept = False  # whether rows stay in an engine

    def __post_init__(self) -> None:
        given = self.costs
        same_rows(given, self.ids, ("costs", "ids"))
        object.__setattr__(self, "costs", column(given, Wanted.costs("costs")))
        object.__setattr__(self, "ids", checked_ids(self.ids, len(self.costs)))
        if not callable(self.benefit):
            raise BadInput(
                "benefit must be callable: optin.LinearBenefit(base=…, slope=…), or a function of the variance"
            )
        if isinstance(self.benefit, LinearBenefit):
            self.benefit.expect_rows_of(given)
        object.__setattr__(self, "outside", _outside(self.outside, given))

    def __len__(self) -> int:
        return len(self.costs)

    def __repr__(self) -> str:
        return f"QuasiLinear({len(self)} people, benefit={benefit_name(self.benefit)})"

    def table(self) -> People:
        """Return t = 1/c as the kernel reads it (E10)."""
        return ArrayLimits(self.costs, inverse=True)

    def outside_at(self, data_variance: float | None) -> float | Array:
        """Return the outside option as a number, or one for each person."""
        if isinstance(self.outside, str):
            if data_variance is None:
                raise BadInput('outside="own-data" needs the data variance: it is the benefit of one value alone')
            return number_or_array(called(self.benefit, data_variance))
        return self.outside  # type: ignore[no-any-return]

    def surplus_at(self, variance: float, *, data_variance: float | None = None) -> float | Array:
        """Return benefit - outside at this variance, a number or one for each person."""
        return number_or_array(called(self.benefit, variance)) - self.outside_at(data_variance)

    def table_at(self, variance: float, *, data_variance: float | None = None) -> People:
        """Return the limits at a variance as the kernel reads them."""
        return PrivacyConstrained(self.limits_at(variance, data_variance=data_variance)).table()

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Add up what a sceptic would, at the cap of a design and the limits of a variance."""
        return tally_of(self.limits_at(variance or 0.0, data_variance=data_variance), design)

    def limits_at(self, variance: float, *, data_variance: float | None = None) -> Array:
        """Return the epsilon at which each person is indifferent: max(surplus, 0) / cost (E9)."""
        surplus = np.asarray(self.surplus_at(variance, data_variance=data_variance), dtype=np.float64)
        return indifferent(surplus, self.costs)


Agents = PrivacyConstrained | QuasiLinear


def indifferent(surplus: Array, costs: Array) -> Array:
    """Divide surplus by cost; who bears no cost accepts anything worth joining for, and nothing below that (E9)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        limits = np.maximum(surplus, 0.0) / costs
    free = costs == 0
    if free.any():
        limits = np.where(free, np.where(surplus >= 0, math.inf, 0.0), limits)
    return np.asarray(limits)


def benefit_name(benefit: Callable[..., Any]) -> str:
    """Name a benefit for people to read; it is never called by that name."""
    return repr(benefit) if isinstance(benefit, LinearBenefit) else getattr(benefit, "__name__", type(benefit).__name__)


def _outside(outside: Any, costs: Any) -> float | Array | Literal["own-data"]:  # noqa: ANN401
    if isinstance(outside, str):
        if outside != "own-data":
            raise BadInput('outside must be a number, one number for each person, or "own-data"')
        return "own-data"
    if np.ndim(outside) > 0:
        same_rows(costs, outside, ("costs", "outside"))
    value = numbers(np.atleast_1d(outside), "outside")
    if not np.isfinite(value).all():
        place = int(np.argmax(~np.isfinite(value)))
        raise BadInput(f"outside[{place}] is not finite; give a finite number")
    return float(value[0]) if np.ndim(outside) == 0 else value


def _largest_finite(limits: Array) -> float:
    largest = float(limits.max())
    if math.isinf(largest):
        largest = float(np.max(limits, where=np.isfinite(limits), initial=0.0))
    return largest
