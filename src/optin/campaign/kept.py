"""The same steps for people who stay in an engine: what the ledger knows is laid over their rows there.

Nothing here holds one number a person. Rows leave the engine in batches, wait beside the ledger, and are taken in by the one
transaction that also stores the result; if a file was changed meanwhile, or the ledger counts other sums than the
engine, nothing is written.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.agents.columns import Wanted, column
from optin.announcement import Announcement
from optin.announcement.grains import GRAIN, Answers, Promises
from optin.announcement.kept import KeptRule
from optin.campaign.lowering import allowance, epsilon, kept_cut_to
from optin.campaign.overlay import FIRST, SECOND, STATED, Kept, laid_over, left_of
from optin.engine.checks import refuse_unusable
from optin.engine.people import KeptConstrained
from optin.engine.rows import Rows
from optin.errors import BadInput, BudgetSpent
from optin.releasing.drawing import Measured
from optin.store import Entry, Ledger, Terms, allowance_grains
from optin.store.bulk import Expected, announce_waiting, release_waiting
from optin.store.exports import each_balance, each_change
from optin.store.waiting import Batch, waiting

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = [
    "announce_kept",
    "as_promised",
    "is_kept",
    "ones",
    "release_kept",
    "rule_of",
    "within_allowance_kept",
    "within_totals_kept",
]


def is_kept(agents: Agents) -> bool:
    """Tell whether these people stay in an engine."""
    return hasattr(agents, "rows")


def within_allowance_kept(
    agents: Kept,
    ledger: Ledger,
    *,
    besides: Terms | None = None,
    raise_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Kept:
    """Lower limits to what the ledger leaves, by one join in the engine; without anyone known, nothing changes."""
    if not isinstance(agents, KeptConstrained):
        return agents
    rows = laid_over(agents, functools.partial(each_balance, ledger, besides))
    if rows is None:
        return within_totals_kept(agents, allowances, levels)
    left = left_of(rows, totals=_totals(allowances, rows), raise_limits=raise_limits)
    people = _lowered(agents, rows, rows.table[STATED], left, levels)
    if people.most * GRAIN < 1 and _all_spent(rows, left):
        raise BudgetSpent(
            "everyone here has spent or promised all of their allowance in this ledger: nothing is left to plan"
        )
    return people


def within_totals_kept(agents: Kept, allowances: ArrayLike | str | None, levels: ArrayLike | None = None) -> Kept:
    """Lower limits to the totals that people state themselves, as a ledger that knows nobody does."""
    totals = _totals(allowances, agents.rows)
    if totals is None or not isinstance(agents, KeptConstrained):
        return agents
    return _lowered(agents, agents.rows, agents.limit(), totals, levels)


def _lowered(
    agents: KeptConstrained,
    rows: Rows,
    limit: ir.FloatingColumn,
    left: ir.IntegerColumn,
    levels: ArrayLike | None,
) -> KeptConstrained:
    """Lower limits to what is left; one whose grains are covered is left as it is, to the last bit."""
    lowered = (allowance(limit) <= left).ifelse(limit, kept_cut_to(left, levels))
    return KeptConstrained(rows, lowered, columns=agents.columns)


def _all_spent(rows: Rows, left: ir.IntegerColumn) -> bool:
    """Tell people who have nothing left from people who allow nothing, or have less left than the lowest level."""
    table = rows.table.select(left=left, stated=allowance(rows.table[STATED]))
    most = rows.session.one(table.aggregate(left=table.left.max(), stated=table.stated.max()), about=rows.source)
    return bool(most["left"] == 0 and most["stated"] > 0)


def as_promised(agents: Kept, ledger: Ledger, terms: Terms) -> tuple[Kept, Answers]:
    """Lower limits that the ledger had cut, and say (as an expression) who did not decline; None if nobody did."""
    rows = laid_over(agents, functools.partial(each_change, ledger, terms))
    if rows is None:
        return agents, None
    people = copy.copy(agents)  # what was checked and counted of these people still holds
    object.__setattr__(people, "rows", rows)
    if isinstance(people, KeptConstrained):
        cut, limit = rows.table[FIRST], rows.table[STATED]
        object.__setattr__(people, "expression", (cut >= 0).ifelse(_least(limit, epsilon(cut)), limit))
    return people, rows.table[SECOND].fill_null(0) == 0


def _least(one: ir.FloatingColumn, other: ir.FloatingColumn) -> ir.FloatingColumn:
    import ibis

    return ibis.least(one, other)


def _totals(allowances: ArrayLike | str | None, rows: Rows) -> ir.IntegerValue | None:
    """Read what people allow over all releases, in grains: one number for all, or a column without gaps."""
    import ibis

    if allowances is None:
        return None
    if isinstance(allowances, str):
        rows.expect(allowances)
        refuse_unusable(rows, (Wanted(allowances),))  # a missing total would count as none at all
        return allowance(rows.number(allowances))
    if np.ndim(allowances):
        raise BadInput(
            "these people stay in their engine: give allowances as one number, or as the name of their column"
        )
    return ibis.literal(int(allowance_grains(column([allowances], "allowances"))[0]), "int64")


def announce_kept(
    offer: Announcement,
    agents: Kept,
    people: Kept,
    *,
    ledger: Ledger,
    terms: Terms,
    raise_limits: bool,
    allowances: ArrayLike | str | None,
) -> Entry:
    """Hold everyone's promise: rows go from the engine to a table beside the ledger, and from there in at once."""
    rule = rule_of(offer.promises(people))
    stated = _stated(agents, people, rule)
    totals = _totals(allowances, people.rows)
    query = people.rows.table.select(
        id=people.rows.ids(),
        a=rule.column(),
        b=allowance(stated) if totals is None else totals,
        c=(rule.limit < stated).ifelse(1, 0).cast("int64"),
    )
    with waiting(ledger.engine, _batches(people.rows, query)) as rows:
        return announce_waiting(
            ledger,
            terms,
            rows,
            body=offer.to_json(),
            expected=Expected(offer.people, offer.total_grains),
            recheck=people.rows.expect_unchanged,
            raise_limits=raise_limits,
            exact=offer.noiseless,
        )


