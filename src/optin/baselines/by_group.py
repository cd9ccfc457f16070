"""Designs for every public group by itself, and what the whole put together from groups is then wrong by (E27)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optin.agents import Agents
from optin.baselines.catalogue import Baseline, designs
from optin.baselines.comparison import times
from optin.errors import BadInput
from optin.planning import Plan
from optin.wording.groups import shown_group
from optin.wording.records import Brief


@dataclass(frozen=True, repr=False)
class WholeError(Brief):
    """How wrong the sum of n_g/n times each group's mean is, where every group is published by the design of this name."""

    name: str
    bias: float
    bias_bound: float
    variance: float

    @property
    def mse(self) -> float:
        """The expected squared error in the worst case."""
        return self.variance + self.bias_bound**2

    def ratio(self, optimum: WholeError) -> float:
        """How many times the expected squared error of the optimum, by group too."""
        return times(self.mse, optimum.mse)


def whole_errors(plan: Plan, agents: Agents, *, mean: float | None = None) -> tuple[WholeError, ...]:
    """Compute the designs that every group can have, the optimum first, and put each together over all groups.

    Groups have noise of their own, so variances add up with squared shares; biases may all have the same sign.

    >>> import optin
    >>> people = optin.PrivacyConstrained([0.1] * 500 + [1.0] * 500, groups=["a"] * 500 + ["b"] * 500)
    >>> [f"{each.name} {1e4 * each.mse:.2f}" for each in whole_errors(optin.plan(people, bounds=(0, 1)), people)[:2]]
    ['optimum 4.52', 'grid 4.52']
    """
    plans = plan.groups
    for name, own in plans.items():
        if not own.epsilon_total > 0:
            raise BadInput(
                "there is no whole to compare: nobody in group {group} allows anything", group=shown_group(name)
            )
    alone = list(plans.values())
    by_group = agents.each_group(lambda place, part: designs(alone[place], part, mean=mean))
    shares = [own.people / plan.people for own in alone]
    known = [{design.name: design for design in group} for group in by_group]
    names = [name for name in known[0] if all(name in group for group in known)]
    return tuple(_together(name, shares, [group[name] for group in known]) for name in names)


def _together(name: str, shares: Sequence[float], groups: Sequence[Baseline]) -> WholeError:
    parts = list(zip(shares, groups, strict=True))
    return WholeError(
        name,
        bias=math.fsum(share * each.bias for share, each in parts),
        bias_bound=math.fsum(share * each.bias_bound for share, each in parts),
        variance=math.fsum(share**2 * each.variance for share, each in parts),
    )
