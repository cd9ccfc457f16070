"""Crowds that hold: equilibria, and the smallest crowd that draws everyone in.

In order of cost the privacy cost of an offer never falls (it is min(c x, B)), so whoever joins is no more reluctant than
whoever stays out: every equilibrium of frozen promises is the k cheapest people for some k. One curve then says
everything: what the last of the k cheapest gains. It falls through zero at an equilibrium and rises where a crowd tips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optin.agents import QuasiLinear
from optin.dynamics.game import Game, Members
from optin.errors import BadInput, Infeasible
from optin.kernel.pieces import Array
from optin.planning import plan
from optin.wording.records import Brief

Who = Literal["cheapest", "strictest", "random"]


@dataclass(frozen=True, repr=False)
class Equilibrium(Brief):
    """The cheapest ``people`` are in and nobody wants to change; what the release is then worth."""

    people: int
    variance: float
    margin: float


def margins(game: Game) -> Array:
    """Return what the last of the k cheapest people gains when exactly these are in, for k = 1 to n.

    >>> import optin
    >>> from optin.dynamics import game_of
    >>> people = optin.QuasiLinear([1.0] * 5, benefit=optin.LinearBenefit(base=4, slope=4))
    >>> (margins(game_of(optin.plan(people, bounds=(0, 1)), people)) + 0.0).round(2).tolist()
    [-1.34, -0.42, -0.17, -0.06, 0.0]
    """
    return _margins(game, np.zeros(len(game), dtype=np.bool_))[0]


def equilibria(game: Game) -> tuple[Equilibrium, ...]:
    """List every crowd of cheapest people that nobody wants to leave or enter, in one pass over the sorted costs.

    Exactly these are all equilibria if promises are kept. If the noise is kept there could be others only around someone who
    weighs more than twice what those inside weigh on average: adding them would make the release worse.

    >>> import optin
    >>> from optin.dynamics import game_of
    >>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    >>> [e.people for e in equilibria(game_of(optin.plan(people, bounds=(0, 1), slack=0.2), people))]
    [0, 50]
    """
    gains, order = _margins(game, np.zeros(len(game), dtype=np.bool_))
    content = np.concatenate(([True], gains >= -game.touch))
    next_stays_out = np.concatenate((gains < -game.touch, [True]))
    crowds = []
    for k in np.flatnonzero(content & next_stays_out):
        joined = np.zeros(len(game), dtype=np.bool_)
        joined[order[:k]] = True
        crowds.append(Equilibrium(int(k), game.variance(joined), float(gains[k - 1]) if k else 0.0))
    return tuple(crowds)


def followers(game: Game, held: Members) -> Members:
    """Return who is in at last if ``held`` are in for certain and the others follow, cheapest first, while it pays."""
    held = game.members(held)
    gains, order = _margins(game, held)
    refusing = np.flatnonzero(gains < -game.touch)
    joined = held.copy()
    joined[order[: refusing[0] if len(refusing) else len(order)]] = True
    return joined


def tipping_crowd(game: Game, *, who: Who = "cheapest", generator: np.random.Generator | None = None) -> int | None:
    """Return the fewest people who must be in for certain so that everyone else follows; None if even all but one do not.

    They are taken from the "cheapest", from the "strictest", or in "random" order. The cheapest start a crowd best; the strictest
    would follow last, so having them spares the others waiting. For the cheapest the curve of `margins` says it: all up to
    the last one who would not follow. For the others halving finds it, because more people held never hurts.

    >>> import optin
    >>> from optin.dynamics import game_of
    >>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    >>> [tipping_crowd(game_of(optin.plan(people, bounds=(0, 1), slack=s), people)) for s in (0.0, 0.2, 0.5)]
    [49, 42, 35]
    """
    if who == "cheapest":
        refusing = np.flatnonzero(margins(game) < -game.touch)
        k = int(refusing[-1]) + 1 if len(refusing) else 0
        return k if k < len(game) else None
    order = _order(len(game), game.agents.costs, who, generator)

    def tips(k: int) -> bool:
        held = np.zeros(len(game), dtype=np.bool_)
        held[order[:k]] = True
        return bool(followers(game, held).all())

    return _least(tips, len(game) - 1)


def smallest_crowd(
    agents: QuasiLinear,
    *,
    who: Who = "cheapest",
    generator: np.random.Generator | None = None,
    **question: Any,  # noqa: ANN401
) -> int | None:
    """Return the fewest people for whom a plan of their own exists; None if there is none even for everyone.

    This is where it tips if the analyst plans again for whoever is there. A plan is made to be accepted, and with one person
    more there is one again, so a crowd that can be planned for draws everyone in, one by one. Needs a common benefit.

    >>> import optin
    >>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    >>> smallest_crowd(people, bounds=(0, 1))
    9
    """
    order = _order(len(agents), agents.costs, who, generator)
    if np.ndim(agents.outside) > 0 or getattr(agents.benefit, "per_person", False):
        raise BadInput("people differ in benefit or outside option: plan for the crowds you have in mind")

    def planned(k: int) -> bool:
        part = QuasiLinear(agents.costs[order[:k]], benefit=agents.benefit, outside=agents.outside)
        try:
            plan(part, **question)
        except Infeasible:
            return False
        return True

    return _least(lambda k: k > 0 and planned(k), len(agents))


def _margins(game: Game, held: Members) -> tuple[Array, NDArray[np.int64]]:
    """Return what each person outside ``held`` gains when joining after all cheaper ones, and the order of joining."""
    _expect_common(game)
    order = game.order[~held[game.order]]
    present, offered = game.offered[held], game.offered[order]
    totals = float(present.sum()) + np.cumsum(offered)
    squares = float(present @ present) + np.cumsum(offered * offered)
    return game.gains_with(order, totals, squares), order


def _least(works: Any, most: int) -> int | None:  # noqa: ANN401
    """Find by halving the least k from 0 to ``most`` that works, for a condition that stays true once it is."""
    if not works(most):
        return None
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def _order(people: int, costs: Array, who: Who, generator: np.random.Generator | None) -> NDArray[np.int64]:
    if who in ("cheapest", "strictest"):
        return np.argsort(costs if who == "cheapest" else -costs, kind="stable")
    if who != "random" or generator is None:
        raise BadInput('who is "cheapest", "strictest", or "random" with a numpy Generator')
    return generator.permutation(people)


def _expect_common(game: Game) -> None:
    if not game.common:
        raise BadInput("people differ in benefit or outside option: no order tells who joins first; use play")
