"""What a plan gives each question of a sheet, and what that costs the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.wording.numbers import percent, plain

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.planning import Plan
    from optin.planning.question_plan import QuestionPlan
    from optin.questions import Question

HEADER = ("question", "kind", "of epsilon", "standard error", "±", "as accurate as", "without it")
MEANINGS = (
    "standard error and ±: in points where proportions are published; as accurate as: so many people without noise;"
    " without it: the same for the other questions, were it not asked"
)


@dataclass(frozen=True)
class QuestionLine:
    """One question of a plan, and the effective people of the others without it; None where there is no other."""

    planned: QuestionPlan
    effective_without: float | None

    def cells(self) -> tuple[str, ...]:
        """Write it for people to read."""
        each, without = self.planned, self.effective_without
        points = each.question.proportion
        return (
            each.name,
            each.question.kind,
            percent(each.epsilon_share),
            plain(each.standard_error * (100 if points else 1)),
            half_of(each.question, each.half_width()),
            comparable_people(each.effective_people),
            "-" if without is None else comparable_people(without),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return numbers for scripts."""
        return {"effective_without": self.effective_without}


@dataclass(frozen=True)
class QuestionTable:
    """The questions of a plan, in the order of the sheet."""

    lines: tuple[QuestionLine, ...]

    def show(self) -> None:
        """Print them as a table."""
        screen.columns("Questions", HEADER, [line.cells() for line in self.lines], texts=2)
        screen.say(MEANINGS)


def question_table(plan: Plan, agents: Agents) -> QuestionTable:
    """Look at every question of a plan, and plan the others without it."""
    return QuestionTable(tuple(QuestionLine(each, each.effective_without(agents)) for each in plan.questions))


def sheet_accuracy(plan: Plan) -> list[tuple[str, str]]:
    """Say how accurate all questions are together, and what that leaves out."""
    gaps = "none if limits and answers are unrelated, else at most {tilt:.3f} x the gap (max_gap of a question)"
    if plan.asked.gapped:
        gaps = "as far as questions state a max_gap, the ± allows for it; else at most {tilt:.3f} x the gap"
    return [
        ("as accurate as", plan.accuracy_words()),
        *wish_rows(plan),
        ("tilt", f"{plan.tilt:.3f}: the share of weight moved from strict to willing people"),
        ("bias", gaps.format(tilt=plan.tilt)),
    ]


def wish_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say whether the standard errors wished for are met, where some were."""
    if plan.wish_met is None:
        return []
    if plan.wish_met:
        return [("wished errors", "met by every question")]
    return [("wished errors", f"not met: standard errors are {plan.theta**0.5:.3g} times those wished for")]


def half_of(question: Question, half: float) -> str:
    """Write half of an interval in points of a hundred, or in the unit of the answers."""
    return question.plus_minus(half).removeprefix("± ")


def comparable_people(number: float) -> str:
    """Write a number of people that is only a comparison: which has no halves.

    >>> comparable_people(3168.84), comparable_people(8.26), comparable_people(0.142)
    ('3,169', '8.3', '0.14')
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
