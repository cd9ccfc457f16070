"""How people's tables are read: what someone said of it beforehand, and what was found out and is said afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from optin.errors import Argument, BadInput
from optin.tables.separators import WORDS

REFUSE = "refuse"


class GivenReading(TypedDict, total=False):
    """What `optin.read` may be told of a table, besides its columns."""

    delimiter: str | None
    decimal: str | None
    table: str | None
    query: str | None
    blank_limit: float | str | None
    missing: str | Sequence[str] | None
    skip_bad: str | Path | None


@dataclass(frozen=True, kw_only=True)
class HowRead:
    r"""What someone said of how a table is to be read; whatever is None is found out, and refused if it could be two things.

    ``delimiter`` stands between cells and ``decimal`` before a fraction; ``table`` names a sheet or a table, ``query`` asks a
    database; a blank limit counts as ``blank_limit``, and cells of a text in ``missing`` as empty; rows that cannot be used are
    left out and written to ``skip_bad``.

    >>> HowRead.of(delimiter="tab", blank_limit="0")
    HowRead(delimiter='\t', decimal=None, table=None, query=None, blank_limit=0.0, missing=None, skip_bad=None)
    """

    delimiter: str | None = None
    decimal: str | None = None
    table: str | None = None
    query: str | None = None
    blank_limit: float | None = None
    missing: tuple[str, ...] | None = None
    skip_bad: Path | None = None

    @classmethod
    def of(cls, **given: Any) -> HowRead:  # noqa: ANN401 - checked here
        """Check what is given."""
        unknown = next((name for name in given if name not in cls.__dataclass_fields__), None)
        if unknown is not None:
            raise TypeError(f"read() got an unexpected keyword argument {unknown!r}")
        delimiter = (WORDS | {"\\t": "\t"}).get(given.get("delimiter") or "", given.get("delimiter"))
        skipped = given.get("skip_bad")
        return cls(
            **given
            | {
                "delimiter": _delimiter(delimiter),
                "decimal": _decimal(given.get("decimal")),
                "blank_limit": _blank(given.get("blank_limit")),
                "missing": _missing(given.get("missing")),
                "skip_bad": None if skipped is None else Path(skipped),
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what was said, for plan.json; the next command says itself which rows it leaves out."""
        said = asdict(self) | {"skip_bad": None}
        if self.blank_limit == math.inf:
            said["blank_limit"] = "inf"
        return {name: value for name, value in said.items() if value is not None}


AS_FOUND = HowRead()


def expect_stored(how: HowRead) -> None:
    """Refuse texts that count as empty where a table says by itself which cells are: nothing is copied as text there."""
    if how.missing is not None:
        raise BadInput(
            "{missing} is for text: CSV, JSON lines and workbooks; in this table make such cells empty (NULL)",
            missing=Argument("missing"),
        )


@dataclass(frozen=True)
class Reading:
    """How a table was read: in words, and how many of its rows were left out."""

    words: str = ""
    left_out: int = 0

    def __str__(self) -> str:
        gone = f"{self.left_out:,} {'row' if self.left_out == 1 else 'rows'} left out" if self.left_out else ""
        return "; ".join(part for part in (f"read as {self.words}" if self.words else "", gone) if part)


def _delimiter(text: str | None) -> str | None:
    if text is None or (len(text) == 1 and not text.isalnum() and text not in "\"'.\r\n"):
        return text
    raise BadInput(
        "{delimiter} is what stands between cells: comma, semicolon, tab, pipe, blank, or another sign",
        delimiter=Argument("delimiter"),
    )


def _decimal(text: str | None) -> str | None:
    if text not in (None, ".", ","):
        raise BadInput("{decimal} is a point or a comma", decimal=Argument("decimal"))
    return text


def _missing(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Read which texts count as empty, without the blanks around them."""
    texts = (given,) if isinstance(given, str) else tuple(given or ())
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadInput(
            "{missing} is a text that stands for an empty cell, such as NA or -99", missing=Argument("missing")
        )
    return tuple(dict.fromkeys(text.strip() for text in texts)) or None


def _blank(given: float | str | None) -> float | None:
    """Read what a blank limit counts as; refuse is the default."""
    from optin.kernel.rounding import limit_of  # numpy, which a command's help does without

    if given is None or given == REFUSE:
        return None
    try:
        limit = limit_of(given)
    except (TypeError, ValueError, ArithmeticError):
        limit = math.nan
    if not limit >= 0:
        raise BadInput(
            "{blank} is what an empty limit counts as: 0, another number, inf, or refuse", blank=Argument("blank_limit")
        )
    return limit
