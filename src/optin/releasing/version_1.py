"""Releases of version 1: one flat list of fields, which stay what they are, so that their fingerprints stay true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.announcement.numbers import ExactSums
from optin.formats.strict_json import Fields, real, wide
from optin.releasing.result import Joined

if TYPE_CHECKING:
    from optin.releasing.record import Release


def flat(release: Release) -> dict[str, Any]:
    """Return the sums of a release of one number, without layers, as JSON holds them."""
    return {
        "joined_people": release.joined_people,
        **release.joined.sums.to_record(),
        "noisy_total": wide(release.noisy_total),
        "tilt": real(release.tilt),
    }


def read_version_1(fields: Fields) -> tuple[Joined, tuple[tuple[int, ...], ...]]:
    """Read the sums of version 1, which knew one number."""
    sums = ExactSums.from_fields(fields)
    joined = Joined(fields.take_int("joined_people"), fields.take_real("tilt"), sums)
    return joined, ((fields.take_int("noisy_total"),),)
