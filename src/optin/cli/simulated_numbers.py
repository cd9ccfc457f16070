"""What ``optin simulate`` tells of one number: each design, measured beside computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.cli.screen import columns, rows
from optin.wording.numbers import largest, people_like

if TYPE_CHECKING:
    from optin.simulation import Simulation


def record(simulation: Simulation) -> dict[str, Any]:
    """Return it for scripts."""
    designs = [{"name": o.design.name, **o.figures()} for o in simulation.outcomes]
    plan = {
        "people": simulation.plan.people,
        "cap": simulation.plan.cap,
        "variance": simulation.plan.variance,
        "tilt": simulation.plan.tilt,
    }
    return {
        "campaigns": simulation.campaigns,
        "level": simulation.level,
        "joined": simulation.joined,
        "plan": plan,
        "designs": designs,
    }


def show(simulation: Simulation) -> None:
    """Show each design: measured beside computed."""
    rows(
        f"{simulation.campaigns:,} campaign{'' if simulation.campaigns == 1 else 's'} with {people_like(simulation.plan.people)}",
        [("cap on epsilon", largest(simulation.plan.cap)), ("joined", f"{100 * simulation.joined:.1f} %")],
    )
    header = ["design", "bias", "mse", "its s.e.", "computed", f"{100 * simulation.level:g} % held", "released"]
    lines = [
        (
            o.design.name,
            f"{o.bias:.2g}",
            f"{o.mse:.4g}",
            f"{o.mse_error:.1g}",
            f"{o.design.mse:.4g}",
            "" if o.coverage is None else f"{100 * o.coverage:.1f} %",
            f"{100 * o.released:.4g} %",
        )
        for o in simulation.outcomes
    ]
    expected = "what was computed" if simulation.joined == 1.0 else "what was computed if everyone joins"
    columns(f"Measured, with the standard error of the mse, beside {expected}", header, lines, strong=0)
