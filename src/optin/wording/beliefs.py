"""What an epsilon means for someone's suspicions: how far they can be moved, in per cent as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from optin.wording.language import _, localised

SUSPICIONS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Move:
    """How far a suspicion can be moved, in per cent as people read them."""

    before: str
    low: str
    high: str


def moves(epsilon: float) -> tuple[Move, ...]:
    """Say how far suspicions of 10, 50 and 90 % can be moved, rounded outwards.

    >>> moves(0.25)[1].low.split(), moves(0.25)[1].high.split()
    (['43', '%'], ['57', '%'])
    """
    return tuple(_move(epsilon, share) for share in SUSPICIONS)


def unsure_words(epsilon: float) -> str:
    """Say what it means for someone who is unsure.

    >>> unsure_words(0.5).replace("\N{NO-BREAK SPACE}", " ")
    'someone at 50 % ends between 37 % and 63 %'
    """
    unsure = moves(epsilon)[1]
    return _("someone at 50 % ends between {low} and {high}", low=unsure.low, high=unsure.high)


def _move(epsilon: float, share: float) -> Move:
    low, high = believed(-epsilon, share), believed(epsilon, share)
    parts = 10 if high - low < 0.05 else 1  # a digit after the point only where whole per cents would hide everything
    return Move(
        f"{share:.0%}".replace("%", "\N{NO-BREAK SPACE}%"),
        _percent(math.floor, low, parts),
        _percent(math.ceil, high, parts),
    )


def believed(epsilon: float, share: float) -> float:
    """Return the belief that odds of ``share`` become when multiplied by e^epsilon."""
    return 1.0 / (1.0 + math.exp(-min(epsilon, 700.0)) * (1.0 - share) / share)


def _percent(rounding: Callable[[float], int], share: float, parts: int) -> str:
    number = rounding(share * 100 * parts) / parts
    return localised(f"{number:.1f}\N{NO-BREAK SPACE}%") if parts > 1 else f"{number:.0f}\N{NO-BREAK SPACE}%"
