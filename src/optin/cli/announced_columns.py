"""Find the columns an announcement was made from: the announced sums are exact, so only the right ones add up to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, permutations
from typing import TYPE_CHECKING

from optin.cli.announced_table import ADVICE, first_difference
from optin.cli.people_files import Columns, described
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.announcement import Announcement
    from optin.cli.release_source import Released
    from optin.ledger import Ledger
    from optin.tables import Table

USUAL = ("limit", "limits")
MOST = 12
NONE = (
    "no column of this table adds up to what was announced: it is not the announced table, or was edited since; if it is,"
    " name its columns (--limits COL, or --limit NUMBER, or --budgets COL --costs COL, or --costs COL), and read it as it was"
    " announced"
    " (--id, --blank-limit, --decimal, --skip-bad, where one was given)"
)


def announced_columns(
    offer: Announcement,
    table: Table,
    people: Callable[[Columns], Agents],
    *,
    given: Columns,
    besides: set[str],
    ledger: Ledger | None,
) -> Columns:
    """Pick the columns of a table in memory that were announced, by the people that some columns describe.

    ``given`` names those of ids and groups.
    """
    columns = _picked(
        offer,
        table.names,
        given,
        besides,
        lambda candidate: _adds_up(offer, ledger, lambda: people(candidate)),
    )
    if columns is not None:
        return columns
    why = first_difference(offer, table, table.ids(given.id), None, ledger)
    raise BadInput(NONE) if why is None else BadInput("{why}; " + ADVICE, why=why)


def columns_in_engine(read: Released, *, engine: str, ledger: Ledger | None) -> Columns:
    """Pick the columns of a table in an engine that were announced; each that is tried costs a scan, so name them if many."""
    from optin.engine.opening import people_of, rows_of

    offer, given = read.offer, read.given
    rows = rows_of(read.path, id=given.id, columns=[*given.by], engine=engine, how=read.how)
    names = sorted(rows.places, key=lambda name: name not in USUAL)

    def adds_up(candidate: Columns) -> bool:
        return _adds_up(offer, ledger, lambda: people_of(rows, described(candidate)))

    columns = _picked(offer, names, given, set(read.asked.all(rows.places)), adds_up)
    if columns is None:
        raise BadInput(NONE)
    return columns


def _picked(
    offer: Announcement, names: Sequence[str], given: Columns, besides: set[str], adds_up: Callable[[Columns], bool]
) -> Columns | None:
    """Pick the column of limits, the pair of budgets and costs, or the column of costs that was announced.

    If nothing adds up the table is another one, or was edited: a usual name is then taken, so that the release itself
    refuses it with its own words.
    """
    taken = {given.id, *given.by, *besides}
    others = [name for name in names if name not in taken]
    usual = [
        name for name in (*others, *besides) if name in USUAL
    ]  # also one that is used as values, by its name alone
    constrained = offer.model != "quasi-linear"
    expected = replace(given, limits=usual[0]) if usual and constrained else None
    if expected is not None and others == usual:  # there is nothing else that could be tried
        return expected
    return next((each for each in _candidates(offer, given, others[:MOST]) if adds_up(each)), expected)


def quasi_linear_columns(offer: Announcement, given: Columns, costs: str) -> Columns:
    """Describe people with costs by what was announced: the promise fixes the benefit, so no slope is needed any more.

    In groups each has its own promise, and whatever anyone gains by it follows from the offer to their group.
    """
    worth, outside = offer.parts[0].benefit_at_promise, offer.parts[0].outside
    if worth is None or outside is None:
        raise BadInput("benefits differ between people in this announcement: release it from Python")
    return replace(given, costs=costs, benefit_base=worth, benefit_slope=0.0, outside=outside)


def _candidates(offer: Announcement, given: Columns, names: list[str]) -> Iterator[Columns]:
    if offer.model == "quasi-linear":
        return (quasi_linear_columns(offer, given, name) for name in names)
    single = (replace(given, limits=name) for name in names)
    pairs = (replace(given, budgets=a, costs=b) for a, b in permutations(names, 2))
    return chain(single, pairs)


def _adds_up(offer: Announcement, ledger: Ledger | None, build: Callable[[], Agents]) -> bool:
    """Build people from some columns and see whether they are promised what was announced."""
    from optin.campaign import adds_up

    try:
        return adds_up(offer, build(), ledger)
    except BadInput:  # not numbers: some other column
        return False
