"""Planning ten million people against sorting them."""

import subprocess
import sys
import tracemalloc

import numpy as np
from rich.console import Console
from rich.table import Table

import optin
from benchmarks.timing import best

N = 10_000_000
VARIANCES = (0.25, 1e-2, 1e-4, 1e-6, 1e-9)


def populations(n=N):
    rng = np.random.default_rng(1)
    return {
        "lognormal(0, 1.5)": rng.lognormal(0, 1.5, n),
        "uniform": rng.random(n),
        "two-level": np.where(rng.random(n) < 0.5, 0.1, 1.0),
        "harmonic": 1.0 / np.arange(1, n + 1),
        "heavy-tailed": rng.pareto(0.5, n),
    }


def extra_memory(call, size):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / size


def import_ratio():
    def seconds(module):
        return best(lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True), repeats=7)

    return seconds("optin") / seconds("numpy")


def main():
    people = populations()
    lognormal = people["lognormal(0, 1.5)"]
    sort = best(lambda: np.sort(lognormal), repeats=5)
    table = Table(title=f"plan / one sort of {N:,} lognormal limits (1 = {sort:.3f} s here)")
    table.add_column("limits")
    for variance in VARIANCES:
        table.add_column(f"variance {variance:g}", justify="right")
    for name, limits in people.items():
        agents = optin.PrivacyConstrained(limits)
        ratios = [best(lambda v=v, a=agents: optin.plan(a, bounds=(0, 1), data_variance=v)) / sort for v in VARIANCES]
        table.add_row(name, *(f"{ratio:.2f}" for ratio in ratios))
    console = Console()
    console.print(table)
    constrained = optin.PrivacyConstrained(lognormal)
    linear = optin.QuasiLinear(lognormal, benefit=optin.LinearBenefit(1, 1))
    called = optin.QuasiLinear(lognormal, benefit=lambda v: 1 / (1 + v))
    more = Table(title="the rest, in the same unit")
    more.add_column("what")
    more.add_column("ratio", justify="right")
    for what, call in {
        "constructing the agents": lambda: optin.PrivacyConstrained(lognormal),
        "at a given eta": lambda: optin.plan(constrained, bounds=(0, 1), eta=1000.0),
        "max_gap 0.1": lambda: optin.plan(constrained, bounds=(0, 1), max_gap=0.1),
        "quasi-linear, linear benefit": lambda: optin.plan(linear, bounds=(0, 1)),
        "quasi-linear, called benefit": lambda: optin.plan(called, bounds=(0, 1)),
    }.items():
        more.add_row(what, f"{best(call) / sort:.2f}")
    for name in ("two-level", "uniform"):
        crowd = optin.QuasiLinear(people[name], benefit=optin.LinearBenefit(1, 1))
        more.add_row(
            f"quasi-linear, linear benefit, {name}", f"{best(lambda c=crowd: optin.plan(c, bounds=(0, 1))) / sort:.2f}"
        )
    alike = optin.QuasiLinear(np.full(N, 0.3), benefit=optin.LinearBenefit(1, 1))
    more.add_row("quasi-linear, all alike", f"{best(lambda: optin.plan(alike, bounds=(0, 1))) / sort:.2f}")
    size = lognormal.nbytes
    more.add_row(
        "extra memory / input, plan", f"{extra_memory(lambda: optin.plan(constrained, bounds=(0, 1)), size):.2f}"
    )
    more.add_row(
        "extra memory / input, quasi-linear", f"{extra_memory(lambda: optin.plan(linear, bounds=(0, 1)), size):.2f}"
    )
    for what, call in {
        "max_gap": lambda: optin.plan(constrained, bounds=(0, 1), max_gap=0.1),
        "quasi-linear, all alike": lambda: optin.plan(alike, bounds=(0, 1)),
    }.items():
        more.add_row(f"extra memory / input, {what}", f"{extra_memory(call, size):.2f}")
    more.add_row("import optin / import numpy", f"{import_ratio():.2f}")
    console.print(more)
