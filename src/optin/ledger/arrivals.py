"""One writing transaction over the people of an act, after a rehearsal that holds nobody up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, Engine

from optin.database.connection import nothing, read, write
from optin.database.crash_points import reached
from optin.errors import LedgerUnavailable
from optin.ledger.chain import Entry, is_stored, last
from optin.ledger.roster import Roster
from optin.wording import underway

R = TypeVar("R")


def enter(
    engine: Engine,
    arrivals: Roster,
    rehearse: Callable[[Connection], R | None],
    work: Callable[[Connection, R | None], Entry],
    beside: Callable[[R, Connection], AbstractContextManager[None]] | None = None,
) -> Entry:
    """Rehearse, then run one writing transaction over people; where a key of the ledger refused a row, say whose.

    Under the lock everyone waits who writes. So whatever can be found out, decided and hashed is so before, as the ledger then
    stands. It is handed on if nothing was written since: every change is an act, so that the head of the chain tells. Else
    ``work`` gets nothing, and finds out again under the lock. ``beside`` is what is done with what was rehearsed around all that,
    while nobody waits.
    """
    try:
        head, rehearsed = read(engine, lambda connection: (last(connection), rehearse(connection)))
        reached("after rehearsal")
        entry = write(
            engine,
            lambda connection: work(connection, rehearsed if last(connection) == head else None),
            is_stored=is_stored,
            beside=nothing if beside is None or rehearsed is None else partial(beside, rehearsed),
        )
        underway.say("all is stored in the ledger", len(arrivals), len(arrivals))
        return entry
    except LedgerUnavailable:
        arrivals.expect_distinct()
        raise
