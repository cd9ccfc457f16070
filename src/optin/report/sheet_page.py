"""The page of a sheet of several questions, or of one that is no number: results first, then the plan, then privacy."""

from __future__ import annotations

from optin.agents import Description
from optin.planning import Plan
from optin.releasing import Release
from optin.report import sheet_plan, sheet_release
from optin.report.markup import Markup, joined
from optin.report.plan_sections import costs_section, limits_section, weights_section
from optin.report.privacy import privacy_sheet
from optin.report.section import Pictured, section


def sheet_body(plan: Plan | None, description: Description | None, release: Release | None) -> tuple[str, Markup]:
    """Lay out all that is known of a sheet; title and body."""
    parts: list[Markup] = []
    title = "" if plan is None else sheet_plan.plan_title(plan)
    if release is not None:
        title = sheet_release.release_title(release)
        parts += [sheet_release.release_header(release), sheet_release.headline(release)]
        parts.append(sheet_release.question_sections(release))
    elif plan is not None:
        parts.append(sheet_plan.plan_header(plan, description))
    if plan is not None:
        parts += [each.written() for each in plan_sections(plan, description, release)]
        parts.append(sheet_plan.turnout_section(plan))
    parts.append(_privacy(plan, release))
    parts += [] if release is None else [sheet_release.sheet_section(release)]
    parts += [] if plan is None else [section("The plan in numbers", below=sheet_plan.plan_numbers(plan))]
    return title, joined(parts)


def plan_sections(plan: Plan, description: Description | None, release: Release | None) -> list[Pictured]:
    """List what a plan's page shows in pictures; those of people need a description of their limits."""
    sections = [sheet_plan.shares_section(plan, released=release is not None)]
    if description is None:
        return sections
    sections += [limits_section(plan, description), weights_section(plan, description, release)]
    return sections if plan.asked.one_cap or plan.asked.gapped else [*sections, costs_section(plan, description)]


def _privacy(plan: Plan | None, release: Release | None) -> Markup:
    offer = plan if release is None else release.announcement
    assert offer is not None  # noqa: S101 - one of them was given
    return section("Privacy sheet", below=privacy_sheet(offer))
