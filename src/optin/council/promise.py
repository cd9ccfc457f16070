"""The privacy promise of an offer as a record that machines read: epsilon, unit, mechanism, trust model."""

from __future__ import annotations

import json
from typing import Any

from optin.announcement import Announcement
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.formats.strict_json import real
from optin.releasing import Release


def promise_record(offer: Announcement, release: Release | None = None) -> dict[str, Any]:
    """State what is promised; everything is read off the public offer and, once there is one, the release."""
    mechanism: dict[str, Any] = {
        "noise": "discrete Laplace",
        "by": "OpenDP",
        "postprocessing": "none that looks at a value",
    }
    if release is not None:
        mechanism |= {"versions": {"optin": release.versions.optin, "opendp": release.versions.opendp}}
    return {
        "format": "optin.promise/1",
        "campaign": offer.campaign,
        "round": offer.round,
        "announcement": offer.fingerprint,
        "release": None if release is None else release.fingerprint,
        "definition": "epsilon-differential privacy with a personal epsilon for each person",
        "epsilon": _epsilon(offer),
        "delta": "2^-2950 at most: noise is cut to 64 bits",
        "unit": "one person: all their answers to the sheet, in this round",
        "neighbours": "one person's answers replaced by any others, who takes part being the same",
        "mechanism": mechanism,
        "trust_model": {
            "name": "central",
            "sees_answers": "the operator, until the result is drawn",
            "protected_against": "everyone who sees the result, also if everyone else colludes",
        },
        "composition": "losses add up over rounds and campaigns of one ledger, which refuses what would pass a total",
        "not_protected": ["who is asked", "who joins or declines", "limits and costs", "when the result is drawn"],
    }


def _epsilon(offer: Announcement) -> dict[str, Any]:
    caps = [real(part.cap) for part in offer.parts]
    limited = offer.model == PRIVACY_CONSTRAINED
    return {
        "noise": not offer.noiseless,
        "of_each_person": "the smaller of their own limit and the cap"
        if limited
        else "the cap, or less if they allow less",
        "caps": caps,
        "groups": list(offer.groups) if offer.grouped else None,
        "grain": "2^-32",
        "rounded": "down",
    }


def promise_text(offer: Announcement, release: Release | None = None) -> str:
    """Write the record as JSON."""
    return json.dumps(promise_record(offer, release), indent=2, allow_nan=False) + "\n"
