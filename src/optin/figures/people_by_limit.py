"""Pictures of people in order of their limits: what they allow, what they give, and what their limits cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from optin.agents import Description
from optin.errors import BadInput
from optin.figures.ink import LIGHT, Ink, fitted, headroom, key, letters, plain, write
from optin.figures.merged_cells import SMALLEST_CELL, Cell, PeopleShown, cells, described, groups
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.language import _, localised
from optin.wording.numbers import count, largest, outward, part, percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CAPS = 4.5
"""Limits higher than so many caps are cut off, so that the tail remains visible."""


def limits(ax: Axes, plan: Plan, people: PeopleShown, *, ink: Ink = LIGHT) -> str:
    """Draw everyone's limit and the epsilon granted below it, people in order of their limit: the tail and the pool.

    The filled area is the sum of all epsilons, R eta. Returns the picture in words.
    """
    description = described(plan, people)
    drawn_cells = _drawable(plan, description)
    edges = _shares(drawn_cells)
    allowed, granted = np.array([c.limit for c in drawn_cells]), np.array([c.epsilon for c in drawn_cells])
    top = _top(plan, allowed)
    plain(ax, ink, x=_("people, from the strictest to the most open (%)"), y=_("epsilon"))
    _area(ax, edges, granted, ink.pale)
    _hatched(ax, edges, granted, np.minimum(allowed, top), ink)
    ax.stairs(np.minimum(allowed, top * 1.1), edges, color=ink.strong, linewidth=2, baseline=None)
    ax.set(xlim=(0, 100), ylim=(0, top))
    if plan.cap < top:
        ax.axhline(plan.cap, color=ink.text, linewidth=1.2, linestyle=(0, (5, 3)))
        write(ax, ink, _("cap {cap}", cap=largest(plan.cap)), (0, plan.cap), offset=(5, 3), weight="bold")
    _pool_names(ax, plan, description, ink)
    _unused_name(ax, plan, edges, np.minimum(allowed, top), ink)
    if allowed[-1] > top:
        box = {"facecolor": ink.paper, "edgecolor": "none", "pad": 1.5}
        words = (
            _("↑ some have no limit")
            if math.isinf(drawn_cells[-1].high)
            else _("↑ up to {outward}", outward=short(outward(0.0, drawn_cells[-1].high)[1]))
        )
        write(ax, ink, words, (100, top), offset=(-4, -4), ha="right", va="top", bbox=box)
    return _limits_words(plan, description, drawn_cells)


def weights(ax: Axes, plan: Plan, people: PeopleShown, *, ink: Ink = LIGHT) -> str:
    """Draw everyone's weight as a multiple of an equal share; the area above 1 is the tilt (E15).

    Returns the picture in words.
    """
    description = described(plan, people)
    drawn_cells = _drawable(plan, description)
    edges = _shares(drawn_cells)
    multiples = np.array([c.epsilon for c in drawn_cells]) * plan.people / plan.epsilon_total
    top = max(float(multiples.max()) * 1.2, 1.6)
    plain(ax, ink, x=_("people, from the strictest to the most open (%)"), y=_("weight, in equal shares"))
    _area(ax, edges, np.minimum(multiples, 1.0), ink.pale)
    ax.stairs(np.maximum(multiples, 1.0), edges, baseline=1.0, fill=True, color=ink.strong, alpha=0.55, linewidth=0)
    ax.stairs(multiples, edges, color=ink.strong, linewidth=2, baseline=None)
    ax.axhline(1.0, color=ink.text, linewidth=1.2, linestyle=(0, (5, 3)))
    ax.set(xlim=(0, 100), ylim=(0, top))
    write(ax, ink, _("an equal share"), (100, 1.0), offset=(-5, -4), weight="bold", ha="right", va="top")
    drawn = float(np.maximum(multiples - 1.0, 0.0) @ np.diff(edges)) / 100.0
    write(ax, ink, fitted(ax, _tilt_words(drawn, plan.tilt)), (0, top), offset=(5, -4), va="top")
    return _(
        "Weights in order of people's limits, in multiples of an equal share: from {least} for the "
        "strictest group to {most} for the most open. {tilt} of all weight lies above an equal share.",
        least=short(float(multiples[0])),
        most=short(float(multiples[-1])),
        tilt=percent(plan.tilt),
    )


def _tilt_words(drawn: float, tilt: float) -> str:
    """Name the area above an equal share; groups of ten hide what is moved within them, so it may be less than the tilt."""
    if abs(tilt - drawn) < 0.005:
        return _(
            "area above the line: {tilt} of all weight,\nmoved to people who allow more (the tilt)", tilt=percent(tilt)
        )
    return _(
        "area above the line: {drawn} of all weight;\nwith what moves within groups, {tilt} (the tilt)",
        drawn=percent(drawn),
        tilt=percent(tilt),
    )


def costly_limits(ax: Axes, plan: Plan, people: PeopleShown, *, ink: Ink = LIGHT) -> str:
    """Draw, group by group, the share of what limits cost beside the share of people (E7).

    If everyone allowed one per cent more, the variance would fall; the dark bar is the part of that fall that comes from the
    group. By E1 the parts are sum tau max(cap - tau, 0), so buckets give them exactly. Returns the picture in words.
    """
    description = described(plan, people)
    drawn_cells, shares = cost_shares(plan, description)
    rows = np.arange(len(drawn_cells))[::-1]
    shared = np.array([c.count for c in drawn_cells]) / description.people
    plain(ax, ink, x=_("share (%)"), y="", grid="x")
    cost_style: dict[str, object] = {"facecolor": ink.strong, "edgecolor": ink.strong}
    people_style: dict[str, object] = {"facecolor": ink.paper, "edgecolor": ink.soft, "hatch": "////"}
    ax.barh(rows + 0.2, shares * 100, 0.4, **cost_style)  # type: ignore[arg-type]
    ax.barh(rows - 0.2, shared * 100, 0.4, **people_style)  # type: ignore[arg-type]
    for row, share in zip(rows, shares, strict=True):
        write(ax, ink, percent(share), (share * 100, row + 0.2), offset=(4, 0), va="center", fontsize=8.5)
    ax.set_yticks(rows, ranges(drawn_cells))
    ax.set_ylim(-0.6, len(drawn_cells) - 0.4)
    ax.set_xlim(0, max(float(shares.max()), float(shared.max())) * 115)
    ax.set_ylabel("limit", color=ink.text, fontsize=letters(ax, 9.5))
    key(ax, ink, [(_("of what limits cost"), cost_style), (_("of people"), people_style)])
    most = int(np.argmax(shares))
    return _(
        "Share of what limits cost in accuracy, by group of limits. The most costly group has limits "
        "{ranges}: {shared} of people, {cost} of the cost. Pooled people cost nothing.",
        ranges=ranges(drawn_cells)[most],
        shared=percent(shared[most]),
        cost=percent(float(shares[most])),
    )


def cost_shares(plan: Plan, description: Description) -> tuple[tuple[Cell, ...], Array]:
    """Return groups of people and the part of the cost of limits that falls to each; the parts add up to 1."""
    if plan.asked.gapped:
        raise BadInput("what limits cost is told only where no gap between people's means was declared")
    _drawable(plan, description)
    drawn_cells = groups(plan, description)
    pull = np.array([c.pull for c in drawn_cells])
    return drawn_cells, np.asarray(np.maximum(pull, 0.0) / max(float(pull.sum()), np.finfo(float).tiny))


def ranges(drawn_cells: Sequence[Cell]) -> list[str]:
    """Name cells by their limits, with one round number between neighbours.

    >>> ranges([Cell(0.1, 0.1, 10, 1.0, 1.0, 0.0), Cell(0.2031, 0.597, 10, 4.0, 4.0, 0.0), Cell(0.601, 0.92, 10, 7, 7, 0)])
    ['0.1', '0.2 to 0.6', '0.6 to 0.92']
    """
    lows, highs = [outward(c.low, c.high)[0] for c in drawn_cells], [outward(c.low, c.high)[1] for c in drawn_cells]
    for i, (a, b) in enumerate(pairwise(drawn_cells)):
        if b.low < a.high * 1.1 and not (_alike(a) or _alike(b)):
            lows[i + 1] = highs[i] = outward(0.0, math.sqrt(a.high * b.low))[1]
    return [_range(c, low, high) for c, low, high in zip(drawn_cells, lows, highs, strict=True)]


def _alike(cell: Cell) -> bool:
    return math.isinf(cell.low) or math.isclose(cell.low, cell.high, rel_tol=1e-4)


def _range(cell: Cell, low: float, high: float) -> str:
    if math.isinf(high):
        return _("no limit") if math.isinf(cell.low) else _("{low} or more", low=short(low))
    return short(cell.limit) if _alike(cell) else _("{low} to {high}", low=short(low), high=short(high))


def _drawable(plan: Plan, description: Description) -> tuple[Cell, ...]:
    """Return the cells to draw, or say why there are none."""
    if plan.noiseless:
        raise BadInput("without noise there is nothing to draw: everyone who counts has no limit")
    drawn_cells = cells(plan, description)
    if not drawn_cells or (len(drawn_cells) == 1 and not _alike(drawn_cells[0])):
        raise BadInput(
            "only {count}: too few to draw without a mark standing for a person; the plan's numbers remain",
            count=count(description.people),
        )
    return drawn_cells


def _shares(drawn_cells: Sequence[Cell]) -> Array:
    edges = np.concatenate(([0.0], np.cumsum([float(c.count) for c in drawn_cells])))
    return np.asarray(edges * (100.0 / edges[-1]))


def _top(plan: Plan, allowed: Array) -> float:
    """Choose the height: all limits if they fit, else twice the cap."""
    highest = float(np.max(allowed, where=np.isfinite(allowed), initial=0.0))
    if np.isfinite(allowed).all() and highest <= MOST_CAPS * plan.cap:
        return highest * (1.12 if plan.cap < highest else 1.25)
    return plan.cap * 2.4


def _area(ax: Axes, edges: Array, heights: Array, colour: str) -> None:
    ax.stairs(heights, edges, fill=True, color=colour, linewidth=0)


def _hatched(ax: Axes, edges: Array, granted: Array, allowed: Array, ink: Ink) -> None:
    """Hatch what is allowed and not used."""
    above = np.maximum(allowed, granted)
    x, low, high = np.repeat(edges, 2)[1:-1], np.repeat(granted, 2), np.repeat(above, 2)
    ax.fill_between(x, low, high, facecolor="none", edgecolor=ink.faint, hatch="////", linewidth=0)


def _pool_names(ax: Axes, plan: Plan, description: Description, ink: Ink) -> None:
    tail = plan.people - plan.pooled_people
    style: dict[str, object] = {"xycoords": "axes fraction", "va": "bottom", "fontsize": 9}
    if tail:
        given, nothing = _tail(plan, description)
        words = _("tail: {given} people\ngiving all they allow", given=given) + (f"\n{nothing}" if nothing else "")
        words = fitted(ax, words, 0.5 if plan.pooled_people else 1.0)
        write(ax, ink, words, (0, 1), offset=(0, 6), ha="left", **style)
    if plan.pooled_people:
        words = _("pool: {part} people\ngiving the cap, no more", part=part(plan.pooled_people, plan.people))
        words = fitted(ax, words, 0.5 if tail else 1.0)
        write(ax, ink, words, (1, 1), offset=(0, 6), ha="right", **style)
    headroom(ax, 4)
    if min(tail, plan.pooled_people) >= SMALLEST_CELL:
        ax.axvline(100.0 * tail / plan.people, color=ink.soft, linewidth=1, linestyle=(0, (1, 2)))


def _unused_name(ax: Axes, plan: Plan, edges: Array, allowed: Array, ink: Ink) -> None:
    """Name the hatched part, in the middle of where it is high, if that is large enough to hold the words."""
    spare = allowed - plan.cap
    start = float(edges[int(np.argmax(spare >= 0.6 * spare[-1]))])
    if spare[-1] > 0.3 * ax.get_ylim()[1] and start < 78:
        box = {"facecolor": ink.paper, "edgecolor": "none", "pad": 2.0, "alpha": 0.85}
        place = ((start + 100.0) / 2, plan.cap + 0.4 * spare[-1])
        write(ax, ink, _("allowed,\nnot needed"), place, ha="center", va="center", bbox=box)


def _tail(plan: Plan, description: Description) -> tuple[str, str]:
    """Count those who give all they allow and name those whose limit is 0, apart where neither are a handful."""
    tail, zeros = plan.people - plan.pooled_people, description.zeros
    if not zeros:
        return part(tail, plan.people), ""
    if min(zeros, tail - zeros) < SMALLEST_CELL or 0 < plan.pooled_people < SMALLEST_CELL:
        return part(tail, plan.people), _("limit 0: {part} of them", part=part(zeros, tail))
    return localised(f"{tail - zeros:,}"), _("{zeros:,} with limit 0", zeros=zeros)


def _limits_words(plan: Plan, description: Description, drawn_cells: Sequence[Cell]) -> str:
    given, nothing = _tail(plan, description)
    low, high = outward(drawn_cells[0].low, drawn_cells[-1].high)
    return _(
        "People in order of their limits, which run from about {low} to about {high}. In the tail, "
        "{given} people give all they allow{what}; in the pool, {part} people give the cap of {cap} and "
        "no more.",
        low=short(low),
        high=short(high),
        given=given,
        what=f" ({nothing})" if nothing else "",
        part=part(plan.pooled_people, plan.people),
        cap=largest(plan.cap),
    )
