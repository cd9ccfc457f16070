"""What the announcement gives one person, computed by that person alone from their own limit or cost."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from optin.agents.benefit import LinearBenefit, called
from optin.announcement.offer import Announcement
from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.errors import Argument, BadInput
from optin.grains.arrays import GrainRule, everyone_grains
from optin.grains.splitting import part
from optin.kernel.rounding import above, below, epsilon_of, exact_epsilon, limit_of_text, lowered, nearest
from optin.questions.sheet import question_named
from optin.tables.columns import Rounded
from optin.wording.groups import listed_groups
from optin.wording.numbers import at_least, at_most, plain
from optin.wording.telling import Telling, Told

DUST = 1e-6
"""What part of an epsilon is too little to be of use."""


@dataclass(frozen=True, repr=False)
class QuestionDeal(Told):
    """What one person gives for one question, and how much they count in it."""

    name: str
    grains: int
    epsilon: float
    weight: float

    def telling(self) -> Telling:
        """Say what one question takes of one person."""
        lines = (("epsilon at most", at_most(self.epsilon, 4)), ("weight", plain(self.weight)))
        return Telling(f'Deal for "{self.name}"', lines)


@dataclass(frozen=True, repr=False)
class Deal(Told):
    """What one person is promised, and what it is worth to them.

    ``odds_factor`` is e^epsilon rounded up: whatever anyone believed about this person's value, the release multiplies
    the odds between any two values by at most this. ``margin`` is what is left: of the limit, or (quasi-linear) of the
    utility above the outside option, at the promised variance. ``utility`` is None for people with only a limit.
    """

    grains: int
    epsilon: float
    weight: float
    odds_factor: float
    utility: float | None
    margin: float
    questions: tuple[QuestionDeal, ...] = ()
    """What of it goes to each question: all that somebody gives who answers everything."""

    def __getitem__(self, name: str) -> QuestionDeal:
        return question_named(self.questions, name)

    @property
    def kept(self) -> float:
        """What is left of a limit, for people to read: what rounding to grains leaves, or too little to be of use, is nothing.

        >>> Deal(grains=1, epsilon=0.5, weight=0.1, odds_factor=1.65, utility=None, margin=8.8e-10).kept
        0.0
        """
        dust = (len(self.questions) + 1) * epsilon_of(1) + DUST * self.epsilon
        return 0.0 if self.utility is None and 0.0 <= self.margin <= dust else self.margin

    def rows(self) -> list[tuple[str, str]]:
        """Return the deal as labelled lines."""
        lines = [
            ("epsilon at most", at_most(self.epsilon, 4)),
            ("odds factor", f"{at_most(self.odds_factor, 4)} at most"),
            ("weight", plain(self.weight)),
            ("margin", at_least(self.kept, 4)),
        ]
        if self.utility is not None:
            lines.insert(3, ("utility", at_least(self.utility, 4)))
        return lines

    def telling(self) -> Telling:
        """Say what one person is promised and, of several questions, what each takes."""
        several = self.questions if len(self.questions) > 1 else ()
        takes = tuple((question.name, at_most(question.epsilon, 4)) for question in several)
        return Telling(
            "Deal", tuple(self.rows()), ("question", "takes epsilon at most"), takes, numbers=1, more="deal[name]"
        )

    def __str__(self) -> str:
        lines = [f"{label:<17}{text}" for label, text in self.rows()]
        if len(self.questions) > 1:
            width = max(16, *(len(question.name) for question in self.questions)) + 1
            lines.append("of the epsilon, each question takes at most")
            lines += [f"  {question.name:<{width - 2}}{at_most(question.epsilon, 4)}" for question in self.questions]
        return "\n".join(lines)


def explain(
    announcement: Announcement,
    *,
    limit: float | None = None,
    cost: float | None = None,
    outside: float | None = None,
    benefit: float | Callable[[float], float] | None = None,
    group: str | None = None,
) -> Deal:
    """Tell one person what an announcement gives them, from their own limit (or cost) and nothing about others.

    Where people are in public groups, ``group`` is this person's own: what they give depends on it.

    With a shared benefit the promise follows from the announced surplus; ``benefit`` and ``outside`` then only say how
    this person values it. Where benefits differ between people, both are needed.

    >>> import optin
    >>> agents = optin.PrivacyConstrained([0.5] * 6 + [2.0] * 6)
    >>> offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    >>> print(optin.explain(offer, limit=0.5))
    epsilon at most  0.5
    odds factor      1.649 at most
    weight           0.034
    margin           0
    """
    announcement = _own(announcement, group)
    if announcement.model == PRIVACY_CONSTRAINED:
        return _explain_limit(announcement, limit, (cost, outside, benefit))
    if limit is not None or cost is None:
        raise BadInput(
            "this announcement is for people with costs: give {cost}, not {limit}",
            cost=Argument("cost"),
            limit=Argument("limit"),
        )
    cost = _non_negative("cost", cost, above)
    worth, otherwise = _valuation(announcement, benefit, outside)
    surplus = announcement.surplus if announcement.surplus is not None else worth - otherwise
    parts = _parts(announcement, _limit_of_cost(surplus, cost))
    grains = sum(parts)
    utility = Fraction(worth) - (Fraction(cost) * exact_epsilon(grains) if cost and grains else 0)
    return _deal(announcement, parts, utility=utility, margin=utility - Fraction(otherwise))


def _own(announcement: Announcement, group: str | None) -> Announcement:
    """Return the offer to a person's own group, which they must name where there are some, and only there."""
    if group is not None:
        if not isinstance(group, str):
            raise BadInput("{group} must be a text, the name of a group", group=Argument("group"))
        return announcement.of_group(group)
    if announcement.grouped:
        raise BadInput(
            "this announcement has an offer to each group: say yours with {group}; it is one of {groups}",
            group=Argument("group"),
            groups=listed_groups([label for design in announcement.designs for label in design.labels]),
        )
    return announcement


