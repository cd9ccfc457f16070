"""When limits and values are related: the dial, and what caution costs and saves."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import mixed
from optin import figures, relations
from optin.figures.ink import LIGHT, log_axis, name_lines, plain
from optin.figures.laboratory import DASHES

UNIT = (0, 1)


@entry("relation", "If the cautious differ, turn the dial back")
def relation(figure: Figure) -> Shown:
    """Draw the dial under a weak and a strong relation, and measure the bias of each design."""
    people = optin.PrivacyConstrained(mixed())
    words = []
    for ax, gap in zip(figure.subplots(1, 2), (0.05, 0.2), strict=True):
        means = relations.related_means(people.limits, bounds=UNIT, gap=gap)
        words.append(figures.relation(ax, people, means, bounds=UNIT, max_gap=gap))
        ax.set_title(f"means up to {gap:g} apart", fontsize=9.5, color=LIGHT.text)
    rows = _rows(people, gap=0.2)
    return Shown(
        f"""
A thousand people with limits of the standard mix. The more someone allows, the higher the mean of their value,
over an interval of 0.05 (left) or 0.2 (right). The target is the plain mean of all means.

Every design is a point on one dial, the cap: *strictest* (everyone alike, no bias), *robust* (`max_gap`, the
lowest worst case, E15), *optimum* (the lowest variance if values are unrelated), *proportional* (no cap).
Dotted: the variance, which knows nothing of a relation. Dashed: the expected squared error on these people.
Solid: the worst relation within the gap.

For the gap of 0.2, two thousand simulated campaigns each, best error first:

| design | tilt | bias, measured | bias, at most | squared error, measured |
|---|---|---|---|---|
{rows}

No bias passes its bound, which is gap · tilt (raw stretching has a bias of its own besides). None reaches it here,
because means rise evenly; a jump at the mean weight would. Designs that are not on the dial lean as well: leaving
people out, or keeping them by chance, is a weight like any other.

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


def _rows(people: optin.PrivacyConstrained, *, gap: float) -> str:
    """Write a row for each design, ours and others': the bias that simulated campaigns show, and its bound."""
    found = optin.simulate(
        people, gap=gap, max_gap=gap, campaigns=2000, designs=optin.baselines.NAMES, generator=np.random.default_rng(15)
    )
    names = {"optimum": "**robust** (max_gap)", "adpm": "optimum"}
    hidden = {"grid", "stretching-debiased", "midpoint", "shrunk", "clamped"}  # the mean is in the middle here
    return "\n".join(
        f"| {names.get(o.design.name, o.design.name)} | {o.design.tilt:.3f} | {o.bias:.4f} ± {1.96 * o.bias_error:.4f} "
        f"| {o.design.bias_bound:.4f} | {o.mse * 1e4:.2f}e-4 |"
        for o in sorted(found.outcomes, key=lambda o: o.mse)
        if o.design.name not in hidden
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
