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
        head = ("stay away", "strictest first", "at random", "most open first")
        left = "Error with bias" if plan.max_gap > 0 else "Standard error"
        shown = table(f"{left} left, promises unchanged", head, rows)
        return joined((shown, note(*_turnout_notes(plan, release))))

    return Pictured(
        name="turnout",
        title="If people stay away",
        reading=(
            "Promises are frozen when they are announced: whoever joins gives exactly what was promised, however few come."
            + _band_words(plan)
        ),
        draw=lambda ax, ink: figures.turnout(ax, plan, description, release=release, ink=ink),
        numbers=numbers,
    )


def _band_words(plan: Plan) -> str:
    """Say what holds for any people who stay away; the bias of absent people has no such band."""
    if plan.max_gap > 0:
        return (
            " The error counts the largest bias at the declared gap: who stays away counts for nothing, and may differ by as"
            " much."
        )
    return "" if plan.eta_given else " Whoever stays away, the error lies in the shaded band."


def _turnout_notes(plan: Plan, release: Release | None) -> list[str]:
    notes = []
    if plan.promised_variance is not None:
        notes.append(
            f"Promised: a standard error of {root(plan.promised_variance)} or better; else nothing is released."
        )
    if release is not None:
        gone = percent(1.0 - release.joined_people / plan.people)
        bias = f", error with its bias {root(release_error(release) ** 2)}" if release.bias_bound > 0 else ""
        notes.append(f"This release: {gone} stayed away, standard error {root(release.variance)}{bias}.")
    return notes
