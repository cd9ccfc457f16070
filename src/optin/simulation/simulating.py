"""simulate(): people who do not exist, asked again and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, overload

import numpy as np

from optin.agents import Agents
from optin.baselines import Baseline, Rule, ValueLaw, levels_for, own_designs
from optin.baselines import designs as designs_for
from optin.baselines.answer_laws import laws_of
from optin.baselines.capped import Capped
from optin.baselines.simulated import expect_generator
from optin.errors import Argument, BadInput
from optin.kernel.pieces import Array
from optin.planning import Plan, plan
from optin.planning.asked import as_sheet
from optin.questions import Question, Sheet
from optin.questions.intervals import check_confidence
from optin.simulation.checked_inputs import agents_of, child, count
from optin.simulation.coverage import half_lengths
from optin.simulation.many_campaigns import Block, CampaignRuns, usable_cores
from optin.simulation.populations import Population
from optin.simulation.record import Outcome, Simulation
from optin.simulation.sheet_record import SheetSimulation
from optin.simulation.sheets import SheetRuns, checked_skipping


@overload
def simulate(
    population: Population | Agents | str,
    sheet: None = None,
    *,
    generator: np.random.Generator,
    campaigns: int = ...,
    people: int = ...,
    bounds: tuple[float, float] = ...,
    mean: float | None = ...,
    sd: float | None = ...,
    gap: float = ...,
    turnout: float | tuple[float, float] = ...,
    data_variance: float | None = ...,
    max_gap: float = ...,
    slack: float = ...,
    designs: Sequence[str] | Mapping[str, str | Rule] = ...,
    level: float = ...,
    workers: int | None = ...,
    progress: Callable[[int, int], None] | None = ...,
) -> Simulation: ...


@overload
def simulate(
    population: Population | Agents | str,
    sheet: Sheet | Sequence[Question] | Question,
    *,
    generator: np.random.Generator,
    campaigns: int = ...,
    people: int = ...,
    answers: Mapping[str, Any] | None = ...,
    skipping: float = ...,
    turnout: float | tuple[float, float] = ...,
    slack: float = ...,
    level: float = ...,
    progress: Callable[[int, int], None] | None = ...,
) -> SheetSimulation: ...


def simulate(
    population: Population | Agents | str,
    sheet: Sheet | Sequence[Question] | Question | None = None,
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
    designs: Sequence[str] | Mapping[str, str | Rule] = (),
    level: float = 0.95,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    answers: Mapping[str, Any] | None = None,
    skipping: float = 0.0,
) -> Simulation | SheetSimulation:
    """Plan once and run the campaign again and again with simulated values, answers and noise.

    ``population`` is a law of limits (or its name in `POPULATIONS`), drawn once, or agents. Values are one of the bounds
    ("coins" with this ``mean``, by default the middle), or uniform around it if ``sd`` is given. ``gap`` relates values
    to limits: people's means rise by so much from the strictest to the most open (fall, if negative). ``turnout`` is the
    chance to join, or two: of the strictest and the most open. The plan declares what is true, unless ``data_variance``
    or ``max_gap`` say otherwise. ``designs`` names baselines to run beside the optimum, on the same values: all of them with
    `optin.baselines.NAMES`; a mapping may hold designs of your own, {"mine": …}, each an `optin.baselines.Rule`. The same
    generator gives the same result, whatever the number of ``workers``.

    With a ``sheet`` every question is answered, but for a part ``skipping`` of the people each; what comes out are all
    figures and how often their intervals held. ``answers`` says by name how a question is answered: {"mean": …, "sd": …}
    of a number, a chance for each option or bin of the others; else as variedly as was declared. One core is used.

    >>> simulation = simulate("two-level", generator=np.random.default_rng(1), campaigns=2000)
    >>> row = simulation.frame().loc["optimum"]
    >>> bool(abs(row["mse"] - row["computed"]) < 4 * row["mse_error"])
    True
    >>> import optin
    >>> sheet = [optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9)]
    >>> simulation = simulate("two-level", sheet, generator=np.random.default_rng(1), campaigns=200)
    >>> [(each.answer, round(each.truth, 9), each.coverage > 0.9) for each in simulation.figures]
    [('yes', 0.5, True), ('no', 0.5, True), ('mean', 40.0, True), ('sd', 9.0, True)]
    """
    expect_generator(generator)
    check_confidence(level)
    run = _Run(generator, count(campaigns, "campaigns"), level, progress)
    agents = agents_of(population, count(people, "people"), generator)
    said: dict[str, Any] = {"mean": mean, "sd": sd, "gap": gap}
    declared: dict[str, Any] = {"data_variance": data_variance, "max_gap": max_gap}
    if sheet is not None:
        _expect_none({**said, **declared, "designs": tuple(designs), "bounds": tuple(bounds) != (0.0, 1.0)})
        return run.of_a_sheet(agents, as_sheet(sheet), answers, _both(turnout), skipping, slack)
    _expect_number(answers, skipping)
    law, variance = _law(bounds, **said, turnout=_both(turnout))
    best = plan(agents, bounds=bounds, slack=slack, **declared | _unless_declared(data_variance, variance))
    rows = _rows(designs, best, agents, (bounds[0] + bounds[1]) / 2 if mean is None else mean)
    return run.of_one_number(best, agents, law, rows, usable_cores() if workers is None else count(workers, "workers"))


def _rows(
    designs: Sequence[str] | Mapping[str, str | Rule], planned: Plan, agents: Agents, mean: float
) -> tuple[Baseline, ...]:
    """Compute the optimum and the designs that are named or given."""
    given = designs if isinstance(designs, Mapping) else {name: name for name in designs}
    named = [name for name in given.values() if isinstance(name, str)]
    own = {name: rule for name, rule in given.items() if not isinstance(rule, str)}
    rows = designs_for(planned, agents, mean=mean, names=named)
    return rows + own_designs(own, planned, levels_for(planned, agents), mean=mean) if own else rows


@dataclass(frozen=True)
class _Run:
    """How often, from which generator, and at which level."""

    generator: np.random.Generator
    campaigns: int
    level: float
    progress: Callable[[int, int], None] | None

    def of_one_number(
        self, planned: Plan, agents: Agents, law: ValueLaw, rows: Sequence[Baseline], cores: int
    ) -> Simulation:
        """Run every design on the same values."""
        limits = planned.limits(agents)
        job = CampaignRuns(law, limits, [row for row in rows if math.isfinite(row.variance)])
        block = job.run(self.campaigns, child(self.generator), workers=cores, progress=self.progress)
        target = planned.bounds[0] + planned.width * float(law.means(limits).mean())
        outcomes = _outcomes(planned, rows, block, target=target, error=check_confidence(self.level))
        return Simulation(planned, self.campaigns, self.level, float(block.joined.mean()) / len(limits), outcomes)

    def of_a_sheet(
        self,
        agents: Agents,
        sheet: Sheet,
        answers: Mapping[str, Any] | None,
        turnout: tuple[float, float],
        skipping: float,
        slack: float,
    ) -> SheetSimulation:
        """Run the optimum, figure by figure."""
        job = SheetRuns(sheet, laws_of(sheet, answers), turnout, checked_skipping(skipping, sheet), self.level)
        planned = plan(agents, sheet, slack=slack)
        return job.run(planned, agents, self.campaigns, child(self.generator), self.progress)


def _unless_declared(data_variance: float | None, variance: float) -> dict[str, Any]:
    """Declare what is true, unless something else is said."""
    return {} if data_variance is not None else {"data_variance": variance}


def _expect_number(answers: object, skipping: object) -> None:
    if answers is not None or skipping != 0.0:
        raise BadInput("answers and skipping are for a sheet of questions: of one number, give mean and sd")


def _both(turnout: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return the chances of the strictest and the most open person; what is no pair is refused by the law."""
    return tuple(turnout) if np.ndim(turnout) else (turnout, turnout)


