"""simulate(): people who do not exist, asked again and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from optin.agents import Agents, Constrained, PrivacyConstrained, Weighing
from optin.baselines import Baseline, ValueLaw
from optin.baselines import designs as designs_for
from optin.baselines.capped import Capped
from optin.baselines.simulated import expect_generator
from optin.errors import BadInput
from optin.kernel.ladder import Array
from optin.planning import Plan, plan
from optin.planning.reach import check_level
from optin.simulation.coverage import reaches
from optin.simulation.populations import Population, population_named
from optin.simulation.record import Outcome, Simulation
from optin.simulation.running import Block, Job, usable_cores


def simulate(
    population: Population | Agents | str,
    *,
    generator: np.random.Generator,
    campaigns: int = 1000,
    people: int = 1000,
    bounds: tuple[float, float] = (0.0, 1.0),
    mean: float | None = None,
    sd: float | None = None,
    gap: float = 0.0,
    turnout: float | tuple[float, float] = 1.0,
    data_variance: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    designs: Sequence[str] = (),
    level: float = 0.95,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Plan once and run the campaign again and again with simulated values, answers and noise.

    ``population`` is a law of limits (or its name in `POPULATIONS`), drawn once, or agents. Values are one of the bounds
    ("coins" with this ``mean``, by default the middle), or uniform around it if ``sd`` is given. ``gap`` relates values
    to limits: people's means rise by so much from the strictest to the most open (fall, if negative). ``turnout`` is the
    chance to join, or two: of the strictest and the most open. The plan declares what is true, unless ``data_variance``
    or ``max_gap`` say otherwise. ``designs`` names baselines to run beside the optimum, on the same values: all of them with
    `optin.baselines.NAMES`. The same generator gives the same result, whatever the number of ``workers``.

    >>> found = simulate("two-level", generator=np.random.default_rng(1), campaigns=2000)
    >>> row = found.frame().loc["optimum"]
    >>> bool(abs(row["mse"] - row["computed"]) < 4 * row["mse_error"])
    True
    """
    expect_generator(generator)
    error = check_level(level)
    _whole(campaigns, "campaigns")
    agents = _agents(population, _whole(people, "people"), generator)
    law, variance = _law(agents, bounds, mean=mean, sd=sd, gap=gap, turnout=turnout)
    declared = variance if data_variance is None else data_variance
    found = plan(agents, bounds=bounds, data_variance=declared, max_gap=max_gap, slack=slack)
    rows = designs_for(found, agents, mean=mean, names=designs)
    limits = found.limits(agents)
    job = Job(law, limits, [row for row in rows if math.isfinite(row.variance)])
    cores = usable_cores() if workers is None else _whole(workers, "workers")
    block = job.run(campaigns, _child(generator), workers=cores, progress=progress)
    target = found.bounds[0] + found.width * float(law.means(limits).mean())
    outcomes = _outcomes(found, rows, block, target=target, error=error)
    return Simulation(found, campaigns, level, float(block.joined.mean()) / len(limits), outcomes)


def _agents(population: Population | Agents | str, people: int, generator: np.random.Generator) -> Agents:
    if isinstance(population, Constrained | Weighing):
        return population
    law = population_named(population) if isinstance(population, str) else population
    return PrivacyConstrained(law.limits(people, _child(generator)))


def _law(agents: Agents, bounds: tuple[float, float], **given: Any) -> tuple[ValueLaw, float]:  # noqa: ANN401
    """Turn what was said in data units into a law in units of the range, and the largest variance of anyone's value."""
    try:
        lo, hi = map(float, bounds)
    except (TypeError, ValueError):
        lo = hi = math.nan
    if not 0 < hi - lo < math.inf:
        raise BadInput("bounds must be two numbers (lo, hi) with lo < hi, both finite")
    mean, sd, turnout = given["mean"], given["sd"], given["turnout"]
    if any(n is not None and not isinstance(n, Real) for n in (mean, sd, given["gap"])):
        raise BadInput("mean, sd and gap must be single numbers, in the units of the bounds")
    law = ValueLaw(
        shape="coin" if sd is None else "uniform",
        mean=0.5 if mean is None else (mean - lo) / (hi - lo),
        sd=None if sd is None else sd / (hi - lo),
        gap=given["gap"] / (hi - lo),
        turnout=tuple(turnout) if np.ndim(turnout) else (turnout, turnout),
    )
    return law, law.most_variance * (hi - lo) ** 2


def _outcomes(
    found: Plan, rows: Sequence[Baseline], block: Block, *, target: float, error: float
) -> tuple[Outcome, ...]:
    drawn = iter(zip(block.estimates, block.totals, block.squares, block.tilts, strict=True))
    outcomes = []
    for row in rows:
        if math.isinf(row.variance):
            outcomes.append(Outcome(row, np.full(block.estimates.shape[1], math.nan), None))
            continue
        estimates, totals, squares, tilts = next(drawn)
        errors = estimates - target
        if found.promised_variance is not None and row is rows[0]:
            errors = np.where(_left(found, totals, squares) <= found.promised_variance * (1 + 1e-9), errors, math.nan)
        covered = None
        if isinstance(row.rule, Capped):  # the interval is defined for weights in proportion to epsilon
            rule, joined = row.rule, block.joined
            half = reaches(found, joined, totals, squares, cap=rule.cap, error=error, noiseless=rule.noiseless)
            covered = np.abs(errors) <= half + found.max_gap * tilts
        outcomes.append(Outcome(row, errors, covered))
    return tuple(outcomes)


def _left(found: Plan, totals: Array, squares: Array) -> Array:
    """Return the variance that each turnout leaves (E12)."""
    return found.variance_left(totals, squares)


def _child(generator: np.random.Generator) -> np.random.Generator:
    try:
        return generator.spawn(1)[0]
    except TypeError:
        raise BadInput("this generator cannot be split; make one with numpy.random.default_rng(seed)") from None


def _whole(number: Any, name: str) -> int:  # noqa: ANN401
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 1:
        raise BadInput("{name} must be a whole number, at least 1", name=name)
    return int(number)
