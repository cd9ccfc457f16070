"""Releases of version 1: one flat list of fields, which stay what they are, so that their fingerprints stay true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.announcement.numbers import ExactSums
from optin.formats.strict_json import Fields, real, wide
from optin.questions.number_result import NumberResult
from optin.releasing.answered import Answered

if TYPE_CHECKING:
    from optin.releasing.record import Release


def flat(release: Release) -> dict[str, Any]:
    """Return the sums of a release of one number, without layers, as JSON holds them."""
    (only,) = release.answered  # its sums are public
    return {
        "joined_people": release.joined_people,
        **only.sums.to_record(),
        "noisy_total": wide(only.noisy_totals[0]),
        "tilt": real(only.tilt),
    }


def statement_1(result: NumberResult) -> dict[str, Any]:
    """Return what a file of version 1 states of its number, which has no spread."""
    return {name: value for name, value in result.statement().items() if not name.startswith("sd")}


def read_version_1(fields: Fields) -> tuple[int, tuple[Answered, ...]]:
    """Read the sums of version 1, which knew one number."""
    sums, people = ExactSums.from_fields(fields), fields.take_int("joined_people")
    return people, (Answered(people, fields.take_real("tilt"), sums, (fields.take_int("noisy_total"),)),)
