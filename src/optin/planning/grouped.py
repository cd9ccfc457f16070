"""E27: each public group has its own plan, over its own people at their full limits; nobody is in two.

A plan of groups is a tuple of designs, and each group's part of it is a plan like any other: the very plan that its people
would have alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.agents import Agents, Constrained
from optin.agents.protocols import LimitTable
from optin.errors import BadInput, Infeasible
from optin.grains.arrays import HIGHEST_EPSILON
from optin.grains.splitting import BITS, least_capped
from optin.kernel.pieces import Array
from optin.kernel.rounding import GRAIN
from optin.planning.asked import Asked
from optin.planning.design import ALONE, Design, OfGroup, WeightSums
from optin.questions.measured import TINIEST
from optin.wording.groups import FEW_BELOW_CAP, SMALLEST_GROUP, shown_group

if TYPE_CHECKING:
    from optin.planning.record import Plan

Find = Callable[[Agents], "Plan"]
Labels = tuple[str, ...]
_NAMED = 3
"""A merged group is named by its labels, or by the first of these and how many more there are."""


@dataclass(frozen=True)
class _Part:
    """What was found for one group, how many of its people will be promised anything, and how many of these the cap.

    They are counted where that is asked, and the people themselves let go: in memory they may be a copy.
    """

    plan: Plan
    promised: int = 0
    at_cap: int = 0

    def fits(self, least: int) -> bool:
        """Tell whether sums over this group give no single limit away: enough people, and not a few below the cap alone."""
        return self.promised >= least and not 0 < self.promised - self.at_cap <= FEW_BELOW_CAP


def plan_groups(agents: Agents, find: Find, nothing: Find, *, merge_small: bool | int) -> Plan:
    """Plan each group by itself; with ``merge_small`` those too small to be announced are merged first, and it is said.

    ``nothing`` makes the plan of people who all have a limit of 0: nothing can be published of them.
    """
    least = SMALLEST_GROUP if merge_small is True else int(merge_small)
    known = agents.groups.names
    labels: list[Labels] = [(name,) for name in known]
    group_parts = partial(_group_parts, find=find, nothing=nothing, counted=least > 0)
    parts = group_parts(agents, labels=labels)
    while least > 0 and len(parts) > 1:
        small = [at for at, part in enumerate(parts) if not part.fits(least)]
        if not small:
            break
        labels = _merged(labels, merged_places(small, [part.promised for part in parts]))
        places = {label: at for at, each in enumerate(labels) for label in each}
        parts = group_parts(agents.put_into(places, [group_name(each, known) for each in labels]), labels=labels)
    if not any(part.plan.epsilon_total > 0 for part in parts):
        raise Infeasible(
            "all {people} limits are 0, so nothing may be published; someone has to allow a positive epsilon",
            people=len(agents),
        )
    return _together(parts, labels, known)


def _group_parts(agents: Agents, *, find: Find, nothing: Find, labels: Sequence[Labels], counted: bool) -> list[_Part]:
    def part(place: int, people: Agents) -> _Part:
        try:
            none = isinstance(people, Constrained) and not people.most > TINIEST
            plan = nothing(people) if none else find(people)
            return _counted(plan, people) if counted else _Part(plan)
        except Infeasible as error:
            raise _of_group(error, labels[place]) from None

    return agents.each_group(part)


def _counted(plan: Plan, people: Agents) -> _Part:
    """Count as the announcement will (E13, E20): who is promised a grain for every question, and who as many as the cap gives."""
    if not isinstance(people, Constrained):
        return _Part(plan, len(people), plan.pooled_people)
    if plan.epsilon_total == 0.0:
        return _Part(plan)
    if plan.noiseless:
        return _Part(plan, plan.pooled_people, plan.pooled_people)
    table, shares = people.table(), plan.integer_shares
    most = int(min(plan.cap, HIGHEST_EPSILON) * GRAIN)
    some = max(map(least_capped, shares))
    all_there_is = min(least_capped(share, max(most * share >> BITS, 1)) for share in shares)
    promised = _at_least(table, some / GRAIN) if most >= some else 0
    return _Part(plan, promised, min(_at_least(table, all_there_is / GRAIN), promised))


def _at_least(table: LimitTable, bound: float) -> int:
    """Count limits of at least a positive bound; nothing is asked of an engine if all that are positive are."""
    below = float(np.nextafter(bound, 0.0))
    return len(table) - (table.zeros if bound <= table.least else table.sums(below).count)


def _of_group(error: Infeasible, labels: Labels) -> Infeasible:
    """Say which group cannot be planned."""
    numbers = ("shortfall", "people_needed", "outside_needed", "within_resolution")
    return Infeasible(
        "group {group}: " + error.template,
        **error.data,
        **{name: getattr(error, name) for name in numbers},
        group=" + ".join(map(shown_group, labels)),
    )


def merged_places(small: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Choose which groups to merge: all that are too small, and where there is one of these, the smallest other too.

    >>> merged_places([2], [50, 40, 3]), merged_places([0, 2], [5, 40, 3])
    ([1, 2], [0, 2])
    """
    if len(small) > 1 or len(sizes) < 2:
        return sorted(small)
    others = (at for at in range(len(sizes)) if at not in small)
    return sorted([*small, min(others, key=lambda at: (sizes[at], at))])


