"""Results that say next to nothing, in words: decided by who answered and what they gave, never by what was drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from optin.kernel.noise import noise_variance
from optin.planning.size import POOR, verdict
from optin.questions import Question
from optin.questions.spending import Spending
from optin.wording.groups import by_group
from optin.wording.language import _

if TYPE_CHECKING:
    from optin.questions.counted import Counting
    from optin.releasing.record import Release

ERROR = 0.05


def expected_half(release: Release, question: Question) -> float:
    """Return the ± that who answered and what they gave lead to, whatever the answers."""
    counted: Counting = release[question.name].counted
    return question.half_width(ERROR, Spending(counted.reach, counted.weight_squares, counted.heaviest)) + counted.bias


def useless_words(release: Release) -> Iterator[str]:
    """Warn of each result of undivided people that says next to nothing."""
    for question, half in _useless(release):
        said, most = (release.sheet.plus_minus(question, each) for each in (half, POOR * question.yardstick))
        yield _(
            "“{name}” says next to nothing: so few answers lead to {said}, and {most} is the most that is of use.",
            name=release.sheet.text_said(question) if len(release.sheet) == 1 else question.name,
            said=said,
            most=most,
        )


def useless_groups(release: Release) -> tuple[str, ...]:
    """Say of which groups a result says nothing, each sentence once: a reader would take an estimate for a finding."""
    return by_group(
        {name: [_why(own, question) for question, _ in _useless(own)] for name, own in release.groups.items()}
    )


def _too_few(release: Release, question: Question) -> bool:
    """Tell whether so few answers would say nothing without any noise too, and noise is the lesser part of the error."""
    counted: Counting = release[question.name].counted
    alone = question.half_width(ERROR, Spending(math.inf, counted.weight_squares, counted.heaviest))
    noise = noise_variance(question.noise_constant, counted.reach)
    return verdict(alone, question.yardstick) == "useless" and noise <= question.data_variance * counted.weight_squares


def _why(release: Release, question: Question) -> str:
    most = release.sheet.plus_minus(question, POOR * question.yardstick)
    if _too_few(release, question):
        return _(
            "“{name}” says nothing. {most} is the most that is of use, and so few answers are further off than that, even"
            " without noise.",
            name=question.name,
            most=most,
        )
    return _(
        "“{name}” says nothing. {most} is the most that is of use, and the noise under these people's "
        "limits is wider: the estimate is mostly noise, also where it lies outside the bounds of values.",
        name=question.name,
        most=most,
    )


def useless_questions(release: Release) -> dict[str, bool]:
    """Name the published questions of undivided people, or of one group, of which the result says next to nothing.

    Beside each stands whether that is since few answered, and not for noise.
    """
    return {question.name: _too_few(release, question) for question, _half in _useless(release)}


def _useless(release: Release) -> Iterator[tuple[Question, float]]:
    """List the published questions whose ± is useless by the verdict of `optin size`."""
    for question in release.sheet:
        if question.name not in release.dropped:
            half = expected_half(release, question)
            if verdict(half, question.yardstick) == "useless":
                yield question, half
