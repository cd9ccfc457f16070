"""What one person was promised and has spent in each campaign: read by that person, about themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, text

from optin.ledger.accounts import charge_of, is_given_back, places_in_packs
from optin.ledger.accounts import given_back as positions_given_back
from optin.ledger.chain import Terms
from optin.ledger.held import Held, Numbers, held_of, promise_at
from optin.ledger.holds import closing_of, offer_of
from optin.ledger.packs import has_packs, is_packed, names_of
from optin.ledger.people_numbers import person_of
from optin.releasing import Release

_HOLDINGS = """SELECT t.number, t.campaign, t.round, t.at, q.grains AS promised, c.grains AS spent, r.position AS returned
    FROM people p JOIN promises q ON q.person = p.person JOIN acts t ON t.number = q.offer
    LEFT JOIN charges c ON c.offer = q.offer AND c.position = q.position
    LEFT JOIN returns r ON r.offer = q.offer AND r.position = q.position
    WHERE p.id = :person ORDER BY t.number"""


@dataclass(frozen=True)
class Holding:
    """One promise: in which campaign and round, when, how many grains, and whether it was given back or (all or some) spent.

    A charge can be of nothing: ``charged`` says whether there is one.
    """

    campaign: str
    round: int
    at: str
    promised: int = field(repr=False)
    spent: int = field(repr=False)
    returned: bool
    charged: bool = False

    @property
    def open(self) -> bool:
        """Whether the promise stands: neither charged nor given back."""
        return not (self.returned or self.charged)


def holdings(connection: Connection, person: str) -> list[Holding]:
    """List a person's promises, oldest first."""
    rows = connection.execute(text(_HOLDINGS), {"person": person})
    held = {
        row.number: Holding(
            row.campaign,
            row.round,
            row.at,
            promised=int(row.promised),
            spent=int(row.spent or 0),
            returned=row.returned is not None,
            charged=row.spent is not None,
        )
        for row in rows
    }
    held |= _in_packs(connection, person)
    return [held[number] for number in sorted(held)]


def _in_packs(connection: Connection, name: str) -> dict[int, Holding]:
    """List a person's promises in packed announcements, by their numbers."""
    person = person_of(connection, name) if has_packs(connection) else None
    held = {}
    for offer, position in [] if person is None else places_in_packs(connection, person):
        charge = charge_of(connection, offer.number, position)
        held[offer.number] = Holding(
            offer.campaign,
            offer.round,
            offer.at,
            promised=promise_at(connection, offer, position)["grains"],
            spent=0 if charge is None else charge["grains"],
            returned=is_given_back(connection, offer.number, position),
            charged=charge is not None,
        )
    return held


def promised(connection: Connection, terms: Terms) -> dict[str, int]:
    """List what a campaign and round promised each person, in grains and in announced order."""
    packed = _packed(connection, terms.campaign, terms.round)
    if packed is not None:
        return dict(zip(names_of(connection, packed.person), packed.grains.tolist(), strict=True))
    rows = connection.execute(text(_PROMISED), {"campaign": terms.campaign, "round": terms.round}).all()
    return {row.id: int(row.grains) for row in rows}


def cut_promises(connection: Connection, terms: Terms) -> tuple[list[str], Numbers]:
    """List those whose promise was cut to what remained of their allowance, and to what, before it was split."""
    packed = _packed(connection, terms.campaign, terms.round)
    if packed is not None:
        cut = np.flatnonzero(packed.bounded)
        return list(names_of(connection, packed.person[cut])), (
            packed.grains if packed.capped is None else packed.capped
        )[cut]
    rows = connection.execute(text(_CUT), {"campaign": terms.campaign, "round": terms.round}).all()
    return [row.id for row in rows], np.array([row.grains for row in rows], dtype=np.int64)


def _packed(connection: Connection, campaign: str, round: int) -> Held | None:  # noqa: A002
    """Read the promises of an announcement that is packed."""
    offer = offer_of(connection, Terms(campaign, round, ""))
    if offer is None or not is_packed(connection, offer.number):
        return None
    return held_of(connection, offer.number, offer.version)


_PROMISED = """SELECT p.id, q.grains FROM promises q JOIN people p ON p.person = q.person
    JOIN acts t ON t.number = q.offer WHERE t.campaign = :campaign AND t.round = :round ORDER BY q.position"""
_CUT = """SELECT p.id, COALESCE(q.capped, q.grains) AS grains FROM promises q JOIN people p ON p.person = q.person
    JOIN acts t ON t.number = q.offer WHERE t.campaign = :campaign AND t.round = :round AND q.bounded
    ORDER BY q.position"""


def promised_nothing(connection: Connection, campaign: str, round: int) -> set[str]:  # noqa: A002
    """List those among the people of an announcement who were promised not a grain."""
    query = """SELECT p.id FROM acts t JOIN promises q ON q.offer = t.number JOIN people p ON p.person = q.person
        WHERE t.kind = 'announce' AND t.campaign = :campaign AND t.round = :round AND q.grains = 0"""
    held = _packed(connection, campaign, round)
    if held is not None:
        return set(names_of(connection, held.person[held.grains == 0]))
    rows = connection.execute(text(query), {"campaign": campaign, "round": round})
    return {row.id for row in rows}


def given_back(connection: Connection, campaign: str, round: int) -> set[str]:  # noqa: A002
    """List those among the people of an announcement whose promise was given back."""
    query = """SELECT p.id FROM acts t JOIN returns r ON r.offer = t.number
        JOIN promises q ON q.offer = r.offer AND q.position = r.position JOIN people p ON p.person = q.person
        WHERE t.kind = 'announce' AND t.campaign = :campaign AND t.round = :round"""
    held, offer = _packed(connection, campaign, round), offer_of(connection, Terms(campaign, round, ""))
    if held is not None and offer is not None:
        return set(names_of(connection, held.person[positions_given_back(connection, offer.number)]))
    rows = connection.execute(text(query), {"campaign": campaign, "round": round})
    return {row.id for row in rows}


def announced_body(connection: Connection, campaign: str, round: int) -> str | None:  # noqa: A002
    """Read the public text of an announcement, if this campaign and round have one."""
    body: str | None = connection.scalar(
        text("SELECT body FROM acts WHERE kind = 'announce' AND campaign = :campaign AND round = :round"),
        {"campaign": campaign, "round": round},
    )
    return body


def released(connection: Connection, campaign: str, round: int) -> bool:  # noqa: A002
    """Say whether this campaign and round were released: drawn, charged for, and not to be taken back."""
    return _release_of(connection, campaign, round) is not None


def stored_release(connection: Connection, campaign: str, round: int) -> Release | None:  # noqa: A002
    """Read the result of this campaign and round, if it was drawn."""
    act = _release_of(connection, campaign, round)
    return None if act is None else Release.from_sealed(act.body, act.hash)


def _release_of(connection: Connection, campaign: str, round: int) -> Row[Any] | None:  # noqa: A002
    """Find the act that released a campaign's round."""
    offer = offer_of(connection, Terms(campaign, round, ""))
    closing = None if offer is None else closing_of(connection, offer.number)
    return closing if closing is not None and closing.kind == "release" else None
