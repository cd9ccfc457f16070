"""Announcements of version 1: one flat list of fields. They stay what they are, so that their fingerprints stay true.

Their names are also what `--json` prints.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optin.announcement.numbers import ExactSums, PublicNumbers
from optin.announcement.terms import Terms
from optin.formats.strict_json import Fields, real
from optin.planning.version_1 import read_promise_1
from optin.questions import Number, Sheet
from optin.questions.number import pair

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement


def flat(offer: Announcement) -> dict[str, Any]:
    """Return what an announcement says by name, without layers, as JSON holds it."""
    return {
        "campaign": offer.campaign,
        "round": offer.round,
        "model": offer.model,
        "people": offer.people,
        "cap": real(offer.cap),
        "cap_lowered": offer.cap_lowered,
        "eta": real(offer.eta),
        "bounds": list(offer.bounds),
        "data_variance": real(offer.data_variance),
        "max_gap": real(offer.max_gap),
        "tilt": real(offer.tilt),
        "variance": real(offer.variance),
        "promised_variance": real(offer.promised_variance),
        "surplus": real(offer.surplus),
        "benefit_name": offer.benefit_name,
        "benefit_at_promise": real(offer.benefit_at_promise),
        "outside": real(offer.outside),
    }


def flat_sums(offer: Announcement) -> dict[str, Any]:
    """Return the sums of an announcement of one number, which version 1 has in public."""
    return offer.expect_sealed().question_sums[0].to_record()


def read_version_1(fields: Fields) -> tuple[Terms, PublicNumbers, tuple[ExactSums, ...]]:
    """Read the fields of version 1, which knew one number and no words."""
    question = Number(
        "value",
        bounds=pair(fields, "bounds"),
        data_variance=fields.take_real("data_variance"),
        max_gap=fields.take_real("max_gap"),
    )
    terms = Terms(fields.take_text("campaign"), fields.take_int("round"), fields.take_text("model"), Sheet(question))
    public = PublicNumbers(
        people=fields.take_int("people"),
        cap=fields.take_real("cap"),
        cap_lowered=fields.take_bool("cap_lowered"),
        noiseless=math.isinf(fields.take_real("eta")),
        tilt=fields.take_real("tilt"),
        variances=(fields.take_real("variance"),),
        promise=read_promise_1(fields),
    )
    return terms, public, (ExactSums.from_fields(fields),)
