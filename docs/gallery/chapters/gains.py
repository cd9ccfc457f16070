"""When personal limits pay: the optimum against dropping the strictest and treating the rest alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import Array, harmonic, levels, lognormal, mixed
from optin.figures.ink import LIGHT, log_axis, name_lines, plain, write
from optin.figures.laboratory import DASHES

UNIT = (0, 1)


def ratio(limits: Array, **question: float) -> float:
    """Return the variance of the best threshold over that of the optimum."""
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=UNIT, **question)
    return optin.baselines.best_threshold(plan, people).variance / plan.variance


SHOWN = (
    "optimum",
    "threshold",
    "proportional",
    "sampling-mean",
    "sampling-max",
    "sampling-best",
    "local",
    "one-bit",
    "strictest",
)


@entry("others", "Beside what others do, at their best", size=(8.8, 4.8))
def others(figure: Figure) -> Shown:
    """Draw the error of each unbiased design over the optimum's, for four populations."""
    populations = {
        "0.1 / 0.5 / 1": levels((0.1, 340), (0.5, 430), (1, 230)),
        "0.1 / 1": levels((0.1, 500), (1, 500)),
        "0.1 / 10": levels((0.1, 900), (10, 100)),
        "harmonic": harmonic(1000),
    }
    errors = {
        name: optin.compare(optin.PrivacyConstrained(limits), bounds=UNIT)["mse"]
        for name, limits in populations.items()
    }
    ax = figure.subplots()
    plain(ax, LIGHT, x="squared error, as a multiple of the optimum's", y="", grid="x")
    log_axis(ax, "x", 0.93, 60, most=6)
    for row, design in enumerate(reversed(SHOWN)):
        ratios = [found[design] / found["optimum"] for found in errors.values()]
        ax.plot((min(ratios), max(ratios)), (row, row), color=LIGHT.faint, linewidth=5, zorder=2)
        for marker, at in zip("osD^", ratios, strict=True):
            ax.plot(at, row, marker, markersize=8, color=LIGHT.strong, markeredgecolor=LIGHT.paper, zorder=4)
    ax.set_yticks(range(len(SHOWN)), list(reversed(SHOWN)))
    ax.set_ylim(-0.6, len(SHOWN) - 0.4)
    handles = [
        ax.plot([], [], marker, color=LIGHT.strong, label=name)[0] for marker, name in zip("osD^", errors, strict=True)
    ]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, fontsize=9)
    ratios = {(design, name): found[design] / found["optimum"] for name, found in errors.items() for design in SHOWN}
    header = " | ".join(SHOWN)
    rows = "\n".join(
        f"| {name} | " + " | ".join(_four(found[design] * 1e4) for design in SHOWN) + " |"
        for name, found in errors.items()
    )
    low = optin.PrivacyConstrained(populations["0.1 / 1"])
    near = {
        mean: optin.compare(low, bounds=UNIT, data_variance=mean * (1 - mean), mean=mean)["mse"]
        for mean in (0.005, 0.02)
    }
    stretched = {mean: found["stretching"] / found["optimum"] for mean, found in near.items()}
    second = {name: _second(found) for name, found in errors.items()}
    return Shown(
        f"""
A thousand people, values 0 or 1, worst-case variance. Expected squared error in units of 1e-4:

| limits | {header} |
|---|{"---|" * len(SHOWN)}
{rows}

None of these is better than the optimum here. All but "sampling-best" and "one-bit" never are, whatever the limits:
it is the best of all weights with one Laplace noise. Those two are of another kind and win elsewhere, [where people are
few or limits large](other-kinds.md). Sampling is shown as published (mean and max) and at its strongest: measured from
the middle, with as many people kept as limits allow, at its best level. Next to the optimum comes
{_in_words(second)}. Which of the simple ones is any good depends on the limits. "Proportional" is the optimum itself on
harmonic limits and {ratios["proportional", "0.1 / 10"]:.1f} times as bad on 0.1 / 10; "threshold" and "strictest" have
{ratios["threshold", "0.1 / 10"]:.2f} times the optimum's error there and {ratios["strictest", "harmonic"]:.0f} times on
harmonic limits. ADPM is the optimum for the worst-case variance.

A *biased* design can be better. Raw stretching shrinks values towards the lower bound; if nearly everyone is there
already, that is a good guess. On 0.1 / 1 its error is {stretched[0.005]:.2f} of the optimum's if the mean is 0.005, and
{stretched[0.02]:.2f} times the optimum's if it is 0.02 (of an optimum that was told the true variance). It is a
guess, and nothing that is published tells when it is
wrong.

```python
>>> import optin
>>> people = optin.PrivacyConstrained([0.1] * 500 + [1] * 500)
>>> found = optin.compare(people, bounds=(0, 1))["mse"]
>>> [round(1e4 * float(found[name]), 3) for name in ("optimum", "threshold", "proportional")]
{[round(1e4 * float(errors["0.1 / 1"][name]), 3) for name in ("optimum", "threshold", "proportional")]}

```

All designs: [what others do](../theory/baselines.md); on your people: [compare](../how-to/compare.md).
""",
        "Squared errors over the optimum's, by design and limits. "
        + "; ".join(
            f"{design}: {min(f[design] / f['optimum'] for f in errors.values()):.2f} to"
            f" {max(f[design] / f['optimum'] for f in errors.values()):.1f}"
            for design in SHOWN[1:]
        )
        + ".",
    )


