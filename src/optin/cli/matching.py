"""Find the columns an announcement was made from: the announced sums are exact, so only the right ones add up to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, permutations
from typing import TYPE_CHECKING

import numpy as np

from optin.cli.othertable import ADVICE, first_difference
from optin.cli.people import Columns, agents_of
from optin.errors import BadInput
from optin.store import Terms

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.announcement import Announcement
    from optin.engine import Table
    from optin.store import Ledger
    from optin.store.ledger import Bounded

__all__ = ["announced_columns", "quasi_linear_columns"]

USUAL = ("limit", "limits")
MOST = 12


def announced_columns(
    offer: Announcement, table: Table, *, id_column: str, besides: set[str], ledger: Ledger | None
) -> Columns:
    """Pick the column of limits, the pair of budgets and costs, or the column of costs that was announced.

    If nothing adds up the table is another one, or was edited: a usual name is then taken, so that the release itself
    refuses it with its own words.
    """
    cut = None if ledger is None else ledger.bounded(Terms(offer.campaign, offer.round, offer.fingerprint))
    others = [name for name in table.names if name != id_column and name not in besides]
    for candidate in _candidates(offer, id_column, others[:MOST]):
        if _adds_up(offer, table, candidate, cut):
            return candidate
    usual = [
        name for name in (*others, *besides) if name in USUAL
    ]  # also one that is used as values, by its name alone
    if usual and offer.surplus is None:
        return Columns(id=id_column, limits=usual[0])
    why = first_difference(offer, table, table.ids(id_column), None, ledger)
    raise BadInput(
        f"{why}; {ADVICE}"
        if why is not None
        else "no column of this table adds up to what was announced: it is not the announced table, or was edited since;"
        " if it is, name its columns (--limits COL, or --budgets COL --costs COL, or --costs COL)"
    )


def quasi_linear_columns(offer: Announcement, *, id_column: str, costs: str) -> Columns:
    """Describe people with costs by what was announced: the promise fixes the benefit, so no slope is needed any more."""
    worth, outside = offer.benefit_at_promise, offer.outside
    if worth is None or outside is None:
        raise BadInput("benefits differ between people in this announcement: release it from Python")
    return Columns(id=id_column, costs=costs, benefit_base=worth, benefit_slope=0.0, outside=outside)


def _candidates(offer: Announcement, id_column: str, names: list[str]) -> Iterator[Columns]:
    if offer.model == "quasi-linear":
        return (quasi_linear_columns(offer, id_column=id_column, costs=name) for name in names)
    single = (Columns(id=id_column, limits=name) for name in names)
    pairs = (Columns(id=id_column, budgets=a, costs=b) for a, b in permutations(names, 2))
    return chain(single, pairs)


def _adds_up(offer: Announcement, table: Table, columns: Columns, cut: Bounded | None) -> bool:
    try:
        agents = agents_of(table, columns)
    except BadInput:  # not numbers: some other column
        return False
    grains = offer.grains(agents)
    for at, promised in _lowered(agents, cut):
        grains[at] = promised
    total = sum(int(part) for part in np.add.reduceat(grains, np.arange(0, len(grains), 2**20)))
    return len(agents) == offer.people and total == offer.total_grains


def _lowered(agents: Agents, cut: Bounded | None) -> Iterator[tuple[int, int]]:
    """List where the ledger promised less than the limit, and how much."""
    if cut is None or not cut.ids:
        return iter(())
    places = {name: at for at, name in enumerate(agents.ids or ())}
    pairs = zip(cut.ids, cut.grains.tolist(), strict=True)
    return ((places[name], promised) for name, promised in pairs if name in places)
