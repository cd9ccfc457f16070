"""What should make someone stop and look before they go on: never a refusal, always a sentence. All these rules live here.

They read declared numbers and limits, never a value: what is said about a release must not depend on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from optin.agents import Description
from optin.questions import Question
from optin.wording.language import N_, _
from optin.wording.numbers import at_least, largest, plus_minus, short

CLASS = N_("weighted means with fixed weights and one Laplace noise")
"""What a plan is best among, wherever it is called the best."""
HIGHEST_USUAL = 10.0
NEARLY_ALL = 0.9
DUST = 1e-12
"""A tilt below this is rounding: everyone counts alike."""


def cautions(
    *,
    standard_error: float,
    half_width: float,
    width: float,
    data_variance: float,
    high_limits: bool = False,
    description: Description | None = None,
) -> tuple[str, ...]:
    """List what is odd about a plan, an announcement or a release; ``description`` is of stated limits, if known.

    >>> cautions(standard_error=0.6, half_width=1.3, width=1.0, data_variance=0.25)
    ('The standard error, 0.6, is more than half of the range of values, 1: a guess of the midpoint would be better, ...',)
    >>> cautions(standard_error=0.02, half_width=0.04, width=1.0, data_variance=0.25)
    ()
    """
    sentences = (_accuracy(standard_error, width) or _says_nothing(half_width, width), _no_variance(data_variance))
    return (*(sentence for sentence in sentences if sentence), *limit_cautions(description, known=high_limits))


def _accuracy(error: float, width: float) -> str:
    if error <= width / 2:
        return ""
    said = {"error": short(error), "width": short(width)}
    if error > width:
        beside = _("The standard error, {error}, is larger than the whole range of values, {width}", **said)
    else:
        beside = _("The standard error, {error}, is more than half of the range of values, {width}", **said)
    return _(
        "{beside}: a guess of the midpoint would be better, for it is never off by more than half. Ask more people, or "
        "people with higher limits.",
        beside=beside,
    )


def _says_nothing(half: float, width: float) -> str:
    """Say that an interval holds nearly every value there is; whether it is then cut depends on what was drawn."""
    if 2 * half < NEARLY_ALL * width:
        return ""
    return _(
        "The 95 % interval, {half}, is about as wide as the range of values, {width}: the result will "
        "say next to nothing. Ask more people, or people with higher limits.",
        half=plus_minus(half),
        width=short(width),
    )


def _no_variance(data_variance: float) -> str:
    if data_variance > 0:
        return ""
    return _(
        "A standard deviation of 0 was declared: standard errors then count the noise alone, and "
        "intervals are too narrow if values differ. Declare how far values lie apart, or leave it out "
        "for the worst case."
    )


def limit_cautions(description: Description | None, *, known: bool) -> tuple[str, ...]:
    """Say that limits look like percentages; a bucket whose mean is above 10 holds someone above 10."""
    buckets = () if description is None else description.buckets
    if not known and not any(bucket.total > HIGHEST_USUAL * bucket.count for bucket in buckets):
        return ()
    sentence = _(
        "Some limits are above {highest_usual:g}, which hides next to nothing: is this a percentage? A "
        "limit is an epsilon; usual ones are {usual} to 1, and {highest_usual:g} already changes odds by a "
        "factor of {factor:,.0f}.",
        highest_usual=HIGHEST_USUAL,
        usual=0.1,
        factor=math.exp(HIGHEST_USUAL),
    )
    return (sentence,)


def cap_cautions(cap: float, reached: int, *, known: bool) -> tuple[str, ...]:
    """Say that whoever reaches the cap is hidden by next to nothing, unless that was said of limits already.

    >>> cap_cautions(77.5, 1, known=False)
    ('The cap is 77.5, and 1 of the people reach it: their answers are hidden by next to nothing, and they decide the ...',)
    >>> cap_cautions(77.5, 0, known=False), cap_cautions(5.0, 3, known=False)
    ((), ())
    """
    if known or not reached or cap <= HIGHEST_USUAL:
        return ()
    sentence = _(
        "The cap is {cap}, and {reached:,} of the people reach it: their answers are hidden by next to "
        "nothing, and they decide the result. Ask more people, or ask those without a limit for one.",
        cap=largest(cap),
        reached=reached,
    )
    return (sentence,)


class _Foreseen(Protocol):
    """One question as a plan, an announcement or a release foresees it: from declared numbers and limits, never from answers."""

    @property
    def name(self) -> str: ...
    @property
    def question(self) -> Question: ...
    @property
    def epsilon_share(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    def half_width(self) -> float: ...


def sheet_cautions(
    questions: Sequence[_Foreseen], description: Description | None, *, known: bool = False, of_group: bool = False
) -> tuple[str, ...]:
    """List what is odd about a sheet, question by question where there are several; ``known``: some limits are above 10.

    Of one group among others a result that will say next to nothing is named without its numbers, which stand in the table
    of groups: so one sentence is said of all groups of which it is true.
    """
    limits, odd = limit_cautions(description, known=known), _of_group if of_group else _of_question
    if len(questions) == 1:
        return (*odd(questions[0]), *limits)
    own = (
        _('Question "{name}": {sentence}', name=each.name, sentence=sentence)
        for each in questions
        for sentence in odd(each)
    )
    most = (takes_most(each.name, each.question) for each in questions if each.epsilon_share > 0.5)
    return (*own, *most, *limits)


def _of_question(each: _Foreseen) -> tuple[str, ...]:
    half = each.half_width()
    sentences = cautions(
        standard_error=each.standard_error,
        half_width=half,
        width=each.question.width,
        data_variance=each.question.data_variance,
    )
    return (*_in_vain(half, each.question), *sentences)


def _of_group(each: _Foreseen) -> tuple[str, ...]:
    half, width = each.half_width(), each.question.width
    vague = ""
    if _accuracy(each.standard_error, width) or _says_nothing(half, width):
        vague = _("The result will say next to nothing. Ask more people, or people with higher limits.")
    sentences = (vague, _no_variance(each.question.data_variance))
    return (*_in_vain(half, each.question), *filter(None, sentences))


def _in_vain(half: float, question: Question) -> tuple[str, ...]:
    """Say that a question would not be published even if everyone answered it: its own ``max_error`` forbids it."""
    if question.max_error is None or half <= question.max_error:
        return ()
    sentence = _(
        "Its 95 % interval is {half} even if everyone answers, and with max_error it is published up to "
        "{max_error} only: people would be asked in vain. Ask more people, let it matter more, or leave "
        "it out.",
        half=question.plus_minus(half),
        max_error=question.plus_minus(question.max_error),
    )
    return (sentence,)


def takes_most(name: str, question: Question) -> str:
    """Say that one question leaves the others less than half (E18): a sharp number is dear, and so are many options."""
    if question.declares_sd:
        return _(
            'Question "{name}" takes more than half of everyone\'s epsilon: is its sd right, could it matter less, or be left '
            "out?",
            name=name,
        )
    return _(
        'Question "{name}" takes more than half of everyone\'s epsilon: could it have fewer options, matter less, or be left '
        "out?",
        name=name,
    )


def limits_as_values(name: str) -> str:
    """Say that a column is used twice."""
    return _(
        'The column "{name}" is used as limits and as values: what is published is then the mean of people\'s limits.',
        name=name,
    )


def assumption(
    gap: float,
    *,
    width: float,
    max_gap: float,
    tilt: float,
    planned_tilt: float | None = None,
    guard: str = "",
    proportion: bool = False,
) -> str:
    """Say what an interval for the population leaves out; at ``gap`` that alone is as large as its half-width (E22).

    ``guard`` is what planning for a gap is called where this is read. ``planned_tilt`` is that of everyone announced.
    A ``proportion`` differs by points.

    >>> assumption(0.3712, width=1.0, max_gap=0.0, tilt=0.2)
    'The ± counts no error from cautious and open people having different averages: if these lie 0.37 apart, ...'
    >>> assumption(0.3712, width=1.0, max_gap=0.0, tilt=0.2, proportion=True)
    'The ± counts no error from cautious and open people having different proportions: if these lie 37 points apart, ...'
    """
    means = _("proportions") if proportion else _("averages")
    if max_gap > 0:
        return _allowed(max_gap, tilt, tilt if planned_tilt is None else planned_tilt, proportion=proportion)
    if tilt < DUST:
        return _("Everyone counts alike, so the interval holds whether or not limits and values are related.")
    half = _("the smallest ±") if proportion else _("the ±")
    so_far = _(
        "{apart} apart, the most {what}, that error alone can be {share} of {half}.",
        apart=_apart(width, short, proportion=proportion),
        what=_("there is") if proportion else _("within these bounds"),
        share=_share(width / gap),
        half=half,
    )
    if gap <= width:
        so_far = _(
            "{apart} apart, that error alone can be as large as {half}, and half as large at half of that.",
            apart=_apart(gap, _two_digits, proportion=proportion),
            half=half,
        )
    spared = (
        _(" {guard} makes weights more even, and the interval wide enough for a stated difference.", guard=guard)
        if guard
        else ""
    )
    return _(
        "The ± counts no error from cautious and open people having different {means}: if these lie {reach}{spared}",
        means=means,
        reach=so_far,
        spared=spared,
    )


def _allowed(max_gap: float, tilt: float, planned: float, *, proportion: bool) -> str:
    """Say what a declared gap adds, and why that is more than was planned once people have declined."""
    means, gap = _("proportions") if proportion else _("averages"), _apart(max_gap, short, proportion=proportion)
    allows = _(
        "The interval allows for {means} of cautious and open people that differ by up to {gap}", means=means, gap=gap
    )
    if tilt <= planned * (1 + 1e-6):
        return f"{allows}."
    now, before = (_apart(max_gap * each, short, proportion=proportion) for each in (tilt, planned))
    return _(
        "{allows}: {now} of the ±, where {before} was planned, because those who declined may differ by "
        "as much and count for nothing.",
        allows=allows,
        now=now,
        before=before,
    )


def _apart(distance: float, write: Callable[[float], str], *, proportion: bool) -> str:
    """Write how far means or proportions lie apart."""
    return _("{half} points", half=write(100 * distance)) if proportion else write(distance)


def _two_digits(number: float) -> str:
    return at_least(number, 2)


def _share(part: float) -> str:
    """Write a share in per cent, rounded up: an error is at most this."""
    return f"{math.ceil(100 * part * (1 - 1e-12))} %"
