"""How estimates with intervals are drawn, whatever they are estimates of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from optin.figures.ink import Ink, headroom, write
from optin.questions.kinds import Reading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 13
"""Points from one line of words above a picture to the next."""


def bar_looks(ink: Ink) -> dict[str, Any]:
    """Draw an estimate pale, so that its interval stands out on it."""
    return {"facecolor": ink.pale, "edgecolor": ink.strong, "linewidth": 0.8}


def interval_looks(ink: Ink, *, size: float = 7.0) -> dict[str, Any]:
    """Draw an interval as a line with ends of this size."""
    return {"color": ink.text, "linewidth": 1.5, "markersize": size, "markeredgewidth": 1.5, "zorder": 4}


def extent(parts: Sequence[float]) -> tuple[float, float]:
    """Choose where an axis of proportions begins and ends, in per cent: at 0 unless one was published below it.

    >>> extent([0.3, 0.5]), extent([0.99, 1.0]), extent([-0.1, 1.4])
    ((0.0, 52.0), (0.0, 100.0), (-16.0, 146.0))
    """
    least, most = 100 * min(0.0, *parts), 100 * max(0.0, *parts)
    room = 0.04 * (most - least)
    return least - room if least < 0 else 0.0, min(most + room, 100.0) if most <= 100 else most + room


def with_interval(name: str, each: Reading, unit: str = "") -> str:
    """Say an estimate and its interval in one short line, the unit once.

    >>> with_interval("mean", Reading("mean", 38.2, 37.0, 39.5), "hours")
    'mean 38.2 hours (95 %: 37.0 to 39.5)'
    """
    return f"{name} {each.written(unit)[0]} (95 %: {each.written()[1]})"


def words_above(ax: Axes, ink: Ink, *lines: str) -> None:
    """Write lines above a picture, from its left edge."""
    place = {"xycoords": "axes fraction", "va": "bottom", "parse_math": False}
    for row, line in enumerate(reversed(lines)):
        write(ax, ink, line, (0, 1), offset=(0, 6 + LINE * row), **place)
    headroom(ax, len(lines))
