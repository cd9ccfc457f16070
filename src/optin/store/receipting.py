"""Write receipts from what the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select, text

from optin.errors import BadInput
from optin.receipts import SALT_BYTES, MerkleTree, Receipt, charge_salts
from optin.store.balances import remaining
from optin.store.chain import charge_tree, charged, seal_of
from optin.store.schema import UNLIMITED, acts

__all__ = ["last_release_of", "receipts"]

_PROMISED = """SELECT p.id AS id, q.grains AS grains FROM promises q JOIN people p ON p.person = q.person
    WHERE q.offer = :offer AND p.id = :id"""
_LATEST = """SELECT t.campaign, t.round FROM people p JOIN promises q ON q.person = p.person
    JOIN acts t ON t.offer = q.offer AND t.kind = 'release'
    WHERE p.id = :id AND (:campaign = '' OR t.campaign = :campaign) ORDER BY t.number DESC LIMIT 1"""


def last_release_of(connection: Connection, person: str, campaign: str | None) -> tuple[str, int]:
    """Find the newest release that this person was asked to join, of a campaign if one is named."""
    row = connection.execute(text(_LATEST), {"id": person, "campaign": campaign or ""}).first()
    if row is None:
        raise BadInput("no release in this ledger was announced to this person; check the id, byte for byte")
    return row.campaign, row.round


def receipts(connection: Connection, ids: Sequence[str], campaign: str, round: int) -> list[Receipt]:  # noqa: A002
    """Write receipts of one release; its tree is built once, whoever asks."""
    act = connection.execute(
        select(acts).where(acts.c.kind == "release", acts.c.campaign == campaign, acts.c.round == round)
    ).first()
    if act is None:
        raise BadInput("this campaign and round have no release in this ledger yet; a receipt is of a release")
    names, grains = charged(connection, act=act.number, offer=act.offer)
    tree = charge_tree(act.salt, names, grains)
    places = {name: index for index, name in enumerate(names)}
    left = remaining(connection, ids).tolist()
    return [
        _receipt(act, tree, person, _promised(connection, act.offer, person, at), places.get(person), left[at])
        for at, person in enumerate(ids)
    ]


def _promised(connection: Connection, offer: int, person: str, at: int) -> int:
    row = connection.execute(text(_PROMISED), {"offer": offer, "id": person}).first()
    if row is None:
        raise BadInput(f"the person at index {at} was not among those this release was announced to; check the id")
    return int(row.grains)


def _receipt(act: Row[Any], tree: MerkleTree, person: str, promised: int, index: int | None, left: int) -> Receipt:
    proof: dict[str, Any] = {}
    if index is not None:
        salts = charge_salts(bytes.fromhex(act.salt), index + 1)
        proof = {"index": index, "salt": salts[SALT_BYTES * index :].hex(), "path": tree.path(index)}
    return Receipt(
        id=person,
        promised=promised,
        spent=0 if index is None else promised,
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
        **proof,
    )
