"""What a question publishes: integer cells, each a sum of grains times levels plus its own draw (E20).

An answer is coded as one float (a value, the place of an option, a set of options as bits; NaN where it is missing), and
a cell says which integer level each code has. Replacing one answer moves all levels of a question by at most 2^20.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.kernel.halves import Halves

if TYPE_CHECKING:
    from ibis.expr import types as ir

LEVEL = 1 << 20
"""The most that all levels of one question may move when one answer is replaced."""

FloatArray = NDArray[np.float64]
_DIGIT = 10  # options of a set that are looked at together


class Cell(Protocol):
    """One published integer: a level from 0 to 2^20 for every code.

    All cells of a question are of one class, which adds them up together: that takes a pass or two, however many they are.
    """

    def levels(self, codes: FloatArray) -> FloatArray:
        """Return whole levels as floats; what NaN gives means nothing."""

    def expression(self, code: ir.FloatingColumn) -> ir.FloatingColumn:
        """Return the same levels as a column of an engine."""

    @property
    def unit(self) -> int:
        """What all its levels are multiples of."""

    @property
    def lowest(self) -> float:
        """A code below which none has another level."""

    def integers(self, code: ir.NumericColumn) -> ir.IntegerColumn:
        """Return levels as integers of an engine, in this unit."""

    @classmethod
    def add_up(cls, cells: tuple[Any, ...], codes: FloatArray, grains: Halves) -> tuple[int, ...]:
        """Add up grains times levels for each of these cells, exactly.

        No code is NaN here: whoever gave none has no grains either.
        """


def cell_sums(cells: tuple[Cell, ...], codes: FloatArray, grains: Halves) -> tuple[int, ...]:
    """Add up grains times levels for each cell of a question."""
    return cells[0].add_up(cells, codes, grains)


@dataclass(frozen=True)
class Scaled:
    """The level of a number between its bounds (E13), or its companion g(l) = floor(l (2^20 - l) / 2^20) (E21).

    For any two levels, |l - l'| + |g(l) - g(l')| is at most 2^20: l + g and l - g both rise from 0 to 2^20. So the
    companion, off which the spread of the values is read, costs nothing.
    """

    bounds: tuple[float, float]
    companion: bool = False
    unit = 1

    @property
    def lowest(self) -> float:
        """The lower bound."""
        return self.bounds[0]

    def levels(self, codes: FloatArray) -> FloatArray:
        """Clamp and scale."""
        levels = number_levels(codes, self.bounds)
        return companions(levels) if self.companion else levels

    def expression(self, code: ir.FloatingColumn) -> ir.FloatingColumn:
        """Clamp and scale."""
        from optin.engine.functions import exact_floor
        from optin.engine.session import literal

        level = level_expression(code, self.bounds)
        if not self.companion:
            return level
        return exact_floor(level * (literal(LEVEL) - level) * literal(1 / LEVEL))

    def integers(self, code: ir.NumericColumn) -> ir.IntegerColumn:
        """Take levels for integers."""
        return self.expression(code).cast("int64")

    @classmethod
    def add_up(cls, cells: tuple[Scaled, ...], codes: FloatArray, grains: Halves) -> tuple[int, ...]:
        """Compute levels once for the number and its companion."""
        levels, spare, *_ = grains.spare
        number_levels(codes, cells[0].bounds, out=levels)
        return tuple(grains.times(companions(levels, out=spare) if cell.companion else levels) for cell in cells)


def scaled_cells(bounds: tuple[float, float]) -> tuple[Scaled, Scaled]:
    """Return the two cells of a number: its level, and the companion of that."""
    return Scaled(bounds), Scaled(bounds, companion=True)


def number_levels(values: FloatArray, bounds: tuple[float, float], out: FloatArray | None = None) -> FloatArray:
    """Compute E13's levels ``floor((clamp(d) - lo) / R * 2^20 + 1/2)``, the same float64 steps on every engine.

    >>> number_levels(np.array([-5.0, 0.0, 0.25, 1.0, 7.0]), (0.0, 1.0)).tolist()
    [0.0, 0.0, 262144.0, 1048576.0, 1048576.0]
    """
    lo, hi = bounds
    with np.errstate(all="ignore"):  # what a value does to the processor's flags is nobody's business
        z: FloatArray = np.clip(values, lo, hi, out=out)
        if lo != 0.0:  # what changes nothing is left out: x - 0 and x / 1 are x
            z -= lo
        if hi - lo != 1.0:
            z /= hi - lo
        z *= LEVEL
        z += 0.5
        return np.floor(z, out=z)


def companions(levels: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return g(l) = floor(l (2^20 - l) / 2^20): the product is at most 2^38, so every step is exact.

    >>> companions(np.array([1.0, 2.0**19, 699050.0])).tolist()
    [0.0, 262144.0, 233017.0]
    """
    products: FloatArray = np.subtract(LEVEL, levels, out=out)
    products *= levels
    products *= 1.0 / LEVEL
    return np.floor(products, out=products)


