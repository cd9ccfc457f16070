"""What a report says of people who stay away: the error that frozen promises leave, by who they are."""

from __future__ import annotations

import numpy as np

from optin import figures
from optin.agents import Description
from optin.figures.accuracy import release_error, turnout_lines
from optin.planning import Plan
from optin.releasing import Release
from optin.report.markup import Markup, joined, table
from optin.report.section import Pictured, note, root
from optin.wording.language import _
from optin.wording.numbers import percent


def turnout_section(plan: Plan, description: Description, release: Release | None) -> Pictured:
    """Show the error against the share of people who stay away, and the release's own."""

    def numbers() -> Markup:
        away = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 0.6])
        lines = turnout_lines(plan, description, away)
        rows = [
            (percent(float(a)), *(root(float(lines[who][i]) ** 2) for who in ("strictest", "random", "generous")))
            for i, a in enumerate(away)
        ]
        head = (_("stay away"), _("strictest first"), _("at random"), _("most open first"))
        left = _("Error with bias") if plan.max_gap > 0 else _("Standard error")
        shown = table(_("{left} left, promises unchanged", left=left), head, rows)
        return joined((shown, note(*_turnout_notes(plan, release))))

    return Pictured(
        name="turnout",
        title=_("If people stay away"),
        reading=(
            _(
                "Promises are frozen when they are announced: whoever joins gives exactly what was promised, "
                "however few come."
            )
            + _band_words(plan)
        ),
        draw=lambda ax, ink: figures.turnout(ax, plan, description, release=release, ink=ink),
        numbers=numbers,
    )


def _band_words(plan: Plan) -> str:
    """Say what holds for any people who stay away; the bias of absent people has no such band."""
    if plan.max_gap > 0:
        return _(
            " The error counts the largest bias at the declared gap: who stays away counts for nothing, and "
            "may differ by as much."
        )
    return "" if plan.eta_given else _(" Whoever stays away, the error lies in the shaded band.")


def _turnout_notes(plan: Plan, release: Release | None) -> list[str]:
    notes = []
    if plan.promised_variance is not None:
        notes.append(
            _(
                "Promised: a standard error of {root} or better; else nothing is released.",
                root=root(plan.promised_variance),
            )
        )
    if release is not None:
        gone = percent(1.0 - release.joined_people / plan.people)
        bias = (
            _(", error with its bias {root}", root=root(release_error(release) ** 2)) if release.bias_bound > 0 else ""
        )
        notes.append(
            _(
                "This release: {gone} stayed away, standard error {root}{bias}.",
                gone=gone,
                root=root(release.variance),
                bias=bias,
            )
        )
    return notes
