"""How many may stay away before the promised variance breaks (E12), and what leaving that room costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optin.agents import QuasiLinear
from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.planning import Plan, plan
from optin.wording.records import Listed


@dataclass(frozen=True, repr=False)
class Room(Listed):
    """The largest share of people who may decline while the promise holds, by who they are."""

    slack: float
    variance: float
    promised_variance: float
    anyone: float
    strictest: float
    most_willing: float


def room_for_decliners(plan: Plan, agents: QuasiLinear) -> Room:
    """Return the share of decliners that a plan survives: anyone at random, the strictest first, the most willing first.

    If a share r of all stays away at random, sampling a and noise b of the variance become a/(1-r) and b/(1-r)^2 on
    average, so 1/(1-r) is the root of a quadratic. For the other two everyone is counted, in order.

    >>> import optin
    >>> people = optin.QuasiLinear([0.5, 1.0, 2.0] * 40, benefit=optin.LinearBenefit(base=1, slope=1))
    >>> room = room_for_decliners(optin.plan(people, bounds=(0, 1), slack=0.1), people)
    >>> round(room.anyone, 3), round(room.strictest, 3), round(room.most_willing, 3)
    (0.083, 0.092, 0.075)
    """
    if plan.promised_variance is None or math.isinf(plan.eta):
        raise BadInput("only quasi-linear people are promised a variance, and only with noise can it break")
    noise, sampling = plan.noise_variance, plan.variance - plan.noise_variance
    most = plan.promised_variance
    grown = (math.sqrt(sampling * sampling + 4 * noise * most) - sampling) / (2 * noise)
    rising = np.sort(plan.epsilons(agents))
    return Room(
        slack=plan.slack,
        variance=plan.variance,
        promised_variance=most,
        anyone=max(1.0 - 1.0 / grown, 0.0),
        strictest=_share(plan, rising[::-1]),
        most_willing=_share(plan, rising),
    )


def slack_table(
    agents: QuasiLinear,
    slacks: Sequence[float] = (0.0, 0.05, 0.1, 0.2, 0.5),
    **question: Any,  # noqa: ANN401
) -> tuple[Room, ...]:
    """Plan once for each slack: what each costs in variance, and which share of decliners it survives.

    >>> import optin
    >>> people = optin.QuasiLinear([0.5, 1.0, 2.0] * 40, benefit=optin.LinearBenefit(base=1, slope=1))
    >>> [(r.slack, round(r.anyone, 3)) for r in slack_table(people, bounds=(0, 1))]
    [(0.0, 0.0), (0.05, 0.043), (0.1, 0.083), (0.2, 0.152), (0.5, 0.305)]
    """
    return tuple(room_for_decliners(plan(agents, slack=s, **question), agents) for s in slacks)


def _share(plan: Plan, stay_longest_first: Array) -> float:
    """Return the share of people who may go, from the end of this order, before the promise breaks."""
    totals, squares = np.cumsum(stay_longest_first), np.cumsum(stay_longest_first**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = plan.variance_left(totals, squares)
    promise_holds = left <= (plan.promised_variance or 0.0) * (1 + 1e-12)
    return 1.0 - (int(np.argmax(promise_holds)) + 1) / len(promise_holds) if promise_holds.any() else 0.0
