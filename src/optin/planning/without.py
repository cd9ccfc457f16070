"""What a question costs the others: the same people, planned without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optin.agents import Agents
from optin.errors import BadInput
from optin.planning.asked import Asked
from optin.planning.solve import solved
from optin.questions import Sheet

if TYPE_CHECKING:
    from optin.planning.numbers import PlanNumbers


def effective_without(plan: PlanNumbers, agents: Agents, place: int) -> float | None:
    """Return the effective people of the other questions, had this one not been asked; None if there is no other."""
    expect_planned(plan, agents)
    if len(plan.sheet) == 1:
        return None
    return solved(agents, _without(plan.asked, place)).effective_people


def _without(asked: Asked, place: int) -> Asked:
    questions = asked.sheet.questions
    errors = asked.wish.errors
    left = Sheet([*questions[:place], *questions[place + 1 :]])
    return Asked(left, replace(asked.wish, errors=errors[:place] + errors[place + 1 :], targets=()))


def expect_planned(plan: PlanNumbers, agents: Agents) -> None:
    """Refuse people of another model or number than were planned for."""
    if agents.model != plan.model:
        raise BadInput("this plan is for {model} people, not {other} ones", model=plan.model, other=agents.model)
    if len(agents) != plan.people:
        raise BadInput(
            "the plan was made for {people} people, not {count}: give those planned for",
            people=plan.people,
            count=len(agents),
        )
