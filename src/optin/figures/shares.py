"""What each question of a sheet takes: its share of everyone's epsilon, and the ± that this leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.announcement import Announcement
from optin.figures.captions import MANY, row_labels, unit_label
from optin.figures.ink import LIGHT, Ink, letters, plain, write
from optin.planning import Plan
from optin.questions import Question
from optin.wording.amounts import plus_minus_of
from optin.wording.language import _
from optin.wording.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def epsilon_shares(ax: Axes, terms: Plan | Announcement, *, ink: Ink = LIGHT) -> str:
    """Draw the share of everyone's epsilon that each question of a plan or an offer takes, with its ± at the right.

    Returns the picture in words.
    """
    names = tuple(question.name for question in terms.sheet)
    plain(ax, ink, x=_("share of everyone's epsilon (%)"), y="", grid="x")
    units = {question.name: terms.sheet.unit_said(question) for question in terms.sheet}
    for row, question in enumerate(terms.sheet):
        half = _half(terms, question, unit_label(units[question.name]))
        _bar(ax, ink, row, terms[question.name].epsilon_share, half)
    ax.set_yticks(range(len(names)), row_labels(names), parse_math=False)
    ax.tick_params(axis="y", length=0, labelsize=letters(ax, 8.5 if len(names) >= MANY else 9))
    most = max(terms[name].epsilon_share for name in names)
    ax.set(ylim=(len(names) - 0.45, -0.55), xlim=(0, min(135 * most, 118)))
    told = [
        f"{question.name}: {percent(terms[question.name].epsilon_share)}, {_half(terms, question, units[question.name])}"
        for question in terms.sheet
    ]
    return _(
        "What each question takes of everyone's epsilon, and the 95 % interval that it leads to. {told}.",
        told="; ".join(told),
    )


def _half(terms: Plan | Announcement, question: Question, unit: str) -> str:
    half = terms[question.name].half_width(0.95)
    return plus_minus_of(half, proportion=question.proportion, unit=unit)


def _bar(ax: Axes, ink: Ink, row: int, share: float, half: str) -> None:
    ax.barh(row, 100 * share, 0.62, facecolor=ink.strong, edgecolor=ink.strong, linewidth=0.8)
    write(ax, ink, percent(share), (100 * share, row), offset=(4, 0), va="center")
    column = {"xycoords": ax.get_yaxis_transform(), "va": "center", "ha": "left", "weight": "bold"}
    write(ax, ink, half, (1, row), offset=(6, 0), parse_math=False, **column)
