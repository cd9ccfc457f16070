"""Write receipts from what the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Row, select, text

from optin.errors import BadInput, OptinError, Place, PromiseBroken
from optin.grains.batches import Batch
from optin.grains.units import UNLIMITED
from optin.ledger.accounts import act_of, closing_number, is_given_back, places_in_packs
from optin.ledger.balances import remaining
from optin.ledger.branches import path_of
from optin.ledger.chain import charged, seal_of
from optin.ledger.held import charge_at, places_of, promise_at
from optin.ledger.logged import proofs
from optin.ledger.packs import has_packs, is_packed
from optin.ledger.people_numbers import person_of, persons_of
from optin.ledger.schema import acts
from optin.ledger.staging import stage_people
from optin.ledger.streamed_hashes import Grove
from optin.receipts import Receipt, charge_salts

_PLACES = """SELECT s.position AS at, q.grains AS promised, q.capped, q.design, c.grains AS spent, c.answered, c.place,
    EXISTS (SELECT 1 FROM returns r WHERE r.offer = q.offer AND r.position = q.position) AS returned
    FROM staged s
    LEFT JOIN people p ON p.id = s.id LEFT JOIN promises q ON q.person = p.person AND q.offer = :offer
    LEFT JOIN (SELECT position, grains, answered, ROW_NUMBER() OVER (ORDER BY position) - 1 AS place FROM charges
        WHERE offer = :offer AND act = :act) c ON c.position = q.position
    ORDER BY s.position"""
_LATEST = """SELECT t.number, t.campaign, t.round FROM people p JOIN promises q ON q.person = p.person
    JOIN acts t ON t.offer = q.offer AND t.kind = 'release'
    WHERE p.id = :id AND (:campaign = '' OR t.campaign = :campaign) ORDER BY t.number DESC LIMIT 1"""
_ASKED = """SELECT t.number, t.campaign, t.round FROM people p
    JOIN promises q ON q.person = p.person JOIN acts t ON t.number = q.offer
    WHERE p.id = :id AND (:campaign = '' OR t.campaign = :campaign) ORDER BY t.number DESC LIMIT 1"""


def last_release_of(connection: Connection, person: str, campaign: str | None) -> tuple[str, int]:
    """Find the newest release that this person was asked to join, of a campaign if one is named."""
    rows = connection.execute(text(_LATEST), {"id": person, "campaign": campaign or ""}).all()
    releases = [*rows, *_in_packs(connection, person, campaign, released=True)]
    if not releases:
        raise BadInput(_no_release(connection, person, campaign))
    newest = max(releases, key=lambda row: row.number)
    return newest.campaign, newest.round


def _in_packs(connection: Connection, name: str, campaign: str | None, *, released: bool) -> list[Row[Any]]:
    """List the acts of packed announcements to a person: their releases, or they themselves."""
    person = person_of(connection, name) if has_packs(connection) else None
    offers = [] if person is None else [offer for offer, _ in places_in_packs(connection, person)]
    if released:
        closing = (closing_number(connection, offer.number) for offer in offers)
        offers = [act_of(connection, number) for number in closing if number is not None]
    return [act for act in offers if campaign is None or act.campaign == campaign]


def _no_release(connection: Connection, person: str, campaign: str | None) -> str:
    """Say why there is no release to receipt: the newest round this person was asked to join may be open, or cancelled."""
    rows = connection.execute(text(_ASKED), {"id": person, "campaign": campaign or ""}).all()
    rounds = [*rows, *_in_packs(connection, person, campaign, released=False)]
    if not rounds:
        return "no release in this ledger was announced to this person; check the id, byte for byte"
    row = max(rounds, key=lambda each: each.number)
    cancelled = connection.scalar(select(acts.c.kind).where(acts.c.offer == row.number, acts.c.kind == "cancel"))
    ended = "was cancelled, and nothing was spent" if cancelled else "is announced and not released yet"
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
    if is_packed(connection, act.offer):
        return _packed_receipts(connection, act, ids)
    places = _places(connection, act, ids)
    keep = [row.place for row in places if row.place is not None]
    grove = charged(connection, act, keep=keep)
    left, log = remaining(connection, ids).tolist(), proofs(connection, [act.number]).get(act.number)
    made = [_receipt(act, grove, person, row, now) for person, row, now in zip(ids, places, left, strict=True)]
    return [replace(receipt, log=log) for receipt in made]


def _places(connection: Connection, act: Row[Any], ids: Sequence[str]) -> Sequence[Row[Any]]:
    """Find what each of these people was promised, and which leaf of the tree their charge is, if they were charged."""
    stage_people(connection, Batch(ids))
    rows = connection.execute(text(_PLACES), {"offer": act.offer, "act": act.number}).all()
    for row in rows:
        if row.promised is None:
            raise BadInput(
                "{person} was not among those this release was announced to; check the id", person=Place(row.at)
            )
        if row.place is None and not row.returned:
            raise _neither(row.at)
    return rows


def _neither(at: int) -> PromiseBroken:
    """Say that a hold was neither charged nor let go: a receipt would tell its owner that nothing was spent."""
    words = "the ledger has neither a charge of {person} nor let their promise go: it was changed; run `optin ledger verify`"
    return PromiseBroken(words, person=Place(at))


def _packed_receipts(connection: Connection, act: Row[Any], ids: Sequence[str]) -> list[Receipt]:
    """Write receipts of a packed release: each proof costs one branch of its tree."""
    offer = act_of(connection, act.offer)
    places = places_of(connection, offer.number, persons_of(connection, ids)).tolist()
    if min(places) < 0:
        at = Place(places.index(-1))
        raise BadInput("{person} was not among those this release was announced to; check the id", person=at)
    left, log = remaining(connection, ids).tolist(), proofs(connection, [act.number]).get(act.number)
    made = []
    for asked, (person, position, now) in enumerate(zip(ids, places, left, strict=True)):
        row, proof = packed_place(connection, act, offer, position), {}
        if row.place is None and not is_given_back(connection, offer.number, position):
            raise _neither(asked)
        if row.place is not None:
            salt, path = path_of(connection, act, offer, row.place)
            proof = {"index": row.place, "salt": salt, "path": path}
        made.append(replace(_written(act, person, row, now, proof), log=log))
    return made


def packed_place(connection: Connection, act: Row[Any], offer: Row[Any], position: int) -> Placed:
    """Find what was promised and charged at a position of a packed announcement."""
    promise, charge = promise_at(connection, offer, position), charge_at(connection, act, position) or {}
    return Placed(
        promise["grains"],
        promise.get("capped"),
        promise.get("design"),
        charge.get("grains"),
        charge.get("answered"),
        charge.get("place"),
    )


class Placed(NamedTuple):
    """What someone was promised and charged, and which leaf of the tree that is; None where they were not charged."""

    promised: int
    capped: int | None
    design: int | None
    spent: int | None
    answered: int | None
    place: int | None


def _receipt(act: Row[Any], tree: Grove, person: str, row: Row[Any], left: int) -> Receipt:
    proof: dict[str, Any] = {}
    if row.place is not None:
        salt = charge_salts(bytes.fromhex(act.salt), 1, start=row.place)
        proof = {"index": row.place, "salt": salt.hex(), "path": tree.path(row.place)}
    return _written(act, person, row, left, proof)


def _written(act: Row[Any], person: str, row: Row[Any] | Placed, left: int, proof: dict[str, Any]) -> Receipt:
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
