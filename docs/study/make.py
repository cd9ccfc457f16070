"""Run the study: ``python docs/study/make.py``, or with a number of releases (and none written) to try it.

``python docs/study/make.py groups`` measures the rows of public groups alone, and leaves the others as they are.

Each campaign draws its people from a data set, with replacement, so that the data set is the population and its mean the
truth; limits are assigned at random (untied) or to the rank of the answer with some noise (tied). Promises, sums, results
and intervals are those of a release; the noise is drawn from a seed, as in `optin.simulate` (of groups
not: they are released for good, `strata`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data import Array, Study, limits, studies
from gap import draw
from strata import group_rows

import optin
from optin.questions import Number, Question, Sheet
from optin.simulation.sheet_record import SheetSimulation
from optin.simulation.sheets import SheetRuns

HERE = Path(__file__).parent
SEED = 20
RELEASES = 2000
COMMAND = "python docs/study/make.py"


@dataclass(frozen=True)
class Drawn:
    """Answers drawn from a data set with replacement; ``tied`` people with large answers have high limits.

    People stand in the order of rising limits, so that placing answers in the order of their noisy ranks ties both.
    """

    values: Array
    tied: bool

    @property
    def variance(self) -> float:
        """The variance of everything published for one person: of numbers their own, of options p (1 - p)."""
        if len(np.unique(self.values)) == 2:
            part = float((self.values == self.values.max()).mean())
            return part * (1.0 - part) * float(np.ptp(self.values)) ** 2
        return float(self.values.var())

    def codes(self, people: int, generator: np.random.Generator) -> Array:
        """Draw answers, and sort them by noisy rank where they are tied."""
        drawn = generator.choice(self.values, people)
        if not self.tied:
            return drawn
        return np.asarray(drawn[np.argsort(drawn + generator.normal(0.0, 2.0 * self.values.std(), people))])

    def expected(self, question: Question) -> tuple[float, ...]:
        """Return the mean level of each cell."""
        return tuple(float(cell.levels(self.values).mean()) / 2**20 for cell in question.cells)


@dataclass(frozen=True)
class Options(Drawn):
    """The same for an answer that is one of several options."""

    @property
    def variance(self) -> float:
        """Add up p (1 - p) over all options."""
        parts = np.unique(self.values, return_counts=True)[1] / len(self.values)
        return float((parts * (1.0 - parts)).sum()) / (2.0 if len(parts) == 2 else 1.0)


def law(study: Study, question: Question, *, tied: bool) -> Drawn:
    """Return how answers to a question are drawn."""
    codes = study.codes(question)
    return Drawn(np.clip(codes, *question.bounds), tied) if isinstance(question, Number) else Options(codes, tied)


def run(
    study: Study, questions: tuple[Question, ...], *, tied: bool, releases: int, people: int | None = None
) -> SheetSimulation:
    """Plan once for these limits, and release again and again."""
    agents = optin.PrivacyConstrained(limits(people or study.people))
    sheet = Sheet(questions)
    job = SheetRuns(sheet, tuple(law(study, q, tied=tied) for q in questions), (1.0, 1.0), 0.0, 0.95)
    return job.run(optin.plan(agents, sheet), agents, releases, np.random.default_rng(SEED), None)


def rows(study: Study, case: str, found: SheetSimulation) -> Iterator[str]:
    """Write a row for the first figure of each question."""
    for outcome in found.outcomes:
        figure = outcome.figures[0]
        predicted = np.sqrt(outcome.computed)
        off, chance = figure.bias / figure.truth, 1.96 * figure.bias_error / abs(figure.truth)
        yield (
            f"| {study.name} | {case} | {outcome.question}: {figure.answer} | {figure.truth:.4g} | {off:+.1%} ± {chance:.1%} "
            f"| {np.sqrt(figure.mse):.3g} | {predicted:.3g} | {figure.coverage:.1%} |"
        )


def alone(study: Study, releases: int) -> Iterator[str]:
    """Ask the first questions one by one, with limits untied and tied."""
    for question in study.questions[:2]:
        for case, tied in (("untied", False), ("tied", True)):
            yield from rows(study, case, run(study, (question,), tied=tied, releases=releases))


def whole_sheets(study: Study, releases: int) -> Iterator[str]:
    """Ask everything at once."""
    asked = study.questions
    yield from rows(study, f"sheet of {len(asked)}", run(study, asked, tied=False, releases=releases))


def groups(releases: int) -> str:
    """Write the section of public groups."""
    lines = (line for study in studies() for line in group_rows(study, releases, SEED))
    stamp = f"`{COMMAND} groups`, seed {SEED} for the answers, {releases:,} releases a row"
    return _spaced(GROUPS.format(head=_head("plan"), rows="\n".join(lines), stamp=stamp))


def _head(second: str) -> str:
    columns = ("data", second, "question: figure", "truth", "bias", "error", "predicted", "95 % held")
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def _spaced(text: str) -> str:
    return re.sub(r"(\d)%", r"\1 %", text)


def page(releases: int) -> str:
    """Write the study."""
    found = studies()
    single = "\n".join(line for study in found for line in alone(study, releases))
    sheets = "\n".join(line for study in found for line in whole_sheets(study, releases))
    sources = "\n".join(f"- **{study.name}**: {study.source}; {study.people:,} are asked" for study in found)
    stamp = f"`{COMMAND}`, seed {SEED}, {releases:,} releases a row"
    text = TEXT.format(head=_head("limits"), single=single, sheets=sheets, sources=sources, stamp=stamp)
    return _spaced(text).replace("GROUPS\n", groups(releases))


def with_new_groups(text: str, releases: int) -> str:
    """Measure the section of groups anew, and leave the rest of a page as it is."""
    before, rest = text.split("## Public groups\n")
    return before + groups(releases) + "\n## What it does not show\n" + rest.split("\n## What it does not show\n")[1]


TEXT = """# A study on real data

