"""One section of the page: a statement, how to read it, a picture, and the numbers beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from optin.errors import BadInput
from optin.figures import Ink
from optin.report.images import picture
from optin.report.markup import Markup, joined, paragraphs, table, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["facts", "note", "pictured", "section"]


def section(title: str, *reading: str, below: str = "") -> Markup:
    """Write a section without a picture."""
    return tag("section", tag("h2", title), paragraphs(*reading), below)


def pictured(
    title: str, *reading: str, draw: Callable[[Axes, Ink], str], numbers: Callable[[], Markup], height: float = 3.4
) -> Markup:
    """Write a section with a picture and its numbers; where there is nothing to draw it says why, in a sentence."""
    try:
        drawn, beside = picture(draw, height=height), numbers()
    except BadInput as why:
        return section(title, f"Not drawn: {why}.")
    return section(title, *reading, below=tag("div", drawn, tag("div", beside), class_="pair"))


def facts(caption: str, rows: Sequence[tuple[str, str]]) -> Markup:
    """Write names and numbers as a plain two-column table."""
    return tag("div", table(caption, (), rows), class_="facts")


def note(*texts: str) -> Markup:
    """Write remarks under a table."""
    return joined(tag("p", text, class_="note") for text in texts)
