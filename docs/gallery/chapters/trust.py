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

Four designs are points on one dial, the cap: *strictest* (everyone alike, no bias), *robust* (`max_gap`, the
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


@entry("groups", "Where limits go with a group, publish by group and put the whole together", size=(7.2, 4.0))
def groups(figure: Figure) -> Shown:
    """Draw the error of one plan, of a guarded plan and of a plan for each group, against how far groups lie apart."""
    gaps = np.linspace(0.0, 0.5, 16)
    found = [_of_groups(gap) for gap in gaps]
    ax = figure.subplots()
    plain(ax, LIGHT, x="how far the groups' proportions lie apart", y="root of the expected squared error")
    ends = []
    for place, outcome in enumerate(found[0].outcomes):
        errors = [each.outcomes[place].computed ** 0.5 for each in found]
        ax.plot(gaps, errors, color=LIGHT.strong, linewidth=2.2, linestyle=DASHES[place])
        ends.append((outcome.design.replace(", ", ",\n").replace(" for ", "\nfor "), errors[-1]))
    ax.set(xlim=(0, 0.5), ylim=(0, None))
    name_lines(ax, LIGHT, ends, right=0.5)
    shown = [_of_groups(gap, campaigns=200) for gap in (0.0, 0.1, 0.2, 0.5)]
    table = "\n".join(_group_row(each.max_gap, outcome) for each in shown for outcome in each.outcomes)
    first, last = shown[0].outcomes, shown[-1].outcomes
    return Shown(
        f"""
Six hundred young people with careful limits, four hundred old ones with open limits, and a question to which the old
say yes more often: by as much as the horizontal axis says. What is wanted is the proportion of all thousand.

One plan for all leans to the open: its error is mostly bias, and its interval does not know. A plan that is told the
gap (E15) is safe, and gives up what open people allow. A plan for each group, put together by the sizes of groups
(E27), does not lean at any gap and needs no declaration; what it costs is noise of its own for each group.

| gap | design | bias, computed | bias, measured | error, computed | error, measured | 95 % held |
|---|---|---|---|---|---|---|
{table}

Without any gap the cure costs {(first[2].computed / first[0].computed) ** 0.5 - 1:.0%} of the standard error here; at a
gap of a half it divides the error by {(last[0].computed / last[2].computed) ** 0.5:.1f}. It helps against links between
groups, not against those within one.

```python
>>> import numpy as np, optin
>>> asked = {{
...     "young": optin.simulation.SimulatedGroup(600, "careful", (0.2, 0.8)),
...     "old": optin.simulation.SimulatedGroup(400, "open", (0.7, 0.3)),
... }}
>>> found = optin.simulation.simulate_groups(
...     asked, optin.YesNo("ill"), generator=np.random.default_rng(1), campaigns=10
... )
>>> [round(each.predicted_bias, 3) + 0.0 for each in found.outcomes]
[0.058, 0.003, 0.0]

```

How to: [groups](../how-to/groups.md). Theory: [E27](../theory/groups.md).
""",
        f"Root of the expected squared error against the gap between two groups. At 0.5: one plan {last[0].computed ** 0.5:.3f}, "
        f"a guarded plan {last[1].computed ** 0.5:.3f}, a plan for each group {last[2].computed ** 0.5:.3f}.",
    )


def _group_row(gap: float, outcome: optin.simulation.GroupOutcome) -> str:
    """Write what one design did at one gap."""
    bias, errors = round(outcome.bias, 3) + 0.0, (outcome.computed**0.5, outcome.mse**0.5)
    told = f"{outcome.predicted_bias:z.3f} | {bias:z.3f} | {errors[0]:.4f} | {errors[1]:.4f} | {outcome.coverage:.0%}"
    return f"| {gap:g} | {outcome.design} | {told} |"


def _of_groups(gap: float, campaigns: int = 1) -> optin.simulation.GroupSimulation:
    """Simulate two groups of which the open one says yes more often."""
    young, old = 0.4 - 0.4 * gap, 0.4 + 0.6 * gap
    asked = {
        "young": optin.simulation.SimulatedGroup(600, "careful", (young, 1 - young)),
        "old": optin.simulation.SimulatedGroup(400, "open", (old, 1 - old)),
    }
    return optin.simulation.simulate_groups(
        asked, optin.YesNo("ill"), generator=np.random.default_rng(27), campaigns=campaigns, max_gap=float(gap)
    )
