"""The first step: a plan that asks nobody for more than they have left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.campaign.allowing import within_allowance
from optin.planning import Plan
from optin.planning import plan as make_plan
from optin.planning.asked import Errors
from optin.questions import Question, Sheet

if TYPE_CHECKING:
    from optin.ledger import Ledger


def plan(
    agents: Agents,
    sheet: Sheet | Sequence[Question] | Question | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    sd: float | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    eta: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    target_error: Errors | None = None,
    wished_errors: Errors | None = None,
    merge_small: bool | int = False,
    ledger: Ledger | None = None,
    raise_limits: bool = False,
    lower_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Plan:
    """Find the best design of its kind (`optin.plan`); with a ledger, nobody is planned beyond what remains of their allowance.

    ``raise_limits``, ``lower_limits``, ``allowances`` and ``levels`` mean what they will mean when this plan is announced.
    """
    if ledger is not None:
        agents = within_allowance(
            agents, ledger, raise_limits=raise_limits, lower_limits=lower_limits, allowances=allowances, levels=levels
        )
    return make_plan(
        agents,
        sheet,
        bounds=bounds,
        sd=sd,
        data_variance=data_variance,
        data_sd=data_sd,
        eta=eta,
        max_gap=max_gap,
        slack=slack,
        target_error=target_error,
        wished_errors=wished_errors,
        merge_small=merge_small,
    )
