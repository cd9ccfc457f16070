"""Time per person from a thousand to ten million people, drawn into docs/ with error bars.

How fast numpy sorts depends on the processor: NPY_DISABLE_CPU_FEATURES=X86_V3 before it shows one without vector sorting.
"""

import time
from pathlib import Path

import matplotlib
import numpy as np

import optin

matplotlib.use("Agg")
OUT = Path(__file__).parent.parent / "docs" / "theory" / "time-per-person.png"
SIZES = [10**k for k in range(3, 8)]
ROUNDS = 9


def processor_times(call, *, least=0.02):
    """Return the processor's time for one call, again and again; short ones are run often enough to be seen."""
    started = time.process_time()
    call()
    often = max(int(least / max(time.process_time() - started, 1e-7)), 1)
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(often):
            call()
        found.append((time.process_time() - started) / often)
    return np.array(found)


def nanoseconds_per_person(n):
    """Return low quartile, median and high quartile of a plan and of a sort, in turns on the same limits."""
    limits = np.random.default_rng(1).lognormal(0, 1.5, n)
    agents = optin.PrivacyConstrained(limits)
    calls = (lambda: optin.plan(agents, bounds=(0, 1)), lambda: np.sort(limits))
    return [np.quantile(processor_times(call), (0.25, 0.5, 0.75)) / n * 1e9 for call in calls]


def headline(rows):
    """Say from how many people on a plan takes less than a sort, quartile beside quartile."""
    more = [n for n, (plan, sort) in zip(SIZES, rows, strict=True) if plan[2] >= sort[0]]
    first = SIZES[SIZES.index(more[-1]) + 1 :] if more else SIZES
    return (
        f"From {first[0]:,} people on, planning costs less than sorting"
        if first
        else "Planning costs more than sorting"
    )


def draw(rows):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    looks = (("plan", "black", "o", "-", (0, -16)), ("one sort", "0.45", "s", "--", (0, 10)))
    for place, (words, color, marker, line, offset) in enumerate(looks):
        low, middle, high = np.array([row[place] for row in rows]).T
        axes.errorbar(
            SIZES, middle, (middle - low, high - middle), color=color, marker=marker, linestyle=line, capsize=4
        )
        axes.annotate(words, (SIZES[-1], middle[-1]), xytext=offset, textcoords="offset points", ha="right")
    axes.set(
        ylim=(1, 2000), xscale="log", yscale="log", xlabel="people", ylabel="nanoseconds per person (processor time)"
    )
    axes.set_title(headline(rows), loc="left")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(OUT, dpi=130)


def main():
    rows = [nanoseconds_per_person(n) for n in SIZES]
    for n, (plan, sort) in zip(SIZES, rows, strict=True):
        told = (
            f"{words} {low:.1f} | {middle:.1f} | {high:.1f}"
            for words, (low, middle, high) in (("plan", plan), ("sort", sort))
        )
        print(f"{n:>11,} people, ns a person, quartiles: " + ", ".join(told))
    draw(rows)
