"""One connection to an engine: it sends queries, counts them, and turns failures into messages that quote nothing.

An engine's own messages may repeat whole rows, so none of them is shown or kept as a cause.
"""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.engine.dialect import Dialect
from optin.errors import BadInput, came_of_interrupt
from optin.formats.scratch import Scratch

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

FAILED = object()


def literal(number: float) -> ir.FloatingScalar:
    """Write a float64 so that the engine reads the very same one.

    Plain literals pass through DECIMAL on DuckDB, which changes 8 % of them; the shortest text that names a float does not.
    """
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")


class Session:
    """A backend of Ibis, the private folder it may spill to, and how many queries it was sent."""

    def __init__(
        self, backend: BaseBackend, name: str, dialect: Dialect, *, scratch: Scratch | None = None, owned: bool = True
    ) -> None:
        self.backend, self.name, self.dialect, self.scratch, self.sent = backend, name, dialect, scratch, 0
        self.explain: Callable[[], None] = lambda: None  # raises what it finds wrong with the files themselves
        self.close = weakref.finalize(self, _close, backend if owned else None, scratch)

    def folder(self) -> Path:
        """Return a private folder for what this session reads besides people's tables; it goes when the session goes."""
        if self.scratch is None:
            self.scratch = Scratch()
        return self.scratch.path

    def below(self, number: ir.FloatingColumn, bound: float) -> ir.BooleanColumn:
        """Tell whether numbers, none of them NaN, are below a bound, in the way that is cheapest here."""
        exact = literal(bound)
        return self.dialect.below(number, exact) if math.isfinite(bound) else number < exact

    def fetch(self, query: ir.Expr, *, about: str) -> pa.Table:
        """Send one query and return its few rows; ``about`` names what is read, for a message."""
        self.sent += 1
        return self.tried(lambda: self.dialect.fetch(self.backend, query.as_table()), about)

    def one(self, query: ir.Table, *, about: str) -> dict[str, Any]:
        """Send one query that gives one row."""
        row: dict[str, Any] = self.fetch(query, about=about).to_pylist()[0]
        return row

    def batches(self, query: ir.Table, *, about: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """Send one query and walk over its rows, a batch at a time."""
        self.sent += 1
        reader = self.tried(lambda: self.dialect.batches(self.backend, query, size), about)
        while (batch := self.tried(lambda: next(reader, None), about)) is not None:
            yield batch

    def write(self, query: ir.Table, path: str, *, about: str) -> None:
        """Send one query whose rows the engine writes to Parquet itself."""
        self.sent += 1
        self.tried(lambda: self.dialect.write(self.backend, query, path), about)

    def tried(self, call: Callable[[], Any], about: str) -> Any:  # noqa: ANN401 - whatever the engine gives
        """Return what a call gives; where the engine fails, its error may quote rows, so it ends here."""
        answer, interrupted = FAILED, False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # advice to programmers of the engine, not to its users
                answer = call()
        except BadInput:  # our own words
            raise
        except Exception as error:
            reason, interrupted = type(error).__name__, came_of_interrupt(error)
        if interrupted:
            raise KeyboardInterrupt
        if answer is FAILED:
            self.explain()
            raise BadInput(
                "{about} cannot be read by {name} ({reason}): a file is damaged, or was changed or taken away while"
                " it was read, or the engine lacks room or has gone away; check the files and the engine, then try"
                " again",
                about=about,
                name=self.name,
                reason=reason,
            )
        return answer

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _close(backend: BaseBackend | None, scratch: Scratch | None) -> None:
    if backend is not None:
        backend.disconnect()
    if scratch is not None:
        scratch.remove()
