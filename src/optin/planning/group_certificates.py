"""One certificate for each public group: each group's plan is the best for its own people (E27)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from optin.agents import Agents, Constrained
from optin.errors import BadInput
from optin.planning.certificate import OTHERS, Certificate, certify
from optin.planning.grouped import as_planned
from optin.planning.record import Plan


@dataclass(frozen=True)
class CertificateByGroup:
    """One certificate for each public group, by its name: each group's plan is the best for its own people (E27)."""

    groups: Mapping[str, Certificate]

    @property
    def holds(self) -> bool:
        """Whether every group's does."""
        return all(each.holds for each in self.groups.values())

    @property
    def broken_limits(self) -> int:
        """How many people's epsilon exceeds their limit, in all groups."""
        return sum(each.broken_limits for each in self.groups.values())


def certify_groups(plan: Plan, agents: Agents) -> CertificateByGroup:
    """Recompute what the plan of each group claims; of people who all have a limit of 0 there is nothing to show."""
    plans = tuple(plan.groups.values())
    expect_same_groups(plan, agents)

    def certified(place: int, people: Agents) -> Certificate:
        own = plans[place]
        if own.epsilon_total == 0.0:
            return _nothing(own, people)
        return certify(own, people)

    certificates = as_planned(agents, plan.designs).each_group(certified)
    return CertificateByGroup(dict(zip(plan.groups, certificates, strict=True)))


def expect_same_groups(plan: Plan, agents: Agents) -> None:
    """Refuse people who lack a group of the plan."""
    known = () if agents.groups is None else agents.groups.names
    if agents.groups is not None and any(label not in known for design in plan.designs for label in design.labels):
        raise BadInput(OTHERS)


def _nothing(plan: Plan, agents: Agents) -> Certificate:
    """Certify that everyone has a limit of 0, so that nothing can be published."""
    if len(agents) != plan.people or (isinstance(agents, Constrained) and agents.most > 0):
        raise BadInput(OTHERS)
    return Certificate(plan.people, 0, 0.0, 0.0, objective=math.inf, lower_bound=math.inf, nearby=math.inf)
