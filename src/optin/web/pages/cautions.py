"""Warnings before steps that cannot be undone: of what will say next to nothing, and of what can never be enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optin.errors import OptinError
from optin.planning import Plan
from optin.planning.size import verdict
from optin.web.pages.drafting import LEAST_EXPECTED, MOST_EXPECTED, imagined
from optin.web.pages.ready_sheets import is_unfinished
from optin.web.pages.stages import day
from optin.web.service import campaigns, deadlines, preview
from optin.web.service.core import Service
from optin.web.service.records import Campaign, Visitor
from optin.wording.groups import SMALLEST_GROUP, merged_in, shown_group, tens_in_words
from optin.wording.language import N_, _
from optin.wording.numbers import count

_FEW = N_(
    "{many} will say next to nothing even if all {people:,} come who can, with limits that are mixed: {told}. Ask more people, "
    "or ask for less."
)
_FEW_IN_GROUPS = N_(
    "{many} will say next to nothing even in the largest group, if all {people:,} who are invited come, with limits that are "
    "mixed: {told}. Ask more people, or ask for less."
)


def cautions_before(service: Service, visitor: Visitor, campaign: Campaign) -> list[str]:
    """Say what stands against going on: groups that can never be enough, questions that will say next to nothing."""
    if campaign.state not in ("draft", "registration", "planning"):
        merged = (
            []
            if campaign.announcement is None
            else [str(each.spoken()) for each in merged_in(campaign.announcement.designs)]
        )
        return [words for words in (_window_words(service, visitor, campaign), *merged) if words]
    quorum, invited = campaign.draft.quorum_people, campaigns.invited_by_group(service, visitor, campaign.id)
    if campaign.state != "planning":
        few = small_groups(invited, quorum)
        return [words for words in (_support_words(campaign), *few, _invited_too_few(campaign, invited)) if words]
    came = few_registered(campaigns.registered_in_tens(service, visitor, campaign.id), quorum)
    return [words for words in (*came, _foreseen(service, visitor, campaign)) if words]


def _support_words(campaign: Campaign) -> str:
    """Say that the text for everyone is not finished, while it can be changed."""
    if campaign.state != "draft" or not is_unfinished(campaign.draft.support):
        return ""
    return _(
        "The text that everyone is shown still says what you should write there: put in whom people can call before you open "
        "registration, for it cannot be changed after."
    )


def small_groups(invited: Mapping[str, int], quorum: int) -> list[str]:
    """Name the groups that will be put together with others, and those too few are invited of for a result.

    >>> print(*small_groups({"ER": 24, "ICU": 11}, 20))
    "ICU" (11 invited) cannot have a result alone: nothing is published of a group with fewer than 20. Invite ...
    >>> [said.partition(" will be put together")[0] for said in small_groups({"ER": 24, "ICU": 3}, 20)]
    ['"ICU" (3 invited)']
    >>> small_groups({"ER": 24}, 20)
    []
    """
    seen = _Seen.of(invited, quorum)
    few = [_("{group} ({people:,} invited)", group=shown_group(name), people=invited[name]) for name in seen.alone]
    joined = [_("{group} ({people:,} invited)", group=shown_group(name), people=invited[name]) for name in seen.joined]
    alone = _(
        "{groups} cannot have a result alone: nothing is published of a group with fewer than {quorum:,}. Invite more, or join "
        "groups.",
        groups=", ".join(few),
        quorum=quorum,
    )
    return [*_joined_words(joined, quorum), *([alone] if few else [])]


def few_registered(came: Mapping[str, int], quorum: int) -> list[str]:
    """Name the groups that will be put together with others, and those that would have no result, as far as tens tell.

    >>> [said.partition(": ")[0] for said in few_registered({"ER": 20, "ICU": 10}, 20)]
    ['"ICU" (10 or more registered) would have no result alone']
    >>> [said.partition(" will be put together")[0] for said in few_registered({"ER": 20, "ICU": 0}, 20)]
    ['"ICU" (fewer than 10 registered)']
    >>> few_registered({"ER": 20, "ICU": 10}, 15)
    []
    """
    seen = _Seen.of({name: people + SMALLEST_GROUP - 1 for name, people in came.items()}, quorum)
    few, joined = (
        [
            _("{group} ({people} registered)", group=shown_group(name), people=tens_in_words(came[name]))
            for name in names
        ]
        for names in (seen.alone, seen.joined)
    )
    alone = _(
        "{groups} would have no result alone: nothing is published of a group with fewer than {quorum:,}. Announced all the "
        "same, their promises would be held for nothing, unless a smaller group is put together with them and both are enough: "
        "open registration again, or cancel and join groups.",
        groups=", ".join(few),
        quorum=quorum,
    )
    return [*_joined_words(joined, quorum), *([alone] if few else [])]


@dataclass(frozen=True)
class _Seen:
    """Which groups are surely put together with others, and which have too few people for a result alone."""

    joined: tuple[str, ...]
    alone: tuple[str, ...]

    @classmethod
    def of(cls, most: Mapping[str, int], quorum: int) -> _Seen:
        """Tell by how many people there are at most in each; with too few even together, none is said to be saved by it."""
        small = [name for name, people in most.items() if people < SMALLEST_GROUP] if len(most) > 1 else []
        others = [people for name, people in most.items() if name not in small]
        together = sum(most[name] for name in small) + min(others, default=0)
        joined = tuple(small) if together >= quorum else ()
        return cls(joined, tuple(name for name, people in most.items() if people < quorum and name not in joined))


def _joined_words(groups: list[str], quorum: int) -> list[str]:
    if not groups:
        return []
    return [
        _(
            "{groups} will be put together with the other groups of fewer than {least}, or with the smallest other group, when "
            "the plan is announced: they have one result, if {quorum:,} or more take part together, and the offer says so.",
            groups=", ".join(groups),
            least=SMALLEST_GROUP,
            quorum=quorum,
        )
    ]


def _foreseen(service: Service, visitor: Visitor, campaign: Campaign) -> str:
    try:
        plan, _description = preview.pictured(service, visitor, campaign.id)
    except OptinError:
        return ""
    return foreseen_little(plan)


def foreseen_little(plan: Plan) -> str:
    """Say which questions of a plan would say next to nothing; nothing where there are none."""
    many, told = _useless(plan)
    if not told:
        return ""
    return _(
        "{many} will say next to nothing with the people who are here: {told}. Announced all the same, what people allow would "
        "be given away for it: ask more people first, or cancel and ask for less.",
        many=many,
        told=told,
    )


def _invited_too_few(campaign: Campaign, invited: Mapping[str, int]) -> str:
    """Say, before anyone answers, which questions would say next to nothing though everyone came who is invited.

    A campaign that runs by itself passes no other warning; afterwards people have given something away for it.
    """
    people = max(invited.values(), default=campaign.invited + campaign.draft.open_link)
    if campaign.draft.public or not LEAST_EXPECTED <= people <= MOST_EXPECTED:
        return ""
    try:
        plan = preview.foreseen(campaign.draft, imagined({"expected": str(people), "model": campaign.draft.model}))
    except OptinError:
        return ""
    many, told = _useless(plan)
    if not told:
        return ""
    words = _FEW_IN_GROUPS if invited else _FEW
    return _(words, many=many, people=people, told=told)


def _useless(plan: Plan) -> tuple[str, str]:
    """Say how many questions of a plan would say next to nothing, and which, with their ±; nothing where there are none."""
    halves = [(question, plan[question.name].half_width(0.95)) for question in plan.sheet]
    few = [(question, half) for question, half in halves if verdict(half, question.yardstick) == "useless"]
    told = "; ".join(
        _("“{question}” {half}", question=plan.sheet.text_said(question), half=plan.sheet.plus_minus(question, half))
        for question, half in few
    )
    return _so_many(len(few), len(halves)), told


def _so_many(few: int, all_: int) -> str:
    if all_ == 1:
        return _("The result")
    return _("{questions} of {all}", questions=count(few, "question", "questions"), all=all_)


def _window_words(service: Service, visitor: Visitor, campaign: Campaign) -> str:
    """Say until when people look at their deal, where nothing can be closed before."""
    end = (
        deadlines.deal_until(service, visitor, campaign.id)
        if campaign.draft.sealed and campaign.next_step is None
        else None
    )
    if end is None or campaign.state not in ("announced", "answers") or service.clock() >= end:
        return ""
    return _(
        "Until {day} people look at their deal, change answers or withdraw. There is nothing to do before: then close answers.",
        day=day(end),
    )
