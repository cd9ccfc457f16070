"""The page: a sentence that says it all, four numbers, the sections, and the privacy sheet."""

from __future__ import annotations

import math

from optin._version import __version__
from optin.agents import Description
from optin.errors import BadInput
from optin.planning import Plan
from optin.questions import Question, Sheet
from optin.releasing import Release
from optin.report import plan_sections, release_sections
from optin.report.assumption import assumption_of
from optin.report.group_page import group_body
from optin.report.group_sections import Shares
from optin.report.markup import Markup, joined, paragraphs, tag
from optin.report.privacy import privacy_sheet
from optin.report.section import section, tiles, warned
from optin.report.sheet_page import sheet_body
from optin.report.style import STYLE
from optin.wording.numbers import (
    count,
    counted_between,
    ends,
    largest,
    meaningful,
    odds_factor,
    part,
    people_like,
    plus_minus,
    short,
)

GUARD = "A plan with --max-gap"


def page(
    *, plan: Plan | None, description: Description | None, release: Release | None, population: Shares = None
) -> str:
    """Lay out everything that is known as one HTML document that loads nothing."""
    title, body = _body(plan, description, release, population)
    head = joined(
        (
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", title),
            Markup(f"<style>{STYLE}</style>"),
        )
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', tag('main', body)), lang='en')}\n"


def _body(
    plan: Plan | None, description: Description | None, release: Release | None, population: Shares
) -> tuple[str, Markup]:
    asked = plan if release is None else release
    if asked is None:
        raise BadInput("there is nothing to report: give a plan or a release")
    if asked.grouped:
        title, body = group_body(plan, release, population)
        return title, joined((body, _footer()))
    body_of = _of_one_number if asked.sheet.one_number is not None else sheet_body
    title, body = body_of(plan, description, release)
    return title, joined((body, _footer()))


def _of_one_number(plan: Plan | None, description: Description | None, release: Release | None) -> tuple[str, Markup]:
    title, parts = "", list[Markup]()
    if release is not None:
        title = _release_title(release)
        parts += [_release_header(release, description), release_sections.result_section(release).written()]
        if plan is None:
            parts += [release_sections.error_section(release).written()]
    elif plan is not None:
        title = f"A plan for {count(plan.people)}"
        parts += [_plan_header(plan, title, description)]
    if plan is not None:
        parts.append(_of_plan(plan, description, release))
    parts.append(_privacy(plan, release))
    parts += [release_sections.offer_section(release)] if release is not None else []
    parts += [section("The plan in numbers", below=plan_sections.plan_numbers(plan))] if plan is not None else []
    return title, joined(parts)


def _of_plan(plan: Plan, description: Description | None, release: Release | None) -> Markup:
    if description is None:
        return plan_sections.error_section(plan, None, release).written()
    return joined(part.written() for part in plan_sections.plan_sections(plan, description, release))


def _asked(sheet: Sheet) -> Markup:
    """Say what was measured, word for word, where there are words: what it is about, the question and its unit."""
    about = [f"About: {sheet.title}"] if sheet.title else []
    return paragraphs(*about, *(f"The question: {words}" for words in map(_question, sheet) if words))


def _question(question: Question) -> str:
    """Write a question and what its values are counted in, whichever of them is known."""
    unit = f"in {question.unit}" if question.unit else ""
    named = question.text or (question.name if unit else "")
    return f"{named} ({unit})" if named and unit else named


def _plan_header(plan: Plan, title: str, description: Description | None) -> Markup:
    half = plan.half_width()
    price = (
        ". No noise is added: everyone who counts set no limit."
        if math.isinf(plan.eta)
        else ", and nobody gives more privacy than they allowed."
    )
    lead = f"The published mean will be within about {plus_minus(half)} of the true mean, 95 times out of 100{price}"
    shared = f"Values between {short(plan.bounds[0], 6)} and {short(plan.bounds[1], 6)}. Errors are in the same unit."
    head = (tag("p", shared, class_="kicker"), tag("h1", title), tag("p", lead, class_="lead"), _asked(plan.sheet))
    holds = tag("p", assumption_of(plan, GUARD))
    return joined((tag("header", *head, holds, warned(plan.warnings(description))), tiles(_plan_tiles(plan, half))))


def _plan_tiles(plan: Plan, half: float) -> list[tuple[str, str]]:
    exact = math.isinf(plan.eta)
    return [
        (plus_minus(half), "around the true mean in 95 of 100 cases, sampling, noise and possible bias together"),
        (largest(plan.cap) if plan.pooled_people and not exact else "no cap", _cap_words(plan)),
        (
            f"{part(plan.pooled_people, plan.people)} of {plan.people:,}",
            "set no limit, and they alone count"
            if exact
            else "are asked for no more than the cap; any limit above it stays unused",
        ),
        (
            people_like(plan.worst_case_people),
            "would give an exact mean as accurate as this"
            + (
                f", with its largest bias; without the gap {people_like(plan.effective_people)}"
                if plan.max_gap > 0
                else ""
            ),
        ),
    ]


def _cap_words(plan: Plan) -> str:
    if math.isinf(plan.eta):
        return "no noise, no protection: everyone who counts set no limit"
    if not plan.pooled_people:
        return "needed: everyone gives all they allow"
    odds = (
        f": it changes the odds of any conclusion by a factor of at most {odds_factor(plan.cap)}"
        if plan.cap < 5
        else ""
    )
    return f"is the most epsilon anyone gives{odds}"


def _release_header(release: Release, description: Description | None) -> Markup:
    total, error = release.total_interval(0.95), release.standard_error
    offer = release.announcement
    cut = ", before it is cut at the bounds" if {total.low, total.high} & {*offer.bounds} else ""
    price = (
        "no noise was added, for nobody who counts set a limit"
        if offer.noiseless
        else "nobody gave more privacy than they allowed"
    )
    lead = (
        f"The mean of values {counted_between(offer.bounds)} is estimated at {meaningful(release.estimate, error)}. "
        "With 95 % confidence the population's mean of them lies between "
        f"{' and '.join(ends(total, error))}; ± is half of that interval{cut}. "
        f"{release.joined_people:,} of {count(offer.people)} joined{_idle(description)}; {price}."
    )
    kicker = tag("p", f"Campaign {offer.campaign}, round {offer.round}", class_="kicker")
    holds = tag("p", release.assumption(GUARD))
    head = (kicker, tag("h1", _release_title(release)), tag("p", lead, class_="lead"), _asked(release.sheet))
    return tag("header", *head, holds, warned(release.warnings(description)))


def _idle(description: Description | None) -> str:
    """Tell people who can join and count for nothing, where the plan knows them."""
    if description is None or not description.zeros:
        return ""
    return (
        f" (of all announced, {part(description.zeros, description.people)} have nothing to give and count for nothing)"
    )


def _release_title(release: Release) -> str:
    half = release.half_width(0.95)
    figure = f"{meaningful(release.estimate, release.standard_error)} {plus_minus(half)}".replace(
        " ", "\N{NO-BREAK SPACE}"
    )
    return f"The mean is {figure}, of values {counted_between(release.announcement.bounds)}"


def _privacy(plan: Plan | None, release: Release | None) -> Markup:
    offer = plan if release is None else release.announcement
    assert offer is not None  # noqa: S101 - checked in _body
    return section("Privacy sheet", below=privacy_sheet(offer))


def _footer() -> Markup:
    merged = "In pictures of limits, bars of fewer than 10 people are merged."
    words = f"Made by optin {__version__}. {merged} This page loads nothing and sends nothing."
    return tag("footer", tag("p", words))
