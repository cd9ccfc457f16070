"""E13's arithmetic without rounding: variance and noise from exact sums of grains."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from optin.announcement.numbers import ExactSums
from optin.kernel.noise import variance
from optin.kernel.rounding import GRAIN, exact_epsilon, nearest
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
    return max(found / Fraction(question.data_variance) for question, found in zip(sheet, variances, strict=True))


def announced_eta(total_grains: int, width: float) -> float:
    """Return E3's eta = sum eps / R, from grains."""
    return nearest(exact_epsilon(total_grains) / Fraction(width))
