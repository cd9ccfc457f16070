"""One writing transaction over the people of an act."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, Engine

from optin.database.connection import write
from optin.errors import LedgerUnavailable
from optin.ledger.chain import Entry, is_stored
from optin.ledger.roster import Roster
from optin.wording import underway


def enter(engine: Engine, arrivals: Roster, work: Callable[[Connection], Entry]) -> Entry:
    """Run one writing transaction over people; where a key of the ledger refused a row, say whose."""
    try:
        entry = write(engine, work, is_stored=is_stored)
        underway.say("all is stored in the ledger", len(arrivals), len(arrivals))
        return entry
    except LedgerUnavailable:
        arrivals.expect_distinct()
        raise
