"""What a question adds to a score in which it is added up with others that are alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Items:
    """So many items in a range, and how far their sum varies; ``max_gap`` is how far means of the sum may lie apart."""

    count: int
    each: tuple[float, float]
    data_variance: float
    max_gap: float
