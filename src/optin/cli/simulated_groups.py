"""``optin simulate --group …``: groups whose limits and values both differ, asked in three ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from optin.cli.screen import columns, rows
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.simulation import GroupOutcome, GroupSimulation, SimulatedGroup

_FORM = "--group is NAME,PEOPLE,LIMITS,MEAN, such as young,600,careful,0.2"


def groups_given(given: Sequence[str], sd: float | None) -> dict[str, SimulatedGroup]:
    """Read groups as they are written on the command line."""
    groups: dict[str, SimulatedGroup] = {}
    for text in given:
        name, group = _group(text, sd)
        if name in groups:
            raise BadInput("the group {name} is given twice", name=name)
        groups[name] = group
    return groups


def _group(text: str, sd: float | None) -> tuple[str, SimulatedGroup]:
    from optin.simulation import SimulatedGroup

    parts = text.rsplit(",", 3)
    try:
        name, people, limits, mean = parts
        answers = {"mean": float(mean)} | ({} if sd is None else {"sd": sd})
        return name, SimulatedGroup(int(people), _limits(limits), answers)
    except ValueError:
        raise BadInput(_FORM) from None


def _limits(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def record(simulation: GroupSimulation) -> dict[str, Any]:
    """Return it for scripts."""
    run = {
        "campaigns": simulation.campaigns,
        "level": simulation.level,
        "truth": simulation.truth,
        "max_gap": simulation.max_gap,
    }
    return run | {"designs": [_design(outcome) for outcome in simulation.outcomes]}


def _design(outcome: GroupOutcome) -> dict[str, Any]:
    return {
        "design": outcome.design,
        "predicted_bias": outcome.predicted_bias,
        "bias": outcome.bias,
        "bias_error": outcome.bias_error,
        "computed": outcome.computed,
        "mse": outcome.mse,
        "mse_error": outcome.mse_error,
        "coverage": outcome.coverage,
        "length": outcome.length,
    }


def show(simulation: GroupSimulation) -> None:
    """Show what each design does to the figure of everyone together."""
    rows(
        f"{simulation.campaigns:,} campaign{'' if simulation.campaigns == 1 else 's'} over groups, everyone together",
        [("truth", f"{simulation.truth:.4g}"), ("gap allowed for", f"{simulation.max_gap:.4g}")],
    )
    header = [
        "design",
        "bias",
        "predicted",
        "mse",
        "its s.e.",
        "computed",
        "length",
        f"{100 * simulation.level:g} % held",
    ]
    columns("Measured, beside what was computed", header, list(map(_told, simulation.outcomes)))


def _told(outcome: GroupOutcome) -> tuple[str, ...]:
    biases = f"{outcome.bias:.2g}", f"{outcome.predicted_bias:.2g}"
    errors = f"{outcome.mse:.4g}", f"{outcome.mse_error:.1g}", f"{outcome.computed:.4g}"
    held = "" if outcome.coverage is None else f"{100 * outcome.coverage:.1f} %"
    return outcome.design, *biases, *errors, f"{outcome.length:.3g}", held