def level_expression(code: ir.FloatingColumn, bounds: tuple[float, float]) -> ir.FloatingColumn:
    """Return the levels of `number_levels` as a column of an engine; NULL where the code is."""
    import ibis

    from optin.engine.functions import exact_floor
    from optin.engine.session import literal

    lo, hi = literal(bounds[0]), literal(bounds[1])
    z = ibis.cases((code.between(lo, hi), code), (code < lo, lo), (code > hi, hi))
    if bounds[0] != 0.0:
        z = z - lo
    if bounds[1] - bounds[0] != 1.0:
        z = z / literal(bounds[1] - bounds[0])
    return exact_floor(z * literal(float(LEVEL)) + literal(0.5))


@dataclass(frozen=True)
class Chosen:
    """The level of whoever chose the option at this place, and 0 for everyone else."""

    place: int
    level: int
    lowest = 0.0

    @property
    def unit(self) -> int:
        """The level."""
        return self.level

    def levels(self, codes: FloatArray) -> FloatArray:
        """Compare with the place."""
        return np.where(codes == self.place, float(self.level), 0.0)

    def expression(self, code: ir.FloatingColumn) -> ir.FloatingColumn:
        """Compare with the place."""
        return (code == float(self.place)).cast("int32").cast("float64") * float(self.level)

    def integers(self, code: ir.NumericColumn) -> ir.IntegerColumn:
        """Say who chose it."""
        return (code == self.place).cast("int32")

    @classmethod
    def add_up(cls, cells: tuple[Chosen, ...], codes: FloatArray, grains: Halves) -> tuple[int, ...]:
        """Add up the grains at each place, and multiply by the level at the end."""
        sums = grains.by_place(codes, max(cell.place for cell in cells) + 1)
        return tuple(sums[cell.place] * cell.level for cell in cells)


@dataclass(frozen=True)
class Contains:
    """The level of whoever chose the option at this place among others: codes are sums of powers of two."""

    place: int
    level: int
    lowest = 0.0

    @property
    def unit(self) -> int:
        """The level."""
        return self.level

    def levels(self, codes: FloatArray) -> FloatArray:
        """Look at one binary digit."""
        bits = np.nan_to_num(codes, nan=0.0).astype(np.int64)
        return np.asarray(((bits >> self.place) & 1) * float(self.level))

    def expression(self, code: ir.FloatingColumn) -> Any:  # noqa: ANN401 - Ibis' types of bit operations
        """Look at one binary digit."""
        return ((code.cast("int64") >> self.place) & 1).cast("float64") * float(self.level)

    def integers(self, code: ir.NumericColumn) -> ir.IntegerColumn:
        """Say who chose it."""
        return (code.cast("int64") >> self.place) & 1

    @classmethod
    def add_up(cls, cells: tuple[Contains, ...], codes: FloatArray, grains: Halves) -> tuple[int, ...]:
        """Look at each digit; where there are many, add up the grains of every combination of ten options first."""
        sets, most = codes.astype(np.int64), max(cell.place for cell in cells)
        if most < _DIGIT:
            return tuple(grains.among((sets >> cell.place) & 1) * cell.level for cell in cells)
        by_digit = [
            grains.by_index((sets >> first) & ((1 << _DIGIT) - 1), 1 << _DIGIT) for first in range(0, most + 1, _DIGIT)
        ]
        return tuple(_containing(by_digit[cell.place // _DIGIT], cell.place % _DIGIT) * cell.level for cell in cells)


def _containing(sums: list[int], place: int) -> int:
    return sum(each for combination, each in enumerate(sums) if combination >> place & 1)
