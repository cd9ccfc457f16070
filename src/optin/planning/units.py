"""What the solver counts in: a number in parts of its range, another question as it is, several questions in v (E18)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from optin.errors import BadInput
from optin.kernel.sharing import Demand, combined_price
from optin.questions import Question, Sheet

DEAREST = 1e24
"""A price above this is an sd that nobody could tell from 0."""


@dataclass(frozen=True)
class Units:
    """``spread`` and ``kappa`` as the solver takes them; what it finds, times ``square``, is a variance as people read it.

    ``data_variance`` is that of one answer and ``worst`` the largest that it could be, as people read them too; of several
    questions both are 1, for v counts in declared variances. ``noise`` is kappa times ``square``.
    """

    spread: float
    kappa: float
    noise: float
    square: float
    data_variance: float
    worst: float


def units_of(sheet: Sheet) -> Units:
    """Choose the unit: one number keeps that of its range, so that every digit is what it was before there were sheets."""
    number = sheet.one_number
    if number is not None:
        square = number.width**2
        kappa, noise = number.unit_noise_constant, number.noise_constant
        return Units(number.spread, kappa, noise, square, number.data_variance, square / 4)
    if len(sheet) == 1:
        variance, noise = sheet.alone.data_variance, sheet.alone.noise_constant
        return Units(variance, noise, noise, 1.0, variance, variance)
    price = combined_price(tuple(question.price for question in sheet))
    return Units(1.0, price, price, 1.0, 1.0, 1.0)


def squares_of(sheet: Sheet) -> tuple[float, ...]:
    """Return what turns the solver's variance of each question into that of its answers."""
    if len(sheet) == 1:
        return (units_of(sheet).square,)
    return tuple(question.data_variance for question in sheet)


def demand_of(sheet: Sheet, importance: tuple[float, ...]) -> Demand:
    """Say what a sheet asks of the planner (E18, E19)."""
    return Demand(tuple(question.price for question in sheet), importance, tuple(map(relative_gap, sheet)))


def relative_gap(question: Question) -> float:
    """Return a question's gap over the sd of an answer; of one that is said not to vary there is no such thing."""
    if question.max_gap == 0.0:
        return 0.0
    return question.max_gap / question.yardstick if question.yardstick else math.inf


def check_sds(sheet: Sheet) -> None:
    """Refuse a question whose answers are said not to differ: no number of people is as accurate (E18)."""
    for question in sheet:
        if not question.price <= DEAREST:
            raise BadInput('question "{question}": its sd is too small to measure ± by', question=question.name)
