"""A histogram in steps, with its median: areas are proportions where bins can be drawn as wide as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from optin.figures.captions import unit_label
from optin.figures.ink import LIGHT, Ink, plain
from optin.figures.marks import extent, interval_looks, with_interval, words_above
from optin.kernel.pieces import Array
from optin.questions.histogram import HistogramResult
from optin.questions.kinds import Reading
from optin.wording.language import _
from optin.wording.numbers import count, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 4.0
"""Bins of which one is more than so many times as wide as another are drawn equally wide."""
LETTERS = 56
"""How many letters of numbers fit under a picture."""


def histogram(
    ax: Axes, result: HistogramResult, *, unit: str = "", labels: Sequence[str] = (), ink: Ink = LIGHT
) -> str:
    """Draw proportions of bins in steps with their 95 % intervals, the median, and its interval as a band.

    Bins of different widths are drawn by their areas; where widths differ too much for that, equally wide, which the
    axis says. Returns the picture in words.
    """
    bins, median = result.readings(0.95)[:-1], result.readings(0.95)[-1]
    edges = np.array(result.edges)
    at, per = _places(edges)
    heights, lows, highs = (100 * np.array(part) * per for part in zip(*map(_ends, bins), strict=True))
    plain(ax, ink, x=_along(unit, edges), y=_upwards(unit, edges))
    ax.stairs(heights, at, fill=True, facecolor=ink.pale, edgecolor=ink.strong, linewidth=1.4, baseline=0)
    middles = (at[1:] + at[:-1]) / 2
    size = 7 if len(bins) < 16 else 4
    for middle, low, high in zip(middles, lows, highs, strict=True):
        ax.plot((middle, middle), (low, high), "-_", **interval_looks(ink, size=size))
    ax.axhline(0, color=ink.soft, linewidth=1, zorder=2.5)
    _median(ax, ink, *np.interp((median.estimate, median.low, median.high), edges, at))
    low, high = extent([float(x) / 100 for x in (*heights, *lows, *highs)])
    ax.set(xlim=(at[0], at[-1]), ylim=(low, high))
    _name_edges(ax, edges, at)
    words_above(ax, ink, with_interval(_("median"), median, unit_label(unit)))
    names = labels or [each.answer for each in bins]
    told = "; ".join("{} {} ({})".format(name, *each.written()) for name, each in zip(names, bins, strict=True))
    return _(
        "Histogram of the answers of {people}, with 95 % intervals. {told}. {with_interval}.",
        people=count(result.counted.people),
        told=told,
        with_interval=with_interval(_("Median"), median, unit),
    )


def _ends(each: Reading) -> tuple[float, float, float]:
    return each.estimate, each.low, each.high


def _as_wide_as_they_are(edges: Array) -> bool:
    widths = np.diff(edges)
    return bool(widths.max() <= WIDEST * widths.min())


def _alike(edges: Array) -> bool:
    return bool(np.allclose(np.diff(edges), _usual(edges)))


def _usual(edges: Array) -> float:
    """Return the width that most bins have: heights are proportions in so much."""
    widths, counts = np.unique(np.round(np.diff(edges), 12), return_counts=True)
    return float(widths[np.argmax(counts)])


def _places(edges: Array) -> tuple[Array, Array]:
    """Return where edges are drawn, and by what heights are multiplied so that areas are proportions."""
    if not _as_wide_as_they_are(edges):
        return np.arange(len(edges), dtype=float), np.ones(len(edges) - 1)
    return edges, _usual(edges) / np.diff(edges)


def _along(unit: str, edges: Array) -> str:
    wide = _as_wide_as_they_are(edges)
    return (
        unit_label(unit) if wide else _("{unit_label} (bins drawn equally wide)", unit_label=unit_label(unit)).strip()
    )


def _upwards(unit: str, edges: Array) -> str:
    if not _as_wide_as_they_are(edges) or _alike(edges):
        return _("people (%)")
    return _("people (%) per {usual} {unit_label}", usual=short(_usual(edges)), unit_label=unit_label(unit)).rstrip()


def _median(ax: Axes, ink: Ink, middle: float, low: float, high: float) -> None:
    ax.axvspan(low, high, facecolor="none", edgecolor=ink.mark, hatch="....", alpha=0.35, linewidth=0, zorder=1.5)
    ax.axvline(middle, color=ink.mark, linewidth=2, linestyle=(0, (5, 2)), zorder=3)


def _name_edges(ax: Axes, edges: Array, at: Array) -> None:
    """Write as many edges as fit: every second, third … of equal bins, else whichever have room, first and last always."""
    names = [short(float(edge), 6) for edge in edges]
    centres = (at - at[0]) / (at[-1] - at[0]) * LETTERS
    kept = _regular(centres, names) if _alike(edges) else _roomy(centres, names)
    ax.set_xticks(at[kept], [names[place] for place in kept])


def _regular(centres: Array, names: list[str]) -> list[int]:
    every = (list(range(0, len(names), stride)) for stride in range(1, len(names) + 1))
    return next(kept for kept in every if all(_apart(centres, names, *two) for two in pairwise(kept)))


def _roomy(centres: Array, names: list[str]) -> list[int]:
    kept, last = [0], len(names) - 1
    for place in range(1, last):
        if all(_apart(centres, names, place, other) for other in (kept[-1], last)):
            kept.append(place)
    return [*kept, last]


def _apart(centres: Array, names: list[str], one: int, other: int) -> bool:
    """Say whether two numbers under a picture leave room between them."""
    return abs(float(centres[one] - centres[other])) >= (len(names[one]) + len(names[other])) / 2 + 1.5
