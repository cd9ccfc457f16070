"""What ``optin simulate`` tells of one number: each design, measured beside computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.cli.screen import columns, rows
from optin.wording.numbers import largest, people_like

if TYPE_CHECKING:
    from optin.simulation import Simulation


def record(found: Simulation) -> dict[str, Any]:
    """Return it for scripts."""
    designs = [{"name": o.design.name, **o.figures()} for o in found.outcomes]
    plan = {
        "people": found.plan.people,
        "cap": found.plan.cap,
        "variance": found.plan.variance,
        "tilt": found.plan.tilt,
    }
    return {
        "campaigns": found.campaigns,
        "level": found.level,
        "joined": found.joined,
        "plan": plan,
        "designs": designs,
    }


def show(found: Simulation) -> None:
    """Show each design: measured beside computed."""
    rows(
        f"{found.campaigns:,} campaign{'' if found.campaigns == 1 else 's'} with {people_like(found.plan.people)}",
        [("cap on epsilon", largest(found.plan.cap)), ("joined", f"{100 * found.joined:.1f} %")],
    )
    header = ["design", "bias", "mse", "its s.e.", "computed", f"{100 * found.level:g} % held", "released"]
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
        for o in found.outcomes
    ]
    expected = "what was computed" if found.joined == 1.0 else "what was computed if everyone joins"
    columns(f"Measured, with the standard error of the mse, beside {expected}", header, lines, strong=0)
