"""Everything about a plan that is not people: the sheet, and what was wished for, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from optin.agents import Agents, Constrained, Weighing
from optin.errors import Argument, BadInput
from optin.kernel.sharing import Demand, equal_shares
from optin.planning.shared_numbers import OneQuestion
from optin.planning.units import Units, check_sds, demand_of, squares_of, units_of
from optin.planning.wish import Wish
from optin.questions import Number, Question, Sheet
from optin.questions.kinds import number
from optin.questions.number import WIDEST

Errors = float | Mapping[str, float]
"""A standard error for the one question of a sheet, or one by the name of each question."""


@dataclass(frozen=True)
class Asked(OneQuestion):
    """A sheet and a wish, in the units that the solver counts in."""

    sheet: Sheet
    wish: Wish

    @cached_property
    def units(self) -> Units:
        """What the solver counts in."""
        return units_of(self.sheet)

    @property
    def kappa(self) -> float:
        """The noise variance where epsilons add up to 1, in the solver's unit."""
        return self.units.kappa

    @property
    def inflate(self) -> float:
        """What turns a design's unit variance into the variance that is promised."""
        return self.units.square * (1 + self.wish.slack)

    @property
    def reach(self) -> float | None:
        """R eta, the sum of epsilons that a given eta asks for."""
        return None if self.wish.eta is None else self.width * self.wish.eta

    @property
    def gap(self) -> float:
        """The gap of all questions in the solver's unit, where it is the same for all (E15)."""
        number = self.sheet.one_number
        if number is not None:
            return number.max_gap / number.width
        return self.demand.gaps[0] * math.sqrt(self.units.spread)

    @property
    def gapped(self) -> bool:
        """Whether values of some question may be related to limits."""
        return any(question.max_gap > 0 for question in self.sheet)

    @property
    def importance(self) -> tuple[float, ...]:
        """What each question is to have, m times the effective people of another: as stated, or sigma^2 / wished^2 (E19)."""
        if not self.wish.errors:
            return tuple(question.importance for question in self.sheet)
        return tuple(
            question.data_variance / error / error / question.variance_terms
            for question, error in zip(self.sheet, self.wish.errors, strict=True)
        )

    @cached_property
    def demand(self) -> Demand:
        """What is asked of the planner where there are several questions."""
        return demand_of(self.sheet, self.importance)

    @property
    def one_cap(self) -> bool:
        """Whether one cap is kept on purpose, so that other designs could be better (E19)."""
        return len(self.sheet) > 1 and not self.demand.balanced

    @property
    def shares(self) -> tuple[float, ...]:
        """The epsilon shares where all questions get the same effective people (E18)."""
        return equal_shares(self.demand.prices) if len(self.sheet) > 1 else (1.0,)

    def variances(self, unit_variances: Sequence[float]) -> tuple[float, ...]:
        """Turn what the solver found for each question into variances of answers."""
        return tuple(one * square for one, square in zip(unit_variances, squares_of(self.sheet), strict=True))

    def alike(self, unit_variance: float) -> tuple[float, ...]:
        """Do so where it found the same for all."""
        return self.variances((unit_variance,) * len(self.sheet))

    def unit_variance(self, place: int, error: float) -> float:
        """Return the variance in the solver's unit that a standard error of one question stands for."""
        terms = self.sheet.questions[place].variance_terms
        return terms * (error / math.sqrt(squares_of(self.sheet)[place])) ** 2


def value_sheet(
    *,
    bounds: tuple[float, float],
    sd: float | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    max_gap: float = 0.0,
) -> Sheet:
    """Make the sheet of one number called "value" that a plan from bounds alone is about; ``data_sd`` is ``sd``."""
    if sd is not None and data_sd is not None:
        raise BadInput("{data_sd} is another name for {sd}: give one of them", data_sd="data_sd", sd=Argument("sd"))
    given = data_sd if sd is None else sd
    return Sheet(Number("value", bounds=bounds, data_variance=data_variance, sd=given, max_gap=max_gap))  # type: ignore[arg-type]


def as_sheet(given: Sheet | Sequence[Question] | Question) -> Sheet:
    """Take a sheet, a list of questions or a single one for a sheet."""
    return given if isinstance(given, Sheet) else Sheet(given)


