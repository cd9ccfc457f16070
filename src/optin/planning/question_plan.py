"""What a plan says of one of its questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.agents import Agents
from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.noise import LAPLACE
from optin.planning.half_widths import half_width_of, tilt_at
from optin.planning.units import relative_gap
from optin.planning.wish import Target
from optin.questions import Question
from optin.questions.intervals import check_confidence
from optin.questions.spending import Spending
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.planning.numbers import PlanNumbers


@dataclass(frozen=True, repr=False)
class QuestionPlan(Told):
    """One question of a plan: its share of everyone's epsilon, and the accuracy that follows.

    ``variance`` is that of all published numbers of the question together, and ``standard_error`` the root of their mean
    variance: for a number, a score or a yes or no, simply the root of the variance.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), [optin.YesNo("break"), optin.YesNo("late")])
    >>> plan["break"].epsilon_share, round(2116 * plan["break"].variance, 9)
    (0.5, 211.0)
    """

    plan: PlanNumbers
    place: int

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.plan.sheet.questions[self.place]

    @property
    def name(self) -> str:
        """Its name within the sheet."""
        return self.question.name

    @property
    def epsilon_share(self) -> float:
        """The part of everyone's epsilon that it gets (E18, E19)."""
        return self.plan.undivided.shares[self.place]

    @property
    def epsilon_total(self) -> float:
        """The sum of all epsilons that are given to it."""
        return self.epsilon_share * self.plan.epsilon_total

    @property
    def variance(self) -> float:
        """V, of all published numbers of this question together."""
        return self.plan.undivided.variances[self.place]

    @property
    def standard_error(self) -> float:
        """The root of the mean variance of its published numbers."""
        return math.sqrt(self.variance / self.question.variance_terms)

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise in a published number; of a choice, of one noise with the variance of its several."""
        if self.epsilon_total == 0.0:
            return math.inf
        if self.plan.sheet.one_number is not None:
            return 1.0 / self.plan.eta
        per_number = self.question.noise_constant / self.question.variance_terms
        return LAPLACE.scale_of(per_number) / self.epsilon_total

    @property
    def effective_people(self) -> float:
        """How many people would be as accurate without noise."""
        return self.question.data_variance / self.variance if self.variance > 0 else math.inf

    @property
    def bias_bound(self) -> float:
        """The largest bias of a published number if means may lie max_gap apart (E15)."""
        return self.question.max_gap * self.plan.tilt

    @property
    def worst_case_mse(self) -> float:
        """The variance with the square of the largest bias at the declared gap; a choice's gap counts in its sds (E18)."""
        if self.plan.sheet.one_number is not None:
            return self.variance + self.bias_bound**2
        return self.variance + self.question.data_variance * (relative_gap(self.question) * self.plan.tilt) ** 2

    @property
    def worst_case_people(self) -> float:
        """The effective people with that bias counted in."""
        return self.question.data_variance / self.worst_case_mse if self.worst_case_mse > 0 else math.inf

    @property
    def spending(self) -> Spending:
        """What its accuracy follows from: the sum of epsilons on it, and the weights of those who give them."""
        plan = self.plan
        heaviest = float(heaviest_weight(plan.people, plan.weight_squares, plan.pooled_weight))
        return Spending(self.epsilon_total, plan.weight_squares, heaviest)

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval that this plan leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average. Of a proportion it is
        that of one half, the widest.
        """
        plan = self.plan
        if self.epsilon_total == 0.0:
            return math.inf
        people, squares, at_cap = plan.people * turnout, plan.weight_squares / turnout, plan.pooled_weight / turnout
        if plan.sheet.one_number is not None:
            scale = self.noise_scale / turnout
            return half_width_of(plan, level, people=people, squares=squares, at_cap=at_cap, scale=scale)
        heaviest = float(heaviest_weight(people, squares, at_cap))
        half = self.question.half_width(
            check_confidence(level), Spending(self.epsilon_total * turnout, squares, heaviest)
        )
        return half + self.question.max_gap * tilt_at(plan, turnout)

    @property
    def wished_error(self) -> float | None:
        """The standard error that was wished for, if any (E19)."""
        return self.plan.wish.errors[self.place] if self.plan.wish.errors else None

    @property
    def target(self) -> Target | None:
        """What a wanted standard error would take, where one was wanted."""
        return self.plan.wish.targets[self.place] if self.plan.wish.targets else None

    def effective_without(self, agents: Agents) -> float | None:
        """Return the effective people of the sheet without this question; None where there is no other.

        The other questions are planned again for the people of this plan: what they lose by this one is the difference.

        >>> import optin
        >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
        >>> plan = optin.plan(people, [optin.YesNo("break"), optin.YesNo("late")])
        >>> round(plan.effective_people, 3), round(plan["late"].effective_without(people), 3)
        (2.507, 3.0)
        """
        from optin.planning.without import effective_without

        return effective_without(self.plan, agents, self.place)

    def telling(self) -> Telling:
        """Say what the plan gives this question."""
        from optin.planning.telling import question_telling

        return question_telling(self)
