"""What groups say together on a terminal and to scripts: the whole, and how far they differ (E27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.errors import BadInput
from optin.wording.groups import shown_group
from optin.wording.numbers import steady

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.planning import Plan
    from optin.questions import Question
    from optin.releasing import Release
    from optin.releasing.across import Total

WHOLE = ("question", "answer", "estimate", "95 % interval", "standard error", "as one group")
MEANINGS = (
    "each group counts by its people{population}, so the whole does not lean towards groups who allow more; as one group: the"
    " standard error that the same promises would have led to at most"
)
PAIRS = ("question", "group", "less", "answer", "difference", "95 % together")


def show_planned(plan: Plan) -> None:
    """Print what the plans of groups will say together."""
    from optin.cli.question_table import half_of

    if any(each.epsilon_total == 0.0 for each in plan.parts):
        return
    rows: list[tuple[str, ...]] = []
    for question in plan.sheet:
        total, scale = plan.total(question.name), _scale(question)
        errors = (steady(scale * total.standard_error, 2), steady(scale * total.ungrouped_standard_error, 2))
        rows.append((question.name, half_of(question, total.half_width), *errors))
    screen.say()
    screen.columns("All groups together", ("question", "±", "standard error", "as one group, at most"), rows, texts=1)


@dataclass(frozen=True)
class Across:
    """What is asked about groups together: the shares of a population, where they are known, and whether differences."""

    shares: Mapping[str, float] | None
    differences: bool

    @classmethod
    def asked(cls, offer: Announcement, population: Path | None, *, differences: bool) -> Across | None:
        """Check what was asked before anything is drawn; None where people are in no groups."""
        from optin.planning.population import made_of, population_shares

        if offer.grouped:
            shares = None if population is None else population_shares(population, made_of(offer.designs))
            return cls(shares, differences)
        if differences or population is not None:
            raise BadInput(
                "{option} is about groups, and this announcement is not to groups: leave it out",
                option="--differences" if differences else "--population",
            )
        return None

    def show(self, drawn: Release) -> None:
        """Print the whole of every question, or why there is none, and differences where they are asked for."""
        totals, missing = _wholes(drawn, self.shares)
        screen.say()
        if totals:
            rows = [row for question, whole in totals for row in _whole_rows(question, whole)]
            screen.columns("All groups together", WHOLE, rows, texts=2)
            screen.say(MEANINGS.format(population="" if self.shares is None else " in the population given"))
        if missing:
            screen.rows("No whole", missing)
        if self.differences:
            _show_differences(drawn)

    def summary(self, drawn: Release) -> dict[str, Any]:
        """Return the whole, and differences where they are asked for, for scripts."""
        totals, missing = _wholes(drawn, self.shares)
        whole = [
            {
                "name": question.name,
                "shares": dict(total.shares),
                "answers": [_figure(*each) for each in zip(total.readings(0.95), _errors(total), strict=True)],
            }
            for question, total in totals
        ]
        told: dict[str, Any] = {"whole": whole, "no_whole": dict(missing)}
        return told | ({"differences": [_pairs(drawn, each) for each in drawn.sheet]} if self.differences else {})


def _show_differences(drawn: Release) -> None:
    """Print the differences of all pairs of groups, with what their intervals promise together."""
    for question in drawn.sheet:
        screen.say()
        try:
            result = drawn.differences(question.name)
        except BadInput as why:
            screen.rows("No differences", [(question.name, str(why))])
            continue
        rows = [
            (question.name, *(shown_group(name)[1:-1] for name in row[:2]), *row[2:])
            for pair in result.pairs
            for row in pair.rows(result.each_level)
        ]
        screen.columns("Differences of groups", PAIRS, rows, texts=4)
        screen.say(result.promise)


def _wholes(
    drawn: Release, shares: Mapping[str, float] | None
) -> tuple[list[tuple[Question, Total]], list[tuple[str, str]]]:
    """Put the whole of each question together; where a group's result is missing, say so."""
    totals, missing = [], []
    for question in drawn.sheet:
        try:
            totals.append((question, drawn.total(question.name, shares)))
        except BadInput as why:
            missing.append((question.name, str(why)))
    return totals, missing


def _whole_rows(question: Question, whole: Total) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for at, (reading, (error, alone)) in enumerate(zip(whole.readings(0.95), _errors(whole), strict=True)):
        scale, after = (100.0, " points") if reading.proportion else (1.0, "")
        told = "" if alone is None else f"at most {steady(scale * alone, 2)}{after}"
        name = "" if at else question.name
        rows.append((name, reading.answer, *whole.written(reading), f"{steady(scale * error, 2)}{after}", told))
    return rows


def _errors(whole: Total) -> list[tuple[float, float | None]]:
    alone = whole.ungrouped or (None,) * len(whole.figures)
    return [(figure.standard_error, other) for figure, other in zip(whole.figures, alone, strict=True)]


def _figure(reading: Any, errors: tuple[float, float | None]) -> dict[str, Any]:  # noqa: ANN401
    return {
        "answer": reading.answer,
        "estimate": reading.estimate,
        "interval_95": [reading.low, reading.high],
        "standard_error": errors[0],
        "ungrouped_standard_error": errors[1],
    }


def _pairs(drawn: Release, question: Question) -> dict[str, Any]:
    try:
        result = drawn.differences(question.name)
    except BadInput as why:
        return {"name": question.name, "missing": str(why)}
    names = ("group", "other", "answer", "estimate", "low", "high")
    rows = [dict(zip(names, row, strict=True)) for row in result]
    return {"name": question.name, "level": result.level, "each_level": result.each_level, "pairs": rows}


def _scale(question: Question) -> float:
    return 100.0 if question.proportion else 1.0
