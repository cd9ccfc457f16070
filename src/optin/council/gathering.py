"""Gather the bundle of one round from a ledger that has a signed log."""

from __future__ import annotations

from sqlalchemy import Connection, select

from optin.announcement import Announcement
from optin.campaign.history import release_of
from optin.council.bundle import Bundle
from optin.council.keeping import Keeping
from optin.council.sealed_acts import KINDS, SealedAct
from optin.database.connection import read
from optin.errors import BadInput
from optin.ledger import Ledger, Log
from optin.ledger.chain import seal_of
from optin.ledger.schema import acts


def bundle_of(ledger: Ledger, campaign: str, round: int, keeping: Keeping) -> Bundle:  # noqa: A002 - the word of the contract
    """Put together what everyone may read of one round, with proofs in the newest signed checkpoint."""

    def look(connection: Connection) -> list[tuple[SealedAct, str]]:
        where = (acts.c.campaign == campaign, acts.c.round == round, acts.c.kind.in_(KINDS))
        rows = connection.execute(select(acts).where(*where).order_by(acts.c.number)).all()
        return [(SealedAct(seal_of(row)), row.body) for row in rows]

    found = read(ledger.engine, look)
    if not found:
        raise BadInput("this campaign and round were not announced in this ledger")
    log = Log(ledger)
    paths = log.paths([act.seal.number for act, _ in found])
    offer = Announcement.from_json(found[0][1])
    proved = tuple(SealedAct(act.seal, paths[act.seal.number]) for act, _ in found if act.seal.number in paths)
    return Bundle(offer, release_of(ledger, campaign, round), proved, log.published(), keeping)
