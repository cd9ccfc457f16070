"""What ``optin simulate`` tells of a sheet: each question measured beside computed, and every figure beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.cli.screen import columns, rows
from optin.wording.numbers import largest, people_like

if TYPE_CHECKING:
    from optin.simulation import Figure, SheetOutcome, SheetSimulation


def record(simulation: SheetSimulation) -> dict[str, Any]:
    """Return it for scripts."""
    plan = {
        "people": simulation.plan.people,
        "cap": simulation.plan.cap,
        "effective_people": simulation.plan.effective_people,
        "tilt": simulation.plan.tilt,
    }
    run = {"campaigns": simulation.campaigns, "level": simulation.level, "joined": simulation.joined}
    return run | {"plan": plan, "questions": [_question(outcome) for outcome in simulation.outcomes]}


def _question(outcome: SheetOutcome) -> dict[str, Any]:
    return {
        "name": outcome.question,
        "mse": outcome.mse,
        "mse_error": outcome.mse_error,
        "computed": outcome.computed,
        "released": outcome.released,
        "figures": [_figure(figure) for figure in outcome.figures],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "answer": figure.answer,
        "truth": figure.truth,
        "bias": figure.bias,
        "bias_error": figure.bias_error,
        "mse": figure.mse,
        "coverage": figure.coverage,
        "length": figure.length,
    }


def show(simulation: SheetSimulation) -> None:
    """Show every question, then every figure with its interval."""
    rows(
        f"{simulation.campaigns:,} campaign{'' if simulation.campaigns == 1 else 's'} with {people_like(simulation.plan.people)}",
        [("cap on epsilon", largest(simulation.plan.cap)), ("joined", f"{100 * simulation.joined:.1f} %")],
    )
    header = ["question", "mse", "its s.e.", "computed", "released"]
    expected = "what was computed if everyone joins and answers"
    columns(
        f"Measured, all numbers of a question together, beside {expected}",
        header,
        list(map(_told, simulation.outcomes)),
    )
    columns(
        "Every figure",
        ["question", "answer", "truth", "bias", "length", f"{100 * simulation.level:g} % held"],
        [
            (
                figure.question,
                figure.answer,
                f"{figure.truth:.4g}",
                f"{figure.bias:.2g}",
                f"{figure.length:.4g}",
                "" if figure.coverage is None else f"{100 * figure.coverage:.1f} %",
            )
            for figure in simulation.figures
        ],
    )


def _told(outcome: SheetOutcome) -> tuple[str, ...]:
    numbers = f"{outcome.mse:.4g}", f"{outcome.mse_error:.1g}", f"{outcome.computed:.4g}"
    return outcome.question, *numbers, f"{100 * outcome.released:.4g} %"
