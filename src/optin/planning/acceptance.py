"""Quasi-linear people: the best design everyone accepts, or what stands in its way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from optin.agents.benefit import LinearBenefit, Watched
from optin.agents.models import PrivacyConstrained, QuasiLinear, indifferent
from optin.agents.protocols import Weighing, benefit_name
from optin.errors import Argument, BadInput, Infeasible
from optin.kernel.fixedpoint import STEPS, least_fixed_point
from optin.kernel.noise import noise_variance
from optin.kernel.optimum import Design, best_at_reach, best_design
from optin.kernel.pieces import Array, Limits
from optin.kernel.pricing import Noised
from optin.kernel.quasilinear import least_crossing
from optin.kernel.search import Crossing, Gain
from optin.kernel.shortfall import fewest_copies, shortfall
from optin.planning.asked import Asked
from optin.planning.design import design_of
from optin.planning.record import Plan
from optin.planning.shared_numbers import PromisedVariance

ROUGH = 500  # steps of each what-if of an infeasible instance: enough unless it is very near the edge


def solve_quasilinear(agents: Weighing, asked: Asked) -> Plan:
    """Find the least promised variance that carries itself (E9), by E10 for a common benefit."""
    outside = agents.outside_at(asked.data_variance)
    if _alike(agents, asked):
        return _for_all(agents, asked, float(np.max(outside)))
    return _for_each(agents.in_memory(), asked)


def _alike(agents: Weighing, asked: Asked) -> bool:
    """Say whether everyone has the same benefit and outside option."""
    return np.ndim(agents.surplus_at(_first_look(asked), data_variance=asked.data_variance)) == 0


def _first_look(asked: Asked) -> float:
    return asked.data_variance or asked.units.worst


def _for_all(agents: Weighing, asked: Asked, outside: float) -> Plan:
    table = agents.table()
    watched = _watched(agents)
    gain = _gain(agents, asked, watched, outside)
    spread, kappa = asked.spread, asked.kappa
    outcome = least_crossing(table, gain, Noised(spread, kappa, asked.reach))
    watched.check()
    if outcome.crossing is None:
        lacking = shortfall(table, gain, spread=spread, kappa=kappa, reach=asked.reach)
        people = fewest_copies(table, gain, spread=spread, kappa=kappa, reach=asked.reach)
        if math.isinf(lacking):  # nothing makes up for a benefit of minus infinity
            raise _infeasible(len(agents), None, people, None, undecided=outcome.undecided)
        raise _infeasible(len(agents), lacking, people, outside - lacking, undecided=outcome.undecided)
    return replace(_accepted(agents, asked, outside, table, outcome.crossing), within_resolution=outcome.undecided)


def _watched(agents: Weighing) -> Watched:
    return Watched(agents.benefit, people=len(agents), index=agents.index)


def _gain(agents: Weighing, asked: Asked, watched: Watched, outside: float) -> Gain:
    """Express the benefit beyond the outside option in the design's unit variance; slack inflates what is promised."""
    inflate = asked.inflate
    if isinstance(agents.benefit, LinearBenefit):
        base, slope = agents.benefit.base - outside, agents.benefit.slope * inflate
        return Gain(lambda v: base - slope * v, (base, slope))
    for variance in _scan(agents, asked):
        watched.common(variance)
    return Gain(lambda v: watched.common(inflate * v) - outside)


def _scan(agents: Weighing, asked: Asked) -> list[float]:
    """Choose variances to look at a benefit beforehand: from the mean of everyone to that of nobody."""
    worst = asked.units.worst
    return np.geomspace(max(asked.data_variance / len(agents), 1e-9 * worst), worst, 65).tolist()  # type: ignore[no-any-return]


def common_gain(agents: Weighing, asked: Asked) -> Gain:
    """Return the gain of people who share benefit and outside option; BadInput where they do not."""
    outside = agents.outside_at(asked.data_variance)
    if not _alike(agents, asked):
        raise BadInput(
            "{target_error} needs a common benefit and outside option: people of a crowd must be alike in these",
            target_error=Argument("target_error"),
        )
    return _gain(agents, asked, _watched(agents), float(np.max(outside)))


def _accepted(agents: Weighing, asked: Asked, outside: float, table: Limits, crossing: Crossing) -> Plan:
    promised = asked.inflate * crossing.variance
    benefit = float(agents.benefit_at(promised))
    surplus = benefit - outside
    design = _unit_design(table, asked, crossing, surplus)
    total = math.inf if design.noiseless else surplus * design.reach
    planned = design_of(
        replace(design, variance=crossing.variance),
        table,
        cap=_cap(asked, design, surplus),
        epsilon_total=total if asked.reach is None else asked.reach,
        shares=asked.shares,
        variances=asked.alike(crossing.variance),
    )
    promise = PromisedVariance(promised, surplus, benefit_name(agents.benefit), benefit, outside)
    return Plan(asked.sheet, agents.model, (planned,), asked.wish, promise)


def _cap(asked: Asked, design: Design, surplus: float) -> float:
    if design.noiseless:  # only people without cost have weight, and share a given eta among them
        return math.inf if asked.reach is None else asked.reach / design.pooled
    return surplus * design.cap if design.cap < math.inf else math.inf


