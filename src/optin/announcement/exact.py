"""E13's arithmetic without rounding: variance and noise from exact sums of grains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from optin.announcement.numbers import ExactNumbers, ExactSums, PublicNumbers
from optin.kernel.coarse import told_up
from optin.kernel.noise import variance
from optin.kernel.rounding import GRAIN, exact_epsilon, nearest
from optin.kernel.sharing import SHARES
from optin.questions import Question, Sheet


def exact_variance(question: Question, sums: ExactSums, *, noiseless: bool = False) -> Fraction:
    """Compute E13's V_A = (sigma^2 sum A^2 + kappa R^2 2^64) / (sum A)^2 of one question without rounding."""
    noise = 0 if noiseless else question.exact_noise_constant * int(GRAIN) ** 2
    return variance(Fraction(question.data_variance), sums.total_squared_grains, sums.total_grains, noise)


def promised_accuracy(sheet: Sheet, sums: Sequence[ExactSums], *, noiseless: bool = False) -> Fraction:
    """Compute what people with costs are promised: the variance of one question, or the largest v = V / sigma^2 (E18)."""
    variances = [
        exact_variance(question, each, noiseless=noiseless) for question, each in zip(sheet, sums, strict=True)
    ]
    if len(variances) == 1:
        return variances[0]
    return max(own / Fraction(question.data_variance) for question, own in zip(sheet, variances, strict=True))


def noise_of(sums: ExactSums, share: int) -> Fraction:
    """Return 1/E, E the sum of what those who answer a question give to all questions, which gets so many 2^-20ths of it."""
    return Fraction(share, SHARES) / exact_epsilon(sums.total_grains)


def squares_of(sums: ExactSums) -> Fraction:
    """Return the sum of squared weights."""
    return Fraction(sums.total_squared_grains, sums.total_grains**2)


def told_of(sums: ExactSums, share: int, announced: int) -> tuple[float, float]:
    """Return 1/E and squared weights as the public is told of them where so many people were announced: rounded up."""
    return told_up(noise_of(sums, share), announced), min(told_up(squares_of(sums), announced), 1.0)


def exact_numbers(sheet: Sheet, public: PublicNumbers, sums: tuple[ExactSums, ...]) -> ExactNumbers:
    """State all that follows from exact sums, each rounded to the nearest float; where they are 0, that nothing does."""
    if not all(each.total_grains for each in sums):
        endless = (math.inf,) * len(sums)
        return ExactNumbers(replace(public, variances=endless, noises=endless, squares=(1.0,) * len(sums)), sums)
    questions = list(zip(sheet, sums, strict=True))
    numbers = replace(
        public,
        variances=tuple(
            nearest(exact_variance(question, each, noiseless=public.noiseless)) for question, each in questions
        ),
        noises=tuple(
            0.0 if public.noiseless else nearest(noise_of(each, share))
            for each, share in zip(sums, public.shares, strict=True)
        ),
        squares=tuple(nearest(squares_of(each)) for each in sums),
    )
    return ExactNumbers(numbers, sums)
