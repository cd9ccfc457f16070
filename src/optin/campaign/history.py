"""What a ledger tells of campaigns and of one person in them: read, never written, by the command line and the web service."""

from __future__ import annotations

from optin.announcement import Announcement
from optin.announcement.origin import differs_from_plan
from optin.campaign.checking import terms_of
from optin.database.connection import read
from optin.ledger import Ledger, bulk_reads
from optin.ledger.holdings import (
    Holding,
    announced_body,
    given_back,
    holdings,
    promised_nothing,
    released,
    stored_release,
)
from optin.planning import Plan
from optin.releasing import Release

__all__ = [
    "Holding",
    "announced_body",
    "earlier_announcement",
    "given_back",
    "holdings",
    "how_it_ended",
    "promised_nothing",
    "promises_held",
    "release_of",
    "released",
    "stored_release",
]


def how_it_ended(announcement: Announcement, ledger: Ledger) -> str | None:
    """Say how an announced round was closed, "release" or "cancel"; None while it is open."""
    return bulk_reads.how_it_ended(ledger, terms_of(announcement))


def promises_held(announcement: Announcement, ledger: Ledger) -> int:
    """Count the promises of a round that are neither spent nor given back."""
    return bulk_reads.promises_held(ledger, terms_of(announcement))


def release_of(ledger: Ledger, campaign: str, round: int) -> Release | None:  # noqa: A002 - the word of the contract
    """Read the result of a campaign and round as the ledger keeps it, if it was drawn."""
    return read(ledger.engine, lambda connection: stored_release(connection, campaign, round))


def earlier_announcement(plan: Plan, ledger: Ledger) -> tuple[Announcement, str | None] | None:
    """Find the newest announcement in a ledger that offers exactly what this plan does, and how it ended.

    One that was cancelled gave everything back: it is no reason for a refusal.
    """
    offers = [Announcement.from_json(body) for body in reversed(ledger.offers())]
    same = (offer for offer in offers if differs_from_plan(offer, plan) is None)
    outcomes = ((offer, how_it_ended(offer, ledger)) for offer in same)
    return next(((offer, ended) for offer, ended in outcomes if ended != "cancel"), None)