def _unit_design(table: Limits, asked: Asked, crossing: Crossing, surplus: float) -> Design:
    """Describe the offer y as a design over t = 1/c; the surplus only scales it.

    y is solved again from the surplus (E1), because a price found from y loses digits where nearly everyone is alike.
    """
    people, y = len(table), crossing.y
    tail = table.sums(np.finfo(float).max if math.isinf(y) else math.nextafter(y, 0.0))
    pooled = people - tail.count
    if math.isinf(y) and pooled > 0:
        return Design(people, y, math.inf, math.inf, pooled, crossing.variance)
    if asked.reach is None and math.isfinite(y) and tail.total > 0:  # else y is the least offer, to the last digit
        y = (noise_variance(asked.kappa, surplus) / asked.spread + tail.squares) / tail.total
    elif asked.reach is not None and pooled > 0:
        y = (asked.reach / surplus - tail.total) / pooled
    reach = tail.total + (pooled * y if pooled else 0.0)
    squares = tail.squares + (pooled * y * y if pooled else 0.0)
    return Design(people, y, reach, squares, pooled, crossing.variance)


@dataclass(frozen=True)
class _Everyone:
    """The rising map M of people who differ in benefit or outside option; ``bonus`` and ``copies`` for what-if."""

    agents: QuasiLinear
    asked: Asked
    watched: Watched
    outside: Array | float

    def design(self, variance: float, *, bonus: float = 0.0, copies: float = 1.0) -> Design | None:
        asked = self.asked
        surplus = self.watched.each(asked.inflate * variance) - self.outside + bonus
        limits = indifferent(surplus, self.agents.costs)
        if not limits.max() > 0:
            return None
        table, kappa = PrivacyConstrained(limits).table(), asked.kappa / copies
        if asked.reach is None:
            return best_design(table, spread=asked.spread, kappa=kappa)
        return best_at_reach(table, reach=asked.reach / copies, spread=asked.spread, kappa=kappa)

    def least(self, *, bonus: float = 0.0, copies: float = 1.0, iterations: int = STEPS) -> tuple[float | None, bool]:
        asked = self.asked
        start = asked.spread / len(self.agents) / copies
        if asked.reach is not None:
            start += noise_variance(asked.kappa, asked.reach)

        def rising(variance: float) -> float:
            design = self.design(variance, bonus=bonus, copies=copies)
            return math.inf if design is None else design.variance / copies

        return least_fixed_point(rising, start, iterations=iterations)


def _for_each(agents: QuasiLinear, asked: Asked) -> Plan:
    watched = _watched(agents)
    everyone = _Everyone(agents, asked, watched, agents.outside_at(asked.data_variance))
    for look in _scan(agents, asked)[::8]:
        watched.each(look)
    variance, undecided = everyone.least()
    if variance is None:
        raise _nobody(everyone, undecided=undecided)
    promised = asked.inflate * variance
    table = PrivacyConstrained(agents.limits_at(promised, data_variance=asked.data_variance)).table()
    if asked.reach is None:
        design = best_design(table, spread=asked.spread, kappa=asked.kappa)
    else:
        design = best_at_reach(table, reach=asked.reach, spread=asked.spread, kappa=asked.kappa) or _never()
    total = design.reach if asked.reach is None else asked.reach
    planned = design_of(
        design,
        table,
        cap=design.cap,
        epsilon_total=total,
        shares=asked.shares,
        variances=asked.alike(design.variance),
    )
    promise = PromisedVariance(promised, benefit_name=benefit_name(agents.benefit))
    return Plan(asked.sheet, agents.model, (planned,), asked.wish, promise, within_resolution=undecided)


def _never() -> Design:
    raise AssertionError("the fixed point was found with these very limits")


def _nobody(everyone: _Everyone, *, undecided: bool) -> Infeasible:
    people = len(everyone.agents)
    worth = np.abs(everyone.watched.each(_first_look(everyone.asked)))
    scale = float(np.max(worth, where=np.isfinite(worth), initial=0.0)) or 1.0
    lacking = _smallest(lambda b: everyone.least(bonus=b, iterations=ROUGH)[0] is not None, scale * 1e-6, 1e-3)
    copies = _smallest(lambda r: everyone.least(copies=1 + r, iterations=ROUGH)[0] is not None, 1.0 / people, 1e-3)
    needed = None if copies is None else math.ceil(people * (1 + copies))
    return _infeasible(people, lacking, needed, None, undecided=undecided)


def _smallest(works: Callable[[float], bool], start: float, tolerance: float) -> float | None:
    """Double until it works, then halve the distance; None if nothing within 2^50 of the start does."""
    low, high = 0.0, start
    while not works(high):
        low, high = high, 2 * high
        if high > start * 2.0**50:
            return None
    while high - low > tolerance * high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def _infeasible(
    people: int, lacking: float | None, needed: int | None, outside: float | None, *, undecided: bool
) -> Infeasible:
    parts = [f"no design makes these {people:,} people join"]
    if undecided:
        parts.append("or the margin is too fine to tell from calling the benefit")
    if lacking is not None:
        parts.append(f"the best one lacks about {max(lacking, 0.0):.3g} of benefit")
    helps = []
    if needed is not None:
        helps.append(f"about {needed:,} people like these")
    if outside is not None:
        helps.append(f"an outside option of at most {outside:.6g}")
    if helps:
        parts.append("it would work with " + " or ".join(helps))
    return Infeasible(
        "; ".join(parts), shortfall=lacking, people_needed=needed, outside_needed=outside, within_resolution=undecided
    )
