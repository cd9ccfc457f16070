"""What is asked of the planner, checked once: bounds, variance, noise and gap, also in units of the data's range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from optin.agents import Agents, PrivacyConstrained, QuasiLinear
from optin.errors import Argument, BadInput
from optin.kernel.noise import LAPLACE

WIDEST = 1e150
_TWO = "{argument} must be two numbers, the lower first: the range every value is clamped to"
TINIEST = 1e-150


@dataclass(frozen=True)
class Question:
    """Everything about a plan that is not people."""

    bounds: tuple[float, float]
    data_variance: float
    eta: float | None
    max_gap: float
    slack: float
    kappa: float = float(LAPLACE.kappa)

    @property
    def width(self) -> float:
        """R = hi - lo."""
        return self.bounds[1] - self.bounds[0]

    @property
    def spread(self) -> float:
        """sigma^2 / R^2 (`spread_of`)."""
        return spread_of(self.data_variance, self.width)

    @property
    def inflate(self) -> float:
        """What turns a design's unit variance into the variance that is promised."""
        return self.width**2 * (1 + self.slack)

    @property
    def reach(self) -> float | None:
        """R eta, the sum of epsilons that a given eta asks for."""
        return None if self.eta is None else self.width * self.eta

    def fields(self) -> dict[str, Any]:
        """Return the fields of a plan that only repeat the question."""
        return {
            "bounds": self.bounds,
            "data_variance": self.data_variance,
            "max_gap": self.max_gap,
            "slack": self.slack,
            "eta_given": self.eta is not None,
            "noise_constant": self.kappa,
        }


def spread_of(data_variance: float, width: float) -> float:
    """Return sigma^2 / R^2, at most 1/4; so little that nothing could tell it from 0 is 0."""
    spread = min(data_variance / width / width, 0.25)
    return spread if spread > TINIEST else 0.0


def question(
    agents: Agents,
    *,
    bounds: tuple[float, float],
    data_variance: float | None,
    data_sd: float | None,
    eta: float | None,
    max_gap: float,
    slack: float,
) -> Question:
    """Check what was asked and turn it into a `Question`."""
    if not isinstance(agents, PrivacyConstrained | QuasiLinear):
        raise BadInput("agents must be optin.PrivacyConstrained(limits) or optin.QuasiLinear(costs, benefit=…)")
    lo, hi = _bounds(bounds)
    variance = _data_variance(hi - lo, data_variance, data_sd)
    if eta is not None and not 0 < _number(eta, "eta") < math.inf:
        raise BadInput(
            "{eta} must be a positive finite number (the Laplace rate in data units); leave it out for the best one",
            eta=Argument("eta"),
        )
    if eta is not None and not 1 / WIDEST < eta * (hi - lo) < WIDEST:
        raise BadInput(
            "{eta} times the width of the bounds must lie between {least:.0e} and {most:.0e}",
            eta=Argument("eta"),
            least=1 / WIDEST,
            most=WIDEST,
        )
    gap, room = _number(max_gap, "max_gap"), _number(slack, "slack")
    if not 0 <= gap <= hi - lo:
        raise BadInput(
            "{max_gap} must lie between 0 and the width of the bounds: it is a distance between means",
            max_gap=Argument("max_gap"),
        )
    if not 0 <= room < math.inf:
        raise BadInput(
            "{slack} must be 0 or more: 0.1 leaves room for a variance 10 % above the design's", slack=Argument("slack")
        )
    _fits_model(agents, gap, room)
    return Question((lo, hi), variance, None if eta is None else float(eta), gap, room)


def _fits_model(agents: Agents, gap: float, room: float) -> None:
    if gap > 0 and isinstance(agents, QuasiLinear):
        raise BadInput(
            "{max_gap} is available for people with limits only; plan people who weigh costs with {none}",
            max_gap=Argument("max_gap"),
            none=Argument("max_gap", 0),
        )
    if room > 0 and isinstance(agents, PrivacyConstrained):
        raise BadInput(
            "{slack} is for people who weigh costs; people with limits are promised no variance",
            slack=Argument("slack"),
        )


def _number(value: Any, name: str, wanted: str = "{argument} must be a number") -> float:  # noqa: ANN401
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise BadInput(wanted, argument=Argument(name))
    return number


def _bounds(bounds: Any) -> tuple[float, float]:  # noqa: ANN401
    try:
        two = len(bounds) == 2 and np.ndim(bounds[0]) == np.ndim(bounds[1]) == 0
    except TypeError:
        two = False
    if not two:
        raise BadInput(_TWO, argument=Argument("bounds"))
    lo, hi = _number(bounds[0], "bounds", _TWO), _number(bounds[1], "bounds", _TWO)
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise BadInput(
            "{bounds} must be finite: without them no noise hides one person's value", bounds=Argument("bounds")
        )
    if not lo < hi:
        raise BadInput("{bounds} must be two different numbers, the lower first", bounds=Argument("bounds"))
    if not 1 / WIDEST <= hi - lo <= WIDEST:
        raise BadInput(
            "{bounds} are {width:g} apart; measure the data in units that make this less extreme",
            bounds=Argument("bounds"),
            width=hi - lo,
        )
    return lo, hi


def _data_variance(width: float, variance: float | None, sd: float | None) -> float:
    worst = width * width / 4
    if variance is not None and sd is not None:
        raise BadInput("give {variance} or {sd}, not both", variance=Argument("data_variance"), sd=Argument("data_sd"))
    if variance is None and sd is None:
        return worst
    given = (
        _number(variance, "data_variance") if variance is not None else _number(sd, "data_sd") * _number(sd, "data_sd")
    )
    if sd is not None and float(sd) < 0:
        raise BadInput("{sd} must be 0 or more", sd=Argument("data_sd"))
    if not 0 <= given <= worst * (1 + 1e-12):
        raise BadInput(
            "{argument} must lie between 0 and {most:g}: no data within these bounds varies more",
            argument=Argument("data_variance" if sd is None else "data_sd"),
            most=worst if sd is None else width / 2,
        )
    return min(given, worst)
