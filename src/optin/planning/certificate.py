"""Why a plan is right, in a dozen numbers a sceptic can recompute from the people alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optin.agents import Agents, PrivacyConstrained, QuasiLinear
from optin.errors import BadInput
from optin.kernel.ladder import Array
from optin.kernel.optimum import best_at_reach, best_design, lower_bound
from optin.planning.record import Plan

__all__ = ["Certificate", "certify"]

SAME = 1e-9
WORK = 400_000_000


@dataclass(frozen=True)
class Certificate:
    """Residuals of a plan.

    ``broken_limits``: people whose epsilon exceeds their limit (exactly counted); ``weight_error``: |sum w - 1|;
    ``objective`` and ``lower_bound``: worst-case mean squared error in units of the squared range, and a dual bound that no
    weights and noise under these limits can beat; ``gap`` their relative distance. Quasi-linear people: ``residual`` is how
    far surplus and price differ, and no design whatsoever has a promised variance below ``excluded_below``, shown by
    ``steps`` applications of the rising map M (E9) from the variance of a noiseless mean.
    """

    people: int
    broken_limits: int
    weight_error: float
    objective: float
    lower_bound: float
    residual: float | None = None
    excluded_below: float | None = None
    steps: int | None = None

    @property
    def gap(self) -> float:
        """How far the objective may be from the best possible, relatively."""
        return abs(self.objective - self.lower_bound) / self.objective if self.objective > 0 else 0.0

    @property
    def holds(self) -> bool:
        """Whether no limit is broken and the plan is optimal to nine digits."""
        fixed = self.residual is None or self.residual <= SAME
        return self.broken_limits == 0 and self.weight_error <= SAME and self.gap <= SAME and fixed


def certify(plan: Plan, agents: Agents) -> Certificate:
    """Recompute everything a plan claims from the people it was made for; refuse other people."""
    limits, eps = plan.limits(agents), plan.epsilons(agents)
    _same_people(plan, eps)
    design = plan.design()
    spread = min(plan.data_variance / plan.width / plan.width, 0.25)
    gap = 0.0 if plan.eta_given else plan.max_gap / plan.width  # at a given eta the weights serve every gap alike
    bound = lower_bound(limits, design, spread=spread, kappa=plan.noise_constant, fixed=plan.eta_given, gap=gap)
    certificate = Certificate(
        people=plan.people,
        broken_limits=int(np.count_nonzero(eps > limits)),
        weight_error=abs(float(plan.weights(agents).sum()) - 1.0),
        objective=design.variance + (gap * plan.tilt) ** 2,
        lower_bound=bound,
    )
    return _with_fixed_point(certificate, plan, agents) if isinstance(agents, QuasiLinear) else certificate


def _same_people(plan: Plan, eps: Array) -> None:
    """Tell people apart by the sums of epsilons and of squared weights: they decide everything in a plan."""
    known = len(eps) == plan.people
    if known and math.isfinite(plan.eta):
        known = math.isclose(float(eps.sum()), plan.epsilon_total, rel_tol=SAME)
        weights = eps / plan.epsilon_total
        known = known and math.isclose(float(weights @ weights), plan.weight_squares, rel_tol=SAME)
    elif known:
        known = int(np.count_nonzero(np.isinf(eps))) == plan.pooled_people
    if not known:
        raise BadInput(
            "these are not the people this plan was made for; plan again, or give the table it was made from"
        )


def _with_fixed_point(certificate: Certificate, plan: Plan, agents: QuasiLinear) -> Certificate:
    promised = plan.promised_variance or 0.0
    reached = _promise_of(plan, agents, promised)
    climbed, steps = _climb(plan, agents, promised)
    return Certificate(
        **{f: getattr(certificate, f) for f in ("people", "broken_limits", "weight_error", "objective", "lower_bound")},
        residual=abs(reached - promised) / promised if promised > 0 else 0.0,
        excluded_below=climbed,
        steps=steps,
    )


def _climb(plan: Plan, agents: QuasiLinear, promised: float) -> tuple[float, int]:
    """Apply V -> (1 + slack) M(V) from below: every value passed is below every fixed point."""
    free = plan.data_variance / plan.people * (1 + plan.slack)
    climbed, steps = free, 0
    for steps in range(1, min(2000, max(20, WORK // plan.people)) + 1):
        after = min(_promise_of(plan, agents, climbed), promised)
        if after <= climbed or promised - after <= 1e-12 * promised:
            return max(after, climbed), steps
        climbed = after
    return climbed, steps


def _promise_of(plan: Plan, agents: QuasiLinear, variance: float) -> float:
    """Return (1 + slack) M(variance) in data units."""
    limits = agents.limits_at(variance, data_variance=plan.data_variance)
    if not (limits > 0).any():
        return math.inf
    spread = min(plan.data_variance / plan.width / plan.width, 0.25)
    table = PrivacyConstrained(limits).table()
    if plan.eta_given:
        found = best_at_reach(table, reach=plan.epsilon_total, spread=spread, kappa=plan.noise_constant)
        unit = math.inf if found is None else found.variance
    else:
        unit = best_design(table, spread=spread, kappa=plan.noise_constant).variance
    return (1 + plan.slack) * unit * plan.width**2
