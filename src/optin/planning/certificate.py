"""Why a plan is right, in a dozen numbers a sceptic can recompute from the people alone."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from optin.agents import Agents, Constrained, Weighing
from optin.agents.protocols import LimitTable
from optin.errors import BadInput
from optin.kernel.any_mechanism import counted_limits, least_error
from optin.kernel.bound import SAME, Tally, lower_bound
from optin.kernel.noise import noise_variance
from optin.kernel.optimum import best_at_reach, best_design
from optin.kernel.pieces import Limits
from optin.kernel.pricing import Noised
from optin.kernel.quasilinear import least_crossing
from optin.kernel.sharing import theta_at, theta_below
from optin.planning.acceptance import common_gain
from optin.planning.cautions import CLASS
from optin.planning.record import Plan
from optin.wording.numbers import at_least, at_most, count
from optin.wording.telling import Telling, Told

WORK = 400_000_000
NEAR = 1e-5
"""How far neighbouring caps lie: theta is flat where it is least, and within this range differs by its square."""
_SHARPER = 1e3
BoundSource = Callable[[], float | None]
_SOURCES: dict[int, BoundSource] = {}
"""How to compute the bound for every mechanism of each certificate made in this session, as long as it lives."""
OTHERS = "these are not the people this plan was made for; plan again, or give the table it was made from"


@dataclass(frozen=True, repr=False)
class Certificate(Told):
    """What was recomputed from the people alone.

    ``broken_limits``: people whose epsilon exceeds their limit (exactly counted); ``weight_error``: |sum w - 1|;
    ``claim_error``: the largest relative distance between what the plan says of itself (variance, tilt, pooled people,
    surplus, epsilon shares) and what was recomputed; ``objective`` and ``lower_bound``: worst-case mean squared error in
    units of the squared range, and a dual bound that no fixed weights with one Laplace noise can beat under these limits
    (where the noise was given, none with that noise).
    For mechanisms of every other kind there is `any_mechanism` (E30), beside which stands ``worst_error``: the objective, and
    the largest squared bias too where noise was given and a gap declared. Of several questions the objective is their largest
    v, and no design at all has every v below the bound; a single question alone could be better (E18).

    Where questions differ in importance or gap, the plan is the ``best on one cap`` (E19), and ``one_cap`` is true:
    ``objective`` is theta, ``nearby`` the least theta at caps a little below and above (theta falls, then rises, so nothing
    on one cap is better), and ``lower_bound`` what no design at all can beat: the best of each question alone, and E18 at
    the least importance. Other designs may lie between the two. Quasi-linear people:
    ``residual`` is how far the promised variance is from carrying itself, and no such design has a promised variance
    below ``excluded_below``, shown by ``steps`` applications of the rising map M (E9) from the variance of a noiseless
    mean, and for a common benefit by exclusion (E10) where that climb is long.
    """

    people: int
    broken_limits: int
    weight_error: float
    claim_error: float
    objective: float
    lower_bound: float
    one_cap: bool = False
    nearby: float | None = None
    promised: float | None = None
    residual: float | None = None
    excluded_below: float | None = None
    steps: int | None = None
    worst_error: float | None = None
    noise_given: bool = False
    bound_source: InitVar[BoundSource | None] = None

    def __post_init__(self, bound_source: BoundSource | None) -> None:
        """Remember what a bound is computed from beside the record, not in it: a certificate may be shown, limits not."""
        if bound_source is not None:
            _SOURCES[id(self)] = bound_source
            weakref.finalize(self, _SOURCES.pop, id(self), None).atexit = False

    @cached_property
    def any_mechanism(self) -> float | None:
        """What no epsilon-private estimator of any kind can beat under these limits, in units of the squared range (E30).

        It bounds the worst expected squared error over all values of at most the declared variance, of one number or one
        proportion and people with limits; None for several numbers, and for quasi-linear people, whose limits would rise
        with a better mechanism. It is not the best bound there is. It is computed from the people's limits when first asked
        for, in seconds; a copied or unpickled certificate has no limits to compute it from.

        >>> import optin
        >>> people = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
        >>> proof = optin.plan(people, bounds=(0, 1)).certificate(people)
        >>> round(proof.factor, 2)
        1.16
        """
        source = _SOURCES.get(id(self))
        return None if source is None else source()

    @property
    def factor(self) -> float | None:
        """How many times `any_mechanism` the plan's worst error is: no mechanism at all can be better by more than this."""
        if self.any_mechanism is None or self.worst_error is None:
            return None
        return self.worst_error / self.any_mechanism if self.any_mechanism > 0 else math.inf

    @property
    def beyond(self) -> str:
        """What is shown of mechanisms of every kind, in words: the bound rounded down, the factor up."""
        bound = self.any_mechanism
        if self.factor is None or bound is None:
            return "nothing is shown of mechanisms of other kinds here"
        if self.factor == math.inf:
            return "nothing is excluded: some mechanism of another kind might have no error at all"
        return (
            f"no private mechanism of any kind has a worst error below {at_least(bound, 4)} squared ranges;"
            f" the plan's is at most {at_most(self.factor)} times that"
        )

    def telling(self) -> Telling:
        """Say what is shown, and the largest error found when it was computed again."""
        broken = "nobody's limit" if not self.broken_limits else f"the limits of {count(self.broken_limits)}"
        lines = (
            ("holds", "yes" if self.holds else "no"),
            ("shown", self.claim),
            ("crossed", broken),
            ("people", f"{self.people:,}"),
            ("weights add up to 1", f"but for {self.weight_error:.1g}"),
            ("recomputed claims agree", f"but for {self.claim_error:.1g}"),
        )
        return Telling("Certificate", lines)

    @property
    def gap(self) -> float:
        """How far the objective may be from the best that fixed weights and one Laplace noise can do, relatively."""
        return abs(self.objective - self.lower_bound) / self.objective if self.objective > 0 else 0.0

    @property
    def _better_nearby(self) -> float:
        """How much better a neighbouring cap is, in units in which SAME is the noise of rounding."""
        least = self.objective if self.nearby is None else self.nearby
        if math.isinf(least):
            return 0.0
        return max(self.objective - least, 0.0) / self.objective * _SHARPER

    @property
    def claim(self) -> str:
        """What is shown, in words.

        >>> import optin
        >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
        >>> plan = optin.plan(people, [optin.YesNo("a"), optin.YesNo("b", importance=4)])
        >>> plan.certificate(people).claim
        'best on one cap: theta is 1.38873, and no weighted means with fixed weights and one Laplace noise have one below
        1.33333'
        """
        least = f"{self.lower_bound:.6g}"
        if self.one_cap:
            return f"best on one cap: theta is {self.objective:.6g}, and no {CLASS} have one below {least}"
        which = "best weights for the noise that was given" if self.noise_given else f"best among {CLASS}"
        return f"{which}: the objective is {self.objective:.6g}, and none has one below {least}"

    @property
    def holds(self) -> bool:
        """Whether no limit is broken and the plan is shown to be optimal of its kind to nine digits.

        False too where a long climb ended before it reached the promise: then a smaller one is not excluded.
        """
        errors = [self.weight_error, self.claim_error, self.gap if self.nearby is None else self._better_nearby]
        if self.promised is not None and self.residual is not None and self.excluded_below is not None:
            errors += [self.residual, 1.0 - self.excluded_below / self.promised if self.promised > 0 else 0.0]
        return self.broken_limits == 0 and max(errors) <= SAME


