"""Quasi-linear people to plan for, and what counts as the right answer for them."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

from oracles_quasilinear import linear_optimum, linear_optimum_at_eta
from strategies import UNIT, Society

import optin

F = Fraction

TRILLIONTH = F(1, 10**12)
M1 = [1.0, 1 / 128, 1 / 128, 1 / 128]


def linear_agents(society: Society):
    benefit = optin.LinearBenefit(base=society.base, slope=society.slope)
    return optin.QuasiLinear(society.costs, benefit=benefit, outside=society.outside)


def planned(costs, benefit, *, outside=0.0, bounds=UNIT, data_variance=0.25, **more):
    agents = optin.QuasiLinear(costs, benefit=benefit, outside=outside)
    return agents, optin.plan(agents, bounds=bounds, data_variance=data_variance, **more)


def variance_or_none(costs, benefit, **more) -> float | None:
    try:
        return planned(costs, benefit, **more)[1].variance
    except optin.Infeasible:
        return None


def line(base: float, slope: float):
    return lambda variance: base - slope * variance


def nudged(society: Society, share: Fraction, eta: float | None = None):
    """The exact optimum after the benefit is raised by ``share`` of its size: smaller for more benefit."""
    base = F(society.base) + share * (abs(F(society.base)) + abs(F(society.outside)))
    if eta is None:
        return linear_optimum(society.costs, base, society.slope, *society.terms, outside=society.outside)
    return linear_optimum_at_eta(society.costs, eta, base, society.slope, *society.terms, outside=society.outside)


def assert_backward_exact(society: Society, plan, eta: float | None = None, share=TRILLIONTH) -> None:
    """The answer lies between those for a benefit a trillionth higher and lower, whatever the conditioning."""
    easier, harder = nudged(society, share, eta), nudged(society, -share, eta)
    if plan is None:
        assert harder is None
    else:
        assert easier is not None
        assert plan.variance >= float(easier.variance) * (1 - 1e-12)
        assert harder is None or plan.variance <= float(harder.variance) * (1 + 1e-12)


def plan_or_none(society: Society, **more):
    try:
        return optin.plan(linear_agents(society), **society.given, **more)
    except optin.Infeasible:
        return None


BENEFITS = {
    "linear": lambda a, s: lambda v: a * (1 - s * v),
    "concave": lambda a, s: lambda v: a * (1 - (s * v) ** 2),
    "exponential": lambda a, s: lambda v: a * exp(-s * v),
    "reciprocal": lambda a, s: lambda v: a / (1 + s * v),
    "square root": lambda a, s: lambda v: a * (1 - sqrt(s * v)),
    "logistic": lambda a, s: lambda v: a / (1 + exp(min(9 * (s * v - 1), 500.0))),
    "two cliffs": lambda a, s: lambda v: a * (1 + 1 / (1 + (s * v) ** 20) + 1 / (1 + (s * v / 3) ** 30)),
}
