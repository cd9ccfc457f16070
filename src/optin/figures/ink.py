"""Two inks, for light and for dark paper, and the plain axes that all pictures share.

Lightness, line style and hatching carry every distinction, colour only repeats it: pictures survive a grey printer.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from optin.kernel.pieces import Array
from optin.wording.language import _
from optin.wording.numbers import power_of, short, ten_to
from optin.wording.records import Brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Ink(Brief):
    """Colours: of the paper, of words and lines, of what recedes, of areas, and of the one thing to look at."""

    paper: str
    text: str
    soft: str
    faint: str
    strong: str
    pale: str
    mark: str

    def brief(self) -> list[tuple[str, str]]:
        """Name the paper and the text, which tell light from dark."""
        return super().brief()[:2]


LIGHT = Ink("#ffffff", "#1c2127", "#5c6670", "#dde1e6", "#24588c", "#c3d7ea", "#b4440b")
DARK = Ink("#15181d", "#e7eaee", "#a2acb7", "#333a43", "#8fc0f0", "#2d4a68", "#ffad66")


WIDE = 3.0
"""Inches from which on letters have their full size; in a small picture of a grid they shrink, and lines are broken."""
SMALLEST_LETTERS = 0.74


def inches(ax: Axes) -> float:
    """Return how wide a picture is, before names beside it take their room."""
    return float(ax.get_position().width * ax.figure.get_figwidth())  # type: ignore[union-attr]


def letters(ax: Axes, points: float) -> float:
    """Return the size of letters that suits the room: smaller in a small picture, and never too small to read."""
    return points * min(max(inches(ax) / WIDE, SMALLEST_LETTERS), 1.0)


def fitted(ax: Axes, words: str, share: float = 1.0, points: float = 9.5) -> str:
    """Break words into lines no longer than a share of a picture's width."""
    room = share * inches(ax) * 72 / (0.53 * letters(ax, points))
    return "\n".join(textwrap.fill(line, max(int(room), 8)) for line in words.split("\n"))


