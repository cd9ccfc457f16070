"""The page of a plan over a sheet: what each question takes, and how accurate it will be."""

from __future__ import annotations

import math

from optin import figures
from optin.agents import Description
from optin.figures.answers import rows_height
from optin.planning import Plan
from optin.planning.size import verdict
from optin.planning.telling import accuracy_words
from optin.questions import Question
from optin.report.markup import Markup, joined, paragraphs, table, tag
from optin.report.section import Pictured, facts, note, section, tiles, warned
from optin.wording.language import N_, _, localised
from optin.wording.numbers import count, largest, part, people_like, percent, short

VERDICT_WORDS = (N_("good"), N_("poor"), N_("useless"))
VERDICTS = N_(
    "± up to a fifth of the sd of an answer is good, up to a half poor, more useless; of a proportion ± 10 and ± 25"
    " points."
)


def plan_header(plan: Plan, description: Description | None) -> Markup:
    """Say in a few sentences what is planned."""
    asked = f"{len(plan.sheet)} questions share" if len(plan.sheet) > 1 else "One question has"
    price = (
        "No noise is added: everyone who counts set no limit."
        if plan.noiseless
        else "Nobody gives more privacy than they allowed."
    )
    lead = f"{asked} everyone's limit. Results will be as accurate as {accuracy_words(plan)}. {price}"
    kicker = [tag("p", plan.sheet.title, class_="kicker")] if plan.sheet.title else []
    head = (*kicker, tag("h1", plan_title(plan)), tag("p", lead, class_="lead"))
    told = [plan.sheet.purpose, f"Asked by {plan.sheet.asked_by}." if plan.sheet.asked_by else ""]
    return joined(
        (
            tag("header", *head, paragraphs(*filter(None, told)), warned(plan.warnings(description))),
            tiles(_tiles(plan)),
        )
    )


def _tiles(plan: Plan) -> list[tuple[str, str]]:
    capped = "are asked for no more than the cap; any limit above it stays unused"
    dearest = max(plan.questions, key=lambda each: each.epsilon_share)
    return [
        (people_like(plan.effective_people), "would give answers as accurate as these without noise"),
        (largest(plan.cap) if plan.pooled_people and not plan.noiseless else "no cap", _cap_words(plan)),
        (
            f"{part(plan.pooled_people, plan.people)} of {plan.people:,}",
            "set no limit, and they alone count" if plan.noiseless else capped,
        ),
        (percent(dearest.epsilon_share), f"of everyone's epsilon goes to “{dearest.name}”, the dearest question"),
    ]


def _cap_words(plan: Plan) -> str:
    if plan.noiseless:
        return "no noise, no protection: everyone who counts set no limit"
    if not plan.pooled_people:
        return "needed: everyone gives all they allow"
    return "is the most epsilon anyone gives, for all questions together"


def plan_title(plan: Plan) -> str:
    """Name the page by whom it is planned for."""
    return f"A plan for {count(plan.people)}"


def shares_section(plan: Plan, *, released: bool = False) -> Pictured:
    """Show what each question takes of everyone's epsilon, and the ± and effective people that it leads to."""
    planned = _(", as planned") if released else ""
    ahead = _(" that was planned for if everyone answers; what came of it stands with the results") if released else ""

    def numbers() -> Markup:
        head = (_("question"), _("share"), _("95 % interval"), _("as accurate as (people)"), _("verdict"))
        shown = table(
            _("Each question{planned}", planned=planned), head, [_row(plan, question) for question in plan.sheet]
        )
        return joined((shown, note(_(VERDICTS))))

    return Pictured(
        name="shares",
        title=_("What each question takes"),
        reading=_(
            "All questions share one limit: one that is dear (many options, a number that hardly differs between people, "
            "or more importance) takes more of everyone's epsilon, and less is left for the others. At the right stands "
            "the ±{ahead}.",
            ahead=ahead,
        ),
        draw=lambda ax, ink: figures.epsilon_shares(ax, plan, ink=ink),
        numbers=numbers,
        height=0.9 + rows_height(tuple(question.name for question in plan.sheet)),
    )


def _like(people: float) -> str:
    """Count people in a column that says that it does."""
    if math.isinf(people):
        return _("any number of")
    return localised(f"{round(people):,}") if round(people) > 1 else people_like(people)


def _row(plan: Plan, question: Question) -> tuple[str, ...]:
    planned = plan[question.name]
    half = planned.half_width(0.95)
    return (
        question.name,
        percent(planned.epsilon_share),
        _half(plan, question),
        _like(planned.effective_people),
        _(verdict(half, question.yardstick)),
    )


TURNOUTS = (1.0, 0.8, 0.6, 0.4)


def turnout_section(plan: Plan) -> Markup:
    """List the ± of each question by how many of those who were asked join."""
    if plan.noiseless:
        return section("If people stay away", "No noise is added: fewer people give what fewer exact answers give.")
    head = ("question", *(f"{percent(turnout)} join" for turnout in TURNOUTS))
    rows = [
        (question.name, *(_half(plan, question, turnout=turnout) for turnout in TURNOUTS)) for question in plan.sheet
    ]
    return section(
        "If people stay away",
        "Promises are frozen when they are announced: whoever joins gives exactly what was promised, however few come. These"
        " are the ± that are left where those who stay away are like the others; whoever skips a question stays away from it.",
        below=table("± by how many join", head, rows),
    )


def _half(plan: Plan, question: Question, *, turnout: float = 1.0) -> str:
    half = plan[question.name].half_width(0.95, turnout=turnout)
    return plan.sheet.plus_minus(question, half)


def plan_numbers(plan: Plan) -> Markup:
    """List the plan's numbers in full, for checking."""
    rows = [
        ("people", f"{count(plan.people)} ({plan.model})"),
        ("questions", f"{len(plan.sheet)}"),
        ("cap on epsilon", largest(plan.cap)),
        ("people at or above the cap", part(plan.pooled_people, plan.people)),
        ("sum of epsilons", f"{plan.epsilon_total:.10g}"),
        ("tilt", f"{plan.tilt:.10g}"),
        *((f"{question.name}: share, standard error, noise scale", _exact(plan, question)) for question in plan.sheet),
    ]
    return facts("As planned, before rounding to grains", rows)


def _exact(plan: Plan, question: Question) -> str:
    planned = plan[question.name]
    return f"{planned.epsilon_share:.10g}, {short(planned.standard_error, 6)}, {short(planned.noise_scale, 6)}"
