"""A table that is not the one announced is a bad file like any other: say which line differs, where that can be known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import dirname
from typing import TYPE_CHECKING

from optin.errors import BadInput, PromiseBroken

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.announcement import Announcement
    from optin.ledger import Ledger
    from optin.tables import Table

ADVICE = (
    "use the announced table, read with the options it was announced with (--id, --by, --blank-limit, --decimal, --skip-bad,"
    " where one was given), or plan and announce a new round"
)
JOINERS = (
    "if they did not join, keep their rows: a release reads everyone who was announced, with a column that says yes or no"
    " (--joined COL) and answers left empty where it says no"
)
"""What to do with a table of joiners only."""


@contextmanager
def announced_table(offer: Announcement, table: Table | None, agents: Agents, ledger: Ledger | None) -> Iterator[None]:
    """Turn a refused release into bad input if the table is why; every other broken promise passes.

    Of a table in an engine, whose lines are not known, the refusal itself says who differs.
    """
    try:
        yield
    except PromiseBroken as error:
        refused = _refused(error, offer, table, agents, ledger)
        if refused is None:
            raise
    else:
        return
    raise refused


def _refused(
    error: PromiseBroken, offer: Announcement, table: Table | None, agents: Agents, ledger: Ledger | None
) -> BadInput | None:
    """Say what is wrong with the table; None if the table is not why."""
    if table is None:
        return BadInput(error.sentence) if error.other_people else None
    why = first_difference(offer, table, list(agents.in_memory().ids or ()), agents, ledger)
    return None if why is None else BadInput("{why}; " + ADVICE, why=why)


def first_difference(
    offer: Announcement, table: Table, ids: list[str], agents: Agents | None, ledger: Ledger | None
) -> str | None:
    """Say where a table differs from what was announced; None if it does not, as far as can be known."""
    if ledger is not None and (first := _first_line(offer, table, ids, agents, ledger)) is not None:
        return first
    if len(table) != offer.people:
        fewer = f"; {JOINERS}" if len(table) < offer.people else ""
        return f"{_name(table)} has {len(table):,} people and {offer.people:,} were announced{fewer}"
    if (
        ledger is None
        and agents is not None
        and sum(offer.grains(agents).tolist()) != offer.expect_sealed().total_grains
    ):
        return f"{_name(table)} does not add up to what was announced (which line differs only a ledger can tell)"
    return None


def _first_line(offer: Announcement, table: Table, ids: list[str], agents: Agents | None, ledger: Ledger) -> str | None:
    """Find the first person who was not announced, or who is missing, or who allows something else than they did."""
    from optin.ledger import Terms

    terms = Terms(offer.campaign, offer.round, offer.fingerprint)
    known, cut = ledger.promises(terms), set(ledger.bounded(terms).ids)
    stranger = next((row for row, person in enumerate(ids) if person not in known), None)
    if stranger is not None:
        return f"{table.place(stranger)}: this person was not announced"
    present = set(ids)
    missing = [person for person in known if person not in present]
    if missing:
        return f"{_name(table)} lacks {len(missing):,} of the announced people, the first is {missing[0]}; {JOINERS}"
    for row, grains in enumerate([] if agents is None else offer.grains(agents).tolist()):
        promised = known[ids[row]]
        if grains < promised or (grains > promised and ids[row] not in cut):
            return f"{table.place(row)}: {_differing(offer)} not what was announced"
    return None


def _differing(offer: Announcement) -> str:
    """Say what can have changed of someone whose promise would be another; a group has a design of its own."""
    return "what this person allows, or their group, is" if offer.grouped else "what this person allows is"


def _name(table: Table) -> str:
    return table.files[0] if len(table.files) == 1 else f"{dirname(table.files[0])} ({len(table.files)} files)"
