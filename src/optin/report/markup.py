"""HTML by hand: every text is escaped on its way in, so nothing inserted can become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Markup(str):
    """Text that is HTML already; templates ask by ``__html__``."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def tag(name: str, /, *children: str, **attributes: str) -> Markup:
    """Write an element; children that are not `Markup` are escaped, and so are attributes (``class_`` is class).

    >>> tag("p", "a < b", class_="lead")
    '<p class="lead">a &lt; b</p>'
    """
    known = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items())
    if name in ("img", "meta", "source"):
        return Markup(f"<{name}{known}>")
    return Markup(f"<{name}{known}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Put elements and texts side by side, texts escaped."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(c) for c in children))


def paragraphs(*texts: str) -> Markup:
    """Write one paragraph for each text."""
    return joined(tag("p", text) for text in texts)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, strong: str | None = None) -> Markup:
    """Write a table whose first column names the row; the row named ``strong`` stands out.

    On narrow screens it scrolls by itself, so it is a region that the keyboard reaches.
    """
    top = tag("tr", *(tag("th", text, scope="col") for text in head))
    body = joined(_row(row, marked=row[0] == strong) for row in rows)
    inner = tag("table", tag("caption", caption), tag("thead", top) if head else "", tag("tbody", body))
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def grouped_table(caption: str, head: Sequence[str], groups: Iterable[tuple[str, Iterable[Sequence[str]]]]) -> Markup:
    """Write a table in groups of rows, each under a heading of its own; a row of one cell is a remark."""
    top = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in head)))
    bodies = (_group(heading, rows, str(len(head))) for heading, rows in groups)
    inner = tag("table", tag("caption", caption), top, *bodies, class_="grouped")
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _group(heading: str, rows: Iterable[Sequence[str]], width: str) -> Markup:
    first = tag("tr", tag("th", heading, scope="rowgroup", colspan=width), class_="group")
    rest = (_remark(row[0], width) if len(row) == 1 else _row(row, marked=False) for row in rows)
    return tag("tbody", first, *rest)


def _remark(text: str, width: str) -> Markup:
    return tag("tr", tag("td", text, colspan=width, class_="remark"))


def _row(cells: Sequence[str], *, marked: bool) -> Markup:
    first = tag("th", cells[0], scope="row")
    rest = [tag("td", cell) for cell in cells[1:]]
    return tag("tr", first, *rest, class_="own") if marked else tag("tr", first, *rest)
