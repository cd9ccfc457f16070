"""Quasi-linear people on the edge of joining: margin 1e-9 (1e-6 for a benefit that is called) against an easy instance."""

import numpy as np
from rich.console import Console
from rich.table import Table

import optin
from benchmarks.timing import best
from optin.kernel.passes import ArrayLimits
from optin.kernel.search import Gain
from optin.kernel.shortfall import shortfall

SLOPE = 5.0


def touching_base(costs):
    """The base at which the best offer is exactly worth its price: the least B(y) + slope V(y)."""
    nothing = Gain(lambda v: -SLOPE * v, (0.0, SLOPE))
    return shortfall(ArrayLimits(costs, inverse=True), nothing, spread=0.25, kappa=2.0, reach=None)


def outcome(costs, base, *, called=False):
    benefit = (lambda v: base - SLOPE * v) if called else optin.LinearBenefit(base, SLOPE)
    try:
        optin.plan(optin.QuasiLinear(costs, benefit=benefit), bounds=(0, 1))
    except optin.Infeasible:
        return "infeasible"
    return "feasible"


def main():
    table = Table(title="hard quasi-linear instances: time / easy instance of the same n")
    for column in ("n", "base", "answer", "ratio"):
        table.add_column(column, justify="right")
    for n in (1_000, 100_000, 1_000_000):
        costs = np.random.default_rng(n).lognormal(3, 1.0, n)
        base = touching_base(costs)
        easy = best(lambda c=costs, b=base: outcome(c, 4 * b))
        for margin in (1e-9, -1e-9):
            tuned = base * (1 + margin)
            ratio = best(lambda c=costs, b=tuned: outcome(c, b)) / easy
            table.add_row(f"{n:,}", f"touching {margin:+.0e}", outcome(costs, tuned), f"{ratio:.1f}")
        for margin in (1e-6, -1e-6):
            tuned = base * (1 + margin)
            ratio = best(lambda c=costs, b=tuned: outcome(c, b, called=True), repeats=1) / easy
            answer = outcome(costs, tuned, called=True)
            table.add_row(f"{n:,}", f"touching {margin:+.0e}, called", answer, f"{ratio:.1f}")
    Console().print(table)
