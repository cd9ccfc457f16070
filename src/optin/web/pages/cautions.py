"""Warnings before steps that cannot be undone: of what will say next to nothing, and of what can never be enough."""

from __future__ import annotations

from collections.abc import Mapping

from optin.errors import OptinError
from optin.planning import Plan
from optin.planning.size import verdict
from optin.web.pages.stages import day
from optin.web.service import campaigns, deadlines, preview
from optin.web.service.core import Service
from optin.web.service.records import Campaign, Visitor
from optin.wording.groups import SMALLEST_GROUP, shown_group, tens_in_words
from optin.wording.language import _
from optin.wording.numbers import count


def cautions_before(service: Service, visitor: Visitor, found: Campaign) -> list[str]:
    """Say what stands against going on: groups that can never be enough, questions that will say next to nothing."""
    if found.state not in ("draft", "registration", "planning"):
        return [words for words in (_window_words(service, visitor, found),) if words]
    quorum, invited = found.draft.quorum_people, campaigns.invited_by_group(service, visitor, found.id)
    if found.state != "planning":
        return [words for words in (small_groups(invited, quorum),) if words]
    came = few_registered(campaigns.registered_in_tens(service, visitor, found.id), quorum)
    return [words for words in (came, _foreseen(service, visitor, found)) if words]


def small_groups(invited: Mapping[str, int], quorum: int) -> str:
    """Name the groups that have fewer people invited than are needed for a result.

    >>> small_groups({"ER": 24, "ICU": 11}, 20)
    '"ICU" (11 invited) cannot have a result: nothing is published of a group with fewer than 20. Invite more, or join groups.'
    >>> small_groups({"ER": 24}, 20)
    ''
    """
    few = [
        _("{group} ({people:,} invited)", group=shown_group(name), people=people)
        for name, people in invited.items()
        if people < quorum
    ]
    if not few:
        return ""
    return _(
        "{groups} cannot have a result: nothing is published of a group with fewer than {quorum:,}. Invite more, or join groups.",
        groups=", ".join(few),
        quorum=quorum,
    )


def few_registered(came: Mapping[str, int], quorum: int) -> str:
    """Name the groups in which fewer registered than are needed for a result, as far as a count in tens tells.

    >>> few_registered({"ER": 20, "ICU": 10}, 20).partition(": ")[0]
    '"ICU" (10 or more registered) would have no result'
    >>> few_registered({"ER": 20, "ICU": 10}, 15)
    ''
    """
    few = [
        _("{group} ({people} registered)", group=shown_group(name), people=tens_in_words(people))
        for name, people in came.items()
        if people + SMALLEST_GROUP - 1 < quorum
    ]
    if not few:
        return ""
    return _(
        "{groups} would have no result: nothing is published of a group with fewer than {quorum:,}. Announced all the same, "
        "their promises would be held for nothing: open registration again, or cancel and join groups.",
        groups=", ".join(few),
        quorum=quorum,
    )


def _foreseen(service: Service, visitor: Visitor, found: Campaign) -> str:
    try:
        plan, _description = preview.pictured(service, visitor, found.id)
    except OptinError:
        return ""
    return foreseen_little(plan)


def foreseen_little(plan: Plan) -> str:
    """Say which questions of a plan would say next to nothing; nothing where there are none."""
    halves = [(question, plan[question.name].half_width(0.95)) for question in plan.sheet]
    few = [(question, half) for question, half in halves if verdict(half, question.yardstick) == "useless"]
    if not few:
        return ""
    told = "; ".join(
        _("“{question}” {half}", question=plan.sheet.text_said(question), half=plan.sheet.plus_minus(question, half))
        for question, half in few
    )
    return _(
        "{many} will say next to nothing with the people who are here: {told}. Announced all the same, what people allow would "
        "be given away for it: ask more people first, or cancel and ask for less.",
        many=_so_many(len(few), len(halves)),
        told=told,
    )


def _so_many(few: int, all_: int) -> str:
    if all_ == 1:
        return _("The result")
    return _("{questions} of {all}", questions=count(few, "question", "questions"), all=all_)


def _window_words(service: Service, visitor: Visitor, found: Campaign) -> str:
    """Say until when people look at their deal, where nothing can be closed before."""
    end = deadlines.deal_until(service, visitor, found.id) if found.draft.sealed and found.next_step is None else None
    if end is None or found.state not in ("announced", "answers") or service.clock() >= end:
        return ""
    return _(
        "Until {day} people look at their deal, change answers or withdraw. There is nothing to do before: then close answers.",
        day=day(end),
    )
