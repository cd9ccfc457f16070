"""The same program through CVXPY: how much slower, how far from the optimum, how many limits broken."""

import warnings

import cvxpy as cp
import numpy as np
from rich.console import Console
from rich.table import Table

import optin
from benchmarks.timing import best_in_turn

N = 100_000


def solve(limits, solver):
    """Pose min sigma^2 |w|^2 + 2 u^2, sum w = 1, 0 <= w <= tau u the way a user would."""
    w, u = cp.Variable(len(limits), nonneg=True), cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Minimize(0.25 * cp.sum_squares(w) + 2 * cp.square(u)), [cp.sum(w) == 1, w <= limits * u])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver)
    weights = np.maximum(w.value, 0) / np.maximum(w.value, 0).sum()
    return weights, 1 / float(u.value), problem.status


def main():
    limits = np.random.default_rng(1).lognormal(0, 1.5, N)
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=(0, 1))
    (ours,) = best_in_turn([lambda: optin.plan(agents, bounds=(0, 1))], repeats=20)
    table = Table(title=f"{N:,} people through CVXPY, default tolerances; optin = 1")
    for column in ("solver", "processor time / optin", "gap to the optimum", "largest broken limit", "status"):
        table.add_column(column, justify="right")
    for solver in ("CLARABEL", "PIQP", "OSQP", "SCS"):
        found = []
        (seconds,) = best_in_turn([lambda s=solver, f=found: f.append(solve(limits, s))], repeats=1)
        weights, eta, status = found[-1]
        variance = 0.25 * weights @ weights + 2 / eta**2
        broken = max(float((weights * eta / limits).max()) - 1, 0.0)
        table.add_row(solver, f"{seconds / ours:,.0f}", f"{variance / plan.variance - 1:+.1e}", f"{broken:.1e}", status)
    Console().print(table)
