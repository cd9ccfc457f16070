"""The numbers of a plan, all of which follow from a sheet, a wish and one design."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeVar

from optin.errors import BadInput
from optin.kernel.noise import LAPLACE, variance
from optin.kernel.optimum import Design as Solution
from optin.kernel.pieces import Array
from optin.kernel.sharing import integer_shares
from optin.planning.asked import Asked
from optin.planning.design import Design
from optin.planning.question_plan import QuestionPlan
from optin.planning.shared_numbers import OneQuestion, PromisedVariance, Promising
from optin.planning.units import squares_of
from optin.planning.wish import Target, Wish
from optin.questions import Sheet
from optin.questions.sheet import question_named
from optin.wording.groups import shown_group

N = TypeVar("N", float, Array)


@dataclass(frozen=True, repr=False)
class PlanNumbers(OneQuestion, Promising):
    """What was planned, and every number that follows.

    Cap, people, tilt and effective people are those of the whole sheet. Variance, standard error, ± and the like are those
    of a question, ``plan["hours"]``; where the sheet has one question, the plan has them too.
    """

    sheet: Sheet
    model: str
    designs: tuple[Design, ...]
    wish: Wish = field(default_factory=Wish)
    promise: PromisedVariance | None = None
    within_resolution: bool = False
    high_limits: bool = field(default=False, compare=False)
    """Whether people in memory had limits above 10 when this was planned; not part of what is written."""

    def __getitem__(self, name: str) -> QuestionPlan:
        """Return what is planned for the question of this name; in groups, ask one of `groups`."""
        return question_named(self.questions, name)

    @property
    def questions(self) -> tuple[QuestionPlan, ...]:
        """What is planned for each question, in the order of the sheet."""
        assert self.undivided  # noqa: S101 - BadInput where there are groups
        return tuple(QuestionPlan(self, place) for place in range(len(self.sheet)))

    @property
    def _alone(self) -> QuestionPlan:
        assert self.sheet.alone  # noqa: S101 - raises BadInput where there are several
        return self.questions[0]

    @property
    def asked(self) -> Asked:
        """Sheet and wish, as the planner was asked."""
        return Asked(self.sheet, self.wish)

    @property
    def grouped(self) -> bool:
        """Whether people are in public groups, each with a design of its own (E27)."""
        return self.designs[0].group is not None

    @property
    def undivided(self) -> Design:
        """The one design of people who are not in groups; BadInput where they are."""
        if self.grouped:
            raise BadInput(
                "this plan has one design for each of {count:,} groups: ask for a group's, as in plan.groups[{group}]",
                count=len(self.designs),
                group=shown_group(str(self.designs[0].group)),
            )
        (only,) = self.designs
        return only

    @property
    def people(self) -> int:
        """How many people were planned for, in all groups together."""
        return sum(design.sums.people for design in self.designs)

    @property
    def cap(self) -> float:
        """x: nobody gives more epsilon than this, over all questions; inf without noise."""
        return self.undivided.cap

    @property
    def epsilon_total(self) -> float:
        """The sum of all epsilons, R eta where the sheet is one number."""
        return self.undivided.sums.epsilon_total

    @property
    def noiseless(self) -> bool:
        """Whether no noise is needed, because everyone who counts set no limit."""
        return math.isinf(self.epsilon_total)

    @property
    def integer_shares(self) -> tuple[int, ...]:
        """The epsilon shares as integers that add up to 2^20, largest remainders rounded up (E20)."""
        return self.expect_shares()

    def expect_shares(self) -> tuple[int, ...]:
        """Return the integer shares; BadInput where a question's share is too small to be one."""
        shares = self.undivided.shares
        integers = integer_shares(shares)
        if integers is None:
            raise BadInput(
                'question "{question}" would get less than a millionth of everyone\'s epsilon: the others leave it nothing.'
                " State sds that are not as small, or importance that differs less",
                question=self.sheet.questions[shares.index(min(shares))].name,
            )
        return integers

    @property
    def eta(self) -> float:
        """The Laplace rate in data units: the one given, or the sum of epsilons over R."""
        return self.epsilon_total / self.width if self.wish.eta is None else self.wish.eta

    @property
    def eta_given(self) -> bool:
        """Whether the Laplace rate was given, and not found."""
        return self.wish.eta is not None

    @property
    def slack(self) -> float:
        """Room for decliners (E12)."""
        return self.wish.slack

    @property
    def target(self) -> Target | None:
        """What a wanted standard error would take, where one was wanted."""
        return self._alone.target

    @property
    def noise_constant(self) -> float:
        """kappa, the variance of the noise at scale 1 (E0); P^2 where there are several questions (E18)."""
        return self.asked.kappa

    @property
    def variance(self) -> float:
        """E0's variance of the mean, in data units."""
        return self._alone.variance

    @property
    def tilt(self) -> float:
        """How far the weights are from equal (TV of E15)."""
        return self.undivided.sums.tilt

    @property
    def pooled_people(self) -> int:
        """How many people have a limit at or above the cap."""
        return self.undivided.sums.pooled_people

    @property
    def weight_squares(self) -> float:
        """The sum of squared weights."""
        return self.undivided.sums.weight_squares

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise in data units, 1 / eta."""
        return self._alone.noise_scale

    @property
    def noise_variance(self) -> float:
        """The noise's part of the variance, kappa / eta^2 (E0)."""
        return float(LAPLACE.variance(self.noise_scale)) * self._alone.question.variance_terms

    def variance_left(self, total: N, squares: N) -> N:
        """Return the variance that promises of these sums leave once they are frozen (E12): floats or arrays of them.

        Of several questions it is v, in declared variances, where all have the same effective people.
        """
        return variance(self.data_variance, squares, total, 0.0 if self.noiseless else self.asked.units.noise)

    @property
    def standard_error(self) -> float:
        """The root of the variance, in data units."""
        return self._alone.standard_error

    @property
    def bias_bound(self) -> float:
        """The largest bias if people's means may lie max_gap apart (E15)."""
        return self._alone.bias_bound

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval for the population's mean that this plan leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.

        >>> import optin
        >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
        >>> round(plan.half_width(), 4)
        0.0368
        """
        return self._alone.half_width(level, turnout=turnout)

    @property
    def worst_case_mse(self) -> float:
        """Variance + bias_bound^2."""
        return self._alone.worst_case_mse

    @property
    def pooled_weight(self) -> float:
        """W: the weight of everyone whose limit is at least the cap."""
        if self.epsilon_total == 0.0:
            return 0.0
        return 1.0 / self.pooled_people if self.noiseless else self.cap / self.epsilon_total

    @property
    def tail_constant(self) -> float | None:
        """K: weights are min(W, K limit), or min(W, K / cost); None where everyone has their own surplus."""
        if self.model == "privacy-constrained":
            return 1.0 / self.epsilon_total
        return None if self.surplus is None else self.surplus / self.epsilon_total

    @property
    def effective_people(self) -> float:
        """How many people would be as accurate without noise: 1/v of every question, or of the one that has the fewest.

        Without importance and gaps all questions have the same (E18); with importance it is that of the least important.
        """
        return min(question.effective_people for question in self.questions)

    @property
    def worst_case_people(self) -> float:
        """The same with the largest bias at the declared gap counted in."""
        return min(question.worst_case_people for question in self.questions)

    @property
    def theta(self) -> float:
        """The largest importance times v, bias at a declared gap included: what a plan makes least (E18, E19)."""
        if self.sheet.questions[0].data_variance == 0:
            return math.inf
        return self.asked.demand.theta(tuple(1.0 / each.effective_people for each in self.questions), self.tilt)

    @property
    def wish_met(self) -> bool | None:
        """Whether all wished standard errors are met, which is theta <= 1 (E19); None where none was wished for."""
        return self.theta <= 1.0 if self.wish.errors else None

    def design(self) -> Solution:
        """Return the kernel's view of this plan, in the solver's unit."""
        reach = self.epsilon_total
        unit = self.undivided.variances[0] / squares_of(self.sheet)[0]
        return Solution(self.people, self.cap, reach, self.weight_squares * reach * reach, self.pooled_people, unit)
