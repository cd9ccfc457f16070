"""Write receipts from what the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select, text

from optin.errors import BadInput, OptinError, Place, PromiseBroken
from optin.grains.batches import Batch
from optin.grains.units import UNLIMITED
from optin.ledger.balances import remaining
from optin.ledger.chain import charged, seal_of
from optin.ledger.logged import proofs
from optin.ledger.schema import acts
from optin.ledger.staging import stage_people
from optin.ledger.streamed_hashes import Grove
from optin.receipts import Receipt, charge_salts

_PLACES = """SELECT s.position AS at, q.grains AS promised, q.capped, q.design, c.grains AS spent, c.answered, c.place
    FROM staged s
    LEFT JOIN people p ON p.id = s.id LEFT JOIN promises q ON q.person = p.person AND q.offer = :offer
    LEFT JOIN (SELECT position, grains, answered, ROW_NUMBER() OVER (ORDER BY position) - 1 AS place FROM charges
        WHERE offer = :offer AND act = :act) c ON c.position = q.position
    ORDER BY s.position"""
_LATEST = """SELECT t.campaign, t.round FROM people p JOIN promises q ON q.person = p.person
    JOIN acts t ON t.offer = q.offer AND t.kind = 'release'
    WHERE p.id = :id AND (:campaign = '' OR t.campaign = :campaign) ORDER BY t.number DESC LIMIT 1"""
_ASKED = """SELECT t.campaign, t.round, EXISTS (SELECT 1 FROM acts c WHERE c.offer = t.number AND c.kind = 'cancel') AS cancelled
    FROM people p JOIN promises q ON q.person = p.person JOIN acts t ON t.number = q.offer
    WHERE p.id = :id AND (:campaign = '' OR t.campaign = :campaign) ORDER BY t.number DESC LIMIT 1"""


def last_release_of(connection: Connection, person: str, campaign: str | None) -> tuple[str, int]:
    """Find the newest release that this person was asked to join, of a campaign if one is named."""
    row = connection.execute(text(_LATEST), {"id": person, "campaign": campaign or ""}).first()
    if row is None:
        raise BadInput(_no_release(connection, person, campaign))
    return row.campaign, row.round


def _no_release(connection: Connection, person: str, campaign: str | None) -> str:
    """Say why there is no release to receipt: the newest round this person was asked to join may be open, or cancelled."""
    row = connection.execute(text(_ASKED), {"id": person, "campaign": campaign or ""}).first()
    if row is None:
        return "no release in this ledger was announced to this person; check the id, byte for byte"
    ended = "was cancelled, and nothing was spent" if row.cancelled else "is announced and not released yet"
    return f"campaign {row.campaign}, round {row.round} {ended}: receipts exist once there is a release"


def read_receipts(connection: Connection, ids: Sequence[str], campaign: str, round: int) -> list[Receipt]:  # noqa: A002
    """Write receipts of one release; rows that hold anything but whole numbers were changed."""
    try:
        return receipts(connection, ids, campaign, round)
    except OptinError:
        raise
    except (TypeError, ValueError, OverflowError):
        pass
    raise PromiseBroken("the ledger's charges cannot be read: they were changed; run `optin ledger verify`")


def receipts(connection: Connection, ids: Sequence[str], campaign: str, round: int) -> list[Receipt]:  # noqa: A002
    """Write receipts of one release; its tree is built once, whoever asks."""
    act = connection.execute(
        select(acts).where(acts.c.kind == "release", acts.c.campaign == campaign, acts.c.round == round)
    ).first()
    if act is None:
        raise BadInput("this campaign and round have no release in this ledger yet; receipts exist once there is one")
    found = _places(connection, act, ids)
    keep = [row.place for row in found if row.place is not None]
    grove = charged(connection, act, keep=keep)
    left, log = remaining(connection, ids).tolist(), proofs(connection, [act.number]).get(act.number)
    made = [_receipt(act, grove, person, row, now) for person, row, now in zip(ids, found, left, strict=True)]
    return [replace(receipt, log=log) for receipt in made]


def _places(connection: Connection, act: Row[Any], ids: Sequence[str]) -> Sequence[Row[Any]]:
    """Find what each of these people was promised, and which leaf of the tree their charge is, if they were charged."""
    stage_people(connection, Batch(ids))
    found = connection.execute(text(_PLACES), {"offer": act.offer, "act": act.number}).all()
    for row in found:
        if row.promised is None:
            raise BadInput(
                "{person} was not among those this release was announced to; check the id", person=Place(row.at)
            )
    return found


def _receipt(act: Row[Any], tree: Grove, person: str, row: Row[Any], left: int) -> Receipt:
    proof: dict[str, Any] = {}
    if row.place is not None:
        salt = charge_salts(bytes.fromhex(act.salt), 1, start=row.place)
        proof = {"index": row.place, "salt": salt.hex(), "path": tree.path(row.place)}
    return Receipt(
        id=person,
        promised=row.promised,
        spent=row.spent or 0,
        capped=row.capped,
        answered=row.answered,
        design=row.design,
        remaining=None if np.int64(left) >= UNLIMITED else left,
        campaign=act.campaign,
        round=act.round,
        fingerprint=act.fingerprint,
        ledger_number=act.number,
        ledger_head=act.hash,
        offer=act.offer,
        at=act.at,
        body=seal_of(act).body,
        rows=act.rows,
        joined=act.joined,
        previous=act.previous,
        charged_people=act.people,
        version=act.version,
        **proof,
    )
