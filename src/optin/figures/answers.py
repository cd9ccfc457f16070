"""What was published of one question, drawn in the way of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.figures.captions import MANY, row_labels
from optin.figures.histograms import histogram
from optin.figures.ink import LIGHT, Ink
from optin.figures.means import mean
from optin.figures.proportions import proportions
from optin.questions.histogram import HistogramResult
from optin.questions.kinds import QuestionResult
from optin.questions.multiple_choice import Several
from optin.questions.number_result import NumberResult
from optin.questions.proportions import Proportions
from optin.releasing import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def answer(ax: Axes, release: Release, question: str, *, ink: Ink = LIGHT) -> str:
    """Draw what was published of one question of a release, in the way of its kind. Returns the picture in words.

    ``answer_height`` says how high such a picture has to be for its words to stay apart.
    """
    asked, sheet = release.sheet[question], release.sheet
    labels = tuple(sheet.answer_said(asked, each) for each in asked.labels)
    return drawn(ax, release[question], unit=sheet.unit_said(asked), labels=labels, ink=ink)


def drawn(ax: Axes, result: QuestionResult, *, unit: str = "", labels: tuple[str, ...] = (), ink: Ink = LIGHT) -> str:
    """Draw a result in the way of its kind; ``labels`` are what its options are called here, if not by their own names."""
    if isinstance(result, HistogramResult):
        return histogram(ax, result, unit=unit, labels=labels, ink=ink)
    if isinstance(result, NumberResult):
        return mean(ax, result, unit=unit, ink=ink)
    assert isinstance(result, Proportions | Several)  # noqa: S101 - there is no other kind
    return proportions(ax, result, labels=labels, ink=ink)


def answer_height(result: QuestionResult) -> float:
    """Return how many inches high a picture of a result is to be, at the width of a report.

    >>> from optin.questions.counted import Counted
    >>> import optin
    >>> optin.figures.answer_height(optin.YesNo("break").result(Counted(100, 100 << 32, 100 << 64, 1 << 32, (50 << 52,))))
    1.46
    """
    if isinstance(result, HistogramResult):
        return 3.2
    if isinstance(result, NumberResult):
        return 1.9
    assert isinstance(result, Proportions | Several)  # noqa: S101 - there is no other kind
    return round(0.9 + rows_height(result.options), 2)


def rows_height(names: tuple[str, ...]) -> float:
    """Return how many inches rows with these names take."""
    if len(names) >= MANY:
        return 0.21 * len(names)
    return (0.36 if any("\n" in label for label in row_labels(names)) else 0.28) * len(names)
