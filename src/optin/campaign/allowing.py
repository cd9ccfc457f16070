"""What may this person still give: the one policy, for plans and announcements, on the command line and in the web service.

Limits and allowances are compared in whole grains: promises are whole grains, so a limit whose grains are covered is left as
it is, to the last bit. What is left below an epsilon of 2^-16 (0.000015) is rounding dust, and nothing. People who weigh
costs have no limit to lower; the ledger checks their promise instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents, PrivacyConstrained
from optin.grains.people import Allowing, people_of
from optin.grains.units import UNLIMITED, allowance_grains, epsilons_of
from optin.planning import Plan

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from optin.ledger import Ledger, Terms


def within_allowance(
    agents: Agents,
    ledger: Ledger | None,
    *,
    besides: Terms | None = None,
    raise_limits: bool = False,
    lower_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Agents:
    """Lower limits to what remains in a ledger; the arguments mean what they mean for `optin.campaign.announce`.

    Without a ledger, limits are lowered to the totals that people state themselves, as a ledger that knows nobody does.
    ``besides`` is an announcement whose own promises are not counted.
    """
    allowing = Allowing(allowances, raise_limits, lower_limits, levels)
    if ledger is None:
        return people_of(agents).within(None, allowing)
    from optin.campaign.known import Known  # loads a database, which a plan without a ledger does not need

    return people_of(agents).within(Known(ledger, besides), allowing)


def totals_said(said: Sequence[int | None], stated: NDArray[np.float64]) -> NDArray[np.float64]:
    """List what each person allows over all releases: what they said, in grains, or else what they accept in this one.

    >>> totals_said([None, 2**31], np.array([0.25, 0.25])).tolist()
    [0.25, 0.5]
    """
    silent = np.array([grains is None for grains in said], dtype=np.bool_)
    grains = np.array([UNLIMITED if each is None else each for each in said], dtype=np.int64)
    return np.where(silent, stated, epsilons_of(grains))


def asked_too_much(plan: Plan, agents: Agents, totals: NDArray[np.float64], ledger: Ledger) -> NDArray[np.bool_]:
    """Mark those who weigh costs and of whom a plan asks more than they have left, in whole grains, as the ledger will.

    A cost cannot be lowered as a limit is. What is left counts in halves of the total only: who sees whether someone is left
    out, round after round with other people, would otherwise close in on the exact rest.
    """
    people = agents.in_memory()
    if isinstance(people, PrivacyConstrained):
        return np.zeros(len(people), dtype=np.bool_)
    most = allowance_grains(totals)
    left = ledger.remaining(list(people.ids or ()), raised_to=most, lowered_to=most)  # endless for who is new there
    asked: NDArray[np.bool_] = allowance_grains(plan.epsilons(people)) > _in_halves(left, most)
    return asked


def _in_halves(left: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count what is left as the total, or else a half, a quarter, an eighth … of it: the largest that is covered.

    >>> _in_halves(np.array([9, 8, 7, 2, 0]), np.array([8, 8, 8, 8, 8])).tolist()
    [8, 8, 4, 2, 0]
    """
    counted = totals
    while (counted > np.maximum(left, 0)).any():
        counted = np.where(counted > left, counted // 2, counted)
    return counted


def what_is_left(connection: Connection, ids: Sequence[str], said: Sequence[int | None]) -> NDArray[np.int64]:
    """List how many grains each has left of what they allow; who never said has no bound of their own."""
    from optin.ledger.balances import remaining

    totals = np.array([UNLIMITED if grains is None else grains for grains in said], dtype=np.int64)
    return np.minimum(remaining(connection, ids, raised_to=totals, lowered_to=totals), totals)


def how_many_have(left: NDArray[np.int64], least: ArrayLike) -> int:
    """Count those who have at least so much epsilon left, one amount for all or one for each.

    >>> how_many_have(np.array([0, 2**31, 2**32]), 0.5), how_many_have(np.array([0, 2**31]), [0.0, 0.75])
    (2, 1)
    """
    asked = allowance_grains(np.atleast_1d(np.asarray(least, dtype=np.float64)))
    return int(np.count_nonzero(left >= asked))
