"""What ``optin plan`` says beyond the plan: what a wanted accuracy would take, and what is left if people decline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.errors import BadInput
from optin.wording.numbers import people_like, plain

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.planning import Plan
    from optin.planning.question_plan import QuestionPlan

_DECLINED = "If they decline after the announcement (promises stay as they are)"


def share_of(text: str) -> float:
    """Read a share of people: 20% or 0.2.

    >>> share_of("20%"), share_of("0.2")
    (0.2, 0.2)
    """
    bare = text.strip()
    try:
        share = float(bare.removesuffix("%")) / (100 if bare.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise BadInput("--without takes a share of people between 0 and 100 %: for instance 20%")
    return share


def target_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say whether the wanted accuracy is reached, and what would reach it, question by question."""
    several = len(plan.sheet) > 1
    return [
        (f"{each.name}: {label}" if several else label, text)
        for each in plan.questions
        for label, text in _target_of(each, plan)
    ]


def _target_of(question: QuestionPlan, plan: Plan) -> list[tuple[str, str]]:
    target, error = question.target, plain(question.standard_error)
    if target is None:
        return []
    if target.reached:
        return [("reached", f"yes: {error} is at most {plain(target.error)}")]
    lines = [
        ("reached", f"no: {error} is above {plain(target.error)}"),
        ("with more people", _enough_people(target.people_needed, plan.people)),
    ]
    if plan.model == "quasi-linear":
        return lines
    return [*lines, ("or other limits", _enough_limit(target.limit_needed))]


def _enough_people(people: int | None, planned: int) -> str:
    if people is None:
        return "no number of people like these would reach it"
    return f"{people:,} like these would reach it, {people / planned:.3g} times as many"


def _enough_limit(limit: float | None) -> str:
    if limit is None:
        return "no limit would do: even without noise so few people are not accurate enough"
    return f"a limit of {plain(limit)} for everyone would reach it with these people"


def absences(plan: Plan, agents: Agents, share: float) -> list[dict[str, Any]]:
    """Foresee what is left if some decline, for a terminal or for scripts."""
    from optin.participation import without

    return [
        {
            "who": a.who,
            "people": a.people,
            "standard_error": a.standard_error,
            "bias_bound": a.bias_bound,
            "worst_case_error": a.worst_case_error,
            "promise_kept": a.promise_kept,
            "effective_people": a.effective_people(plan.data_variance),
        }
        for a in without(plan, agents, share=share)
    ]


def show_absences(cases: list[dict[str, Any]], *, several: bool) -> None:
    """Print what is left, as accuracy of all questions where there are several."""
    some_broken = any(not a["promise_kept"] for a in cases)
    biased = any(a["bias_bound"] > 0 for a in cases) and not several
    bias, promise = ("largest bias", "error with it"), ("promise kept" if several else "promised variance kept",)
    accuracy = "as accurate as" if several else "standard error"
    header = ("who", "people", accuracy, *(bias if biased else ()), *(promise if some_broken else ()))
    lines = [
        (
            a["who"],
            f"{a['people']:,}",
            people_like(a["effective_people"]) if several else plain(a["standard_error"]),
            *((plain(a["bias_bound"]), plain(a["worst_case_error"])) if biased else ()),
            *(("yes" if a["promise_kept"] else "no",) if some_broken else ()),
        )
        for a in cases
    ]
    screen.columns(_DECLINED, header, lines)
