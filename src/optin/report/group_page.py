"""The page of people in groups: results by group, the whole and differences, or the plan of every group."""

from __future__ import annotations

from optin.planning import Plan
from optin.planning.telling_groups import HEAD, PlanOfGroups
from optin.releasing import Release
from optin.releasing.telling import charged_words
from optin.report.group_sections import Shares, question_sections
from optin.report.markup import Markup, joined, paragraphs, table, tag
from optin.report.privacy import privacy_sheet
from optin.report.section import facts, section, warned
from optin.report.sheet_release import header_of, release_title
from optin.wording.groups import merged_in, shown_group
from optin.wording.numbers import count, steady

PUBLIC = (
    "Groups are public: which group a person is in is not protected, and how many joined of a group is told in tens. What a"
    " person answered is protected as it would be without groups."
)


def group_body(plan: Plan | None, release: Release | None, population: Shares = None) -> tuple[str, Markup]:
    """Lay out all that is known of people in groups; title and body."""
    parts: list[Markup] = []
    title = "" if plan is None else f"A plan for {count(plan.people)} in {len(plan.groups):,} groups"
    if release is not None:
        title = release_title(release)
        parts.append(_release_header(release))
        parts += [each for question in release.sheet for each in question_sections(release, question, population)]
    elif plan is not None:
        parts.append(_plan_header(plan, title))
    if plan is not None:
        parts.append(_plan_section(plan))
    parts.append(_privacy(plan, release))
    parts += [] if release is None else [_drawn_section(release)]
    return title, joined(parts)


def _release_header(release: Release) -> Markup:
    withheld = [f"Nothing was published of {shown_group(name)}: {why}." for name, why in release.withheld.items()]
    groups = f", in {len(release.groups):,} groups."
    return header_of(
        release, groups, PUBLIC, warnings=[*release.mostly_noise, *withheld, *merged_in(release.announcement.designs)]
    )


def _plan_header(plan: Plan, title: str) -> Markup:
    lead = "Every group is planned by itself, at its people's full limits: nobody is in two, so groups cost each other nothing."
    head = (tag("h1", title), tag("p", lead, class_="lead"), paragraphs(PUBLIC))
    return tag("header", *head, warned(plan.warnings()))


def _plan_section(plan: Plan) -> Markup:
    told = PlanOfGroups(plan)
    by_group = table("Each group's plan", HEAD, told.rows())
    if any(each.epsilon_total == 0.0 for each in plan.groups.values()):
        return section("The plan by group", below=by_group)
    rows = [_planned_whole(plan, question.name) for question in plan.sheet]
    head = ("question", "±", "standard error", "as one group, at most")
    whole = table("All groups together, planned", head, rows)
    return section("The plan by group", below=joined((by_group, whole)))


def _planned_whole(plan: Plan, name: str) -> tuple[str, str, str, str]:
    total, question = plan.total(name), plan.sheet[name]
    proportion = question.proportion
    scale = 100.0 if proportion else 1.0
    half = question.plus_minus(total.half_width)
    return name, half, steady(scale * total.standard_error, 2), steady(scale * total.ungrouped_standard_error, 2)


def _privacy(plan: Plan | None, release: Release | None) -> Markup:
    offers = plan.parts if release is None and plan is not None else release.announcement.parts  # type: ignore[union-attr]
    return section("Privacy sheet", PUBLIC, below=privacy_sheet(*offers))


def _drawn_section(release: Release) -> Markup:
    offer = release.announcement
    rows = [
        ("release", release.id),
        ("announced", f"{count(offer.people)} in {len(offer.groups):,} groups ({offer.model})"),
        ("joined", f"{count(release.joined_people)}, those with nothing to give included"),
        ("fingerprint", release.fingerprint),
        ("charged", charged_words(release)),
        ("drawn by", f"optin {release.versions.optin}, OpenDP {release.versions.opendp}, {release.versions.mechanism}"),
    ]
    return section("What was announced and drawn", below=facts("Release and announcement", rows))
