"""Rounds that were announced before: in an earlier version of the format, or with exact sums that only the ledger has."""

from __future__ import annotations

from dataclasses import replace

from optin.announcement import Announcement
from optin.errors import BadInput
from optin.ledger import Ledger, Terms
from optin.releasing import Release


def announced_before(ledger: Ledger, campaign: str, round: int) -> Announcement | None:  # noqa: A002
    """Return what a ledger holds of a campaign and round, with its exact sums; None if it was not announced."""
    stored = ledger.offer(Terms(campaign, round, ""))
    return None if stored is None else Announcement.from_json(stored)


def opened_act(ledger: Ledger, number: int) -> str:
    """Return the text of an announcement or a release with its exact numbers, for an auditor to whom the act is opened.

    It is read before it is handed out: the exact numbers are those that the published hash binds, and what was published
    follows from them.
    """
    kind, body, head = ledger.body(number) or ("", "", "")
    if kind == "announce":
        return Announcement.from_json(body).to_sealed_json()
    if kind == "release":
        return Release.from_sealed(body, head).to_sealed_json()
    raise BadInput("act {number} is no announcement and no release: optin ledger show lists the acts", number=number)


def in_its_version(offer: Announcement, earlier: Announcement) -> Announcement:
    """Announce again in the version of the first time: one of version 1 has no words, and so another fingerprint.

    What comes back is read from what is written, so that nothing stands beside a fingerprint that is not under it.
    """
    return Announcement.from_json(replace(offer, version=earlier.version).to_sealed_json())


def with_seal_opened(announcement: Announcement, ledger: Ledger) -> Announcement:
    """Return an announcement with the exact sums that the ledger holds of it; one that the ledger does not know is as it was."""
    if announcement.sealed is not None:
        return announcement
    stored = announced_before(ledger, announcement.campaign, announcement.round)
    return stored if stored is not None and stored.fingerprint == announcement.fingerprint else announcement
