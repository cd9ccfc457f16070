"""``optin simulate``: campaigns with people who do not exist, to see what would happen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.cli import simulate_options as options
from optin.cli import simulated_groups, simulated_numbers, simulated_sheets
from optin.cli.options import AsJson
from optin.cli.plan_options import MaxGap
from optin.cli.screen import print_json
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.questions import Sheet


def simulate_campaigns(
    population: options.Population = "standard",
    people: options.PeopleCount = 1000,
    turnout: options.Turnout = "1",
    group: options.Group = None,
    sheet: options.SheetFile = None,
    skipping: options.Skipping = 0.0,
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
    campaign. Nothing real is read, and nothing real could be: noise here is for experiments only. With a sheet, answers are
    as varied as it declares, and every figure that a release would publish is compared with the truth, and its interval too.
    With groups, one plan for all, one that allows for a gap, and a plan for each group are run side by side.

    Example: optin simulate --population standard --sheet sheet.toml --campaigns 200 --turnout 0.8
    """
    import numpy as np

    if seed < 0:
        raise BadInput("--seed must be 0 or more")
    if group:
        unused = {"--sheet": sheet, "--gap": gap, "--mean": mean, "--skipping": skipping, "--all": others}
        _refuse(unused | {"--turnout": None if turnout == "1" else turnout})
        _of_groups(group, bounds, sd, max_gap, as_json=as_json, campaigns=campaigns, seed=seed, level=level)
        return
    run = {"people": people, "turnout": _turnout(turnout), "campaigns": campaigns, "level": level}
    one_number = {"bounds": bounds, "mean": mean, "sd": sd, "gap": gap, "max_gap": max_gap, "designs": _names(others)}
    asked = {"sheet": _sheet(sheet), "skipping": skipping, **one_number, "workers": workers}
    with _progress(campaigns) as progress:
        simulation = _simulated(population, np.random.default_rng(seed), progress, **run, **asked)
    told = simulated_sheets if sheet is not None else simulated_numbers
    if as_json:
        print_json(told.record(simulation))
    else:
        told.show(simulation)


def _refuse(given: dict[str, object]) -> None:
    """Refuse options that groups have no use for."""
    for name, value in given.items():
        if value:
            raise BadInput("{option} is not for groups: each has its own limits and mean", option=name)


def _of_groups(
    given: list[str],
    bounds: tuple[float, float],
    sd: float | None,
    max_gap: float,
    *,
    as_json: bool,
    **run: Any,  # noqa: ANN401
) -> None:
    """Simulate groups of a number between bounds."""
    import numpy as np

    from optin.questions import Number
    from optin.simulation import simulate_groups

    groups, generator = simulated_groups.groups_given(given, sd), np.random.default_rng(run.pop("seed"))
    question = Number("value", bounds=bounds, sd=sd)
    with _progress(run["campaigns"]) as progress:
        simulation = simulate_groups(
            groups, question, generator=generator, max_gap=max_gap or None, progress=progress, **run
        )
    if as_json:
        print_json(simulated_groups.record(simulation))
    else:
        simulated_groups.show(simulation)


def _simulated(population: str, generator: Any, progress: Any, **asked: Any) -> Any:  # noqa: ANN401
    """Run it; what comes out is a record of one number, or of a sheet."""
    from optin.simulation import simulate

    return simulate(population, generator=generator, progress=progress, **asked)


def _sheet(path: Path | None) -> Sheet | None:
    from optin.questions import Sheet

    return None if path is None else Sheet.from_toml(path)


def _names(others: bool) -> Sequence[str]:
    from optin.baselines import NAMES

    return NAMES if others else ()


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
