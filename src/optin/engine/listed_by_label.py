"""The few with low limits of every label, each up to a bound of its own: listed by one scan, and held for what is asked next.

A plan by group needs their limits one by one. An announcement asks about the same few again and again, and of those who were
listed it is told without a query: so promises are added up as those of people in memory are.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from optin.engine.set_apart import HIGHER
from optin.engine.small_tables import small_table
from optin.kernel.pieces import Array

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.rows import Rows

EVERYONE = sys.float_info.max  # everyone of a label who has a limit
LISTED = 4  # at most one in so many people is listed whose label may not ask for it
MOST = 1 << 24  # nor more than these: for a moment they are in memory twice

Bounds = Mapping[str, float]
"""A bound for each label."""
Listed = Mapping[str, Array]
"""The limits of each label, in no order; a label that nobody has is not among them."""


class ListedByLabel:
    """Limits up to a bound for each label, as they were when they were listed."""

    def __init__(self) -> None:
        self._tops: Bounds = {}
        self._listed: Listed = {}

    def known(self, rows: Rows, bounds: Bounds) -> Listed | None:
        """Return all limits up to these bounds, and maybe some above, if they were listed; below a bound of 0 there is nobody."""
        if not all(bound < self._tops.get(label, 0.0) or bound <= 0.0 for label, bound in bounds.items()):
            return None
        rows.expect_unchanged()
        return self._listed

    def hold(self, bounds: Bounds, listed: Listed) -> None:
        """Hold what was listed up to these bounds."""
        self._tops, self._listed = _tops(bounds), listed


def listed_below(rows: Rows, people: ir.Table, bounds: Bounds, *, few: bool) -> Listed:
    """List the limits ``tau`` of each ``label`` up to its bound, by one scan.

    Where few are below one bound for all labels (`alike`) they are listed, and those above their own let go here: the engine
    groups by a label as it is stored, which costs less than to look up the bound of each.
    """
    tops = _tops(bounds)
    near = _below_one(rows, people, tops) if few else _below_their_own(rows, people, tops)
    table = rows.session.fetch(near.group_by("label").agg(tau=near.tau.collect()), about=rows.source)
    each = zip(table.column("label").to_pylist(), table.column("tau"), strict=True)
    limits = {label: cells.values.to_numpy(zero_copy_only=False) for label, cells in each if label in tops}
    return {label: own[own < tops[label]] for label, own in limits.items()}


def listed_of(labels: Iterable[str], listed: Listed) -> Array:
    """Put together what was listed of the labels of a group; most groups have one."""
    limits = [listed[label] for label in labels if label in listed]
    return limits[0] if len(limits) == 1 else np.concatenate([np.empty(0), *limits])


def few_enough(people: int, expected: float) -> bool:
    """Tell whether so many of all people, as many as `alike` bounds are expected to let in, may be listed as they stand."""
    return expected <= min(people / LISTED, MOST)


def alike(bounds: Bounds, labels: Iterable[str]) -> dict[str, float]:
    """Give all labels the highest of these bounds, but those of whom everyone is listed, who may be the small ones.

    >>> alike({"a": 0.5, "b": 0.25, "small": EVERYONE}, ["a", "b", "c", "small"])["c"]
    0.5
    """
    everyone = {label: bound for label, bound in bounds.items() if bound >= EVERYONE}
    highest = max((bound for bound in bounds.values() if bound < EVERYONE), default=0.0)
    return dict.fromkeys(labels, highest) | everyone


def _below_one(rows: Rows, people: ir.Table, tops: Bounds) -> ir.Table:
    everyone = [label for label, top in tops.items() if top >= EVERYONE]
    low = rows.session.below(people.tau, max((top for top in tops.values() if top < EVERYONE), default=0.0))
    return people.filter(low | people.label.isin(everyone) if everyone else low)


def _below_their_own(rows: Rows, people: ir.Table, tops: Bounds) -> ir.Table:
    people = people.filter(rows.session.below(people.tau, max(tops.values())))
    each = small_table(rows.session, {"name": [*tops], "top": [*tops.values()]}, {"name": "string", "top": "float64"})
    near = people.join(each, people.label == each.name)
    return near.filter(near.tau < near.top)


def _tops(bounds: Bounds) -> dict[str, float]:
    """Say below what limits are listed: whoever is at a bound is."""
    return {label: math.nextafter(bound, math.inf) for label, bound in bounds.items()}


def raised(bounds: Bounds) -> dict[str, float]:
    """Say up to where limits are listed, so that the caps next to those asked about lie below."""
    return {label: bound * HIGHER for label, bound in bounds.items()}
