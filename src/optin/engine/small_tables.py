"""A few rows of numbers laid beside people's, by their public label: the only thing that ever goes into an engine this way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from optin.engine.engines import read_parquet
from optin.engine.session import Session
from optin.errors import BadInput

if TYPE_CHECKING:
    from ibis.expr import types as ir


def small_table(session: Session, columns: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> ir.Table:
    """Open a few rows as a table of the engine, by way of a private file: numbers arrive to the last bit."""
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet

    if session.dialect.read_parquet is None:
        raise BadInput(
            "people in groups are planned and released by DuckDB, by Spark or in memory, not by {name}: write the table to"
            " Parquet and read that",
            name=session.name,
        )
    path = session.folder() / f"{uuid4().hex}.parquet"
    kinds = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64()}
    arrow_parquet.write_table(
        pa.table({name: pa.array(list(columns[name]), kinds[types[name]]) for name in columns}), path
    )
    return read_parquet(session, [str(path)])