def _second(errors: pd.Series) -> str:
    """Name the design with the least error after the optimum, or all that have it in the digits shown."""
    shown = {design: _four(errors[design] * 1e4) for design in SHOWN[1:]}
    least = _four(min(errors[design] for design in SHOWN[1:]) * 1e4)
    return " and ".join(f'"{design}"' for design in SHOWN[1:] if shown[design] == least)


def _in_words(second: dict[str, str]) -> str:
    """Say which design comes second, populations with the same one together."""
    places: dict[str, list[str]] = {}
    for name, designs in second.items():
        places.setdefault(designs, []).append(name)
    return ", ".join(f"{designs} on {' and '.join(names)}" for designs, names in places.items())


def _four(number: float) -> str:
    """Write four digits, without an exponent."""
    return f"{number:,.0f}" if number >= 1e4 else f"{number:.4g}"


def noise_share(limits: Array) -> float:
    """Return the part of the optimum's variance that is noise."""
    plan = optin.plan(optin.PrivacyConstrained(limits), bounds=UNIT)
    return plan.noise_variance / plan.variance


LEFT = (
    "0.01 / 0.1, 900 / 100",
    "0.01 / 0.03 / 0.1, 600 / 300 / 100",
    "lognormal, sd 0.5",
    "lognormal, sd 1",
    "standard mix, ten times the people",
)
NUDGED = {"standard mix, ten times the people": -2, "lognormal, sd 1": 4, "0.1 / 0.5 / 1, 340 / 430 / 230": -9}


