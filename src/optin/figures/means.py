"""A mean and a standard deviation, on the range that values can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.figures.captions import unit_label
from optin.figures.ink import LIGHT, Ink, plain
from optin.figures.marks import bar_looks, interval_looks, with_interval, words_above
from optin.questions.number_result import NumberResult
from optin.wording.language import N_, _
from optin.wording.numbers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"mean": N_("mean"), "sd": N_("standard deviation")}


def mean(ax: Axes, result: NumberResult, *, unit: str = "", ink: Ink = LIGHT) -> str:
    """Draw a mean with its 95 % interval, and a band of one standard deviation to both sides, on the range of the bounds.

    The mean is drawn as published, also outside the bounds. Returns the picture in words.
    """
    (low, high), ends, estimate = result.bounds, result.interval(0.95), result.estimate
    plain(ax, ink, x=unit_label(unit), y="", grid="x")
    if result.sd is not None:
        left, right = (min(max(end, low), high) for end in (estimate - result.sd, estimate + result.sd))
        ax.barh(0, right - left, 0.5, left=left, **bar_looks(ink))
    ax.plot((ends.low, ends.high), (0, 0), "-|", **(interval_looks(ink, size=16) | {"linewidth": 3}))
    ax.plot(estimate, 0, "o", markersize=7, color=ink.mark, markeredgecolor=ink.text, zorder=5, clip_on=False)
    room = 0.02 * (high - low)
    ax.set_xlim(min(low, estimate) - room, max(high, estimate) + room)
    ax.set(ylim=(-0.6, 0.6), yticks=())
    ax.spines["left"].set_visible(False)
    words_above(ax, ink, *mean_words(result, unit_label(unit)))
    lines = mean_words(result, unit)
    return _(
        "Of {people}: {lines}. Values lie between {low:,.10g} and {high:,.10g}.",
        people=count(result.counted.people),
        lines="; ".join(lines),
        low=low,
        high=high,
    )


def mean_words(result: NumberResult, unit: str = "") -> list[str]:
    """Say mean and standard deviation, with their intervals."""
    return [with_interval(_(NAMES[each.answer]), each, unit) for each in result.readings(0.95)]
