"""When limits and values are related: what each point of the dial is worth on simulated people (E15).

All designs here give epsilon min(limit, cap). The cap runs from the strictest limit (everyone alike) over the robust design
and the optimum for unrelated values to no cap at all (proportional to limits): more and more tilted on the way.
All is computed from people's means, without a draw; `optin.simulate` with a ``gap`` measures the same, for every design.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from optin.agents import PrivacyConstrained
from optin.errors import BadInput
from optin.kernel.noise import variance
from optin.kernel.pieces import Array
from optin.planning import Plan, plan
from optin.tables.labels import of_people
from optin.wording.records import Listed

__all__ = ["Caution", "DialPoint", "along_the_dial", "caution_table", "dial_points", "related_means"]

Shape = Literal["none", "rising", "falling", "step"]


@dataclass(frozen=True, repr=False)
class DialPoint(Listed):
    """A design on the dial and what a relation does to it: bias, the bound on it, and the expected squared error."""

    name: str
    cap: float
    tilt: float
    variance: float
    bias: float
    bias_bound: float
    mse: float


@dataclass(frozen=True, repr=False)
class Caution(Listed):
    """What a declared gap does: its cap and tilt, what it costs without a relation, what it saves under the worst one."""

    max_gap: float
    cap: float
    tilt: float
    cost: float
    saving: float


def related_means(limits: Array, *, bounds: tuple[float, float], gap: float, shape: Shape = "rising") -> Array:
    """Give people means that lie ``gap`` apart at most and depend on the order of their limits.

    "rising" is a straight line by rank, "falling" its mirror image, "step" a jump at the mean limit, "none" no relation.
    With "step" the tilt of many designs does all the harm it can.

    >>> related_means(np.array([1.0, 4.0, 9.0]), bounds=(0, 1), gap=0.2)
    array([0.4, 0.5, 0.6])
    """
    lo, hi = bounds
    limits = np.asarray(limits)
    if not 0 <= gap <= hi - lo:
        raise BadInput("gap must lie between 0 and the width of the bounds: it is a distance between means")
    ranks = np.argsort(np.argsort(limits, kind="stable"), kind="stable") / max(len(limits) - 1, 1)
    height = {
        "none": np.full(len(limits), 0.5),
        "rising": ranks,
        "falling": 1.0 - ranks,
        "step": (limits > np.mean(limits)).astype(np.float64),
    }
    if shape not in height:
        raise BadInput("shape must be one of {listed}", listed=", ".join(height))
    return np.asarray((lo + hi - gap) / 2 + gap * height[shape])


def dial_points(
    agents: PrivacyConstrained,
    means: Array,
    *,
    bounds: tuple[float, float],
    max_gap: float,
    sd: float | None = None,
    data_variance: float | None = None,
) -> tuple[DialPoint, ...]:
    """Compare the four named points of the dial on people with these means: strictest, robust, optimum, proportional.

    >>> people = PrivacyConstrained([1, 4, 9, 9])
    >>> means = related_means(people.limits, bounds=(0, 1), gap=0.5, shape="step")
    >>> for p in dial_points(people, means, bounds=(0, 1), max_gap=0.5):
    ...     print(f"{p.name:<12} {p.cap:.3g} {p.variance:.4f} {p.bias:.4f} {p.bias_bound:.4f} {p.mse:.4f}")
    strictest    1 0.1875 0.0000 0.0000 0.1719
    robust       4.5 0.0835 0.0714 0.0893 0.0703
    optimum      5 0.0833 0.0833 0.0917 0.0717
    proportional 9 0.0884 0.1413 0.1413 0.0872
    """
    best = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance)
    robust = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance, max_gap=max_gap)
    least, most = float(agents.limits.min()), float(agents.limits.max())
    caps = {"strictest": least, "robust": min(robust.cap, most), "optimum": min(best.cap, most), "proportional": most}
    if not (least > 0 and math.isfinite(most)):
        raise BadInput("the dial runs from the lowest limit to the highest: both must be positive and finite")
    rows = along_the_dial(best, agents, means, np.array(list(caps.values())), max_gap=max_gap)
    return tuple(DialPoint(name, *map(float, row)) for name, row in zip(caps, rows, strict=True))


def along_the_dial(best: Plan, agents: PrivacyConstrained, means: Array, caps: Array, *, max_gap: float) -> Array:
    """Return a row for each cap: cap, tilt, variance, bias, bound on the bias, and expected squared error.

    The variance is the declared one (E5); the error is that of people with these means, who vary as much as their mean and the
    declared variance allow.
    """
    means = np.asarray(of_people(means, agents, "means"), dtype=np.float64)
    if len(means) != len(agents):
        raise BadInput(
            "{given} means were given for {people} people; give one each", given=len(means), people=len(agents)
        )
    variances = _variances(best, means)
    noise, target = best.asked.units.noise, float(np.mean(means))
    rows = []
    for cap in caps:
        eps = np.minimum(agents.limits, cap)
        reach = float(eps.sum())
        weights = eps / reach
        tilt = float(np.maximum(weights - 1.0 / len(eps), 0.0).sum())
        declared = variance(best.data_variance, float(eps @ eps), reach, noise)
        bias = float(weights @ means) - target
        mse = variance(1.0, float(eps**2 @ variances), reach, noise) + bias**2
        rows.append((cap, tilt, declared, bias, max_gap * tilt, mse))
    return np.array(rows)


def caution_table(
    agents: PrivacyConstrained,
    gaps: Sequence[float],
    *,
    bounds: tuple[float, float],
    sd: float | None = None,
    data_variance: float | None = None,
) -> tuple[Caution, ...]:
    """Plan with each ``max_gap`` and say what it costs if there is no relation, and saves if there is the worst one.

    Cost is in variance, against the optimum for unrelated values; saving in worst-case squared error, against the same. Both
    are never negative: each design is best at what it was made for.

    >>> for row in caution_table(PrivacyConstrained([1, 4, 9, 9]), (0, 0.5, 1), bounds=(0, 1)):
    ...     print(f"{row.max_gap:g}: cap {row.cap:.3g}, costs {row.cost:.2%}, saves {row.saving:.2%}")
    0: cap 5, costs 0.00%, saves 0.00%
    0.5: cap 4.5, costs 0.26%, saves 0.24%
    1: cap 3, costs 8.00%, saves 3.80%
    """
    best = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance)
    rows = []
    for gap in gaps:
        planned = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance, max_gap=gap)
        blind = best.variance + (gap * best.tilt) ** 2
        cost, saving = planned.variance / best.variance - 1.0, 1.0 - planned.worst_case_mse / blind
        rows.append(Caution(float(gap), planned.cap, planned.tilt, max(cost, 0.0), max(saving, 0.0)))
    return tuple(rows)


def _variances(best: Plan, means: Array) -> Array:
    """Return each person's own variance: what their mean allows within the bounds, at most the declared one."""
    lo, hi = best.bounds
    if not (means.min() >= lo and means.max() <= hi):
        raise BadInput("people's means must lie within the bounds: they are means of values that do")
    return np.asarray(np.minimum((means - lo) * (hi - means), best.data_variance))
