"""What one person was promised and has spent in each campaign: read by that person, about themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from optin.ledger.chain import Terms
from optin.ledger.holds import closing_of, offer_of
from optin.ledger.texts import released_in
from optin.releasing import Release

_HOLDINGS = """SELECT t.campaign, t.round, t.at, q.grains AS promised, c.grains AS spent, r.position AS returned
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
    return [
        Holding(
            row.campaign,
            row.round,
            row.at,
            promised=int(row.promised),
            spent=int(row.spent or 0),
            returned=row.returned is not None,
            charged=row.spent is not None,
        )
        for row in rows
    ]


def promised_nothing(connection: Connection, campaign: str, round: int) -> set[str]:  # noqa: A002
    """List those among the people of an announcement who were promised not a grain."""
    query = """SELECT p.id FROM acts t JOIN promises q ON q.offer = t.number JOIN people p ON p.person = q.person
        WHERE t.kind = 'announce' AND t.campaign = :campaign AND t.round = :round AND q.grains = 0"""
    rows = connection.execute(text(query), {"campaign": campaign, "round": round})
    return {row.id for row in rows}


def given_back(connection: Connection, campaign: str, round: int) -> set[str]:  # noqa: A002
    """List those among the people of an announcement whose promise was given back."""
    query = """SELECT p.id FROM acts t JOIN returns r ON r.offer = t.number
        JOIN promises q ON q.offer = r.offer AND q.position = r.position JOIN people p ON p.person = q.person
        WHERE t.kind = 'announce' AND t.campaign = :campaign AND t.round = :round"""
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
    return stored_release(connection, campaign, round) is not None


def stored_release(connection: Connection, campaign: str, round: int) -> Release | None:  # noqa: A002
    """Read the result of this campaign and round, if it was drawn."""
    offer = offer_of(connection, Terms(campaign, round, ""))
    closing = None if offer is None else closing_of(connection, offer.number)
    return released_in(closing.body, closing.hash) if closing is not None and closing.kind == "release" else None
