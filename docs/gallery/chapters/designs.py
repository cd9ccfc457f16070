"""The shape of a design: who is pooled, and where the best noise lies."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import levels, lognormal, mixed
from optin import figures
from optin.figures.ink import LIGHT, dot, log_axis, name_lines, plain, write
from optin.figures.laboratory import DASHES
from optin.wording.numbers import largest

UNIT = (0, 1)


@entry("pooling-limits", "Limits: the generous are pooled, everyone else gives all they allow")
def pooling_limits(figure: Figure) -> Shown:
    """Draw limits with epsilons, and weights, of the standard mix."""
    people = optin.PrivacyConstrained(mixed())
    plan = optin.plan(people, bounds=UNIT)
    left, right = figure.subplots(1, 2)
    words = figures.limits(left, plan, optin.describe(people))
    figures.weights(right, plan, optin.describe(people))
    least, most = people.limits.min(), people.limits.max()
    return Shown(
        f"""
A thousand people with limits from {least:.3f} to {most:g} (54 % strict, 37 % moderate, 9 % open), values
between 0 and 1.

The best design caps epsilon at **{largest(plan.cap)}**. The {plan.pooled_people} people whose limit is at or above
the cap are pooled: they all give the cap, all have weight W = {plan.pooled_weight:.6f}, and keep what they
would have allowed beyond it. The other {plan.people - plan.pooled_people} give all they allow and have weight
{plan.tail_constant:.6f} times their limit. Nobody is left out, and nobody's limit is crossed (Theorem 2 and
Claims 6 and 7 of the paper, with the noise found instead of given: E1 to E4).

The standard error is {plan.standard_error:.4f}, as good as a noiseless mean of {plan.effective_people:.0f} of
the {plan.people} people.

```python
>>> import optin
>>> optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1)).pooled_people
2

```

Theory: [people with limits](../theory/privacy-constrained.md).
""",
        words,
    )


@entry("pooling-costs", "Costs: the same shape, and the tail pays the same for privacy", size=(9.6, 3.8))
def pooling_costs(figure: Figure) -> Shown:
    """Draw weights and privacy costs of quasi-linear people against their cost."""
    people = optin.QuasiLinear(lognormal(), benefit=optin.LinearBenefit(base=1, slope=100))
    plan = optin.plan(people, bounds=UNIT)
    costs, weights = people.costs, plan.weights(people)
    paid = costs * plan.epsilons(people) / plan.surplus
    left, right = figure.subplots(1, 2)
    edge = plan.surplus / plan.cap
    for ax, heights, name in (
        (left, weights * 1000, "weight (in 1/n)"),
        (right, paid, "privacy cost paid (share of the surplus)"),
    ):
        plain(ax, LIGHT, x="cost of one unit of epsilon", y=name)
        log_axis(ax, "x", costs[0], costs[-1])
        ax.plot(costs, heights, color=LIGHT.strong, linewidth=2.4)
        ax.axvline(edge, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
        ax.set_ylim(0, 1.22 * heights.max())
        write(ax, LIGHT, "pool", (edge, 1.22 * heights.max()), offset=(-6, -4), ha="right", va="top")
        write(ax, LIGHT, "tail", (edge, 1.22 * heights.max()), offset=(6, -4), ha="left", va="top")
    tail = plan.people - plan.pooled_people
    return Shown(
        f"""
A thousand people who weigh costs: costs lognormal around 1, benefit 1 - 100 · variance, outside option 0.

At the best offer the benefit is {plan.surplus:.4f} above the outside option. The {plan.pooled_people} people
with a cost below {edge:.3f} have the same weight {plan.pooled_weight:.6f}; the other {tail} have weight K /
cost with K = {plan.tail_constant:.6f} (Theorem 1, with the noise found: E9 to E11). So everyone in the tail pays
the same for privacy, cost times epsilon, namely the whole surplus of {plan.surplus:.4f}: they break even.
People in the pool keep something, the more the lower their cost.

```python
>>> import optin
>>> people = optin.QuasiLinear([1, 1/4, 1/9, 1/9], benefit=optin.LinearBenefit(base=2, slope=12))
>>> plan = optin.plan(people, bounds=(0, 1))
>>> (people.costs * plan.epsilons(people)).round(3).tolist()
[1.0, 1.0, 0.556, 0.556]

```

Theory: [people who weigh costs](../theory/quasi-linear.md).
""",
        f"Weights and privacy costs against cost. Left of cost {edge:.2g}, in the pool, weights are equal and privacy costs"
        " rise; right of it weights fall and everyone pays the whole surplus.",
    )


@entry("noise-and-cap", "One dial: too much noise on one side, too unequal weights on the other")
def noise_and_cap(figure: Figure) -> Shown:
    """Draw the variance against eta and against the cap."""
    people = optin.PrivacyConstrained(mixed())
    plan = optin.plan(people, bounds=UNIT)
    left, right = figure.subplots(1, 2)
    words = figures.variance_by_eta(left, plan, optin.describe(people))
    figures.variance_by_cap(right, plan, optin.describe(people))
    strict = optin.baselines.strictest(plan, people).variance
    limits = people.limits
    proportional = (0.25 * float(limits @ limits) + 2) / limits.sum() ** 2
    at = {
        factor: optin.plan(people, bounds=UNIT, eta=plan.eta * factor).variance / plan.variance - 1
        for factor in (0.5, 0.8, 1.25)
    }
    return Shown(
        f"""
