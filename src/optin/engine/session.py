"""One connection to an engine: it sends queries, counts them, and turns failures into messages that quote nothing.

An engine's own messages may repeat whole rows, so none of them is shown or kept as a cause.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.engine.scratch import Scratch
from optin.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

__all__ = ["Session", "literal"]

FAILED = object()


def literal(number: float) -> ir.FloatingScalar:
    """Write a float64 so that the engine reads the very same one.

    Plain literals pass through DECIMAL on DuckDB, which changes 8 % of them; the shortest text that names a float does not.
    """
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")


class Session:
    """A backend of Ibis, the private folder it may spill to, and how many queries it was sent."""

    def __init__(self, backend: BaseBackend, name: str, *, scratch: Scratch | None = None, owned: bool = True) -> None:
        self.backend, self.name, self.scratch, self.sent = backend, name, scratch, 0
        self.explain: Callable[[], None] = lambda: None  # raises what it finds wrong with the files themselves
        self.close = weakref.finalize(self, _close, backend if owned else None, scratch)

    def folder(self) -> Path:
        """Return a private folder for what this session reads besides people's tables; it goes when the session goes."""
        if self.scratch is None:
            self.scratch = Scratch()
        return self.scratch.path

    def fetch(self, query: ir.Expr, *, about: str) -> pa.Table:
        """Send one query and return its few rows; ``about`` names what is read, for a message."""
        self.sent += 1
        return self.tried(lambda: _arrow(self.backend, query), about)

    def one(self, query: ir.Table, *, about: str) -> dict[str, Any]:
        """Send one query that gives one row."""
        row: dict[str, Any] = self.fetch(query, about=about).to_pylist()[0]
        return row

    def batches(self, query: ir.Table, *, about: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """Send one query and walk over its rows, a batch at a time."""
        self.sent += 1
        reader = self.tried(lambda: _arrow_batches(self.backend, query, size), about)
        while (batch := self.tried(lambda: next(reader, None), about)) is not None:
            yield batch

    def write(self, query: ir.Table, path: str, *, about: str) -> None:
        """Send one query whose rows the engine writes to Parquet itself."""
        self.sent += 1
        self.tried(lambda: _write(self.backend, query, path), about)

    def tried(self, call: Callable[[], Any], about: str) -> Any:  # noqa: ANN401 - whatever the engine gives
        """Return what a call gives; where the engine fails, its error may quote rows, so it ends here."""
        found = FAILED
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # advice to programmers of the engine, not to its users
                found = call()
        except BadInput:  # our own words
            raise
        except Exception as error:
            reason = type(error).__name__
        if found is FAILED:
            self.explain()
            raise BadInput(
                f"{about} cannot be read by {self.name} ({reason}): a file is damaged, or was changed or taken away while it"
                " was read, or the engine lacks room or has gone away; check the files and the engine, then try again"
            )
        return found

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _arrow(backend: BaseBackend, query: ir.Expr) -> pa.Table:
    """Fetch rows as Arrow; Ibis would fetch Spark's by way of pandas, which takes NaN for NULL."""
    if backend.name == "pyspark":
        return backend._session.sql(backend.compile(query.as_table())).toArrow()
    return backend.to_pyarrow(query.as_table())


def _write(backend: BaseBackend, query: ir.Table, path: str) -> None:
    if backend.name == "pyspark":
        backend._session.sql(backend.compile(query)).write.parquet(path)
    else:
        backend.to_parquet(query, path)


def _arrow_batches(backend: BaseBackend, query: ir.Table, size: int) -> Iterator[pa.RecordBatch]:
    """Fetch rows bit by bit; Ibis would fetch all of Spark's at once."""
    if backend.name != "pyspark":
        yield from backend.to_pyarrow_batches(query, chunk_size=size)
        return
    import pyarrow as pa

    rows = backend._session.sql(backend.compile(query)).toLocalIterator(prefetchPartitions=True)
    schema = query.schema().to_pyarrow()
    for part in batched(rows, size):
        columns = zip(*part, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )


def batched(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Cut an iterable into lists."""
    walk = iter(rows)
    while part := list(islice(walk, size)):
        yield part


def _close(backend: BaseBackend | None, scratch: Scratch | None) -> None:
    if backend is not None:
        backend.disconnect()
    if scratch is not None:
        scratch.remove()
