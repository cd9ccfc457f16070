"""What a question publishes: integer cells, each a sum of grains times levels plus its own draw (E20).

An answer is coded as one float (a value, the place of an option, a set of options as bits; NaN where it is missing), and
a cell says which integer level each code has. Replacing one answer moves all levels of a question by at most 2^20.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ibis.expr import types as ir

LEVEL = 1 << 20
"""The most that all levels of one question may move when one answer is replaced."""

FloatArray = NDArray[np.float64]


class Cell(Protocol):
    """One published integer: a level from 0 to 2^20 for every code."""

    def levels(self, codes: FloatArray) -> FloatArray:
        """Return whole levels as floats; what NaN gives means nothing."""

    def expression(self, code: ir.FloatingColumn) -> ir.FloatingColumn:
        """Return the same levels as a column of an engine."""


@dataclass(frozen=True)
class Chosen:
    """The level of whoever chose the option at this place, and 0 for everyone else."""

    place: int
    level: int

    def levels(self, codes: FloatArray) -> FloatArray:
        """Compare with the place."""
        return np.where(codes == self.place, float(self.level), 0.0)

    def expression(self, code: ir.FloatingColumn) -> ir.FloatingColumn:
        """Compare with the place."""
        return (code == float(self.place)).ifelse(float(self.level), 0.0)


@dataclass(frozen=True)
class Contains:
    """The level of whoever chose the option at this place among others: codes are sums of powers of two."""

    place: int
    level: int

    def levels(self, codes: FloatArray) -> FloatArray:
        """Look at one binary digit."""
        bits = np.nan_to_num(codes, nan=0.0).astype(np.int64)
        return np.asarray(((bits >> self.place) & 1) * float(self.level))

    def expression(self, code: ir.FloatingColumn) -> Any:  # noqa: ANN401 - Ibis' types of bit operations
        """Look at one binary digit."""
        return ((code.cast("int64") >> self.place) & 1).cast("float64") * float(self.level)
