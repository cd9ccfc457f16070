"""Rounds that were announced in an earlier version of the format."""

from __future__ import annotations

from dataclasses import replace

from optin.announcement import Announcement
from optin.ledger import Ledger, Terms


def in_its_version(offer: Announcement, ledger: Ledger) -> Announcement:
    """Announce again in the version of the first time: one of version 1 has no words, and so another fingerprint.

    What comes back is read from what is written, so that nothing stands beside a fingerprint that is not under it.
    """
    if not ledger.is_announced(Terms(offer.campaign, offer.round, "")):
        return offer
    stored = map(Announcement.from_json, ledger.offers())
    version = next((each.version for each in stored if each.id == offer.id), offer.version)
    return Announcement.from_json(replace(offer, version=version).to_json())
