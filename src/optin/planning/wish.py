"""The record of a wanted accuracy and what it would take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """What a wanted standard error would take.

    ``people_needed``: how many people like these in all (None: no number, or too many to name); ``limit_needed``: the
    limit that would do if everyone here had it (None: sampling error alone is larger, or people have costs, not limits).
    """

    error: float
    reached: bool
    people_needed: int | None
    limit_needed: float | None
