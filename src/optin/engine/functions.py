"""Functions of engines that Ibis has no name for: declared here, computed there.

Ibis reads the name and the types of each declaration and never calls it.
"""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ibis.expr import types as ir


@cache
def _floor() -> Callable[[ir.FloatingColumn], ir.FloatingColumn]:
    import ibis

    def floor(number: float) -> float: ...

    return ibis.udf.scalar.builtin(floor)  # type: ignore[no-any-return]


def exact_floor(number: ir.FloatingColumn) -> ir.FloatingColumn:
    """Round down and stay a float; Ibis's own would turn it into an integer at every row."""
    return _floor()(number)


def text_mark(text: ir.StringColumn) -> ir.IntegerColumn:
    """Turn texts into whole numbers of 0 to 2^62 - 1 whose sum tells other texts apart, once a secret salt stands in each.

    MD5 hides what the salt does; the engine's own hash of it is a number that it can add up.
    """
    import ibis

    def md5(text: str) -> str: ...

    return ibis.udf.scalar.builtin(md5)(text).hash() & (2**62 - 1)


def trimmed(text: ir.StringColumn) -> ir.StringColumn:
    """Trim the six blanks of ASCII (tab to carriage return, and the space), as `ascii_trim_whitespace` of Arrow does.

    Ibis's own strip would trim the letters v and f on Spark, which reads vertical tab and form feed as those.
    """
    return text.re_replace("^[\t-\r ]+|[\t-\r ]+$", "")


def present(number: ir.FloatingColumn) -> ir.FloatingColumn:
    """Take NaN for missing before it is compared.

    DuckDB trusts the smallest and the largest number that a file declares, which leave NaN out, and lets NaN pass as a number
    between them. (Limits and costs that are NaN are refused when they are read.)
    """
    return number.isnan().ifelse(None, number)


@cache
def _validate_utf8() -> Callable[[ir.StringColumn], ir.StringColumn]:
    import ibis

    def validate_utf8(text: str) -> str: ...

    return ibis.udf.scalar.builtin(validate_utf8)  # type: ignore[no-any-return]


def validated(text: ir.StringColumn) -> ir.StringColumn:
    """Have Spark stop at text that is not UTF-8, which it would hand over with other letters; DuckDB does so by itself."""
    return _validate_utf8()(text)


def sample_ranks(tau: ir.FloatingColumn, ranks: list[float], size: int) -> ir.ArrayScalar:
    """Ask DuckDB for the numbers at some ranks (shares) of a random sample."""
    import ibis

    def reservoir_quantile(tau: float, ranks: list[float], size: int) -> list[float]: ...

    return ibis.udf.agg.builtin(reservoir_quantile)(tau, ranks, size)


def sign_below(number: ir.FloatingColumn, bound: ir.FloatingScalar) -> ir.BooleanColumn:
    """Tell whether numbers are below a finite bound by the sign of their difference, which is exact.

    DuckDB takes several times as long to compare floats, because NaN is the largest of all there.
    """
    import ibis

    def signbit(number: float) -> bool: ...

    return ibis.udf.scalar.builtin(signbit)(number - bound)


def kahan_sum(number: ir.FloatingColumn, where: ir.BooleanColumn | None = None) -> ir.FloatingScalar:
    """Add up by DuckDB's sum that carries its rounding along."""
    import ibis

    def fsum(number: float) -> float: ...

    return ibis.udf.agg.builtin(fsum)(number, where=where)
