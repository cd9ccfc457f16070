"""A plan as people read it: labelled lines, a table of its questions, and what should make them stop and look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.agents import Description
from optin.planning.cautions import cap_cautions, limit_cautions, sheet_cautions
from optin.wording.numbers import as_accurate_as, largest, people_like, percent
from optin.wording.telling import Telling

if TYPE_CHECKING:
    from optin.planning.numbers import PlanNumbers
    from optin.planning.question_plan import QuestionPlan
    from optin.planning.wish import Target

Line = tuple[str, str]
HEADER = ("question", "epsilon share", "standard error", "95 % interval", "as accurate as")


def rows(plan: PlanNumbers) -> list[Line]:
    """Return the plan as labelled lines; those of each question are in its table where there are several."""
    lines = [
        ("people", f"{plan.people:,} ({plan.model})"),
        ("cap on epsilon", f"{largest(plan.cap)} ({plan.pooled_people:,} people have a limit at or above it)"),
        *(_accuracy(plan.questions[0]) if len(plan.sheet) == 1 else ()),
        ("as accurate as", accuracy_words(plan)),
        ("tilt of the weights", f"{plan.tilt:.4g}"),
    ]
    if len(plan.sheet) == 1 and plan.max_gap > 0:
        lines.append(("largest bias", f"{plan.bias_bound:.6g}"))
    if plan.promised_variance is not None:
        lines.append(("promised variance", f"{plan.promised_variance:.6g}{_in_sds(plan)}"))
    if plan.surplus is not None:
        lines.append(("surplus over the outside option", f"{plan.surplus:.6g}"))
    if plan.wish_met is not None:
        lines.append(("wished standard errors", _wish(plan)))
    return [*lines, *(line for question in plan.questions for line in _target(question))]


def _accuracy(question: QuestionPlan) -> list[Line]:
    return [
        ("Laplace noise scale", f"{question.noise_scale:.6g}"),
        ("standard error", question.question.spread_words(question.standard_error)),
        ("95 % interval", question.question.plus_minus(question.half_width())),
    ]


def _in_sds(plan: PlanNumbers) -> str:
    return "" if len(plan.sheet) == 1 else " of what each question's answers vary"


def _wish(plan: PlanNumbers) -> str:
    met = "met" if plan.wish_met else "not met"
    one_cap = ", the best on one cap" if plan.asked.one_cap else ""
    return f"{met} (largest variance over the wished one: {plan.theta:.4g}{one_cap})"


def _target(question: QuestionPlan) -> list[Line]:
    target = question.target
    if target is None:
        return []
    of = "" if len(question.plan.sheet) == 1 else f' of "{question.name}"'
    return [(f"for a standard error{of} of {target.error:g}", _needed(target))]


def _needed(target: Target) -> str:
    people = "no number of" if target.people_needed is None else f"{target.people_needed:,}"
    return f"{people} people like these"


def accuracy_words(plan: PlanNumbers) -> str:
    """Say which exact answers are as accurate, in the same words wherever that is said."""
    if len(plan.sheet) == 1:
        return as_accurate_as(plan.effective_people, plan.worst_case_people if plan.max_gap > 0 else None)
    exact = f"exact answers of {people_like(plan.effective_people)}, on every question"
    if not plan.asked.gapped:
        return f"{exact} or better" if plan.asked.one_cap else exact
    return f"{exact} or better without the gaps, of {people_like(plan.worst_case_people)} with their largest bias"


def question_rows(plan: PlanNumbers) -> list[tuple[str, ...]]:
    """Return a row for each question: its share, standard error, ± and effective people, as `HEADER` says."""
    return [
        (
            each.name,
            percent(each.epsilon_share),
            each.question.spread_words(each.standard_error),
            each.question.plus_minus(each.half_width()),
            people_like(each.effective_people),
        )
        for each in plan.questions
    ]


def plan_telling(plan: PlanNumbers) -> Telling:
    """Say what a person wants to know of a plan: lines, warnings, and the table of questions where there are several."""
    lines = (*rows(plan), *(("warning", sentence) for sentence in warnings_of(plan, None)))
    table = () if len(plan.sheet) == 1 else tuple(question_rows(plan))
    return Telling("Plan", lines, HEADER, table, numbers=1, more="plan[name]")


def question_telling(question: QuestionPlan) -> Telling:
    """Say what a plan says of one question."""
    lines = (
        ("epsilon share", percent(question.epsilon_share)),
        *_accuracy(question),
        ("as accurate as", people_like(question.effective_people)),
    )
    return Telling(f'Plan of "{question.name}"', lines)


def warnings_of(plan: PlanNumbers, description: Description | None, *, of_group: bool = False) -> tuple[str, ...]:
    """List what is odd about a plan, question by question where there are several."""
    sentences = sheet_cautions(plan.questions, description, known=plan.high_limits, of_group=of_group)
    reached = 0 if plan.noiseless else plan.pooled_people
    return (
        *sentences,
        *cap_cautions(plan.cap, reached, known=len(limit_cautions(description, known=plan.high_limits)) > 0),
    )