def certify(plan: Plan, agents: Agents) -> Certificate:
    """Recompute everything a plan claims from the people it was made for; refuse other people.

    People are told apart by what decides a plan, so limits that differ only above the cap pass: the plan is theirs too.
    """
    if agents.model != plan.model:
        raise BadInput("this plan is for {model} people, not {other} ones", model=plan.model, other=agents.model)
    design = plan.design()
    tally = agents.tally(design, variance=plan.promised_variance, data_variance=plan.data_variance)
    _same_people(plan, tally)
    variances, tilt = _recomputed(plan, tally)
    certificate = Certificate(
        people=plan.people,
        broken_limits=tally.broken,
        weight_error=max(0.0 if design.noiseless else abs(tally.weights - 1.0), _share_error(plan)),
        claim_error=_claim_error(plan, tally, variances=plan.asked.variances(variances), tilt=tilt),
        objective=0.0,
        lower_bound=0.0,
    )
    if plan.asked.one_cap:
        return _on_one_cap(certificate, plan, cast("Constrained", agents), plan.asked.demand.theta(variances, tilt))
    gap = 0.0 if plan.eta_given else plan.asked.gap  # at a given eta the weights serve every gap alike
    kappa, fixed = plan.noise_constant, plan.eta_given
    certificate = replace(
        certificate,
        objective=max(variances) + (gap * tilt) ** 2,
        worst_error=max(variances) + (plan.asked.gap * tilt) ** 2,
        lower_bound=lower_bound(tally, design, spread=plan.spread, kappa=kappa, fixed=fixed, gap=gap),
        noise_given=fixed,
        bound_source=_bound_source(plan, agents),
    )
    return _with_fixed_point(certificate, plan, agents) if isinstance(agents, Weighing) else certificate


def _bound_source(plan: Plan, agents: Agents) -> BoundSource | None:
    """Return what computes a bound for every mechanism (E30), where there is one: one published mean, fixed limits."""
    alone = len(plan.sheet) == 1 and next(iter(plan.sheet)).variance_terms == 1
    if not alone or not isinstance(agents, Constrained):
        return None
    return functools.partial(_any_mechanism, agents.table(), min(plan.spread, 0.25))


def _any_mechanism(table: LimitTable, spread: float) -> float | None:
    outline = table.buckets()
    if not outline.exact:
        return None
    return least_error(
        counted_limits(outline, zeros=table.zeros, infinite=table.infinite, scale=table.scale), spread=spread
    )


