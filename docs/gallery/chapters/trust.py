"""When limits and values are related: the dial, and what caution costs and saves."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import Array, mixed
from optin import figures, relations
from optin.figures.ink import LIGHT, log_axis, name_lines, plain
from optin.figures.laboratory import DASHES

UNIT = (0, 1)


@entry("relation", "If the cautious differ, turn the dial back")
def relation(figure: Figure) -> Shown:
    """Draw the dial under a weak and a strong relation, and measure the bias of each design."""
    people = optin.PrivacyConstrained(mixed())
    best = optin.plan(people, bounds=UNIT)
    words = []
    for ax, gap in zip(figure.subplots(1, 2), (0.05, 0.2), strict=True):
        means = relations.related_means(people.limits, bounds=UNIT, gap=gap)
        words.append(figures.relation(ax, people, means, bounds=UNIT, max_gap=gap))
        ax.set_title(f"means up to {gap:g} apart", fontsize=9.5, color=LIGHT.text)
    rows = "\n".join(_rows(best, people, means, gap=0.2))
    return Shown(
        f"""
A thousand people with limits of the standard mix. The more someone allows, the higher the mean of their value,
over an interval of 0.05 (left) or 0.2 (right). The target is the plain mean of all means.

Every design is a point on one dial, the cap: *strictest* (everyone alike, no bias), *robust* (`max_gap`, the
lowest worst case, E15), *optimum* (the lowest variance if values are unrelated), *proportional* (no cap).
Dotted: the variance, which knows nothing of a relation. Dashed: the expected squared error on these people.
Solid: the worst relation within the gap.

For the gap of 0.2, with 2000 simulated releases each:

| design | cap | tilt | bias, computed | bias, measured | bound, gap · tilt | error, computed | error, measured |
|---|---|---|---|---|---|---|---|
{rows}

The best single threshold, which leaves the strictest out, is not on the dial: it has the tilt of everyone it leaves
out. No bias reaches its bound here, because means rise evenly; a jump at the mean weight would reach it.

```python
>>> import optin
>>> from optin import relations
>>> people = optin.PrivacyConstrained([1, 4, 9, 9])
>>> means = relations.related_means(people.limits, bounds=(0, 1), gap=0.5, shape="step")
>>> [point.name for point in relations.dial_points(people, means, bounds=(0, 1), max_gap=0.5)]
['strictest', 'robust', 'optimum', 'proportional']

```

Theory: [the dial](../theory/dial.md). What the caution costs: [next page](price-of-caution.md).
""",
        " ".join(words),
    )


def _rows(best: optin.Plan, people: optin.PrivacyConstrained, means: Array, *, gap: float) -> list[str]:
    """Write a row for each design of the dial and for the best threshold: computed, measured, bound."""
    generator = np.random.default_rng(15)
    limits, rows = people.limits, []
    threshold = optin.baselines.best_threshold(best, people)
    for point in relations.dial_points(people, means, bounds=UNIT, max_gap=gap):
        epsilons = np.minimum(limits, point.cap)
        found = relations.measured(best, epsilons, means, draws=2000, generator=generator)
        rows.append(_row(point.name, f"{point.cap:.3f}", point.tilt, point.bias, gap, point.mse, found))
    epsilons = np.where(limits >= threshold.epsilon, threshold.epsilon, 0.0)
    found = relations.measured(best, epsilons, means, draws=2000, generator=generator)
    weights = epsilons / epsilons.sum()
    bias = float(weights @ means - means.mean())
    mse = float(weights**2 @ (means * (1 - means))) + threshold.noise + bias**2
    rows.append(_row("best threshold", "-", 1 - threshold.people / len(limits), bias, gap, mse, found))
    return rows


def _row(name: str, cap: str, tilt: float, bias: float, gap: float, mse: float, found: relations.Measured) -> str:
    return (
        f"| {name} | {cap} | {tilt:.3f} | {abs(bias):.4f} | {found.bias:.4f} ± {2 * found.bias_error:.4f} "
        f"| {gap * tilt:.4f} | {mse * 1e4:.2f}e-4 | {found.mse * 1e4:.2f}e-4 |"
    )


@entry("price-of-caution", "What max_gap costs without a relation, and saves with one", size=(7.2, 4.0))
def caution(figure: Figure) -> Shown:
    """Draw cost and saving of a declared gap."""
    people = optin.PrivacyConstrained(mixed())
    rows = relations.caution_table(people, np.geomspace(0.01, 0.25, 41), bounds=UNIT)
    gaps = np.array([row.max_gap for row in rows])
    cost, saving = (100 * np.array([getattr(row, name) for row in rows]) for name in ("cost", "saving"))
    ax = figure.subplots()
    plain(ax, LIGHT, x="declared gap between people's means (max_gap)", y="per cent")
    log_axis(ax, "x", 0.01, 0.25)
    ax.plot(gaps, cost, color=LIGHT.strong, linewidth=2.2, linestyle=DASHES[1])
    ax.plot(gaps, saving, color=LIGHT.strong, linewidth=2.2)
    ax.set_ylim(0, 100)
    ends = [("saved, if there is\nthe worst relation", float(saving[-1])), ("lost, if\nthere is none", float(cost[-1]))]
    name_lines(ax, LIGHT, ends, right=0.25)
    shown = relations.caution_table(people, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), bounds=UNIT)
    table = "\n".join(f"| {r.max_gap:g} | {r.cap:.3f} | {r.tilt:.3f} | {r.cost:.1%} | {r.saving:.1%} |" for r in shown)
    return Shown(
        f"""
The same thousand people. A declared gap turns the cap down: the weights become more alike, and the noise grows.
If values have nothing to do with limits, that was for nothing, and the variance is larger than it had to be. If
they have, the bias is smaller, and in the worst case within the gap the squared error is lower by so much:

| max_gap | cap | tilt | cost in variance, no relation | saving in worst-case error |
|---|---|---|---|---|
{table}

A gap of a twentieth of the range is cheap insurance here ({shown[2].cost:.1%}); a gap of one fifth costs
{shown[4].cost:.0%}, so declare it only if you mean it.

```python
>>> import optin
>>> from optin import relations
>>> row, = relations.caution_table(optin.PrivacyConstrained([1, 4, 9, 9]), [1], bounds=(0, 1))
>>> round(row.cap, 9), round(row.cost, 3), round(row.saving, 3)
(3.0, 0.08, 0.038)

```
""",
        f"Cost and saving against the declared gap. At 0.05 it costs {shown[2].cost:.1%} and saves {shown[2].saving:.1%};"
        f" at 0.2 it costs {shown[4].cost:.0%} and saves {shown[4].saving:.0%}.",
    )
