"""An announced offer as a game: what each person would gain by being in, given who else is.

What people respond to depends on what the analyst keeps when some stay away.

*Promises* (E12, what optin does): everyone's epsilon is frozen. Fewer people, same losses, more noise.
*Noise* (the paper's announcement of weights and eta): the weights of those who join are scaled up to add up to 1. Fewer
people, the same noise, and a larger loss for each: company makes the release better and privacy cheaper.

With an *assured* offer nothing is released, and nobody loses anything, unless the promised variance is met.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optin.agents import LinearBenefit, QuasiLinear
from optin.errors import BadInput
from optin.kernel.noise import noise_variance, variance
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.tables.labels import of_people
from optin.wording.records import OneLine

Keeps = Literal["promises", "noise"]
Members = NDArray[np.bool_]
Places = NDArray[np.int64] | slice
TOUCH = 1e-9
"""People this close to indifference, as a share of the surplus, join: tail people are exactly indifferent (E11)."""


@dataclass(frozen=True, eq=False, repr=False)
class Game(OneLine):
    """An offer and the people it is made to; ``offered`` is the epsilon of each if everyone joins."""

    agents: QuasiLinear
    plan: Plan
    offered: Array
    keeps: Keeps
    assured: bool

    def __len__(self) -> int:
        return len(self.agents)

    def __repr__(self) -> str:
        return f"Game({len(self)} people, keeps={self.keeps!r}, assured={self.assured})"

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """People by rising cost."""
        return np.argsort(self.agents.costs, kind="stable")

    @cached_property
    def everyone(self) -> float:
        """The sum of all offered epsilons."""
        return float(self.offered.sum())

    @cached_property
    def outside(self) -> float | Array:
        """What people have without joining."""
        return self.agents.outside_at(self.plan.data_variance)

    @cached_property
    def common(self) -> bool:
        """Whether people share benefit and outside option."""
        return self.plan.surplus is not None

    @cached_property
    def touch(self) -> float:
        """How little below indifference still counts as joining."""
        surplus = self.agents.surplus_at(self.plan.promised_variance or 0.0, data_variance=self.plan.data_variance)
        return TOUCH * float(np.max(np.abs(surplus)))

    def variances(self, totals: Array, squares: Array) -> Array:
        """Return the variance left by crowds whose offered epsilons and their squares add up to these sums (E12, E0)."""
        plan = self.plan
        reach = totals if self.keeps == "promises" else np.where(totals > 0, self.everyone, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = noise_variance(plan.asked.units.noise, reach)
            left = variance(plan.data_variance, squares, totals, 0.0) + noise
        return np.asarray(np.where(totals > 0, left, math.inf))

    def losses(self, offered: Array, totals: Array) -> Array:
        """Return the epsilon that people offered this much lose in crowds with these sums."""
        if self.keeps == "promises":
            return offered
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(totals > 0, offered * (self.everyone / totals), 0.0))

    def gains_with(self, who: Places, totals: Array, squares: Array) -> Array:
        """Return what ``who`` gain by being in crowds with these sums, themselves included."""
        variances = self.variances(totals, squares)
        outside = self.outside if np.ndim(self.outside) == 0 else np.asarray(self.outside)[who]
        paid = self.agents.costs[who] * self.losses(self.offered[who], totals)
        gains = self._benefits(variances, who) - outside - paid
        if self.assured and self.plan.promised_variance is not None:
            gains = np.where(variances > self.plan.promised_variance * (1 + TOUCH), 0.0, gains)
        return np.asarray(gains)

    def members(self, joined: Any) -> Members:  # noqa: ANN401 - any array-like is welcome
        """Return who joined as true or false for each person, in the order of the people."""
        return np.asarray(of_people(joined, self.agents, "joined"))

    def gains(self, joined: Members) -> Array:
        """Return what each person gains by being in, the others doing what they do; negative: better to stay out."""
        joined = self.members(joined)
        present = self.offered * joined
        own = np.where(joined, 0.0, self.offered)
        return self.gains_with(slice(None), present.sum() + own, present @ present + own * own)

    def willing(self, joined: Members) -> Members:
        """Return everyone's best response: who would be in, given who else is."""
        return np.asarray(self.gains(joined) >= -self.touch)

    def variance(self, joined: Members) -> float:
        """Return the variance of a release over those who joined."""
        present = self.offered * self.members(joined)
        return float(self.variances(np.array(present.sum()), np.array(present @ present)))

    def epsilons(self, joined: Members) -> Array:
        """Return what those who joined lose."""
        present = self.offered * self.members(joined)
        return self.losses(present, np.broadcast_to(present.sum(), present.shape))

    def _benefits(self, variances: Array, who: Places) -> Array:
        benefit = self.agents.benefit
        if isinstance(benefit, LinearBenefit):
            base, slope = (x if np.ndim(x) == 0 else np.asarray(x)[who] for x in (benefit.base, benefit.slope))
            finite = np.where(np.isfinite(variances), variances, 0.0)
            return np.where(np.isfinite(variances), base - slope * finite, -math.inf)
        distinct, places = np.unique(variances, return_inverse=True)
        values = [float(benefit(float(v))) if math.isfinite(v) else -math.inf for v in distinct]
        return np.asarray(values)[places].reshape(np.shape(variances))


def game_of(plan: Plan, agents: QuasiLinear, *, keeps: Keeps = "promises", assured: bool = False) -> Game:
    """Turn a plan for quasi-linear people into the game that its announcement starts.

    >>> import optin
    >>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    >>> game = game_of(optin.plan(people, bounds=(0, 1), slack=0.2), people)
    >>> game.willing(np.zeros(50, dtype=bool)).sum(), game.willing(np.ones(50, dtype=bool)).sum()
    (np.int64(0), np.int64(50))
    """
    if not isinstance(agents, QuasiLinear):
        raise BadInput("people with limits do not watch each other: each joins whatever the others do")
    if keeps not in ("promises", "noise"):
        raise BadInput('keeps must be "promises" (losses are frozen) or "noise" (eta is)')
    if math.isinf(plan.eta):
        raise BadInput("without noise nobody who matters bears a cost: everyone joins")
    if plan.surplus is None and not isinstance(agents.benefit, LinearBenefit):
        raise BadInput("people with benefits of their own need a LinearBenefit here: each looks at another variance")
    if plan.people != len(agents):
        raise BadInput("the plan is for {people} people, {count} are given", people=plan.people, count=len(agents))
    return Game(agents, plan, plan.epsilons(agents), keeps, assured)
