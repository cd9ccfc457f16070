"""The few people with low limits, written once to the private folder, so that later queries need not look at all others.

What is promised above a cap is known; only those below it are looked at, again and again: for caps to either side of the
planned one, for its tilt, and for whether people are enough. In a large table they are few.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from uuid import uuid4

from optin.engine.engines import read_parquet

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.rows import Rows

LEAST = 1 << 20  # among fewer people a scan costs about as much as writing a file
SHARE = 8  # at most one in so many people is written
SPLIT = 4  # at most one in so many people is looked at twice
HIGHER = 1.1  # times a bound: the caps next to the one asked about lie below


class SetApart:
    """Limits up to a bound, as they were when they were written."""

    def __init__(self) -> None:
        self._top, self._written = -math.inf, None

    _top: float
    _written: ir.Table | None

    def get(self, rows: Rows, people: ir.Table, bound: float) -> ir.Table:
        """Return everyone whose limit, ``tau``, is at most a bound, and a few above it; they are written where they were not."""
        if self._written is None or bound >= self._top:
            self._top = bound * HIGHER
            path = str(rows.session.folder() / f"{uuid4().hex}.parquet")
            rows.session.write(people.filter(rows.session.below(people.tau, self._top)), path, about=rows.source)
            self._written = read_parquet(rows.session, [path])
        rows.expect_unchanged()
        return self._written


def worth_keeping(rows: Rows, people: int, expected: float) -> bool:
    """Tell whether so many of all people are few, and lie in files, of which it is known whether they change."""
    return bool(rows.files) and rows.session.dialect.keeps_numbers and people >= LEAST and expected * SHARE <= people


def worth_splitting(rows: Rows, people: int, expected: float) -> bool:
    """Tell whether people are many, lie in files, and so many of all as are expected to be looked at again are few.

    A query that looks at someone twice must know that nothing changed in between: of files that is known, and of a table that
    somebody else may write to it is not.
    """
    return bool(rows.files) and people >= LEAST and expected * SPLIT <= people
