"""Who gains by a false report."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import Array, lognormal
from optin import figures, incentives
from optin.figures.ink import LIGHT, log_axis, name_lines, plain, write
from optin.figures.laboratory import DASHES

UNIT = (0, 1)
BOUNDED = "costs from\n0.5 to 2"


@entry("true-limits", "Nobody gains by a false limit", size=(7.2, 4.0))
def true_limits(figure: Figure) -> Shown:
    """Draw the variance against what four of forty people report."""
    people = optin.PrivacyConstrained(lognormal(40, middle=0.35))
    found = incentives.limit_reports(people, bounds=UNIT)
    plan = optin.plan(people, bounds=UNIT)
    words = figures.limit_reports(
        figure.subplots(), found, {"strictest": 0, "10th": 9, "20th": 19, "most open": 39}, people.limits
    )
    tried = found.reports.size
    most = max(float(found.gains.max()), 1e-12)
    crossed = int((~found.kept).sum())
    unchanged = int((found.kept & (found.reports > people.limits[:, None])).sum())
    return Shown(
        f"""
Forty people with limits from {people.limits[0]:.3f} to {people.limits[-1]:.2f}; the cap is {plan.cap:.3f}. Each
in turn reports from a sixteenth to sixteen times the truth while all others tell it: {tried:,} reports,
computed at once from one sorted table.

- Reporting *less* never makes the release better (Claim 8). It makes it worse as soon as the report is below
  the cap.
- Reporting *more* got the true limit crossed {crossed} times, and changed nothing the other {unchanged} times
  (Claim 9).
- The best of all {tried:,} reports improves the variance by less than {most:.0e} of itself.

The test suite does the same with optin's own planner on 10,000 random tables, persons and reports, and checks
that a planner which ignores limits is caught.

```python
>>> import optin
>>> from optin import incentives
>>> people = optin.PrivacyConstrained([1, 4, 9, 9])
>>> found = incentives.limit_reports(people, bounds=(0, 1), reports=[0.5, 1, 4, 9, 100])
>>> bool((found.gains <= 1e-12).all())
True

```

Theory: [who gains by a false report](../theory/incentives.md).
""",
        words,
    )


@entry("overstated-costs", "Overstating a cost pays, and fades only where the cap does")
def overstated_costs(figure: Figure) -> Shown:
    """Draw utility against the stated cost, and the gain of the best lie against the number of people."""
    left, right = figure.subplots(1, 2)
    crowd = optin.QuasiLinear(lognormal(200), benefit=optin.LinearBenefit(base=2, slope=1))
    factors = np.geomspace(0.25, 64, 61)
    found = incentives.cost_reports(crowd, bounds=UNIT, reports=crowd.costs[:, None] * factors)
    plain(left, LIGHT, x="stated cost, as a multiple of the true one", y="utility (share of the surplus)")
    log_axis(left, "x", 0.25, 64)
    left.set_ylim(-0.55, 1.05)
    left.axvline(1, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
    for (name, i), style in zip({"cheapest": 0, "median": 100, "strictest": 199}.items(), DASHES, strict=False):
        heights = found.utilities[i] / found.surplus
        left.plot(factors, heights, color=LIGHT.strong, linewidth=2.2, linestyle=style)
        at = int(np.argmax(heights > -0.4))
        offset = (20, -4) if at else (2, -12)
        write(left, LIGHT, name, (factors[at], heights[at]), offset=offset, ha="left")
    sizes = np.unique(np.geomspace(30, 30_000, 16).astype(int))
    lines = {
        BOUNDED: [_gain(np.linspace(0.5, 2, n)) for n in sizes],
        "1/cost from\n0 to 1": [_gain(1 / np.linspace(1 / n, 1, n)) for n in sizes],
        "given noise,\nη = 20": [_gain(np.linspace(0.5, 2, n), eta=20) for n in sizes],
    }
    plain(right, LIGHT, x="people", y="gain of the median person\n(share of the surplus)")
    log_axis(right, "x", 30, 30_000, most=4)
    log_axis(right, "y", 4e-4, 1.4, most=6)
    for heights, style in zip(lines.values(), DASHES, strict=False):
        right.plot(sizes, heights, color=LIGHT.strong, linewidth=2.2, linestyle=style)
    name_lines(right, LIGHT, [(name, heights[-1]) for name, heights in lines.items()], right=30_000)
    best = incentives.best_lies(crowd, bounds=UNIT)
    share = best.best_gains / best.surplus
    ratios = {name: heights[-1] / heights[-6] for name, heights in lines.items()}
    step = sizes[-1] / sizes[-6]
    slopes = [float(np.log(r) / np.log(step)) for r in ratios.values()]
    return Shown(
        f"""
People who weigh costs are different. A higher stated cost buys a smaller epsilon and hardly moves the variance.

**Left**: two hundred people (costs lognormal around 1, benefit 2 - variance). Each in turn states another cost.
Understating never pays. Overstating does: the best lie brings a share of the surplus between {share.min():.0%}
and {share.max():.0%} (median {np.median(share):.0%}), and for
{int((best.best_reports > 1e6 * crowd.costs).sum())} of the 200 it has no end: state a cost so high that your
weight is nothing, and enjoy what the others pay for.

**Right**: what the person in the middle gains by vanishing like that, against the number of people. The gain is
about the privacy cost paid, so it fades only where the cap does. With costs up to 2 it stays (at 30,000 people
{lines[BOUNDED][-1]:.3f} of the surplus; the limit is 1.25 / 2 = 0.625). With costs
without bound it fades slowly (like the power {slopes[1]:.2f} of the number of people at the right end; theory
says -1/3). At a given noise rate it fades like 1/n (power {slopes[2]:.2f}).

So costs are not safe to ask for without payments: see Fallah, Makhdoumi, Malekian and Ozdaglar, "Optimal and
Differentially Private Data Acquisition: Central and Local Mechanisms" (EC 2022). Limits are.

```python
>>> import optin
>>> from optin import incentives
>>> people = optin.QuasiLinear([1, 1/4, 1/9, 1/9], benefit=optin.LinearBenefit(base=2, slope=12))
>>> incentives.best_lies(people, bounds=(0, 1)).best_gains.round(3).tolist()
[0.839, 0.458, 0.19, 0.19]

```

Theory: [what is and what is not strategy-proof](../theory/incentives.md).
""",
        "Left: utility against stated cost rises beyond the truth, for everyone. Right: the gain of the median person stays"
        f" at {lines[BOUNDED][-1]:.2f} of the surplus with bounded costs, fades slowly with unbounded ones and like 1/n at"
        " given noise.",
    )


def _gain(costs: Array, **question: float) -> float:
    """Return what the middle person gains by stating a cost that takes all their weight away, as a share of the surplus."""
    people = optin.QuasiLinear(costs, benefit=optin.LinearBenefit(base=2, slope=1))
    plan = optin.plan(people, bounds=UNIT, **question)
    middle = int(np.argsort(costs)[len(costs) // 2])
    return incentives.gain_of_cost(people, person=middle, report=1e8, bounds=UNIT, **question) / plan.surplus
