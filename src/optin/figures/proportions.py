"""Pictures of proportions: a bar with its 95 % interval for each option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from optin.figures.captions import MANY, row_labels
from optin.figures.ink import LIGHT, Ink, letters, plain, write
from optin.figures.marks import bar_looks, extent, interval_looks, words_above
from optin.questions.kinds import Reading
from optin.questions.multiple_choice import Several
from optin.questions.proportions import Proportions
from optin.questions.scale import ScaleResult
from optin.wording.language import _
from optin.wording.numbers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TOLD = 8
"""Words for a picture name no more options than this, the largest first."""


def proportions(ax: Axes, result: Proportions | Several, *, labels: Sequence[str] = (), ink: Ink = LIGHT) -> str:
    """Draw a bar with its 95 % interval for each option, in their order; of a scale, the mean score in words.

    ``labels`` are what options are called here, if not by their own names. Estimates are drawn as published, also below 0 and
    above 100 %; intervals lie inside. Returns the picture in words.
    """
    names = tuple(labels or result.options)
    readings = [replace(each, answer=name) for each, name in zip(result.readings(0.95), names, strict=False)]
    plain(ax, ink, x=_("people (%)"), y="", grid="x")
    for row, each in enumerate(readings):
        _bar(ax, ink, row, each)
    ax.axvline(0, color=ink.soft, linewidth=1, zorder=2.5)
    ax.set_yticks(range(len(readings)), row_labels(names), parse_math=False)
    ax.tick_params(axis="y", length=0, labelsize=letters(ax, 8.5 if len(readings) >= MANY else 9))
    ax.set(ylim=(len(readings) - 0.45, -0.55), xlim=extent([x for r in readings for x in (r.estimate, r.low, r.high)]))
    told = _words(readings, result)
    if not isinstance(result, ScaleResult):
        return told
    words_above(ax, ink, mean_score(result))
    return _(
        "{told} On a scale of 1 to {options}: {mean_score}.",
        told=told,
        options=len(result.options),
        mean_score=mean_score(result),
    )


def mean_score(result: ScaleResult) -> str:
    """Say the mean score of a scale, with its interval."""
    estimate, interval = Reading("", result.mean, *result.mean_interval(0.95)).written()
    return _("mean score {estimate} (95 %: {interval})", estimate=estimate, interval=interval)


def _bar(ax: Axes, ink: Ink, row: int, each: Reading) -> None:
    """Draw the estimate as a bar, the interval as a line with ends, and the number in a column at the right."""
    ax.barh(row, 100 * each.estimate, 0.62, **bar_looks(ink))
    ax.plot((100 * each.low, 100 * each.high), (row, row), "-|", **interval_looks(ink))
    column = {"xycoords": ax.get_yaxis_transform(), "va": "center", "ha": "left", "weight": "bold"}
    write(ax, ink, each.written()[0], (1, row), offset=(6, 0), **column)


def _words(readings: Sequence[Reading], result: Proportions | Several) -> str:
    largest = readings if len(readings) <= MOST_TOLD else sorted(readings, key=lambda each: -each.estimate)[:MOST_TOLD]
    told = "; ".join("{} {} ({})".format(each.answer, *each.written()) for each in largest)
    some = (
        _(" The largest {largest} of {options}:", largest=len(largest), options=len(readings))
        if len(largest) < len(readings)
        else ""
    )
    return _(
        "Proportions of the answers of {people}, with 95 % intervals.{some} {told}.",
        people=count(result.counted.people),
        some=some,
        told=told,
    )
