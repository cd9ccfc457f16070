"""Pictures of what would happen: crowds that tip, rounds of best responses, reports that do not pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from optin.agents import PrivacyConstrained
from optin.dynamics import Game, Rounds, equilibria
from optin.dynamics import margins as margins_of
from optin.errors import BadInput
from optin.figures.ink import LIGHT, Ink, dot, log_axis, name_lines, plain, write
from optin.incentives import LimitReports
from optin.kernel.pieces import Array
from optin.planning import plan
from optin.relations import along_the_dial, dial_points
from optin.wording.numbers import count, percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEPTH = -0.8
DASHES: tuple[object, ...] = ("-", (0, (6, 2)), (0, (1, 1.5)), (0, (4, 2, 1, 2)), (0, (9, 3)))
"""Line styles in the order they are given out, for people who print in grey."""


def margins(ax: Axes, game: Game, *, ink: Ink = LIGHT) -> str:
    """Draw what the last person to join gains, against how many have joined, cheapest first. Returns the picture in words.

    Above zero the crowd grows, below it shrinks. Filled dots are equilibria, hollow ones crowds that tip.
    """
    if not game.common or game.plan.surplus is None:
        raise BadInput("people differ in benefit or outside option: there is no one curve to draw")
    n, surplus = len(game), game.plan.surplus
    heights = margins_of(game) / surplus
    shares = np.arange(1, n + 1) / n * 100
    plain(
        ax, ink, x="people who have joined, cheapest first (%)", y="what the last of them gains\n(share of the surplus)"
    )
    ax.axhline(0, color=ink.text, linewidth=1)
    ax.plot(shares, np.clip(heights, 4 * DEPTH, None), color=ink.strong, linewidth=2.4)
    ax.set(xlim=(-4, 104), ylim=(DEPTH, max(1.35 * float(heights.max()), -DEPTH / 2)))
    _flow(ax, shares, heights, ink)
    rests = [e.people for e in equilibria(game)]
    for k in rests:
        _rest(ax, k, n, max(float(heights[k - 1]), 0.0) if k else 0.0, ink)
    for k in _turns(heights, game.touch / surplus):
        dot(ax, ink, (k / n * 100, 0.0), filled=False)
        name = f"tips at {percent(k / n)}"
        write(ax, ink, name, (k / n * 100, 0.0), offset=(0, -13), ha="center", va="top", bbox=_backing(ink))
    rest = ", ".join("nobody" if k == 0 else "everybody" if k == n else count(k) for k in rests)
    return f"What the last person to join gains, against the size of the crowd. It comes to rest with {rest}."


def _rest(ax: Axes, k: int, n: int, height: float, ink: Ink) -> None:
    """Mark a crowd that holds, and name it."""
    name = "nobody" if k == 0 else "all" if k == n else percent(k / n)
    dot(ax, ink, (k / n * 100, height))
    write(ax, ink, name, (k / n * 100, height), offset=(0, 11), ha="center", weight="bold", bbox=_backing(ink))


def _backing(ink: Ink) -> dict[str, object]:
    """Return a patch of paper to put behind words that would otherwise lie on a line."""
    return {"facecolor": ink.paper, "edgecolor": "none", "pad": 1.0}


def _turns(heights: Array, touch: float) -> list[int]:
    """List the crowds from which the next person on the curve turns positive."""
    content = heights >= -touch
    return [int(k) for k in np.flatnonzero(~content[:-1] & content[1:]) + 1]


def _flow(ax: Axes, shares: Array, heights: Array, ink: Ink) -> None:
    """Show by small arrows along zero where a crowd grows and where it shrinks."""
    for place in np.linspace(5, 95, 10):
        height = float(np.interp(place, shares, heights))
        if abs(height) > 0.02:
            mark = ">" if height > 0 else "<"
            ax.plot(place, 0, mark, markersize=5, color=ink.soft, markeredgewidth=0, zorder=4)


def rounds(ax: Axes, runs: Mapping[str, Rounds], *, ink: Ink = LIGHT) -> str:
    """Draw how many are in after each round, one line for each named start. Returns the picture in words."""
    if not runs:
        raise BadInput("no rounds were given to draw")
    people = len(next(iter(runs.values())).joined)
    longest = max(len(run.counts) for run in runs.values())
    plain(ax, ink, x="round", y="people who are in (%)")
    ax.set(xlim=(0, max(longest - 1, 1)), ylim=(-3, 103))
    for (_, run), style in zip(runs.items(), DASHES * len(runs), strict=False):
        line = [*run.counts, *[run.counts[-1]] * (longest - len(run.counts))]
        ax.plot(np.array(line) / people * 100, color=ink.strong, linewidth=2, linestyle=style, clip_on=False)
    ends: dict[float, list[str]] = {}
    for name, run in runs.items():
        ends.setdefault(run.counts[-1] / people * 100, []).append(name)
    name_lines(ax, ink, [("\n".join(names), end) for end, names in ends.items()], right=max(longest - 1, 1))
    told = "; ".join(f"{', '.join(names)}: {percent(end / 100)}" for end, names in ends.items())
    return f"People who are in, round after round, of {count(people)}. At last, by where it began: {told}."


def limit_reports(ax: Axes, sweep: LimitReports, people: Mapping[str, int], truths: Array, *, ink: Ink = LIGHT) -> str:
    """Draw the release's error against what named people report, as multiples of the truth. Returns the picture in words.

    A line ends where a higher report would get the person's true limit crossed: utility is as bad as can be beyond it.
    """
    plain(ax, ink, x="reported limit, as a multiple of the true one", y="variance, as a multiple of the honest one")
    ends, last = [], 1.0
    crossed: list[tuple[str, tuple[float, float]]] = []
    for (name, i), style in zip(people.items(), DASHES * len(people), strict=False):
        factors, heights = sweep.reports[i] / truths[i], sweep.variances[i] / sweep.honest_variance
        holds = sweep.kept[i]
        ax.plot(factors[holds], heights[holds], color=ink.strong, linewidth=2, linestyle=style)
        if not holds.all():
            edge = int(np.flatnonzero(holds)[-1])
            ax.plot(factors[edge], heights[edge], "x", color=ink.mark, markersize=9, markeredgewidth=2.2, zorder=5)
            crossed.append((name, (float(factors[edge]), float(heights[edge]))))
        ends.append((name, float(heights[0])))
        last = max(last, float(factors[-1]))
    first = min(float(sweep.reports[i][0] / truths[i]) for i in people.values())
    log_axis(ax, "x", first, last)
    top = max(end for _, end in ends)
    ax.set_ylim(1 - 0.12 * (top - 1), 1 + 1.12 * (top - 1))
    for name, height in ends:
        write(ax, ink, name, (first, height), offset=(-6, 0), ha="right", va="center")
    ax.yaxis.set_label_position("right")
    ax.yaxis.tick_right()
    if crossed:
        write(ax, ink, "any higher: true limit crossed", crossed[0][1], offset=(8, 14), ha="left")
    worst = max(ends, key=lambda end: end[1])
    return (
        f"Variance against reported limit. Nobody improves it: reporting {short(first)} of the truth raises it by up to "
        f"{percent(worst[1] - 1)} ({worst[0]}). Reporting more changes nothing, or the true limit is crossed"
        f"{' (' + ', '.join(name for name, _ in crossed) + ')' if crossed else ''}."
    )


def relation(
    ax: Axes,
    agents: PrivacyConstrained,
    means: Array,
    *,
    bounds: tuple[float, float],
    max_gap: float,
    sd: float | None = None,
    data_variance: float | None = None,
    ink: Ink = LIGHT,
) -> str:
    """Draw the error along the dial: without a relation, with these means, and in the worst case. Returns it in words.

    The four named designs are points on it: strictest, robust, optimum, proportional (E15).
    """
    best = plan(agents, bounds=bounds, sd=sd, data_variance=data_variance)
    points = dial_points(agents, means, bounds=bounds, max_gap=max_gap, sd=sd, data_variance=data_variance)
    caps = np.unique(np.append(np.geomspace(points[0].cap, points[-1].cap, 200), [p.cap for p in points]))
    rows = along_the_dial(best, agents, means, caps, max_gap=max_gap)
    lines = {"unrelated": rows[:, 2], "these people": rows[:, 5], "worst case": rows[:, 2] + rows[:, 4] ** 2}
    plain(ax, ink, x="cap on epsilon (the dial)", y="expected squared error")
    low, high = min(float(x.min()) for x in lines.values()), max(float(x.max()) for x in lines.values())
    log_axis(ax, "x", float(caps[0]) / 1.06, float(caps[-1]) * 1.06)
    log_axis(ax, "y", low / (high / low) ** 0.14, high * (high / low) ** 0.08, most=6)
    for (_, heights), style in zip(lines.items(), (DASHES[2], DASHES[1], DASHES[0]), strict=True):
        ax.plot(caps, heights, color=ink.strong, linewidth=2, linestyle=style)
    name_lines(ax, ink, [(name, float(heights[-1])) for name, heights in lines.items()], right=float(caps[-1]) * 1.06)
    for point in points:
        at = (point.cap, point.variance + point.bias_bound**2)
        dot(ax, ink, at, filled=point.name == "robust")
        _name_on_dial(ax, point.name, at, ink)
    told = "; ".join(
        f"{p.name}: cap {short(p.cap)}, bias {_size(p.bias)} of at most {_size(p.bias_bound)}" for p in points
    )
    return f"Expected squared error along the dial, from strictest to proportional. {told}."


def _size(number: float) -> str:
    """Write the size of a number; rounding alone is nothing."""
    return short(round(abs(number), 12))


def _name_on_dial(ax: Axes, name: str, at: tuple[float, float], ink: Ink) -> None:
    """Name a point of the dial on the side where its neighbours are not."""
    offset, side = {
        "strictest": ((8, 6), "left"),
        "robust": ((-6, -18), "right"),
        "optimum": ((-7, 8), "right"),
        "proportional": ((-8, 8), "right"),
    }[name]
    write(
        ax, ink, name, at, offset=offset, ha=side, weight="bold" if name == "robust" else "normal", bbox=_backing(ink)
    )