def _stated(agents: Kept, people: Kept, rule: KeptRule) -> ir.FloatingColumn:
    """Return the limits that people stated, over the rows that hold what the ledger left of them; costs are not cut."""
    if not isinstance(agents, KeptConstrained):
        return rule.limit
    return agents.limit() if people.rows is agents.rows else people.rows.table[STATED]


def release_kept(
    announcement: Announcement,
    people: Kept,
    joined: Answers,
    measured: Measured | None,
    *,
    ledger: Ledger,
    terms: Terms,
) -> Entry:
    """Charge those who joined and store the one result; ``measured`` is None where it is stored already."""
    rule = rule_of(announcement.promises(people))
    query = people.rows.table.select(id=people.rows.ids(), a=rule.column(), b=ones(people.rows, joined), c=_zero())

    def draw(number: int) -> tuple[str, str]:
        assert measured is not None  # noqa: S101 — without it nothing is expected, and nothing drawn
        marked = replace(measured.drawn(), charged=True, ledger_number=number)
        return marked.to_json(), marked.fingerprint

    expected = None if measured is None else Expected(measured.those.people, measured.those.grains)
    with waiting(ledger.engine, _batches(people.rows, query)) as rows:
        return release_waiting(ledger, terms, rows, draw=draw, expected=expected, recheck=people.rows.expect_unchanged)


def rule_of(promises: Promises) -> KeptRule:
    """Take promises of people of an engine for what they are."""
    assert isinstance(promises, KeptRule)  # noqa: S101 — people of an engine have no other
    return promises


def ones(rows: Rows, joined: Answers) -> ir.IntegerValue:
    """Write who joined as 1 and 0."""
    import ibis

    if joined is None:
        return ibis.literal(1, "int64")
    answer = rows.truth(joined) if isinstance(joined, str) else joined
    return answer.fill_null(False).ifelse(1, 0).cast("int64")


def _zero() -> ir.IntegerValue:
    import ibis

    return ibis.literal(0, "int64")


def _batches(rows: Rows, query: ir.Table) -> Iterator[Batch]:
    """Walk over people, a batch at a time, as lists."""
    for batch in rows.session.batches(query, about=rows.source):
        ids, a, b, c = (batch.column(name).to_pylist() for name in ("id", "a", "b", "c"))
        yield ids, a, b, c
