"""What a ledger, or stated totals, leave of the limits that people state: said by ``optin plan`` in counts and one share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.wording.numbers import count, percent

if TYPE_CHECKING:
    from optin.agents import Agents

HIGHER = "who allows more over all says so: --total NUMBER (or --allowances COL) with --raise-limits"


@dataclass(frozen=True)
class Left:
    """How many people state a limit of 0, how many have nothing left though they state more, and the share that is left."""

    zeros: int
    spent: int
    share: float | None
    """The part of all stated epsilon that is left; None where somebody's has no end."""

    @property
    def all(self) -> bool:
        """Whether nobody has less left than they state."""
        return self.spent == 0 and self.share == 1.0

    def row(self) -> tuple[str, str]:
        """Say that limits were cut, and what to do about it; or that none was."""
        if self.all:
            return "left", "everyone has all that they state"
        gone = f"{count(self.spent)} with nothing left of their total" if self.spent else ""
        part = "" if self.share is None else f"limits are cut to {percent(self.share)} of what was stated"
        return "left", f"{', '.join(filter(None, (gone, part)))}; {HIGHER}"

    def taking_no_part(self) -> list[str]:
        """Tell those who allow nothing from those who have nothing left."""
        counts = ((self.zeros, "with limit 0"), (self.spent, "with nothing left"))
        return [f"{number:,} {why}" for number, why in counts if number]


def left_of(stated: Agents, agents: Agents, *, asked: bool) -> Left | None:
    """Compare what people state with what they are planned with; None where nobody ``asked`` a ledger and nothing was cut.

    People who weigh costs have no limit to cut.
    """
    if stated is agents and not asked:
        return None
    from optin.agents import Constrained

    if not isinstance(stated, Constrained) or not isinstance(agents, Constrained):
        return Left(0, 0, 1.0)
    before, after = stated.table(), agents.table()
    zeros = before.zeros
    spent = after.zeros - zeros
    if stated is agents:
        return Left(zeros, 0, 1.0)
    if before.infinite:
        return Left(zeros, spent, 1.0 if after.infinite == before.infinite and not spent else None)
    share = after.sums(math.inf).total / before.sums(math.inf).total if before.zeros < len(before) else 1.0
    return Left(zeros, spent, min(share, 1.0))
