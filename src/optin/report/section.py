"""One section of the page: a statement, how to read it, a picture, and the numbers beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optin.errors import BadInput, MissingExtra
from optin.figures import Ink
from optin.report.images import picture
from optin.report.markup import Markup, joined, paragraphs, table, tag
from optin.wording.language import N_, _
from optin.wording.numbers import steady, ten_to

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LARGEST_TILT = N_("tilt, of the question that has most")
"""Each question of a release has the tilt of those who answered it, and a page shows one."""


def section(title: str, *reading: str, below: str = "") -> Markup:
    """Write a section without a picture."""
    return tag("section", tag("h2", title), paragraphs(*reading), below)


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """A section with a picture and its numbers, not drawn yet: a report embeds the picture, the web service links to it."""

    name: str
    title: str
    reading: str
    draw: Callable[[Axes, Ink], str]
    numbers: Callable[[], Markup]
    height: float = 3.2
    always: str = ""
    """Numbers that are known, and shown, where nothing can be drawn."""

    def written(self) -> Markup:
        """Write the section, its picture embedded; where there is nothing to draw it says why, in a sentence."""
        try:
            drawn, beside = picture(self.draw, height=self.height), self.numbers()
        except MissingExtra as why:
            return section(self.title, f"Not drawn: {why}.", below=tag("div", self.numbers()))
        except BadInput as why:
            return section(self.title, f"Not drawn: {why}.", below=self.always)
        return section(self.title, self.reading, below=tag("div", drawn, tag("div", beside), class_="pair"))


def warned(sentences: Iterable[str]) -> Markup:
    """Write cautions, where there are any."""
    cautions = tuple(sentences)
    return tag("div", paragraphs(*cautions), class_="warning", role="note") if cautions else Markup("")


def tiles(numbers: Sequence[tuple[str, str]]) -> Markup:
    """Write a few numbers large, each with what it is."""
    return tag(
        "dl", joined(tag("div", tag("dt", number), tag("dd", words)) for number, words in numbers), class_="tiles"
    )


def facts(caption: str, rows: Sequence[tuple[str, str]]) -> Markup:
    """Write names and numbers as a plain two-column table."""
    return tag("div", table(caption, (), rows), class_="facts")


def root(square: float) -> str:
    """Write the root of a squared error: a standard error, never with a ±, which is kept for 95 % intervals."""
    return steady(math.sqrt(square))


def squared_error_caption(power: int) -> str:
    """Name a table of squared errors with the power of ten they are written in."""
    return _(
        "Expected squared error in parts{what}, and its root",
        what=_(" (in {power})", power=ten_to(power)) if power else "",
    )


def error_reading(*, bias: bool) -> str:
    """Say how a picture of errors is read, and what the number at a bar is."""
    words = _(
        "Sampling is the luck of which people were asked; it would remain without any privacy. Noise is "
        "what privacy adds. "
    )
    if bias:
        words += _("Bias is what a link between limits and values can do at most, at the declared gap. ")
    kind = _("the error with that bias") if bias else _("the standard error")
    return words + _("The number at the end of a bar is its root: {kind}, in the unit of the values.", kind=kind)


def error_name(*, bias: bool) -> str:
    """Name the root of a squared error: a standard error has no bias in it."""
    return _("error with bias") if bias else _("standard error")


def note(*texts: str) -> Markup:
    """Write remarks under a table."""
    return joined(tag("p", text, class_="note") for text in texts)
