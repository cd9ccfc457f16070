"""Gather the bundle of one round from a ledger that has a signed log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from optin.announcement import Announcement
from optin.campaign.history import stored_release
from optin.council.bundle import Bundle
from optin.council.keeping import Keeping
from optin.council.sealed_acts import KINDS, SealedAct
from optin.database.connection import read
from optin.errors import BadInput
from optin.ledger import Ledger
from optin.ledger.chain import seal_of
from optin.ledger.logged import leaves_of_acts, published
from optin.ledger.schema import acts
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.tree import MerkleTree


def bundle_of(ledger: Ledger, campaign: str, round: int, keeping: Keeping) -> Bundle:  # noqa: A002 - the word of the contract
    """Put together what everyone may read of one round, as of the newest signed checkpoint, with proofs in it.

    All of it is read from one state of the ledger: acts of others, and a new checkpoint over them, may come at any moment.
    """
    return read(ledger.engine, lambda connection: _gathered(connection, campaign, round, keeping))


def _gathered(connection: Connection, campaign: str, round: int, keeping: Keeping) -> Bundle:  # noqa: A002
    done, log = _done(connection, campaign, round), published(connection)
    size = Checkpoint.from_text(log.newest.text).size
    signed = [row for row in done if row.number <= size]
    if not signed:
        raise BadInput(
            "no signed checkpoint covers this offer yet: the operator has to sign one with optin ledger sign"
        )
    tree = MerkleTree(leaves_of_acts(connection)[:size])
    proved = tuple(SealedAct(seal_of(row), tree.path(row.number - 1)) for row in signed)
    drawn = any(row.kind == "release" for row in signed)
    release = stored_release(connection, campaign, round) if drawn else None
    return Bundle(Announcement.from_json(signed[0].body), release, proved, log, keeping)


def _done(connection: Connection, campaign: str, round: int) -> Sequence[Row[Any]]:  # noqa: A002
    """List the public acts of a round, oldest first."""
    where = (acts.c.campaign == campaign, acts.c.round == round, acts.c.kind.in_(KINDS))
    rows = connection.execute(select(acts).where(*where).order_by(acts.c.number)).all()
    if not rows:
        raise BadInput("this campaign and round were not announced in this ledger")
    return rows
