"""How engines differ: a backend is a record, and whoever asks an engine for something asks its record how.

What is said here holds for any backend of Ibis; `duck` and `spark` say in which ways theirs are others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

    from optin.engine.session import Session


def _arrow(backend: BaseBackend, query: ir.Table) -> pa.Table:
    return backend.to_pyarrow(query)


def _arrow_batches(backend: BaseBackend, query: ir.Table, size: int) -> Iterator[pa.RecordBatch]:
    yield from backend.to_pyarrow_batches(query, chunk_size=size)


def _write(backend: BaseBackend, query: ir.Table, path: str) -> None:
    backend.to_parquet(query, path)


def _in_parts(number: ir.FloatingColumn, where: ir.BooleanColumn | None = None) -> ir.FloatingScalar:
    """Trust the engine to add up parts of the rows and then the parts."""
    return number.sum(where=where)


def _as_it_is(text: ir.StringColumn) -> ir.StringColumn:
    return text


@dataclass(frozen=True)
class Dialect:
    """What is particular to one kind of engine."""

    fetch: Callable[[BaseBackend, ir.Table], pa.Table] = _arrow
    batches: Callable[[BaseBackend, ir.Table, int], Iterator[pa.RecordBatch]] = _arrow_batches
    write: Callable[[BaseBackend, ir.Table, str], None] = _write
    steady_sum: Callable[..., ir.FloatingScalar] = _in_parts
    """Add up floats (``where`` something holds) so that nothing drifts: 10^8 equal ones, one by one, would be off."""
    below: Callable[[ir.FloatingColumn, ir.FloatingScalar], ir.BooleanColumn] = operator.lt
    """Tell whether floats, none of them NaN, are below a finite bound."""
    valid_text: Callable[[ir.StringColumn], ir.StringColumn] = _as_it_is
    """Stop at text that is not UTF-8."""
    wide_integers: bool = False
    """Whether sums of 64-bit integers grow past 64 bits by themselves."""
    sample_ranks: Callable[[ir.FloatingColumn, list[float], int], ir.ArrayScalar] | None = None
    """Return the numbers at some ranks (shares) of a random sample of so many, if that is cheap here."""
    one_stored_type: bool = False
    """Whether files that are read together must store a column in one type."""
    keeps_numbers: bool = False
    """Whether numbers that were read from text are worth writing to this machine's disk as numbers."""
    reads_fsspec: bool = False
    """Whether addresses that lie elsewhere are read by way of fsspec."""
    answers_to: Callable[[str], bool] = lambda _: False
    """Tell whether what users call an engine means this one."""
    elsewhere: Callable[[str], bool] = lambda _: False
    """Tell whether what users call an engine runs on other machines, which see no file of this one's scratch folder."""
    open: Callable[[str], Session] | None = None
    read_parquet: Callable[[Session, Sequence[str]], ir.Table] | None = None
    read_csv: Callable[[Session, Sequence[str], Sequence[str]], ir.Table] | None = None


IBIS = Dialect()
POSTGRES = Dialect(wide_integers=True)
