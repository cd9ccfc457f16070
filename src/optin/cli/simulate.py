"""``optin simulate``: campaigns with people who do not exist, to see what would happen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from optin.cli import simulate_options as options
from optin.cli.options import AsJson
from optin.cli.plan_options import MaxGap
from optin.cli.screen import columns, print_json, rows
from optin.errors import BadInput
from optin.wording.numbers import people_like

if TYPE_CHECKING:
    from optin.simulation import Simulation


def simulate_campaigns(
    population: options.Population = "standard",
    people: options.People = 1000,
    turnout: options.Turnout = "1",
    bounds: options.Bounds = (0.0, 1.0),
    mean: options.Mean = None,
    sd: options.Sd = None,
    gap: options.Gap = 0.0,
    max_gap: MaxGap = 0.0,
    campaigns: options.Campaigns = 1000,
    seed: options.Seed = 1,
    others: options.Others = False,
    level: options.Level = 0.95,
    workers: options.Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run campaigns with simulated people and values, and measure how wrong they are.

    People get their limits from a population, the plan is made once, and values, answers and noise are drawn again for every
    campaign. Nothing real is read, and nothing real could be: noise here is for experiments only.

    Example: optin simulate --population standard --campaigns 10000 --turnout 0.8
    """
    import numpy as np

    from optin.baselines import NAMES
    from optin.simulation import simulate

    if seed < 0:
        raise BadInput("--seed must be 0 or more")
    with _progress(campaigns) as progress:
        found = simulate(
            population,
            generator=np.random.default_rng(seed),
            campaigns=campaigns,
            people=people,
            bounds=bounds,
            mean=mean,
            sd=sd,
            gap=gap,
            turnout=_turnout(turnout),
            max_gap=max_gap,
            designs=NAMES if others else (),
            level=level,
            workers=workers,
            progress=progress,
        )
    if as_json:
        print_json(_record(found))
    else:
        _show(found)


def _turnout(text: str) -> tuple[float, float]:
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2):
        raise BadInput("--turnout is a share such as 0.8, or two such as 0.5,0.9")
    return parts[0], parts[-1]


@contextmanager
def _progress(campaigns: int) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far the campaigns are, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("campaigns", total=campaigns)
        yield lambda done, _: bar.update(task, completed=done)


def _record(found: Simulation) -> dict[str, Any]:
    designs = [
        {
            "name": o.design.name,
            "bias": o.bias,
            "bias_error": o.bias_error,
            "mse": o.mse,
            "mse_error": o.mse_error,
            "computed": o.design.mse,
            "coverage": o.coverage,
            "released": o.released,
        }
        for o in found.outcomes
    ]
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


def _show(found: Simulation) -> None:
    rows(
        f"{found.campaigns:,} campaign{'' if found.campaigns == 1 else 's'} with {people_like(found.plan.people)}",
        [("cap on epsilon", f"{found.plan.cap:.4g}"), ("joined", f"{100 * found.joined:.1f} %")],
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
