"""What every report lists of what was announced and drawn, and who can recompute what it says."""

from __future__ import annotations

from collections.abc import Iterable

from optin.releasing import Release
from optin.report.markup import Markup, joined, tag
from optin.report.section import facts, section
from optin.wording.numbers import count, largest

MEAN = "low + (high - low) * noisy total / (2²⁰ * sum of grains)"
_SEALED = (
    "Noise, weights and the tilt are rounded up to two figures, and every estimate to a step of at "
    "most a fiftieth of its standard error, for exact numbers would tell people's limits. The exact "
    "ones are under seal: the operator can open them to an auditor, and nobody can change them."
)


def drawn_section(release: Release, rows: Iterable[tuple[str, str]], recomputed: str, *formula: str | Markup) -> Markup:
    """List what was announced and drawn, ``rows`` among it, and say who recomputes what, and how."""
    offer, versions = release.announcement, release.versions
    listed = [
        ("release", release.id),
        ("campaign, round", f"{offer.campaign}, {offer.round}"),
        ("announced", f"{count(offer.people)} ({offer.model})"),
        ("joined", f"{count(release.joined_people)}, those with nothing to give included"),
        *rows,
        ("drawn by", f"optin {versions.optin}, OpenDP {versions.opendp}, {versions.mechanism}"),
    ]
    who = "Anyone recomputes" if release.seal is None else f"{_SEALED} They recompute"
    check = tag("p", f"{who} {recomputed}", *formula, ".")
    return section("What was announced and drawn", below=joined((check, facts("Release and announcement", listed))))


def cap_row(release: Release) -> tuple[str, str]:
    """Say which epsilon nobody gave more than."""
    offer = release.announcement
    lowered = " (lowered to what one release may promise)" if offer.cap_lowered else ""
    return "cap on epsilon", largest(offer.cap) + lowered


def sealed_rows(release: Release) -> list[tuple[str, str]]:
    """Say what binds the numbers that are under seal; nothing where they are public."""
    return [] if release.seal is None else [("sealed numbers", f"bound by the hash {release.seal.commitment}")]
