"""Time per person from a thousand to a hundred million people, drawn into docs/."""

from pathlib import Path

import matplotlib
import numpy as np

import optin
from benchmarks.timing import best

matplotlib.use("Agg")
OUT = Path(__file__).parent.parent / "docs" / "theory" / "time-per-person.png"
SIZES = [10**k for k in range(3, 9)]


def nanoseconds_per_person(n):
    limits = np.random.default_rng(1).lognormal(0, 1.5, n)
    agents = optin.PrivacyConstrained(limits)
    plan = best(lambda: optin.plan(agents, bounds=(0, 1)), repeats=5 if n < 10**8 else 2)
    sort = best(lambda: np.sort(limits), repeats=3 if n < 10**8 else 1)
    return plan / n * 1e9, sort / n * 1e9


def draw(rows):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    plans, sorts = [p for p, _ in rows], [s for _, s in rows]
    axes.plot(SIZES, plans, color="black", marker="o")
    axes.plot(SIZES, sorts, color="0.45", marker="s", linestyle="--")
    axes.annotate("plan", (SIZES[-1], plans[-1]), xytext=(0, -16), textcoords="offset points", ha="right")
    axes.annotate("one sort", (SIZES[-1], sorts[-1]), xytext=(0, 10), textcoords="offset points", ha="right")
    axes.set(xscale="log", yscale="log", xlabel="people", ylabel="nanoseconds per person")
    axes.set_title("Planning costs less than sorting, at every size that matters", loc="left")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(OUT, dpi=130)


def main():
    rows = [nanoseconds_per_person(n) for n in SIZES]
    for n, (plan, sort) in zip(SIZES, rows, strict=True):
        print(f"{n:>11,} people: plan {plan:8.2f} ns a person, one sort {sort:8.2f}")
    draw(rows)
