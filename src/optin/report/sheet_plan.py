"""The page of a plan over a sheet: what each question takes, and how accurate it will be."""

from __future__ import annotations

import math

from optin import figures
from optin.figures.answers import rows_height
from optin.planning import Plan
from optin.planning.size import verdict
from optin.questions import Question
from optin.questions.telling import is_proportion
from optin.report.markup import Markup, joined, paragraphs, table, tag
from optin.report.section import Pictured, facts, note
from optin.wording.amounts import plus_minus_of
from optin.wording.numbers import count, part, people_like, percent, short

VERDICTS = "± up to a fifth of the sd of an answer is good, up to a half poor, more useless; of a proportion ± 10 and ± 25 points."


def plan_header(plan: Plan) -> Markup:
    """Say in a few sentences what is planned."""
    asked = f"{len(plan.sheet)} questions share" if len(plan.sheet) > 1 else "One question has"
    price = (
        "No noise is added: everyone who counts set no limit."
        if math.isinf(plan.cap)
        else "Nobody gives more privacy than they allowed."
    )
    lead = f"{asked} everyone's limit. Results will be as accurate as exact answers of {people_like(fewest(plan))}. {price}"
    kicker = [tag("p", plan.sheet.title, class_="kicker")] if plan.sheet.title else []
    head = (*kicker, tag("h1", plan_title(plan)), tag("p", lead, class_="lead"))
    told = [plan.sheet.purpose, f"Asked by {plan.sheet.asked_by}." if plan.sheet.asked_by else ""]
    return tag("header", *head, paragraphs(*filter(None, told)))


def plan_title(plan: Plan) -> str:
    """Name the page by whom it is planned for."""
    return f"A plan for {count(plan.people)}"


def fewest(plan: Plan) -> float:
    """Return the effective people of the least accurate question."""
    return min(plan[question.name].effective_people for question in plan.sheet)


def shares_section(plan: Plan) -> Pictured:
    """Show what each question takes of everyone's epsilon, and the ± and effective people that it leads to."""

    def numbers() -> Markup:
        head = ("question", "share", "±", "as accurate as", "verdict")
        shown = table("Each question", head, [_row(plan, question) for question in plan.sheet])
        return joined((shown, note(VERDICTS)))

    return Pictured(
        name="shares",
        title="What each question takes",
        reading=(
            "All questions share one limit: a question that is dear (many options, or a number that hardly differs between"
            " people) takes more of everyone's epsilon, and less is left for the others. The ± stands at the right."
        ),
        draw=lambda ax, ink: figures.epsilon_shares(ax, plan, ink=ink),
        numbers=numbers,
        height=0.9 + rows_height(tuple(question.name for question in plan.sheet)),
    )


def _row(plan: Plan, question: Question) -> tuple[str, ...]:
    found = plan[question.name]
    half = found.half_width(0.95)
    return (
        question.name,
        percent(found.epsilon_share),
        plus_minus_of(half, proportion=is_proportion(question), unit=question.unit),
        people_like(found.effective_people),
        verdict(half, question.yardstick),
    )


def plan_numbers(plan: Plan) -> Markup:
    """List the plan's numbers in full, for checking."""
    rows = [
        ("people", f"{count(plan.people)} ({plan.model})"),
        ("questions", f"{len(plan.sheet)}"),
        ("cap on epsilon", f"{plan.cap:.10g}"),
        ("people at or above the cap", part(plan.pooled_people, plan.people)),
        ("sum of epsilons", f"{plan.epsilon_total:.10g}"),
        ("tilt", f"{plan.tilt:.10g}"),
        *(
            (f"{question.name}: share, standard error, noise scale", _exact(plan, question))
            for question in plan.sheet
        ),
    ]
    return facts("As planned, before rounding to grains", rows)


def _exact(plan: Plan, question: Question) -> str:
    found = plan[question.name]
    return f"{found.epsilon_share:.10g}, {short(found.standard_error, 6)}, {short(found.noise_scale, 6)}"