def expect_agents(agents: object) -> None:
    """Refuse what is neither of the two models."""
    if not isinstance(agents, Constrained | Weighing):
        raise BadInput("agents must be optin.PrivacyConstrained(limits) or optin.QuasiLinear(costs, benefit=…)")


def asked_of(
    agents: Agents,
    sheet: Sheet,
    *,
    eta: float | None = None,
    slack: float = 0.0,
    wished_errors: Errors | None = None,
) -> Asked:
    """Check what is wished for against the sheet and the people."""
    expect_agents(agents)
    if len(sheet) > 1:
        check_sds(sheet)
    room = number(slack, "slack")
    if not 0 <= room < math.inf:
        raise BadInput(
            "{slack} must be 0 or more: 0.1 leaves room for a variance 10 % above the design's", slack=Argument("slack")
        )
    asked = Asked(sheet, Wish(_checked_eta(sheet, eta), room, _wished(sheet, wished_errors)))
    _fits_model(agents, asked)
    return asked


def _checked_eta(sheet: Sheet, eta: float | None) -> float | None:
    if eta is None:
        return None
    if sheet.one_number is None:
        raise BadInput(
            "{eta} is the Laplace rate of one number; leave it out, and the best noise for this sheet is found",
            eta=Argument("eta"),
        )
    if not 0 < number(eta, "eta") < math.inf:
        raise BadInput(
            "{eta} must be a positive finite number (the Laplace rate in data units); leave it out for the best one",
            eta=Argument("eta"),
        )
    if not 1 / WIDEST < eta * sheet.only.width < WIDEST:
        raise BadInput(
            "{eta} times the width of the bounds must lie between {least:.0e} and {most:.0e}",
            eta=Argument("eta"),
            least=1 / WIDEST,
            most=WIDEST,
        )
    return float(eta)


def _wished(sheet: Sheet, given: Errors | None) -> tuple[float, ...]:
    """Return a wished standard error for every question: they decide importance together (E19)."""
    if given is None:
        return ()
    errors = errors_by_name(sheet, given, "wished_errors")
    check_sds(sheet)
    for question in sheet:
        if question.name not in errors:
            raise BadInput(
                '{wished_errors} names no standard error for question "{question}": give one for each question',
                wished_errors=Argument("wished_errors"),
                question=question.name,
            )
        if question.importance != 1.0:
            raise BadInput(
                'question "{question}" has an importance, and {wished_errors} decide importance: give one of the two',
                wished_errors=Argument("wished_errors"),
                question=question.name,
            )
    return tuple(errors[question.name] for question in sheet)


def errors_by_name(sheet: Sheet, given: Errors, argument: str) -> dict[str, float]:
    """Check standard errors by the names of questions; a plain number goes with the one question of a sheet."""
    if not isinstance(given, Mapping):
        if len(sheet) > 1:
            raise BadInput(
                '{argument} takes a standard error for each question by its name, such as {{"{question}": 0.1}}',
                argument=Argument(argument),
                question=sheet.questions[0].name,
            )
        given = {sheet.alone.name: given}
    names = {question.name for question in sheet}
    for name in given:
        if name not in names:
            raise BadInput(
                '{argument} names "{question}", and this sheet has no such question',
                argument=Argument(argument),
                question=name,
            )
    return {name: _checked_error(error, argument) for name, error in given.items()}


def _checked_error(error: float, argument: str) -> float:
    wanted = number(error, argument)
    if not 1 / WIDEST < wanted < WIDEST:
        raise BadInput(
            "{argument} must be a positive finite standard error, in the units of the data", argument=Argument(argument)
        )
    return wanted


def _fits_model(agents: Agents, asked: Asked) -> None:
    weighing = isinstance(agents, Weighing)
    if asked.gapped and weighing:
        raise BadInput(
            "{max_gap} is available for people with limits only; plan people who weigh costs with {none}",
            max_gap=Argument("max_gap"),
            none=Argument("max_gap", 0),
        )
    if weighing and len(asked.sheet) > 1 and any(m != 1.0 for m in asked.importance):
        raise BadInput(
            "importance and wished standard errors are for people with limits; people who weigh costs are promised the"
            " same effective people on every question"
        )
    if asked.wish.slack > 0 and not weighing:
        raise BadInput(
            "{slack} is for people who weigh costs; people with limits are promised no variance",
            slack=Argument("slack"),
        )