def _expect_none(given: dict[str, Any]) -> None:
    """Refuse what is said of one number where a sheet says it of each question."""
    named = [name for name, value in given.items() if value]
    if named:
        raise BadInput(
            "{named} goes with one number; of a sheet, each question says what is declared, and answers what is true",
            named=Argument(named[0]),
        )


def _law(bounds: tuple[float, float], **given: Any) -> tuple[ValueLaw, float]:  # noqa: ANN401
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
        turnout=turnout,
    )
    return law, law.most_variance * (hi - lo) ** 2


def _outcomes(
    planned: Plan, rows: Sequence[Baseline], block: Block, *, target: float, error: float
) -> tuple[Outcome, ...]:
    drawn = iter(zip(block.estimates, block.totals, block.squares, block.tilts, strict=True))
    outcomes = []
    for row in rows:
        if math.isinf(row.variance):
            outcomes.append(Outcome(row, np.full(block.estimates.shape[1], math.nan), None))
            continue
        estimates, totals, squares, tilts = next(drawn)
        errors = estimates - target
        if planned.promised_variance is not None and row is rows[0]:
            errors = np.where(
                _left(planned, totals, squares) <= planned.promised_variance * (1 + 1e-9), errors, math.nan
            )
        covered = None
        if isinstance(row.rule, Capped):  # the interval is defined for weights in proportion to epsilon
            rule, joined = row.rule, block.joined
            half = half_lengths(planned, joined, totals, squares, cap=rule.cap, error=error, noiseless=rule.noiseless)
            covered = np.abs(errors) <= half + planned.max_gap * tilts
        outcomes.append(Outcome(row, errors, covered))
    return tuple(outcomes)


def _left(planned: Plan, totals: Array, squares: Array) -> Array:
    """Return the variance that each turnout leaves (E12)."""
    return planned.variance_left(totals, squares)
