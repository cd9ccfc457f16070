"""Questions on one line, as they could be written: what is usual is left out."""

from __future__ import annotations

import math
from typing import Any

from optin.wording.records import Brief, said


class BriefQuestion(Brief):
    """A question that prints what was asked, and not every field it has.

    >>> import optin
    >>> optin.Number("hours", bounds=(0, 80), sd=9, unit="hours"), optin.YesNo("break", text="Did you skip a break?")
    (Number('hours', bounds=(0, 80), sd=9, unit='hours'), YesNo('break', text='Did you skip a break?'))
    """

    def brief(self: Any) -> list[tuple[str, str]]:
        """Say its name, what may be answered, and what is not as usual; the spread as the one word for it, sd."""
        told = dict(Brief.brief(self))
        if self.column == self.name:
            told.pop("column", None)
        if told.pop("data_variance", None) is not None and self.data_variance < self.width**2 / 4:
            told["sd"] = said(math.sqrt(self.data_variance))
        usual = ("name", "bounds", "items", "each", "options", "edges", "at_most", "sd")
        order = [name for name in usual if name in told] + [name for name in told if name not in usual]
        return [("" if name == "name" else name, told[name]) for name in order]


def answers_of(question: Any) -> str:  # noqa: ANN401
    """Say between which numbers, or among which words, a question is answered.

    >>> import optin
    >>> answers_of(optin.Number("hours", bounds=(0, 80), unit="hours")), answers_of(optin.YesNo("break"))
    ('0 to 80 hours', 'yes, no')
    """
    ends = getattr(question, "bounds", None) or getattr(question, "edges", None)
    if ends is None:
        return ", ".join(question.options)
    return f"{ends[0]:,.10g} to {ends[-1]:,.10g} {question.unit}".rstrip()