def plain(ax: Axes, ink: Ink, *, x: str, y: str, grid: str = "y") -> None:
    """Clear the axes of everything that carries no number, and name what is measured."""
    ax.set_facecolor(ink.paper)
    ax.figure.set_facecolor(ink.paper)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(ink.soft)
    ax.tick_params(which="both", colors=ink.soft, labelcolor=ink.text, labelsize=letters(ax, 9))
    ax.minorticks_off()
    if grid:
        ax.grid(axis=grid, color=ink.faint, linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    ax.set_xlabel(fitted(ax, x, 1.15), color=ink.text, fontsize=letters(ax, 9.5))
    ax.set_ylabel(y, color=ink.text, fontsize=letters(ax, 9.5))


def write(ax: Axes, ink: Ink, text: str, xy: tuple[float, float], **style: object) -> None:
    """Put words where they belong, in points off a place in the picture."""
    points = letters(ax, float(style.pop("fontsize", 9)))  # type: ignore[arg-type]
    looks = {
        "textcoords": "offset points",
        "fontsize": points,
        "color": ink.text,
        "annotation_clip": False,
        "zorder": 6,
    }
    offset = style.pop("offset", (0, 0))
    ax.annotate(text, xy, offset, **(looks | style))  # type: ignore[arg-type]


def dot(ax: Axes, ink: Ink, xy: tuple[float, float], *, filled: bool = True) -> None:
    """Mark one design."""
    face = ink.mark if filled else ink.paper
    ax.plot(*xy, "o", markersize=8, markerfacecolor=face, markeredgecolor=ink.text, clip_on=False, zorder=5)


def name_lines(ax: Axes, ink: Ink, ends: Sequence[tuple[str, float]], *, right: float) -> None:
    """Name lines beyond their right ends, pushed apart so that the names do not touch."""
    low, high = ax.get_ylim()
    log = ax.get_yscale() == "log"
    places = np.array([math.log(v) if log else v for _name, v in ends])
    floor, top = (math.log(low), math.log(high)) if log else (low, high)
    lines = np.array([name.count("\n") + 1 for name, _at in ends])
    for place, (name, _at) in zip(_apart(places, lines * 0.075 * (top - floor), floor, top), ends, strict=True):
        write(ax, ink, name, (right, math.exp(place) if log else place), offset=(6, 0), va="center", ha="left")


def _apart(places: Array, heights: Array, floor: float, top: float) -> Array:
    """Move names up from below, then down from the top, by no more than they need."""
    order = np.argsort(places, kind="stable")
    y = np.array(np.clip(places, floor + heights / 2, top - heights / 2))
    for below, above in pairwise(order):
        y[above] = max(y[above], y[below] + (heights[above] + heights[below]) / 2)
    y[order[-1]] = min(y[order[-1]], top)
    for above, below in pairwise(order[::-1]):
        y[below] = min(y[below], y[above] - (heights[above] + heights[below]) / 2)
    return y


def key(ax: Axes, ink: Ink, entries: Sequence[tuple[str, dict[str, object]]]) -> None:
    """Name the fills once, in a line above the picture."""
    from matplotlib.patches import Patch

    patches = [Patch(label=name, **style) for name, style in entries]  # type: ignore[arg-type]
    tight = {"columnspacing": 1.2, "handlelength": 1.5, "handletextpad": 0.5, "borderaxespad": 0.3}
    legend = ax.legend(
        handles=patches,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=_abreast(ax, [name for name, _ in entries]),
        frameon=False,
        fontsize=letters(ax, 9),
        **tight,
    )
    legend.set_in_layout(True)
    headroom(ax, 1 - (-len(entries) // _abreast(ax, [name for name, _ in entries])))
    for text in legend.get_texts():
        text.set_color(ink.text)


def headroom(ax: Axes, lines: int) -> None:
    """Keep so many lines above a picture free of a title that someone gives it: an axis there, of blank words, lifts titles."""
    top = ax.secondary_xaxis("top")
    top.set_xticks([sum(ax.get_xlim()) / 2], ["\n".join([" "] * lines)])
    top.tick_params(length=0, labelsize=9)
    top.spines["top"].set_visible(False)


def _abreast(ax: Axes, names: Sequence[str]) -> int:
    """Say how many names of a key fit side by side above a picture."""
    widest = max(map(len, names)) * 0.56 * letters(ax, 9) + 36
    return max(min(len(names), int(1.25 * inches(ax) * 72 / widest)), 1)


def round_ticks(low: float, high: float, *, most: int = 7) -> list[float]:
    """Choose round numbers between two positive ends of a logarithmic axis: 1, 2, 5; or powers of ten.

    >>> round_ticks(0.01, 1.0)
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [float(f"{s}e{k}") for k in range(first, last + 1) for s in digits]
        inside = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(inside) <= most:
            return inside or [low, high]
    return inside[:: math.ceil(len(inside) / most)]


def log_axis(ax: Axes, axis: str, low: float, high: float, *, most: int = 7) -> None:
    """Make an axis logarithmic, from low to high, with round numbers written out."""
    ticks = round_ticks(low, high, most=most if inches(ax) >= WIDE else max(most - 2, 3))
    if axis == "x":
        ax.set_xscale("log")
        ax.set_xlim(low, high)
        ax.set_xticks(ticks, [short(t) for t in ticks])
    else:
        ax.set_yscale("log")
        ax.set_ylim(low, high)
        ax.set_yticks(ticks, [short(t) for t in ticks])
    ax.minorticks_off()


def scaled_axis(ax: Axes, axis: str, *, like: float) -> None:
    """Write few-digit numbers along a linear axis from 0, in the power of ten that suits a number ``like`` this."""
    top = ax.get_ylim()[1] if axis == "y" else ax.get_xlim()[1]
    decade = 10.0 ** math.floor(math.log10(top))
    distance = next(s for s in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5) if top / (s * decade) <= 6) * decade
    ticks = np.arange(0.0, top * (1 + 1e-9), distance)
    power = power_of(like)
    names = [short(t / 10.0**power) for t in ticks]
    unit = _(" (in {power})", power=ten_to(power)) if power else ""
    if axis == "y":
        ax.set_yticks(ticks, names)
        ax.set_ylabel(ax.get_ylabel() + unit)
    else:
        ax.set_xticks(ticks, names)
        ax.set_xlabel(ax.get_xlabel() + unit)
