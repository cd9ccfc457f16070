"""What a plan by group will lead to for everyone together, and what that costs beside one group (E27)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.kernel.combining import as_one_group
from optin.planning.population import made_of, population_shares
from optin.planning.question_plan import QuestionPlan
from optin.questions.sheet import expect_question
from optin.questions.spending import CombinedSpending
from optin.wording.groups import shown_group

if TYPE_CHECKING:
    from optin.planning.record import Plan


@dataclass(frozen=True)
class PlannedTotal:
    """The whole put together from groups, before anyone has answered.

    ``ungrouped_standard_error`` is what the same promises, or parts of them, would lead to as one group with one draw of
    noise; the best plan without groups is at least as accurate, but tilted where answers go with limits.
    """

    question: str
    shares: Mapping[str, float]
    standard_error: float
    half_width: float
    ungrouped_standard_error: float


def planned_total(plan: Plan, question: str, population: Any = None) -> PlannedTotal:  # noqa: ANN401
    """Add up what every group's plan says of a question."""
    if not plan.grouped:
        raise BadInput("this plan is not by group; plan people with groups, or ask for plan[{name}]", name=question)
    expect_question(plan.sheet, question)
    groups = {name: each[question] for name, each in plan.groups.items()}
    for name, each in groups.items():
        if not math.isfinite(each.variance):
            raise BadInput(
                '"{question}" will have no whole: nobody in group {group} allows anything',
                question=question,
                group=shown_group(name),
            )
    people = {name: each.people for name, each in plan.groups.items()}
    shares = population_shares(people if population is None else population, made_of(plan.designs))
    terms = [(shares[name], each) for name, each in groups.items()]
    variance = math.fsum(share**2 * each.standard_error**2 for share, each in terms)
    return PlannedTotal(question, shares, math.sqrt(variance), _half_width(terms), _ungrouped(list(groups.values())))


def _half_width(terms: list[tuple[float, QuestionPlan]]) -> float:
    spending = CombinedSpending(tuple((share, each.spending) for share, each in terms))
    bias = math.fsum(share * each.bias_bound for share, each in terms)
    return terms[0][1].question.half_width(0.05, spending) + bias


def _ungrouped(groups: list[QuestionPlan]) -> float:
    """Take everyone's promise, or a part of it, as a weight in one mean."""
    asked = groups[0].question
    if all(math.isinf(each.epsilon_total) for each in groups):  # without noise everyone who counts counts alike
        variance = asked.data_variance / sum(each.plan.pooled_people for each in groups)
    else:
        sampling = [asked.data_variance * each.plan.weight_squares for each in groups]
        variance = as_one_group([each.epsilon_total for each in groups], sampling, asked.noise_constant)
    return math.sqrt(variance / asked.variance_terms)