@entry("small-gains", "Where sampling dominates, the gain over one threshold is small", size=(8.4, 5.0))
def small_gains(figure: Figure) -> Shown:
    """Draw the gain over the best threshold against the part of noise, across common populations."""
    few = {
        "0.5 / 1, half and half": levels((0.5, 500), (1, 500)),
        "0.1 / 10, 900 / 100": levels((0.1, 900), (10, 100)),
        "0.1 / 0.5 / 1, 340 / 430 / 230": levels((0.1, 340), (0.5, 430), (1, 230)),
        "0.1 / 1, half and half": levels((0.1, 500), (1, 500)),
        "0.01 / 0.1, 900 / 100": levels((0.01, 900), (0.1, 100)),
        "0.01 / 0.03 / 0.1, 600 / 300 / 100": levels((0.01, 600), (0.03, 300), (0.1, 100)),
    }
    spread = {
        "lognormal, sd 0.5": lognormal(middle=0.5, sd=0.5),
        "lognormal, sd 1": lognormal(middle=0.5, sd=1.0),
        "standard mix": mixed(),
        "standard mix, ten times the people": np.tile(mixed(), 10),
    }
    gains = {name: ratio(limits) for name, limits in (few | spread).items()}
    shares = {name: noise_share(limits) for name, limits in (few | spread).items()}
    order = sorted(gains, key=gains.__getitem__)
    ax = figure.subplots()
    plain(ax, LIGHT, x="part of the optimum's variance that is noise (%)", y="threshold's variance over the optimum's")
    log_axis(ax, "y", 0.95, 5, most=6)
    log_axis(ax, "x", 1.5, 100, most=6)
    for name in order:
        marker = "o" if name in few else "s"
        at = (100 * shares[name], gains[name])
        ax.plot(*at, marker, color=LIGHT.strong, markersize=8, markeredgecolor=LIGHT.paper)
        left = name in LEFT
        write(
            ax,
            LIGHT,
            name,
            at,
            offset=(-7 if left else 7, NUDGED.get(name, 0)),
            ha="right" if left else "left",
            va="center",
        )
    for marker, label in (("o", "few levels"), ("s", "spread out")):
        ax.plot([], [], marker, color=LIGHT.strong, label=label)
    ax.legend(loc="upper left", frameon=False)
    rows = "\n".join(f"| {name} | {100 * shares[name]:.0f} % | {gains[name]:.3g} |" for name in order)
    calm, noisy = ([name for name in order if (shares[name] >= 0.5) == much] for much in (False, True))
    few_calm = max(gains[name] for name in calm if name in few)
    crowds = {people: ratio(levels((0.1, people * 9 // 10), (10, people // 10))) for people in (10, 100, 1000)}
    return Shown(
        f"""
The simplest rival: leave out everyone below one limit, treat the rest alike, choose the limit well (Ghosh and
Ligett; Cyffers and Ziani). A thousand people, values between 0 and 1, worst-case variance:

| limits | part of noise | best threshold, times the optimum |
|---|---|---|
{rows}

What matters is whether noise dominates, and not how many levels there are: where it makes less than half of the variance
the threshold has at most {gains[calm[-1]]:.2f} times the optimum's here (on few levels {few_calm:.2f} times), where it makes
more {gains[noisy[0]]:.1f} to {gains[noisy[-1]]:.1f} times. On two levels 4 times is the most there can be, and on more there
is more ([large gains](large-gains.md)). The part of noise alone does not tell the gain: limits matter too. With
very many people both fade, because then sampling is what is left: compare both lines of the standard mix. Until then
more people may also raise the gain: on 0.1 / 10, nine to one, it is {crowds[10]:.2f} for ten people, {crowds[100]:.2f}
for a hundred and {crowds[1000]:.2f} for a thousand. If that
is not worth explaining weights to people, a threshold is an honest choice. What it
cannot do is let everybody take part.

```python
>>> import optin
>>> people = optin.PrivacyConstrained([0.1] * 500 + [1] * 500)
>>> plan = optin.plan(people, bounds=(0, 1))
>>> round(optin.baselines.best_threshold(plan, people).variance / plan.variance, 3)
{ratio(few["0.1 / 1, half and half"]):.3f}

```

The other regime: [large gains](large-gains.md).
""",
        "Points: the variance of the best threshold over the optimum's, against the part of noise in the latter. "
        + "; ".join(f"{name}: {gains[name]:.2f} at {100 * shares[name]:.0f} %" for name in order)
        + ".",
    )


@entry("large-gains", "Where noise rules, the gain over one threshold has no bound")
def large_gains(figure: Figure) -> Shown:
    """Draw the gain on two levels, and on harmonic limits against the square of the harmonic number."""
    left, right = figure.subplots(1, 2)
    contrasts = np.unique(np.geomspace(1, 1000, 61).astype(int))
    small, smaller = (np.array([_two_levels(c, total) for c in contrasts]) for total in (1.0, 0.1))
    plain(left, LIGHT, x="generous over strict limit (equal sums)", y="threshold's variance over the optimum's")
    log_axis(left, "x", 1, 1000)
    left.set_ylim(0.9, 4.3)
    for heights, style in ((small, "-"), (smaller, DASHES[1])):
        left.plot(contrasts, heights, color=LIGHT.strong, linewidth=2.2, linestyle=style)
    left.axhline(4, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
    write(left, LIGHT, "never more than 4", (1, 4), offset=(4, 4), ha="left")
    name_lines(left, LIGHT, [("sums 1", float(small[-1])), ("sums 0.1", float(smaller[-1]))], right=1000)
    sizes = np.unique(np.geomspace(1, 100_000, 41).astype(int))
    noisy = np.array([ratio(harmonic(int(n)), data_variance=0.0) for n in sizes])
    worst = np.array([ratio(harmonic(int(n))) for n in sizes])
    squares = np.array([harmonic(int(n)).sum() ** 2 for n in sizes])
    plain(right, LIGHT, x="people with limits 1, 1/2, …, 1/n", y="threshold's variance over the optimum's")
    log_axis(right, "x", 1, 100_000, most=6)
    right.plot(sizes, noisy, color=LIGHT.strong, linewidth=2.2)
    right.plot(sizes, worst, color=LIGHT.strong, linewidth=2.2, linestyle=DASHES[1])
    right.plot(sizes[::4], squares[::4], "x", color=LIGHT.mark, markersize=8, markeredgewidth=1.8)
    right.set_ylim(0, 1.1 * squares[-1])
    name_lines(
        right,
        LIGHT,
        [("noise only\n(crosses: H²)", float(noisy[-1])), ("worst-case\nvariance", float(worst[-1]))],
        right=100_000,
    )
    thousand = ratio(harmonic(1000))
    even = [(low, ratio(np.geomspace(low, 1, 10_000), data_variance=0.0)) for low in (1e-2, 1e-4)]
    square = harmonic(1000).sum() ** 2
    return Shown(
        f"""
Where noise rules, the variance is 2 over the squared sum of epsilons, and a threshold can only use one limit
times the people above it.

**Two levels** (left): as many people at a low limit as make the same sum as one person at a high one. The
threshold has to choose one of the two groups, the optimum has both: twice the sum, a quarter of the variance.
With sums of 1 the gain reaches {small.max():.2f}, with sums of 0.1, where sampling no longer matters,
{smaller.max():.2f}. For two levels 4 is the most there can be: one of the two groups has at least half of the optimum's
weight, and the threshold that treats this group alike (with everyone above it) has at most 1/½² = 4 times its variance
([why](../theory/baselines.md#levels)).

**Harmonic limits** 1, 1/2, …, 1/n (right): every threshold makes the sum k · 1/k = 1, whatever it leaves out.
The optimum, if only noise counts, makes the sum $H_n = 1 + 1/2 + … + 1/n$, so the gain is exactly $H_n^2$,
which has no bound: at a thousand people $H_n^2$ = {square:.2f}. With the worst-case variance of values it is
{thousand:.1f} there, because sampling is shared by both. Spread-out limits alone are not enough: spread evenly on a
logarithmic scale from 1 down to {even[-1][0]:g} the gain is {even[-1][1]:.2f}, and it tends to $e^2$ = 7.39 however far they
reach. What has no bound are limits of which, like these, every halving has twice the people.

```python
>>> import numpy as np, optin
>>> limits = 1 / np.arange(1, 1001)
>>> people = optin.PrivacyConstrained(limits)
>>> plan = optin.plan(people, bounds=(0, 1), data_variance=0)
>>> threshold = optin.baselines.best_threshold(plan, people)
>>> round(threshold.variance / plan.variance, 3), round(float(limits.sum()) ** 2, 3)
({square:.3f}, {square:.3f})

```

The other regime: [small gains](small-gains.md).
""",
        "Left: on two levels with equal sums the gain rises with their contrast towards 4. Right: on harmonic limits it"
        f" follows the square of the harmonic number, {square:.0f} at a thousand people.",
    )


def _two_levels(contrast: int, total: float) -> float:
    """Return the gain for one person at ``total`` and ``contrast`` people who make the same sum together."""
    return ratio(levels((total / contrast, contrast), (total, 1)))