<!-- Written by make.py: change it there, and run it again. -->

Does a release do what a plan says, on answers that nobody made up? Four data sets that ship with
[statsmodels](https://www.statsmodels.org) are the populations:

{sources}

Each campaign draws its people from the data set anew, with replacement, so that the mean of the data set is the truth
and the luck of who is asked is in the error. Limits were never asked for: 34 % of people have 0.1, 43 % have 0.5 and
23 % have 1. *Untied*, they have nothing to do with answers. *Tied*, they rise with the answer, with noise of two of its
standard deviations (of yes and no, it is the noes that are open), and nobody tells the plan. Promises, sums, results and
intervals are those of a release; only the noise comes from a seed (of [groups](#public-groups) it does not).

## One question

Bias relative to the truth with its 95 % chance error, root mean squared error measured and predicted from the true
variance, and how often the 95 % interval held. {stamp}.

{head}
{single}

Untied, no bias stands out from chance, errors are as predicted, and intervals hold at least as often as they say.
Tied, the open ones count more and the estimate leans to them; the interval, which was told of no gap, misses in nine of
ten campaigns or nearly always. Of engel's 235 households it is so wide that it still holds often, of incomes as often
as it says, though errors are more than twice the predicted. That is what the [breakdown gap](../how-to/choosing.md)
beside every result warns of, and what `max_gap` is for.

## Sheets

All questions under one limit: the variance of the noise grows with the square of their number. {stamp}.

{head}
{sheets}

GROUPS

## What it does not show

Limits are invented, so nothing is learned about what people would choose. Values outside the bounds are clamped before
the truth is computed: what clamping costs is [another matter](../how-to/bounds.md). Everybody joins; who stays away is
[simulated](../how-to/simulate.md). Coverage is over campaigns, not over laws of values: four data sets are four.
"""

GROUPS = """## Public groups

Here the first of two public groups has a third of the second's limits. *Grouped*, people are registered with their group
(`PrivacyConstrained(limits, groups=...)`), every group is planned and released by itself, and the whole is `total` of the
release by the groups' known shares ([E27](../theory/groups.md)). *Not grouped*, the same answers of the same people are
released by one plan. Unlike above, every row is made of real releases through `optin.release`, whose noise
[takes no seed](../decisions/no-seed.md): another run has the same answers and other noise. The prediction counts the lean
of the weights as well. {stamp}.

{head}
{rows}

Grouped, no bias stands out from chance and intervals hold at least as often as they say. Not grouped, the estimate leans
to the open group, and where the lean is large beside the interval, which knows nothing of it, that holds less often than
it says; yet where the lean is small beside the noise, one estimate with one noise is the more accurate.
"""


if __name__ == "__main__":
    page_path = HERE / "README.md"
    if sys.argv[1:] == ["groups"]:
        page_path.write_text(with_new_groups(page_path.read_text(encoding="utf-8"), RELEASES), encoding="utf-8")
    elif len(sys.argv) > 1:
        sys.stdout.write(page(int(sys.argv[1])))
    else:
        draw(HERE / "error-against-gap.png")
        page_path.write_text(page(RELEASES), encoding="utf-8")
