"""Beyond weights with one Laplace noise: where another kind of mechanism wins, and how far anything at all could go."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import Array, levels
from optin.figures.ink import LIGHT, log_axis, plain, write
from optin.figures.laboratory import DASHES
from optin.wording.numbers import people_like

UNIT = (0, 1)
FEW = 40
PEOPLE = np.unique(np.geomspace(1, 1000, 37).astype(int))


def errors(limit: float, people: int, sd: float) -> dict[str, float]:
    """Return the error of every design, as multiples of the optimum's."""
    agents = optin.PrivacyConstrained([limit] * people)
    return optin.compare(agents, bounds=UNIT, sd=sd)["ratio"].to_dict()


@entry("other-kinds", "Few people and large limits: three mechanisms of other kinds that win", size=(9.6, 4.0))
def other_kinds(figure: Figure) -> Shown:
    """Draw the errors of three rivals over the optimum's against the number of people."""
    uniform = (1 / 12) ** 0.5
    cases = (
        ("sampling-best", 4.0, 0.1, "sampling, limit 4, sd 0.1"),
        ("one-bit", 1.0, uniform, "one bit, limit 1, uniform"),
        ("midpoint", 1.0, 0.5, "midpoint, limit 1, coins"),
    )
    curves = {words: [errors(limit, int(n), sd)[name] for n in PEOPLE] for name, limit, sd, words in cases}
    ax = figure.subplots()
    plain(ax, LIGHT, x="people, all with the same limit", y="squared error over the optimum's")
    log_axis(ax, "x", 1, 1000)
    log_axis(ax, "y", 0.1, 10)
    for (words, heights), dash in zip(curves.items(), ("-", DASHES[1], DASHES[2]), strict=True):
        ax.plot(PEOPLE, np.clip(heights, 0.1, 20), color=LIGHT.strong, linewidth=2.2, linestyle=dash, label=words)
    ax.axhline(1, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
    write(ax, LIGHT, "the optimum of weights with one Laplace noise", (1000, 1), offset=(-4, 4), ha="right")
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    three, one = errors(4.0, 3, 0.1), errors(1.0, 1, uniform)
    own = {n: optin.plan(optin.PrivacyConstrained([1.0] * n), bounds=UNIT).variance for n in (1, 2, 3)}
    first = {words: people_like(_last_ahead(name, limit, sd)) for name, limit, sd, words in cases}
    return Shown(
        f"""
"Best", on every page here, is among weighted means with fixed weights and one Laplace noise. Three mechanisms that are
none of these, each with the same privacy and on its best ground:

| mechanism | instance | its error | the optimum's | ahead by a thousandth up to |
|---|---|---|---|---|
| sampling from the middle, keep-chances raised to what limits allow, best level | 3 people, limit 4, sd 0.1 |
 {_absolute(4.0, 3, 0.1, "sampling-best"):.4f} | {_absolute(4.0, 3, 0.1, "optimum"):.4f} |
 {first["sampling, limit 4, sd 0.1"]} |
| one bit from each, told by a weighted coin | 1 person, limit 1, uniform values |
 {_absolute(1.0, 1, uniform, "one-bit"):.3f} | {_absolute(1.0, 1, uniform, "optimum"):.3f} |
 {first["one bit, limit 1, uniform"]} |
| the midpoint of the bounds, asking nobody (biased) | 1 person, limit 1, coins | 0.25 at worst | {own[1]:.3g} |
 {first["midpoint, limit 1, coins"]} |
""".replace("|\n {", "| {").replace("|\n ", "| ")
        + f"""
All three matter for a handful of people, and fade: at a thousand people sampling has
{curves["sampling, limit 4, sd 0.1"][-1]:.2f} times the optimum's error and one bit
{curves["one bit, limit 1, uniform"][-1]:.0f} times, since each person's own coin adds up where one noise for all does
not. On 1,500 random populations of 30 to 200 people with limits up to 3 none of the unbiased ones was better by a
hundredth, and on ten thousand of 1 to 59 people none was where at least 30 counted ($1/\\sum w^2$) and limits were at most 3
(`tests/test_compare.py`). The midpoint wins whenever the variance exceeds a quarter of the squared range: then a
release says less than knowing the bounds. With limit 1 that is so up to three people
({own[1]:.3g}, {own[2]:.3g}, {own[3]:.3g}).

optin releases none of them. With few people the first question is not which mechanism, but whether to ask at all:
[how large](../how-to/how-large.md).

```python
>>> import optin
>>> few = optin.compare(optin.PrivacyConstrained([4.0] * 3), bounds=(0, 1), sd=0.1)["mse"]
>>> round(float(few["sampling-best"]), 4), round(float(few["optimum"]), 4)
({three["sampling-best"] * _absolute(4.0, 3, 0.1, "optimum"):.4f}, {_absolute(4.0, 3, 0.1, "optimum"):.4f})
>>> one = optin.compare(optin.PrivacyConstrained([1.0]), bounds=(0, 1), sd=(1 / 12) ** 0.5)["mse"]
>>> round(float(one["one-bit"]), 3), round(float(one["optimum"]), 3)
({one["one-bit"] * _absolute(1.0, 1, uniform, "optimum"):.3f}, {_absolute(1.0, 1, uniform, "optimum"):.3f})

```

What none at all could beat: [the bound](any-mechanism.md).
""",
        "Squared errors of three other mechanisms over the optimum's against the number of people, from 1 to 1,000: "
        + "; ".join(f"{words}: {heights[0]:.2f} for one person" for words, heights in curves.items())
        + ". All end above 1.",
    )


def _absolute(limit: float, people: int, sd: float, name: str) -> float:
    agents = optin.PrivacyConstrained([limit] * people)
    return float(optin.compare(agents, bounds=UNIT, sd=sd).loc[name, "mse"])


def _last_ahead(name: str, limit: float, sd: float) -> int:
    """Return the largest number of people, of all up to `FEW`, at which a rival is still ahead by a thousandth."""
    return max(n for n in range(1, FEW) if errors(limit, n, sd)[name] < 0.999)


@entry("any-mechanism", "Where many people make noise small, no mechanism of any kind is far better")
def any_mechanism(figure: Figure) -> Shown:
    """Draw the plan, the midpoint and the bound for every mechanism against the number of people."""
    left, right = figure.subplots(1, 2)
    sizes = np.unique(np.geomspace(1, 100_000, 31).astype(int))
    ends = []
    for limit, dash in ((0.01, "-"), (0.1, DASHES[1]), (1.0, DASHES[2])):
        factors = [_factor(levels((limit, int(n)))) for n in sizes]
        shown = np.where(np.array(factors) <= 260, factors, np.nan)
        left.plot(sizes, shown, color=LIGHT.strong, linewidth=2.2, linestyle=dash, label=f"limit {limit:g}")
        ends.append((f"limit {limit:g}", factors))
    plain(left, LIGHT, x="people, all with the same limit", y="plan over bound", grid="y")
    log_axis(left, "x", 1, 100_000, most=6)
    log_axis(left, "y", 1, 200)
    left.legend(loc="upper right", frameon=False, fontsize=9)
    sds = np.geomspace(0.05, 0.5, 16)
    lines = {}
    for words, limits in (("0.01", levels((0.01, 1000))), ("0.1", levels((0.1, 1000))), ("1", levels((1.0, 1000)))):
        lines[words] = [_factor(limits, float(sd)) for sd in sds]
    plain(right, LIGHT, x="declared sd, in ranges (1,000 people)", y="plan over bound", grid="y")
    log_axis(right, "x", 0.05, 0.5)
    log_axis(right, "y", 1, 200)
    for heights, dash in zip(lines.values(), ("-", DASHES[1], DASHES[2]), strict=True):
        right.plot(sds, heights, color=LIGHT.strong, linewidth=2.2, linestyle=dash)
    published = {
        "0.1 / 0.5 / 1, 340 / 430 / 230": levels((0.1, 340), (0.5, 430), (1, 230)),
        "0.1 / 1, half and half": levels((0.1, 500), (1, 500)),
        "0.1 / 10, 900 / 100": levels((0.1, 900), (10, 100)),
        "harmonic, 1 to 1/1000": 1 / np.arange(1, 1001),
        "1, 4, 9, 9": np.array([1.0, 4.0, 9.0, 9.0]),
    }
    rows = "\n".join(f"| {name} | {_factor(limits):.2f} |" for name, limits in published.items())
    bump, bump_at = max((factor, int(n)) for factor, n in zip(ends[0][1], sizes, strict=True) if n > 10_000)
    return Shown(
        f"""
The [certificate](../theory/lower-bound.md) of a plan bounds the worst squared error of *every* private mechanism under the
same limits, biased ones and those nobody has thought of included. How many times that bound the plan is, for values between
0 and 1 and the worst-case variance:

| limits | plan over bound |
|---|---|
{rows}

**Left**: for one person it is far off (the midpoint is better than asking them), and so it is for many with limits so small
that noise hides all they say; for more it is near 1 where sampling is what is left. Where noise and sampling count alike
the factor comes to about a half more ({bump:.2f} at {bump_at:,} people with limit 0.01). For tens and hundreds of people much
of it [is the bound's own](../theory/lower-bound.md#how-tight); for so many as these that is not known.

**Right** (the same limits, 1,000 people): if values are declared to vary little and limits are small, the factor is large.
Some of that can be had by others, who look for where the values lie first ([how much](../theory/lower-bound.md#how-tight)),
and some may be the bound's own. The remedy here is narrow bounds. `optin plan --certify` prints the factor for people of
your own.

```python
>>> import optin
>>> people = optin.PrivacyConstrained([0.1] * 500 + [1.0] * 500)
>>> print(optin.plan(people, bounds=(0, 1)).certificate(people).beyond)
{_beyond([0.1] * 500 + [1.0] * 500)}

```
""",
        f"Left: the plan's error over the bound falls with the number of people, to {ends[2][1][-1]:.2f} at 100,000 people"
        f" with limit 1. Right: at a thousand people with limit 0.01 it is {lines['0.01'][-1]:.1f} for the largest sd and"
        f" {lines['0.01'][0]:.0f} for a twentieth of the range.",
    )


def _factor(limits: Array, sd: float | None = None) -> float:
    agents = optin.PrivacyConstrained(limits)
    found = optin.plan(agents, bounds=UNIT, sd=sd).certificate(agents).factor
    return float("inf") if found is None else found


def _beyond(limits: list[float]) -> str:
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, bounds=UNIT).certificate(agents).beyond
