"""The picture of how-to/choosing.md: what a declared gap leads to, with limits that are tied to answers and that are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from statsmodels.datasets import fair

import optin
from optin.figures.ink import LIGHT, plain, write
from optin.figures.laboratory import DASHES

BOUNDS, SD, SEED = (0, 6), 1.5, 1
NAMES = ("limits go with answers", "limits have nothing to do with answers")


def draw(path: Path) -> None:
    """Draw the error against the declared gap, both curves, with the true gap marked."""
    children = fair.load_pandas().data["children"].to_numpy()
    n = len(children)
    place = np.argsort(np.argsort(children + np.random.default_rng(SEED).normal(0, 3, n)))
    tied = np.select([place < 0.4 * n, place < 0.8 * n], [1.0, 0.1], 0.02)
    untied = np.random.default_rng(5).permutation(tied)
    gaps = np.linspace(0, 3.2, 65)
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    plain(ax, LIGHT, x="declared max_gap (children)", y="error that it leads to (children)")
    for limits, dash, words in ((tied, "-", NAMES[0]), (untied, DASHES[1], NAMES[1])):
        people = optin.PrivacyConstrained(limits)
        errors = [_error(people, children, float(gap)) for gap in gaps]
        ax.plot(gaps, errors, color=LIGHT.strong, linewidth=2.2, linestyle=dash, label=words)
    means = [children[tied == limit].mean() for limit in (1.0, 0.1, 0.02)]
    true = float(max(means) - min(means))
    for at, words in ((true, "true gap"), (0.6, "a tenth\nof the range")):
        ax.axvline(at, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
        write(ax, LIGHT, words, (at, 0.2), offset=(4, 0), ha="left")
    ax.set(xlim=(0, 3.2), ylim=(0, 0.33))
    ax.legend(loc="upper right", frameon=False, fontsize=9, handlelength=3)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def _error(people: optin.PrivacyConstrained, answers: np.ndarray, gap: float) -> float:
    """Return the root of squared bias against all of these people, and noise."""
    plan = optin.plan(people, bounds=BOUNDS, sd=SD, max_gap=gap)
    bias = float(plan.weights(people) @ answers - answers.mean())
    return float(np.hypot(bias, np.sqrt(plan.noise_variance)))
