"""Groups side by side: a dot and an interval for each, the whole below them, and how far they differ (E27)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.figures.captions import MANY, drawable_names, row_labels, rows_are_numbered, unit_label
from optin.figures.ink import LIGHT, Ink, plain, write
from optin.figures.marks import interval_looks
from optin.questions.kinds import Reading
from optin.releasing.across import Differences, Total
from optin.releasing.comparing import withheld_why
from optin.wording.groups import shown_group
from optin.wording.language import _

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from optin.releasing import Release

MOST_ROWS = 40
"""A picture has no more rows than this; a table has them all."""
MOST_TOLD = 8
"""Words for a picture name no more groups or pairs than this."""


def by_group(
    ax: Axes,
    groups: Mapping[str, Release],
    question: str,
    *,
    answer: str = "",
    total: Total | None = None,
    ink: Ink = LIGHT,
) -> str:
    """Draw one figure of every group as a dot with its 95 % interval, and the whole as a diamond below them.

    ``answer`` names the figure where a question has several; groups of which it was not published are named and empty.
    Returns the picture in words. ``rows_height`` of `optin.figures.by_group` says how high it is to be.
    """
    names = tuple(groups)
    _expect_few(len(names))
    readings = [_reading(groups[name], question, answer) for name in names]
    whole = None if total is None else _of_answer(total.readings(0.95), answer)
    known = [each for each in (*readings, whole) if each is not None]
    if not known:
        raise BadInput('"{question}" was published of no group', question=question)
    unit = next(iter(groups.values())).sheet[question].unit
    _axes(ax, ink, known, _("people (%)") if known[0].proportion else unit_label(unit))
    for row, each in enumerate(readings):
        _row(ax, ink, row, each)
    if whole is not None:
        ax.axhline(len(names) - 0.5, color=ink.faint, linewidth=1)
        _row(ax, ink, len(names), whole, Mark("D", ink.mark))
    _name_rows(ax, [*row_labels(names, "group"), *([_("all together")] if whole else [])])
    return _words(names, readings, whole, unit)


def differences(ax: Axes, result: Differences, *, answer: str = "", ink: Ink = LIGHT) -> str:
    """Draw the differences of all pairs with intervals that hold together; a filled dot is one whose interval leaves out 0.

    Returns the picture in words.
    """
    pairs = [(pair, _of_answer(pair.readings(result.each_level), answer)) for pair in result.pairs]
    _expect_few(len(pairs))
    unit = unit_label(result.question.unit)
    _axes(ax, ink, [each for _, each in pairs], _("points") if pairs[0][1].proportion else unit)
    ax.axvline(0, color=ink.soft, linewidth=1.2, zorder=2.5)
    for row, (pair, each) in enumerate(pairs):
        mark = Mark(filled=not each.low <= 0.0 <= each.high)
        _row(ax, ink, row, each, mark, text=pair.written(each)[0].split(" ")[0])
    _name_rows(ax, row_labels(_pair_names(result)))
    told = "; ".join(
        "{}: {} ({})".format(
            _("{one} less {other}", one=shown_group(pair.groups[0]), other=shown_group(pair.groups[1])),
            *pair.written(each),
        )
        for pair, each in pairs[:MOST_TOLD]
    )
    return _(
        "Differences of groups. {capital}. {told}{more}.",
        capital=_capital(result.promise),
        told=told,
        more=_more(len(pairs) - MOST_TOLD),
    )


def pairs_are_numbered(result: Differences) -> bool:
    """Say whether a picture of differences numbers its rows, since names of pairs are too long and alike to fit."""
    return rows_are_numbered(_pair_names(result))


def _pair_names(result: Differences) -> list[str]:
    names = list(dict.fromkeys(name for pair in result.pairs for name in pair.groups))
    said = dict(zip(names, drawable_names(names, "group"), strict=True))
    return [
        _("{one} less {other}", one=said[one], other=said[other]) for one, other in (p.groups for p in result.pairs)
    ]


def rows_height(rows: int) -> float:
    """Return how many inches high a picture of so many rows is to be, at the width of a report."""
    return round(0.8 + (0.21 if rows >= MANY else 0.33) * rows, 2)


def _expect_few(rows: int) -> None:
    if rows > MOST_ROWS:
        raise BadInput("{rows:,} rows are too many for a picture; at most {most} are drawn", rows=rows, most=MOST_ROWS)


def _reading(release: Release, question: str, answer: str) -> Reading | None:
    if withheld_why(release, question):
        return None
    return _of_answer(release[question].readings(0.95), answer)


def _of_answer(readings: Sequence[Reading], answer: str) -> Reading:
    """Return the reading of an answer, by default the first."""
    for each in readings:
        if answer in ("", each.answer):
            return each
    raise BadInput('there is no answer "{answer}" to draw', answer=answer)


def _axes(ax: Axes, ink: Ink, known: Sequence[Reading], unit: str) -> None:
    scale = 100.0 if known[0].proportion else 1.0
    plain(ax, ink, x=unit, y="", grid="x")
    ends = [scale * end for each in known for end in (each.low, each.high)]
    room = 0.04 * (max(ends) - min(ends)) or 1.0
    ax.set_xlim(min(ends) - room, max(ends) + room)


@dataclass(frozen=True)
class Mark:
    """How an estimate is drawn."""

    sign: str = "o"
    color: str = ""
    filled: bool = True


DOT = Mark()


def _row(
    ax: Axes,
    ink: Ink,
    row: int,
    each: Reading | None,
    mark: Mark = DOT,
    *,
    text: str = "",
) -> None:
    """Draw an interval as a line with ends, the estimate as a mark, and the number in a column at the right."""
    column = {"xycoords": ax.get_yaxis_transform(), "va": "center", "ha": "left", "weight": "bold"}
    if each is None:
        write(ax, ink, _("not published"), (0.02, row), **(column | {"weight": "normal", "color": ink.soft}))
        return
    scale, tint = 100.0 if each.proportion else 1.0, mark.color or ink.strong
    ax.plot((scale * each.low, scale * each.high), (row, row), "-|", **interval_looks(ink))
    face = tint if mark.filled else ink.paper
    looks: dict[str, Any] = {
        "markersize": 7,
        "markerfacecolor": face,
        "markeredgecolor": tint,
        "markeredgewidth": 1.5,
        "zorder": 5,
    }
    place, sign = _placed(each, mark.sign)
    ax.plot(scale * place, row, sign, clip_on=False, **looks)
    write(ax, ink, text or each.written()[0], (1, row), offset=(6, 0), **column)


def _placed(each: Reading, marker: str) -> tuple[float, str]:
    """Draw an estimate where it lies; one beyond what answers can be, where its interval is cut, as an arrow at that end."""
    if each.low <= each.estimate <= each.high:
        return each.estimate, marker
    return (each.low, "<") if each.estimate < each.low else (each.high, ">")


def _name_rows(ax: Axes, labels: Sequence[str]) -> None:
    ax.set_yticks(range(len(labels)), labels, parse_math=False)
    ax.tick_params(axis="y", length=0, labelsize=8.5 if len(labels) >= MANY else 9)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def _words(names: Sequence[str], readings: Sequence[Reading | None], whole: Reading | None, unit: str) -> str:
    told = [
        f"{shown_group(name)} " + (_("not published") if each is None else "{} ({})".format(*each.written(unit)))
        for name, each in list(zip(names, readings, strict=True))[:MOST_TOLD]
    ]
    together = "" if whole is None else _together(whole.written(unit))
    return _(
        "One figure by group, with 95 % intervals. {told}{more}.{together}",
        told="; ".join(told),
        more=_more(len(names) - MOST_TOLD),
        together=together,
    )


def _more(left: int) -> str:
    return _("; and {left:,} more", left=left) if left > 0 else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _together(written: tuple[str, str]) -> str:
    return _(" All together: {estimate} ({interval}).", estimate=written[0], interval=written[1])
