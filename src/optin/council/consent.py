"""A consent record with the fields of ISO/IEC TS 27560, made from the terms; a person's own receipt says what came of it."""

from __future__ import annotations

import json
from typing import Any

from optin.announcement import Announcement
from optin.council.keeping import Keeping
from optin.questions.brief import answers_of
from optin.receipts import Receipt

SCHEMA = "ISO/IEC TS 27560:2023"


def consent_record(offer: Announcement, keeping: Keeping, receipt: Receipt | None = None) -> dict[str, Any]:
    """Fill in what the terms say; without a receipt the parts about one person are empty, for that person to fill."""
    return {
        "schema_version": SCHEMA,
        "record_id": f"{offer.fingerprint}{'' if receipt is None else f'/{receipt.id}'}",
        "pii_principal_id": None if receipt is None else receipt.id,
        "pii_processing": {
            "privacy_notice": {"fingerprint": offer.fingerprint, "file": "announcement.json"},
            "language": "en",
            "purposes": [_purpose(offer, keeping)],
        },
        "party_identification": [
            {"party_id": "operator", "party_name": offer.sheet.asked_by or None, "party_role": "PII controller"}
        ],
        "event": [] if receipt is None else [_event(receipt)],
    }


def _purpose(offer: Announcement, keeping: Keeping) -> dict[str, Any]:
    return {
        "purpose": offer.sheet.purpose or offer.sheet.title or None,
        "purpose_type": "statistics",
        "lawful_basis": "consent",
        "pii_information": [
            {"pii_type": question.name, "text": question.text, "answers": answers_of(question), "pii_optional": True}
            for question in offer.sheet
        ],
        "pii_controllers": ["operator"],
        "collection_method": offer.terms.conditions.mode or "stated by the person",
        "processing_method": f"one weighted mean or table of counts {_noise(offer)}; see promise.json",
        "storage_locations": [keeping.where],
        "retention_period": keeping.retention,
        "recipient_third_parties": ["everyone who reads the published result"],
        "withdrawal_method": keeping.withdrawal(offer),
        "privacy_rights": ["to decline without a reason", "to a receipt that can be checked without the operator"],
    }


def _noise(offer: Announcement) -> str:
    return "without noise" if offer.noiseless else "with discrete Laplace noise"


def _event(receipt: Receipt) -> dict[str, Any]:
    given = receipt.index is not None
    return {
        "event_time": receipt.at,
        "validity_duration": "one release: it cannot be taken back once the result is drawn, and allows no second one",
        "entity_id": receipt.id,
        "event_type": "explicit",
        "event_state": "consent given" if given else "consent refused, withdrawn or not answered",
    }


def consent_text(offer: Announcement, keeping: Keeping, receipt: Receipt | None = None) -> str:
    """Write the record as JSON."""
    return json.dumps(consent_record(offer, keeping, receipt), indent=2, allow_nan=False) + "\n"
