"""Words that people wrote, such as options, beside a picture: broken into lines, shortened, and never taken for formulas."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

MANY = 14
"""From so many rows on, each name has one line."""
WIDE, LINES = 24, 2


def row_labels(names: Sequence[str], what: str = "option") -> list[str]:
    r"""Make names fit beside their rows, each still different from the others.

    A name is broken into two lines, or cut at its end; where that makes two names alike, in its middle. What cannot be
    drawn as it is written (letters that the font lacks, or that run from right to left) is called by ``what`` it is and
    its place.

    >>> row_labels(["night", "neither good nor bad, or it depends on the day", "\u3042"])
    ['night', 'neither good nor bad, or\nit depends on the day', 'option 3']
    """
    plain, lines = drawable_names(names, what), _lines(names)
    distinct = _told_apart(plain, lines)
    return distinct or [_cut_at_end(f"{place}. {name}", lines) for place, name in enumerate(plain, 1)]


def rows_are_numbered(names: Sequence[str], what: str = "option") -> bool:
    """Say whether names are so long and alike that `row_labels` numbers them: a table beside the picture then does too.

    >>> alike = [f"a department of a hospital with a long name, {ward}, those who work by day" for ward in ("ER", "ICU")]
    >>> rows_are_numbered(["ER", "ICU"]), rows_are_numbered(alike), row_labels(alike)[1][:15]
    (False, True, '2. a department')
    """
    return not _told_apart(drawable_names(names, what), _lines(names))


def _lines(names: Sequence[str]) -> int:
    return 1 if len(names) >= MANY else LINES


def _told_apart(plain: Sequence[str], lines: int) -> list[str]:
    """Cut names so that each differs from the others; none if no cut does."""
    for shorten in (_cut_at_end, _cut_in_middle):
        shortened = [shorten(name, lines) for name in plain]
        if len(set(shortened)) == len(shortened):
            return shortened
    return []


def drawable_names(names: Sequence[str], what: str) -> list[str]:
    """Return each name on one line, or its place where it cannot be drawn."""
    lines = [" ".join(name.split()) for name in names]
    return [line if line and drawable(line) else f"{what} {place}" for place, line in enumerate(lines, 1)]


def unit_label(unit: str) -> str:
    """Make a unit fit into a line, or leave it away where it cannot be drawn.

    >>> unit_label("hours"), unit_label("hours of sleep on a usual night")
    ('hours', 'hours of sleep on…')
    """
    return textwrap.shorten(unit, 18, placeholder="…") if drawable(unit) else ""


def drawable(text: str) -> bool:
    """Say whether the font has every letter, and the text runs from left to right, as it is drawn."""
    if text.isascii():
        return text.isprintable()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known = get_font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap()
    return all(ord(letter) in known and unicodedata.bidirectional(letter) not in ("R", "AL") for letter in text)


def _cut_at_end(name: str, lines: int) -> str:
    wrapped = textwrap.wrap(name, WIDE)
    if len(wrapped) <= lines:
        return "\n".join(wrapped)
    last = textwrap.wrap(" ".join(wrapped[lines - 1 :]), WIDE - 1)[0]
    return "\n".join([*wrapped[: lines - 1], f"{last.rstrip(' ,;:.')}…"])


def _cut_in_middle(name: str, lines: int) -> str:
    most = WIDE * lines
    if len(name) <= most:
        return _cut_at_end(name, lines)
    end = name[-(WIDE // 2) :].strip()
    return f"{name[: WIDE * lines - len(end) - lines].strip()}…{end}" if lines == 1 else _two(name, end)


def _two(name: str, end: str) -> str:
    first = textwrap.wrap(name, WIDE)[0]
    return f"{first}\n…{end}"