The same thousand people. Every sensible design is one turn of a dial, the cap. A low cap weighs all alike and
needs much noise; a high one needs little noise and leans on few people.

- Best: cap {largest(plan.cap)}, η = {plan.eta:.1f}, variance **{plan.variance * 1e4:.3f}e-4**, of which noise
  {2 / plan.eta**2 * 1e4:.3f}e-4.
- One end, everyone at the strictest limit: {strict * 1e4:.1f}e-4, {strict / plan.variance:.0f} times as much.
- Other end, weight in proportion to limits: {proportional * 1e4:.3f}e-4, {proportional / plan.variance - 1:.0%}
  more.
- Near the best, little is lost: with half of the best η {at[0.5]:.1%} more, with 0.8 of it {at[0.8]:.2%}, with
  1.25 of it {at[1.25]:.2%}.

The paper searches for η; here it is the root of one equation (E1), and the curve is convex in 1/η.

```python
>>> import optin
>>> people = optin.PrivacyConstrained([1, 4, 9, 9])
>>> [round(12 * optin.plan(people, bounds=(0, 1), eta=eta).variance, 3) for eta in (10, 15, 20)]
[1.08, 1.0, 1.031]

```
""",
        words,
    )


@entry("saturation", "Saturation: beyond the cap, more generosity changes nothing", size=(7.2, 4.0))
def saturation(figure: Figure) -> Shown:
    """Draw the error against the limit of the generous half."""
    higher = np.geomspace(0.1, 10, 161)
    best = [optin.plan(optin.PrivacyConstrained(levels((0.1, 500), (h, 500))), bounds=UNIT) for h in higher]
    errors = np.array([plan.variance for plan in best])
    proportional = np.array([(0.25 * (500 * 0.01 + 500 * h * h) + 2) / (50 + 500 * h) ** 2 for h in higher])
    threshold = np.array([min(4.5e-4, 0.25 / 500 + 2 / (500 * h) ** 2) for h in higher])
    cap, flat = best[-1].cap, errors[-1]
    ax = figure.subplots()
    plain(ax, LIGHT, x="limit of the generous half (the others: 0.1)", y="expected squared error (in 10⁻⁴)")
    log_axis(ax, "x", 0.1, 10)
    lines = {"optimum": errors, "proportional": proportional, "best threshold": threshold}
    for (_, heights), style in zip(lines.items(), DASHES, strict=False):
        ax.plot(higher, heights * 1e4, color=LIGHT.strong, linewidth=2.2, linestyle=style)
    ax.set_ylim(3, 5.6)
    name_lines(ax, LIGHT, [(name, float(heights[-1]) * 1e4) for name, heights in lines.items()], right=10)
    dot(ax, LIGHT, (cap, flat * 1e4))
    write(ax, LIGHT, f"cap {cap:.2f}", (cap, flat * 1e4), offset=(0, -16), ha="center", va="top", weight="bold")
    digits = round(-np.log10(max(np.ptp(errors[higher >= cap]) / flat, 1e-12)))
    return Shown(
        f"""
A thousand people, half of them with limit 0.1. The other half allows more and more, from 0.1 to 10.

Up to **{cap:.2f}** the error falls, from {errors[0] * 1e4:.3f}e-4 to {flat * 1e4:.3f}e-4. From there on it is
constant (to {digits} digits): the optimum no longer uses what the generous
half allows beyond the cap. That is privacy for free, and what Chaudhuri and Courtade call saturation. Weighing
in proportion to limits does use it, and gets worse: {proportional[-1] * 1e4:.3f}e-4 at the right end. The best
single threshold gains nothing at all until the generous half is better off alone, which with these numbers
never happens.

```python
>>> import optin
>>> for higher in (0.1, 0.2, 0.26, 1, 10):
...     people = optin.PrivacyConstrained([0.1] * 500 + [higher] * 500)
...     print(higher, round(1e4 * optin.plan(people, bounds=(0, 1)).variance, 3))
{_rows((0.1, 0.2, 0.26, 1, 10))}

```
""",
        "Expected squared error against the limit of the generous half. The optimum falls to"
        f" {flat * 1e4:.3f}e-4 at {cap:.2f} and is flat from there; proportional weights fall and rise again; the best"
        " threshold stays where it was.",
    )


def _rows(higher: tuple[float, ...]) -> str:
    found = [optin.plan(optin.PrivacyConstrained(levels((0.1, 500), (h, 500))), bounds=UNIT).variance for h in higher]
    return "\n".join(f"{h} {round(1e4 * v, 3)}" for h, v in zip(higher, found, strict=True))
