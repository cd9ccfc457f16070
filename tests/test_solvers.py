"""Independent solvers on the programs themselves: none of them may ever find a better design than the planner."""

from __future__ import annotations

import warnings
from math import exp, inf, sqrt

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

import optin

BOUNDS = (-1.0, 3.0)


def clarabel(limits: np.ndarray, spread: float, data_variance: float, *, eta=None, gap=0.0):
    """The joint convex program in weights and 1/eta: its value and weights, by an interior-point solver.

    Weights are scaled to add up to n and the value by n, because the solver's tolerances are absolute; u = n / eta.
    """
    n = len(limits)
    v, u = cp.Variable(n, nonneg=True), cp.Variable(nonneg=True)
    capped = np.isfinite(limits)
    rules = [cp.sum(v) == n, spread * v[capped] <= limits[capped] * u]
    if eta is not None:
        rules.append(u == n / eta)
    tilted = cp.sum(cp.pos(v - 1))
    value = data_variance * cp.sum_squares(v) + 2 * cp.square(u) + gap**2 * cp.square(tilted)
    problem = cp.Problem(cp.Minimize(value / n), rules)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value / n, np.asarray(v.value) / n


def random_limits(rng: np.random.Generator, people: int) -> np.ndarray:
    limits = rng.lognormal(0, rng.uniform(0.2, 1.5), people)
    if rng.random() < 0.4:
        limits = np.round(limits) + 0.5  # ties
    if rng.random() < 0.3:
        limits[rng.integers(people)] = 0.0
    if rng.random() < 0.3:
        limits[rng.integers(people)] = inf
    return limits if limits.any() else limits + 1.0


def assert_never_worse(ours: float, theirs: float) -> None:
    """The planner is no worse than the solver beyond its tolerance, and the solver did find the optimum."""
    assert ours <= theirs * (1 + 1e-7)
    assert theirs <= ours * (1 + 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_an_interior_point_solver_finds_no_better_design_for_limits(seed):
    rng = np.random.default_rng(seed)
    limits = random_limits(rng, int(rng.integers(1, 40)))
    finite = np.isfinite(limits) & (limits > 0)
    limits[0] = limits[0] if finite.any() else 1.0
    data_variance = 4 * rng.choice([1.0, 0.1, 0.01])
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=BOUNDS, data_variance=data_variance)
    value, weights = clarabel(limits, 4.0, data_variance)
    assert_never_worse(plan.variance, value)
    np.testing.assert_allclose(plan.weights(agents), weights, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_an_interior_point_solver_finds_no_better_weights_at_a_given_eta(seed):
    rng = np.random.default_rng(100 + seed)
    limits = rng.lognormal(0, 1, int(rng.integers(2, 25)))
    eta = float(rng.uniform(0.3, 0.95) * limits.sum() / 4)
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=BOUNDS, eta=eta)
    value, weights = clarabel(limits, 4.0, 4.0, eta=eta)
    assert_never_worse(plan.variance, value)
    np.testing.assert_allclose(plan.weights(agents), weights, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_an_interior_point_solver_finds_no_better_turn_of_the_dial(batch):
    """Two hundred instances in all, gaps from 0 to R, over all weights and noise: not only those of the dial."""
    rng = np.random.default_rng(200 + batch)
    for gap in np.linspace(0, 4, 20):
        limits = random_limits(rng, int(rng.integers(2, 12)))
        limits[0] = 1.0 if not np.any(np.isfinite(limits) & (limits > 0)) else limits[0]
        data_variance = 4 * rng.choice([1.0, 0.1])
        agents = optin.PrivacyConstrained(limits)
        plan = optin.plan(agents, bounds=BOUNDS, data_variance=data_variance, max_gap=float(gap))
        value, _ = clarabel(limits, 4.0, data_variance, gap=gap)
        assert_never_worse(plan.worst_case_mse, value)


# The full quasi-linear program is not convex: a local solver from many starts.

BENEFITS = {
    "linear": lambda a, s: lambda v: a * (1 - s * v),
    "concave": lambda a, s: lambda v: a * (1 - (s * v) ** 2),
    "convex exponential": lambda a, s: lambda v: a * exp(-s * v),
    "convex reciprocal": lambda a, s: lambda v: a / (1 + s * v),
    "convex root": lambda a, s: lambda v: a * (1 - sqrt(s * v)),
    "logistic": lambda a, s: lambda v: a / (1 + exp(min(6 * (s * v - 1), 500.0))),
}

TIGHT = 1e-9  # the solver must leave this much room, so that what it returns is truly feasible


def program_variance(z: np.ndarray, data_variance: float) -> float:
    return data_variance * float(z[:-1] @ z[:-1]) + 2 * exp(-2 * z[-1])


def slsqp(costs: np.ndarray, benefit, outside: float, starts, data_variance: float) -> float:
    """The best feasible variance that SLSQP finds in (w, log eta), R = 1; infinite if it finds no feasible point."""

    def room(z: np.ndarray) -> np.ndarray:
        return benefit(program_variance(z, data_variance)) - outside - costs * z[:-1] * exp(z[-1])

    best = inf
    rules = [
        {"type": "eq", "fun": lambda z: z[:-1].sum() - 1},
        {"type": "ineq", "fun": lambda z: room(z) - TIGHT},
    ]
    limits = [(0, 1)] * len(costs) + [(-5, 12)]
    for start in starts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = minimize(
                program_variance, start, (data_variance,), "SLSQP", bounds=limits, constraints=rules,
                options={"maxiter": 200, "ftol": 1e-12},
            )  # fmt: skip
        z = np.append(np.maximum(found.x[:-1], 0) / max(np.maximum(found.x[:-1], 0).sum(), 1e-300), found.x[-1])
        if np.all(np.isfinite(z)) and np.all(room(z) >= 0):
            best = min(best, program_variance(z, data_variance))
    return best


def random_starts(rng: np.random.Generator, costs: np.ndarray, count: int):
    for _ in range(count):
        weights = costs ** -rng.uniform(0, 1.5) * rng.uniform(0.5, 1, len(costs))
        yield np.append(weights / weights.sum(), rng.uniform(-1, 5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(BENEFITS))
def test_a_local_solver_with_many_starts_finds_no_better_design_for_quasi_linear_people(kind):
    rng = np.random.default_rng(sorted(BENEFITS).index(kind))
    matched = feasible = 0
    for people in (1, 2, 4, 7, 12):
        costs = rng.lognormal(0, 1, people)
        benefit = BENEFITS[kind](float(rng.uniform(2, 25)) / sqrt(people), float(rng.uniform(0.3, 3)))
        outside = float(rng.choice([0.0, 0.3]))
        theirs = slsqp(costs, benefit, outside, random_starts(rng, costs, 8), 0.25)
        agents = optin.QuasiLinear(costs, benefit=benefit, outside=outside)
        try:
            ours = optin.plan(agents, bounds=(0.0, 1.0)).variance
        except optin.Infeasible:
            ours = inf
        assert ours <= theirs * (1 + 1e-9)
        feasible += ours < inf
        matched += theirs <= ours * (1 + 1e-4) < inf
    assert feasible >= 2
    assert matched >= feasible - 1  # the solver was a match, so that not being beaten means something
