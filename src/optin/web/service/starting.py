"""What is looked at before a service starts: whether it has the key it had before."""

from __future__ import annotations

from sqlalchemy import Connection, select

from optin.database.connection import read
from optin.errors import BadInput
from optin.ledger import Ledger
from optin.web.schema import accounts, campaigns
from optin.web.service.core import Service

_OVER = ("released", "cancelled")


def has_accounts(place: str) -> bool:
    """Say whether anybody has an account in a database; one that is not there yet is made, and empty."""
    with Ledger.open(place) as ledger:
        return read(ledger.engine, _anybody)


def _anybody(connection: Connection) -> bool:
    return connection.execute(select(accounts.c.id).limit(1)).first() is not None


def expect_own_keys(service: Service) -> None:
    """Refuse to start with another key than the one that wrapped the keys of running rounds: nobody could answer there.

    Keys of rounds that are over say nothing: a crash may have left one half destroyed.
    """
    query = select(campaigns.c.id, campaigns.c.round).where(campaigns.c.state.not_in(_OVER))
    for row in service.read(lambda connection: connection.execute(query).all()):
        if not service.keys.opens(row.id, row.round):
            raise BadInput(
                "the keys of running rounds were wrapped by another key than the one given now (OPTIN_WEB_KEY, or "
                "environment.key in the folder of keys): bring that one back and start again. If it is lost for good, "
                "docs/how-to/backup.md says how to go on without it"
            )
