"""A plan of several groups as people read it: a row for each group and question, with a verdict before anyone is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.agents import Description
from optin.planning.cautions import limit_cautions
from optin.planning.size import verdict
from optin.planning.telling import warnings_of
from optin.wording.groups import SMALLEST_GROUP, by_group, listed_groups, look_alikes, shown_group
from optin.wording.language import N_, _
from optin.wording.numbers import largest, people_like
from optin.wording.telling import Telling

if TYPE_CHECKING:
    from optin.planning.record import Plan

HEAD = ("group", "people", "cap", "question", "95 % interval", "as accurate as", "verdict")
NOTHING = "nothing: everyone's limit is 0"
ALIKE = N_(
    "The groups {groups} differ only in blanks, in capitals or in how their letters are encoded, and are planned apart."
    " If they are one, mend the column before you announce."
)
FEW = N_(
    "Groups of fewer than {least} people who allow anything are refused when they are announced: {groups}. Merge them with"
    " others, which merge_small=True does (on the command line --merge-small)."
)
HARDLY = N_(
    "Groups of fewer than {many} people: {groups}. If fewer than {least} of one answer, nothing is published of it, and there"
    " is no whole of all groups; merge it with another, or ask more people."
)


@dataclass(frozen=True)
class PlanOfGroups:
    """What a plan of groups says."""

    plan: Plan

    def telling(self) -> Telling:
        """List each group with what its people would get, and whether that is good enough."""
        odd = tuple(("warning", sentence) for sentence in self.warnings(None))
        rows = tuple(self.rows())
        return Telling("Plan", (*self.lines(), *odd), HEAD, rows, numbers=len(HEAD), more='plan.groups["…"]')

    def lines(self) -> list[tuple[str, str]]:
        """Say how many people and groups there are, and which groups were merged."""
        plan = self.plan
        merged = [design for design in plan.designs if design.own.merged]
        told = [("merged", f"{shown_group(str(each.group))}: {listed_groups(each.own.merged)}") for each in merged]
        people = f"{plan.people:,} in {len(plan.designs):,} groups ({plan.model})"
        return [("people", people), *told, ("groups", "public: which group a person is in is not protected")]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Return a row for each group and question, as `HEAD` says."""
        for name, plan in self.plan.groups.items():
            group = (shown_group(name)[1:-1], f"{plan.people:,}")
            if plan.epsilon_total == 0.0:
                yield (*group, "0", "", "", "", NOTHING)
                continue
            for each in plan.questions:
                half = each.half_width()
                judged = verdict(half, each.question.yardstick)
                exact = people_like(each.effective_people)
                yield (*group, largest(plan.cap), each.name, each.question.plus_minus(half), exact, judged + _few(plan))

    def warnings(self, description: Description | None) -> tuple[str, ...]:
        """List what is odd about each group, once where it is about all of them."""
        limits = limit_cautions(description, known=self.plan.high_limits)
        groups = self.plan.groups
        plans = {name: plan for name, plan in groups.items() if plan.epsilon_total > 0.0 and not _few(plan)}
        odd = {name: warnings_of(plan, None, of_group=True) for name, plan in plans.items()}
        told = {name: [each for each in sentences if each not in limits] for name, sentences in odd.items()}
        labels = [label for design in self.plan.designs for label in design.labels]
        alike = (_(ALIKE, groups=listed_groups(names)) for names in look_alikes(labels))
        return (*by_group(told), *self._small(), *alike, *limits)

    def _small(self) -> Iterator[str]:
        """Say which groups cannot be announced, and of which nothing is published as soon as a few stay away."""
        sizes = {name: plan.people for name, plan in self.plan.groups.items()}
        few = [name for name, plan in self.plan.groups.items() if _few(plan) or plan.epsilon_total == 0.0]
        hardly = [name for name, people in sizes.items() if name not in few and people < 2 * SMALLEST_GROUP]
        if few and len(sizes) > 1:
            yield _(FEW, groups=listed_groups(few), least=SMALLEST_GROUP)
        if hardly and len(sizes) > 1:
            yield _(HARDLY, groups=listed_groups(hardly), many=2 * SMALLEST_GROUP, least=SMALLEST_GROUP)


def _few(plan: Plan) -> str:
    return "" if plan.people >= SMALLEST_GROUP else ", too few to announce"
