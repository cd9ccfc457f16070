"""Pictures of designs side by side: how wrong each is, and what it takes from whom."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optin.agents import Agents
from optin.baselines import Baseline, Comparison, Group, compared
from optin.errors import BadInput
from optin.figures.accuracy import Parts, bar, bar_styles
from optin.figures.ink import LIGHT, Ink, key, letters, plain, scaled_axis, write
from optin.planning import Plan
from optin.wording.numbers import count, outward, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 3.5
"""Bars are cut at so many times the optimum's error: beyond, only the number matters."""
TIMES = "\N{MULTIPLICATION SIGN}"


def comparison(ax: Axes, subject: Comparison | Plan, people: Agents | None = None, *, ink: Ink = LIGHT) -> str:
    """Draw the expected squared error of every design in its parts, with its ratio to ours. Returns the picture in words."""
    beside = _compared(subject, people)
    rows = beside.designs
    own = rows[0].mse
    most = min(max((d.mse for d in rows if math.isfinite(d.mse)), default=own), WIDEST * own) or 1.0
    plain(ax, ink, x="expected squared error", y="", grid="x")
    styles = bar_styles(ink)
    for row, design in enumerate(rows):
        end = bar(ax, row, _parts(design), most, ink) if math.isfinite(design.mse) else 0.0
        bold = "bold" if row == 0 else "normal"
        write(ax, ink, _ratio(beside, design, most), (end, row), offset=(6, 0), va="center", weight=bold)
    ax.set_yticks(range(len(rows)), [design.name for design in rows])
    ax.set(xlim=(0, most * 1.22), ylim=(len(rows) - 0.5, -0.5))
    scaled_axis(ax, "x", like=own)
    shown = [name for name in styles if name != "bias² at most" or any(d.bias_bound > 0 for d in rows)]
    key(ax, ink, [(name, styles[name]) for name in shown])
    others = ", ".join(f"{d.name} {_times(beside.ratio(d))}" for d in rows[1:])
    return f"Expected squared error: {rows[0].name} {short(own)}; as multiples of it: {others}."


def losses(ax: Axes, subject: Comparison | Plan, people: Agents | None = None, *, ink: Ink = LIGHT) -> str:
    """Draw what every design takes from people of rising limits, as a table shaded by amount. Returns it in words."""
    beside = _compared(subject, people)
    plain(ax, ink, x="mean epsilon, by limit and number of people", y="", grid="")
    most = max((e for row in beside.epsilons for e in row if math.isfinite(e)), default=0.0) or 1.0
    for row, epsilons in enumerate(beside.epsilons):
        for column, epsilon in enumerate(epsilons):
            _cell(ax, ink, (column, row), epsilon, most)
    wide = any(group.low < group.high for group in beside.groups)
    ax.set_xticks(range(len(beside.groups)), [_label(group, wide=wide) for group in beside.groups])
    ax.set_yticks(range(len(beside.designs)), [design.name for design in beside.designs])
    ax.set(xlim=(-0.5, len(beside.groups) - 0.5), ylim=(len(beside.designs) - 0.5, -0.5))
    ax.tick_params(length=0)
    ax.tick_params(axis="x", labelsize=letters(ax, 8))
    ax.spines[["left", "bottom"]].set_visible(False)
    own = zip(beside.groups, beside.group_names, beside.epsilons[0], strict=True)
    parts = [f"{short(e)} from the {count(g.people)} with limit {name}" for g, name, e in own]
    return f"Mean epsilon taken by each design. {beside.designs[0].name.capitalize()} takes {', '.join(parts)}."


def _compared(subject: Comparison | Plan, people: Agents | None) -> Comparison:
    """Take a comparison as it is; a plan is compared for its people first."""
    if isinstance(subject, Comparison):
        return subject
    if people is None:
        raise BadInput("a plan is compared for its people: give them after it")
    return compared(subject, people)


def _parts(design: Baseline) -> Parts:
    return Parts(design.name, design.sampling, design.noise, design.bias_bound**2)


def _ratio(compared: Comparison, design: Baseline, most: float) -> str:
    if math.isinf(design.mse):
        return "nothing to publish"
    return f"{'→ ' if design.mse > most * (1 + 1e-9) else ''}{_times(compared.ratio(design))}"


def _times(ratio: float) -> str:
    return f"{TIMES} {ratio:.2f}" if ratio < 100 else f"{TIMES} {short(ratio)}"


def _label(group: Group, *, wide: bool) -> str:
    """Name a group by its limits, rounded outwards, over its number of people; all take two lines if one needs them."""
    low, high = (short(end, 2) for end in outward(group.low, group.high))
    between = ["" if low == high else f"to {high}"] if wide else []
    return "\n".join([low, *between, f"{group.people:,}"])


def _cell(ax: Axes, ink: Ink, place: tuple[int, int], epsilon: float, most: float) -> None:
    """Shade by the root of epsilon, so that small ones still differ, and lightly, so that the number stays readable."""
    share = math.sqrt(min(epsilon / most, 1.0))
    x, y = place
    ax.fill_between([x - 0.48, x + 0.48], y - 0.44, y + 0.44, color=ink.strong, alpha=0.5 * share, linewidth=0)
    write(ax, ink, short(epsilon), place, ha="center", va="center")
