"""Which two numbers a result will tell apart, and which it will not (E31): a verdict for people who know no epsilon.

A release tells its truth from another number where its 95 % interval leaves that number out. Of a truth that lies the 95 %
half width plus the 90 % half width away, nineteen of twenty releases do so; of one half of the 95 % half width away, hardly any.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from optin.questions import Question
from optin.wording.amounts import plus_minus_of
from optin.wording.language import _
from optin.wording.numbers import count, short

LEVEL, POWER_LEVEL = 0.95, 0.90
"""Of the interval, and of how far an estimate may fall short: one side of 90 % is 19 of 20."""


@dataclass(frozen=True)
class Apart:
    """Two pairs of numbers on the scale of a question: one that is told apart, None where nothing is; one that is not."""

    told: tuple[float, float] | None
    untold: tuple[float, float] | None


def apart_from(question: Question, half: float, half_90: float) -> Apart:
    """Choose the pairs around the middle of a question's scale, in round steps; the first rounded up, the second down (E31).

    >>> from optin.questions import Number, YesNo
    >>> apart_from(Number("hours", bounds=(0, 80), sd=9), 2.1, 1.76)
    Apart(told=(40.0, 44.0), untold=(40.0, 41.0))
    >>> apart_from(YesNo("break"), 0.6, 0.5)
    Apart(told=None, untold=(0.5, 0.8))
    """
    low, high = _ends(question)
    near, far = min(half / 2, (high - low) / 2), half + half_90
    if not near > 0:
        return Apart(None, None)
    unit = 10.0 ** math.floor(math.log10(near))
    middle = (low + high) / 2 if question.proportion else _on(unit, (low + high) / 2, round)
    untold = (middle, float(f"{middle + _on(unit, near, math.floor):.12g}"))
    distance = _on(unit, far, math.ceil)
    if middle + distance <= high:
        return Apart((middle, float(f"{middle + distance:.12g}")), untold)
    below = middle - _on(unit, distance / 2, math.ceil)
    pair = (below, float(f"{below + distance:.12g}"))
    return Apart(pair if low <= below and pair[1] <= high else None, untold)


def _on(unit: float, number: float, rounded: object) -> float:
    """Round to a multiple of a power of ten, written as people would."""
    return float(f"{rounded(number / unit + _nudge(rounded)) * unit:.12g}")  # type: ignore[operator]


def _nudge(rounded: object) -> float:
    """Keep what is a whole multiple but for its last bits."""
    return {math.floor: 1e-9, math.ceil: -1e-9}.get(rounded, 0.0)  # type: ignore[call-overload, no-any-return]


def _ends(question: Question) -> tuple[float, float]:
    return (0.0, 1.0) if question.proportion else getattr(question, "bounds", (0.0, question.width))


def told_words(question: Question, people: int, half: float, apart: Apart) -> str:
    """Say how far a result may be off, and what that is enough for.

    >>> from optin.questions import Number
    >>> hours = Number("hours", bounds=(0, 80), sd=9, unit="hours")
    >>> told_words(hours, 400, 2.1, apart_from(hours, 2.1, 1.76))
    'With 400 people like these the average will be within ± 2.1 hours: enough to tell 40 from 44, not 40 from 41.'
    """
    said = {"people": count(people), "within": _within(question, half)}
    if question.proportion:
        within = _("With {people} like these each proportion will be within {within}", **said)
    else:
        within = _("With {people} like these the average will be within {within}", **said)
    if apart.untold is None:
        return f"{within}."
    not_these = _from(question, apart.untold)
    if apart.told is None:
        return _(
            "{within}: not enough to tell anything apart, not even {widest}.", within=within, widest=_widest(question)
        )
    if is_unstated(question):  # answers that lie closer together are told apart more often
        return _("{within}: enough to tell {these}.", within=within, these=_from(question, apart.told))
    return _(
        "{within}: enough to tell {these}, not {not_these}.",
        within=within,
        these=_from(question, apart.told),
        not_these=not_these,
    )


def is_unstated(question: Question) -> bool:
    """Say whether the widest spread that there can be stands for one that nobody gave.

    >>> from optin.questions import Number, YesNo
    >>> [is_unstated(each) for each in (Number("a", bounds=(0, 80)), Number("a", bounds=(0, 80), sd=9), YesNo("b"))]
    [True, False, False]
    """
    return question.declares_sd and math.isclose(question.price, question.worst_price)


def _from(question: Question, pair: tuple[float, float]) -> str:
    return _("{one} from {other}", one=_one(question, pair[0]), other=_one(question, pair[1]))


def _within(question: Question, half: float) -> str:
    """Write ± as everywhere; one that is wider than the whole scale says no more than that."""
    if half >= question.width:
        return _(
            "the whole range of answers ({half})",
            half=plus_minus_of(half, proportion=question.proportion, unit=question.unit),
        )
    return plus_minus_of(half, proportion=question.proportion, unit=question.unit)


def _widest(question: Question) -> str:
    low, high = _ends(question)
    return _("nobody from everybody") if question.proportion else _from(question, (low, high))


def _one(question: Question, number: float) -> str:
    return f"{short(100 * number, 6)} %" if question.proportion else short(number, 9)