def _on_one_cap(certificate: Certificate, plan: Plan, agents: Constrained, theta: float) -> Certificate:
    """Compare with neighbouring caps, and with what no design could beat (E19)."""
    demand, table, scale = plan.asked.demand, agents.table(), 1.0
    if plan.cap > table.ceiling:
        table = agents.scaled_table()
        demand, scale = demand.scaled(table.scale), table.scale
    caps = () if plan.noiseless else (plan.cap * scale * (1 - NEAR), plan.cap * scale * (1 + NEAR))
    return replace(
        certificate,
        objective=theta,
        lower_bound=theta_below(table, demand),
        one_cap=True,
        nearby=min((theta_at(table, demand, cap) for cap in caps), default=theta),
    )


def _recomputed(plan: Plan, tally: Tally) -> tuple[tuple[float, ...], float]:
    """Recompute the variance of each question (in the solver's unit) and the tilt from the people."""
    if plan.noiseless:
        return (plan.spread / plan.pooled_people,) * len(plan.sheet), 1.0 - plan.pooled_people / plan.people
    constants = plan.asked.demand.prices if len(plan.sheet) > 1 else (plan.noise_constant,)
    noises = (
        noise_variance(constant, plan.epsilon_total * share)
        for constant, share in zip(constants, plan.undivided.shares, strict=True)
    )
    return tuple(plan.spread * tally.squares + noise for noise in noises), tally.tilt


def _share_error(plan: Plan) -> float:
    return abs(math.fsum(plan.undivided.shares) - 1.0)


def _claim_error(plan: Plan, tally: Tally, *, variances: tuple[float, ...], tilt: float) -> float:
    if not tally.strictly_pooled <= plan.pooled_people <= tally.pooled and not plan.noiseless:
        return math.inf
    claimed = plan.undivided.variances
    errors = (abs(says - is_) / is_ if is_ > 0 else abs(says) for says, is_ in zip(claimed, variances, strict=True))
    return max(*errors, abs(plan.tilt - tilt))


def _same_people(plan: Plan, tally: Tally) -> None:
    """Tell people apart by the sums of epsilons and of squared weights: they decide everything in a plan."""
    known = tally.people == plan.people
    if known and not plan.noiseless:
        known = math.isclose(tally.weights, 1.0, rel_tol=SAME)
        known = known and math.isclose(tally.squares, plan.weight_squares, rel_tol=SAME)
    elif known:
        known = tally.infinite == plan.pooled_people and (plan.data_variance == 0 or not tally.positive)
    if not known:
        raise BadInput(OTHERS)


def _with_fixed_point(certificate: Certificate, plan: Plan, agents: Weighing) -> Certificate:
    promised = plan.promised_variance or 0.0
    climbed, iterations = _climb(plan, agents, promised)
    if promised - climbed > SAME * promised:
        climbed = max(climbed, min(_excluded(plan, agents), promised))
    claim = certificate.claim_error
    if plan.surplus is not None:
        surplus = float(np.max(agents.surplus_at(promised, data_variance=plan.data_variance)))
        claim = max(claim, abs(plan.surplus - surplus) / max(abs(surplus), 1e-300) if plan.surplus != surplus else 0.0)
    return replace(
        certificate,
        claim_error=claim,
        promised=promised,
        residual=abs(_promise_of(plan, agents, promised) - promised) / promised if promised > 0 else 0.0,
        excluded_below=climbed,
        steps=iterations,
    )


def _excluded(plan: Plan, agents: Weighing) -> float:
    """Search again by exclusion (E10); 0 where people differ, so that only the climb speaks."""
    asked = plan.asked
    try:
        gain = common_gain(agents, asked)
    except BadInput:
        return 0.0
    outcome = least_crossing(agents.table(), gain, Noised(asked.spread, asked.kappa, asked.reach))
    return 0.0 if outcome.crossing is None or outcome.undecided else asked.inflate * outcome.crossing.variance


def _climb(plan: Plan, agents: Weighing, promised: float) -> tuple[float, int]:
    """Apply V -> (1 + slack) M(V) from below: every value passed is below every fixed point."""
    free = plan.data_variance / plan.people * (1 + plan.slack)
    climbed, iterations = free, 0
    for iterations in range(1, min(2000, max(20, WORK // plan.people)) + 1):
        after = min(_promise_of(plan, agents, climbed), promised)
        if after <= climbed or promised - after <= 1e-12 * promised:
            return max(after, climbed), iterations
        climbed = after
    return climbed, iterations


def _promise_of(plan: Plan, agents: Weighing, variance: float) -> float:
    """Return (1 + slack) M(variance) in data units."""
    scaled = agents.scaled_at(variance, data_variance=plan.data_variance)
    return (1 + plan.slack) * (math.inf if scaled is None else _unit(plan, *scaled)) * plan.asked.units.square


def _unit(plan: Plan, table: Limits, scale: float) -> float:
    """Return the least unit variance for limits ``scale`` times those of a table."""
    spread, kappa = plan.spread, noise_variance(plan.noise_constant, scale)
    if not plan.eta_given:
        return best_design(table, spread=spread, kappa=kappa).variance
    design = best_at_reach(table, reach=plan.epsilon_total / scale, spread=spread, kappa=kappa)
    return math.inf if design is None else design.variance
