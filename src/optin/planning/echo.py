"""What a quasi-linear person's limit is worth when everyone else answers to it (E11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optin.kernel.pieces import Array

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.planning.record import Plan

STEP = 1e-6
"""How far the promised variance is moved, relatively, to see how limits answer."""


def echoed(plan: Plan, agents: Agents, prices: Array) -> Array:
    """Divide prices at fixed limits by 1 - (1 + slack) M', where M' adds up price times how each limit moves with V (E11).

    At a tangency a little more from anyone moves the fixed point without end: the price of whoever has one is infinite.
    """
    left = 1.0 - (1.0 + plan.slack) * float(prices @ _answers(plan, agents))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(prices < 0.0, prices / max(left, 0.0), 0.0)


def _answers(plan: Plan, agents: Agents) -> Array:
    """Differentiate everyone's limit by the promised variance; who has none, or no benefit left, does not answer."""
    promised = plan.promised_variance or 0.0
    people = agents.in_memory()
    ends = [people.limits_at(promised * (1.0 + side * STEP), data_variance=plan.data_variance) for side in (-1.0, 1.0)]
    with np.errstate(invalid="ignore"):
        slopes = (ends[1] - ends[0]) / (2.0 * STEP * promised)
    return np.where(np.isfinite(slopes), slopes, 0.0)
