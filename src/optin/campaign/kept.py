"""The same steps for people who stay in an engine: what the ledger knows is laid over their rows there.

Nothing here holds one number a person. Rows leave the engine in batches, wait beside the ledger, and are taken in by the one
transaction that also stores the result; if a file was changed meanwhile, or the ledger counts other sums than the
engine, nothing is written.
"""

from __future__ import annotations

import copy
import functools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.announcement import Announcement
from optin.announcement.making import tilt_of
from optin.campaign.lowering import NOTHING_LEFT, USEFUL, allowance, epsilon, kept_cut_to
from optin.campaign.overlay import FIRST, SECOND, STATED, Kept, laid_over, left_of
from optin.engine.checks import refuse_unusable
from optin.engine.people import KeptConstrained
from optin.engine.rows import Rows
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.grains.arrays import GRAIN, Answers, Promises, Sums
from optin.grains.engine import KeptRule
from optin.ledger import Entry, Ledger, Terms, allowance_grains
from optin.ledger.bulk_acts import Expected, announce_waiting, release_waiting
from optin.ledger.bulk_reads import each_balance, each_change
from optin.ledger.charging import DECLINED, NOBODY
from optin.ledger.staging_area import Batch, waiting
from optin.participation import CHANGED, Turnout, check_unchanged
from optin.releasing.drawing import added_up, charged_text
from optin.tables.columns import Wanted, column

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = [
    "announce_kept",
    "as_promised",
    "expect_standing",
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
        return within_totals_kept(agents, allowances)
    rows = laid_over(agents, functools.partial(each_balance, ledger, besides))
    if rows is None:
        return within_totals_kept(agents, allowances, levels)
    left = left_of(rows, totals=_totals(allowances, rows), raise_limits=raise_limits)
    return _lowered(agents, rows, rows.table[STATED], left, levels)


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
    people = KeptConstrained(rows, lowered, columns=agents.columns)
    if people.most * GRAIN < 1 and _all_spent(rows, limit, left):
        raise BudgetSpent(NOTHING_LEFT)
    return people


def _all_spent(rows: Rows, limit: ir.FloatingColumn, left: ir.IntegerColumn) -> bool:
    """Tell people who have nothing of use left from people who allow nothing, or have less left than the lowest level."""
    table = rows.table.select(left=left, stated=allowance(limit))
    most = rows.session.one(table.aggregate(left=table.left.max(), stated=table.stated.max()), about=rows.source)
    return bool(most["left"] < USEFUL and most["stated"] > 0)


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
        return allowance(rows.wanted(Wanted(allowances)))
    if np.ndim(allowances):
        raise BadInput("this table is engine-backed: give allowances as one number, or as the name of a column")
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


def expect_standing(people: Kept, joined: Answers, standing: Answers) -> None:
    """Refuse a yes of someone who declined, and a round that nobody joined, before anything else is decided."""
    rows = people.rows
    if joined is None and standing is None:
        return
    answer = standing if joined is None else rows.truth(joined)
    gone = answer & (answer if standing is None else ~standing)
    table = rows.table.select(person=rows.ids(), joined=answer, gone=gone)
    first = table.person.min(where=table.gone)
    found = rows.session.one(table.aggregate(joined=table.joined.sum(), first=first), about=rows.source)
    if standing is not None and found["first"] is not None:
        raise PromiseBroken(DECLINED, person=f"id {found['first']}")
    if not found["joined"]:
        raise PromiseBroken(NOBODY)


def release_kept(
    announcement: Announcement,
    people: Kept,
    values: str,
    joined: Answers,
    came: Turnout | None,
    *,
    ledger: Ledger,
    terms: Terms,
) -> Entry:
    """Charge those who joined and store the one result; ``came`` is None where it is stored already.

    What is charged is what is added up: rows on their way to the ledger, which compares every promise with its own, are
    marked by id and grains, and so are those that the sum over values reads, later and by a query of its own.
    """
    rule = replace(rule_of(announcement.promises(people)), salt=secrets.token_hex(16))
    query = people.rows.table.select(id=people.rows.ids(), a=rule.column(), b=ones(people.rows, joined), c=rule.mark())
    passed = _Passed(0 if came is None else came.total_grains // came.announced)

    def settle() -> Callable[[int], tuple[str, str]]:
        assert came is not None  # noqa: S101 — without it nothing is expected, and nothing drawn
        passed.expect(came, tilted=joined is not None)
        measured = added_up(announcement, rule, values, came=came, joined=joined)
        if measured.those.marks != passed.those.marks:
            raise PromiseBroken(CHANGED)
        return functools.partial(charged_text, measured)

    expected = None if came is None else Expected(came.people, came.total_grains)
    with waiting(ledger.engine, passed.noting(_batches(people.rows, query))) as rows:
        return release_waiting(ledger, terms, rows, settle=settle, expected=expected)


class _Passed:
    """What went by on its way to the ledger, of those who joined."""

    def __init__(self, bar: int) -> None:
        self.bar, self.those, self.above = bar, Sums(), (0, 0)

    def noting(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Add up each batch and pass it on, without its marks."""
        for ids, grains, joined, marks in batches:
            self._note([pair for pair, one in zip(zip(grains, marks, strict=True), joined, strict=True) if one])
            yield ids, grains, joined, [0] * len(ids)

    def _note(self, those: list[tuple[int, int]]) -> None:
        grains, above = [each for each, _ in those], [each for each, _ in those if each > self.bar]
        self.those += Sums(
            people=len(grains),
            promised=sum(each > 0 for each in grains),
            grains=sum(grains),
            squares=sum(each * each for each in grains),
            marks=sum(mark for _, mark in those),
        )
        self.above = (self.above[0] + len(above), self.above[1] + sum(above))

    def expect(self, came: Turnout, *, tilted: bool) -> None:
        """Refuse rows that are not those the release was decided on; where all joined, the tilt is the announced one."""
        check_unchanged(came, self.those)
        if tilted and tilt_of(*self.above, total_grains=came.total_grains, people=came.announced) != came.tilt:
            raise PromiseBroken(CHANGED)


def rule_of(promises: Promises) -> KeptRule:
    """Assert that these promises are engine-backed."""
    assert isinstance(promises, KeptRule)  # noqa: S101 — people of an engine have no other
    return promises


def ones(rows: Rows, joined: Answers) -> ir.IntegerValue:
    """Write who joined as 1 and 0."""
    import ibis

    if joined is None:
        return ibis.literal(1, "int64")
    answer = rows.truth(joined) if isinstance(joined, str) else joined
    return answer.fill_null(False).ifelse(1, 0).cast("int64")


def _batches(rows: Rows, query: ir.Table) -> Iterator[Batch]:
    """Walk over people, a batch at a time, as lists."""
    for batch in rows.session.batches(query, about=rows.source):
        ids, a, b, c = (batch.column(name).to_pylist() for name in ("id", "a", "b", "c"))
        yield ids, a, b, c