def _explain_limit(announcement: Announcement, limit: float | None, others: tuple[object, ...]) -> Deal:
    if limit is None or any(other is not None for other in others):
        raise BadInput(
            "this announcement is for people with limits: give {limit} and nothing else (a budget over a cost is one)",
            limit=Argument("limit"),
        )
    limit = _non_negative("limit", limit, below)
    parts = _parts(announcement, limit)
    margin = None if math.isinf(limit) else Fraction(limit) - exact_epsilon(sum(parts))
    return _deal(announcement, parts, utility=None, margin=margin)


def _valuation(
    announcement: Announcement, benefit: float | Callable[[float], float] | None, outside: float | None
) -> tuple[float, float]:
    """Settle what the promised variance is worth to this person, and what they could have otherwise."""
    worth = announcement.benefit_at_promise if benefit is None else benefit
    worth = worth.below if isinstance(worth, LinearBenefit) else worth
    if callable(worth) and announcement.promised_variance is not None:
        worth = called(worth, announcement.promised_variance)
    otherwise = announcement.outside if outside is None else outside
    if worth is None or callable(worth) or otherwise is None:
        raise BadInput(
            "benefit or outside option differ between people here: give your own {benefit} and {outside}",
            benefit=Argument("benefit"),
            outside=Argument("outside"),
        )
    worth, otherwise = _number("benefit", worth, below), _number("outside", otherwise, above)
    if not math.isfinite(worth) or not math.isfinite(otherwise):
        raise BadInput(
            "{benefit} and {outside} must be finite numbers", benefit=Argument("benefit"), outside=Argument("outside")
        )
    return worth, otherwise


def _limit_of_cost(surplus: float, cost: float) -> float:
    """Return E9's limit, surplus over cost, rounded down exactly as for everyone else."""
    if surplus < 0.0:
        return 0.0
    if cost == 0.0:
        return math.inf
    with np.errstate(over="ignore"):
        return float(lowered(np.float64(surplus) / np.array([cost]))[0])


def _parts(announcement: Announcement, limit: float) -> list[int]:
    """Return what each question gets of somebody with this limit, in grains (E20)."""
    one = np.array([limit])
    cap = math.inf if announcement.noiseless else announcement.cap
    capped = everyone_grains(GrainRule(limits=one.__getitem__, people=1, cap=cap))
    return [int(part(capped, share)[0]) for share in announcement.shares]


def _question_deals(announcement: Announcement, parts: list[int]) -> tuple[QuestionDeal, ...]:
    questions = zip(announcement.sheet, parts, strict=True)
    return tuple(
        QuestionDeal(
            question.name,
            grains,
            math.inf if announcement.noiseless and grains else epsilon_of(grains),
            announcement.weight_of(grains, place),
        )
        for place, (question, grains) in enumerate(questions)
    )


def _deal(announcement: Announcement, parts: list[int], *, utility: Fraction | None, margin: Fraction | None) -> Deal:
    grains = sum(parts)
    epsilon = math.inf if announcement.noiseless and grains else epsilon_of(grains)
    return Deal(
        questions=_question_deals(announcement, parts),
        grains=grains,
        epsilon=epsilon,
        weight=announcement.weight_of(grains),
        odds_factor=_odds_factor(epsilon),
        utility=None if utility is None else nearest(utility),
        margin=math.inf if margin is None else nearest(margin),
    )


def _odds_factor(epsilon: float) -> float:
    """Return e^epsilon, rounded up past the error of the library's exp (below one unit in the last place)."""
    if epsilon == 0.0:
        return 1.0
    if epsilon > 709.0:
        return math.inf
    return math.nextafter(math.nextafter(math.exp(epsilon), math.inf), math.inf)


def _non_negative(name: str, number: float, rounded: Rounded) -> float:
    checked = _number(name, number, rounded)
    if not checked >= 0.0:
        raise BadInput("{argument} must be a number of at least 0", argument=Argument(name))
    return checked


def _number(name: str, given: object, rounded: Rounded) -> float:
    with contextlib.suppress(
        TypeError, ValueError, ArithmeticError
    ):  # an error raised inside would carry what was given
        if isinstance(given, str):
            return limit_of_text(given)
        float(given)  # type: ignore[arg-type]
        return rounded(given)
    raise BadInput("{argument} must be a number", argument=Argument(name))