def _merged(labels: Sequence[Labels], chosen: Sequence[int]) -> list[Labels]:
    together = tuple(sorted(label for at in chosen for label in labels[at]))
    return sorted([together, *(each for at, each in enumerate(labels) if at not in set(chosen))])


def group_name(labels: Labels, known: Iterable[str]) -> str:
    """Name a group after its labels; no other label may be that name.

    >>> group_name(("ER", "ICU"), ("ER", "ICU")), group_name(tuple("abcde"), "abcde")
    ('ER + ICU', 'a + b + c + 2 more')
    """
    if len(labels) == 1:
        return labels[0]
    named, more = labels[:_NAMED], len(labels) - _NAMED
    name, taken = " + ".join([*named, *([f"{more} more"] if more > 0 else [])]), set(known)
    while name in taken:
        name += " (merged)"
    return name


def _together(parts: Sequence[_Part], labels: Sequence[Labels], known: Sequence[str]) -> Plan:
    designs = [_design(part.plan, each, known) for part, each in zip(parts, labels, strict=True)]
    first = parts[0].plan
    return replace(
        first,
        designs=tuple(designs),
        wish=replace(first.wish, targets=()),
        promise=None,
        within_resolution=False,
        high_limits=any(part.plan.high_limits for part in parts),
    )


def _design(plan: Plan, labels: Labels, known: Sequence[str]) -> Design:
    merged = labels if len(labels) > 1 else ()
    own = OfGroup(merged, plan.promise, plan.wish.targets, plan.within_resolution)
    return replace(plan.undivided, group=group_name(labels, known), own=own)


def nothing_to_plan(plan: type[Plan], agents: Agents, asked: Asked) -> Plan:
    """Make the plan of people who all have a limit of 0."""
    many = len(asked.sheet)
    sums = WeightSums(len(agents), 0.0, math.inf, len(agents), 0.0)
    return plan(asked.sheet, agents.model, (Design(None, 0.0, asked.shares, sums, (math.inf,) * many),), asked.wish)


def group_plans(plan: Plan) -> Mapping[str, Plan]:
    """Return the plan of each group, as it would have been made for its people alone; none of undivided people."""
    return {design.group: _alone(plan, design) for design in plan.designs if design.group is not None}


def _alone(plan: Plan, design: Design) -> Plan:
    return replace(
        plan,
        designs=(replace(design, group=None, own=ALONE),),
        wish=replace(plan.wish, targets=design.own.targets),
        promise=design.own.promise,
        within_resolution=design.own.within_resolution,
    )


def as_planned(agents: Agents, designs: Sequence[Design]) -> Agents:
    """Put people into the groups of a plan, by their labels; people without groups, or with other ones, are refused."""
    if agents.groups is None:
        raise BadInput("this is by group, and these people have no groups: give them groups, as when it was planned")
    places = {label: at for at, design in enumerate(designs) for label in design.labels}
    return agents.put_into(places, [str(design.group) for design in designs])


def for_each_person(plan: Plan, agents: Agents, of_group: Callable[[Plan, Any], Array]) -> Array:
    """Put together what follows for the people of each group from its own plan, in the order of the people."""
    people = as_planned(agents.in_memory(), plan.designs).in_memory()
    by_person, plans = np.empty(len(people)), list(plan.groups.values())
    for own, rows, part in zip(plans, people.groups, people.parts(), strict=True):
        if len(rows):
            by_person[rows] = of_group(own, part)
    return by_person
