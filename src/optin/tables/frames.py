"""Tables that are in memory already: of pandas, polars, Arrow, or whatever hands its columns over as Arrow does.

Nothing is imported that did not come along with the table, except Arrow itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optin.errors import BadInput
from optin.extras import expect
from optin.tables.headers import expect_column, no_column
from optin.tables.labels import collected, names_of
from optin.tables.stored_types import holds_answers

NAME = "the table"


def is_frame(source: object) -> bool:
    """Tell a table in memory from a path and from a table of Ibis."""
    return (
        not isinstance(source, str | Path) and not hasattr(type(source), "get_backend") and names_of(source) is not None
    )


def arrow_of(frame: Any, names: Sequence[str] | None, *, others: bool = False) -> Any:  # noqa: ANN401 - pandas, polars or Arrow
    """Return some columns of a table (None: all of them) as a table of Arrow; a named index of pandas is a column too.

    With ``others``, so are the other columns that an answer or a number could stand in, which may be asked for later.
    """
    expect("parquet", "a table in memory")
    import pyarrow as arrow
    import pyarrow.compute

    frame = collected(frame)
    if hasattr(type(frame), "reset_index"):
        frame = _with_labels(frame)
    known = [str(name) for name in names_of(frame) or []]
    for name in names or ():
        if name not in known:
            raise no_column(NAME, name, known)
        expect_column(NAME, name, known)
    chosen = known if names is None else list(names)
    columns = {name: _column(arrow, frame, name) for name in chosen}
    if others:
        columns |= _others(arrow, frame, [name for name in known if name not in chosen])
    return arrow.table(columns)


def _others(arrow: Any, frame: Any, names: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401
    """Hand over what can be of columns that nobody asked for yet; one that is there twice is nobody's."""
    columns = {name: _handed(arrow, frame[name]) for name in names if names.count(name) == 1}
    return {name: column for name, column in columns.items() if column is not None and _may_answer(arrow, column.type)}


def _may_answer(arrow: Any, kind: Any) -> bool:  # noqa: ANN401
    """Tell columns that may hold an answer, or nothing at all."""
    return holds_answers(kind) or bool(arrow.types.is_null(kind))


def index_of(frame: Any) -> Any:  # noqa: ANN401
    """Return the labels that a table of pandas carries; None for any other."""
    index: Any = getattr(frame, "index", None)
    return index if hasattr(index, "get_indexer") and index.names == [None] else None


def _with_labels(frame: Any) -> Any:  # noqa: ANN401
    """Make named labels of pandas columns too, even if a column bears the same name: then nobody knows which is meant."""
    labelled = frame if index_of(frame) is not None else frame.reset_index(allow_duplicates=True)
    return labelled.set_axis([str(name) for name in labelled.columns], axis=1)


def _column(arrow: Any, frame: Any, name: str) -> Any:  # noqa: ANN401
    """Hand over one column, or refuse it."""
    column = frame[name]
    handed = _handed(arrow, column)
    if handed is None:
        raise BadInput(
            "{source}: {name} is stored as {kind}, or mixes things of different kinds; write them alike, for instance"
            ' table["{name}"].astype(str)',
            source=NAME,
            name=name,
            kind=getattr(column, "dtype", type(column).__name__),
        )
    return handed


def _handed(arrow: Any, column: Any) -> Any:  # noqa: ANN401
    """Turn a column into one of Arrow; None for what mixes kinds of things, and what is said of it may quote a cell."""
    try:
        array = column.to_arrow() if hasattr(type(column), "to_arrow") else column
        if not isinstance(array, arrow.Array | arrow.ChunkedArray):
            array = arrow.array(_dense(array), from_pandas=True)
        array = arrow.chunked_array([array]) if isinstance(array, arrow.Array) else array
        if arrow.types.is_run_end_encoded(array.type):
            array = arrow.compute.run_end_decode(array)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array


def _dense(column: Any) -> Any:  # noqa: ANN401
    """Write out what pandas keeps sparse, which Arrow does not know."""
    return column.sparse.to_dense() if type(getattr(column, "dtype", None)).__name__ == "SparseDtype" else column
