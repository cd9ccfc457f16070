"""What a ledger knows of people, laid over their rows in the engine: by id, in a private file that is gone afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from optin.engine.agents import EngineAgents, EngineConstrained
from optin.engine.engines import read_parquet
from optin.engine.grouping import LABEL
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.errors import BadInput
from optin.grains.units import UNLIMITED, USEFUL, grains_of_levels
from optin.kernel.rounding import GRAIN

if TYPE_CHECKING:
    from ibis.expr import types as ir

Block = list[list[Any]]
Handed = Callable[[Callable[[Block], None]], None]
"""Something that hands out blocks of id and two numbers."""
ROW, PERSON, FIRST, SECOND, STATED = "row", "person", "first", "second", "stated"
"""Columns laid beside people's own, which are called c0, c1, … (`Rows`)."""


def laid_over(agents: EngineAgents, handed: Handed) -> Rows | None:
    """Join what is handed out to people's rows, as columns FIRST and SECOND; None where nothing is known of anyone.

    Limits are kept in the column STATED, whatever expression they were; what was laid beside the rows before is left out.
    """
    rows = agents.rows
    path = rows.session.folder() / f"{uuid4().hex}.parquet"
    if not _written(path, handed):
        return None
    if rows.session.dialect.read_parquet is None:
        raise BadInput(
            "the ledger knows some of these people already, and what it knows can be laid beside them by DuckDB or"
            " Spark, not by {name}: write the table to Parquet and read that",
            name=rows.session.name,
        )
    known = read_parquet(rows.session, [str(path)])
    stated = {STATED: agents.expression} if isinstance(agents, EngineConstrained) else {}
    labels = {LABEL: rows.table[LABEL]} if LABEL in rows.table.columns else {}
    people = rows.table.select(*rows.places.values(), **{ROW: rows.ids()}, **stated, **labels)
    joined = people.left_join(known, people[ROW] == known[PERSON])
    return replace(rows, table=joined.drop(ROW, PERSON))


def _written(path: Path, handed: Handed) -> bool:
    """Write blocks to a file of the private folder; say whether there were any."""
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet

    schema = pa.schema({PERSON: pa.string(), FIRST: pa.int64(), SECOND: pa.int64()})
    sizes: list[int] = []
    with arrow_parquet.ParquetWriter(path, schema) as writer:

        def take(block: Block) -> None:
            sizes.append(len(block[0]))
            columns = [pa.array(block[0], pa.string()), *(pa.array(column, pa.int64()) for column in block[1:])]
            writer.write_table(pa.table(columns, schema=schema))

        handed(take)
    return bool(sizes)


def left_of(rows: Rows, *, totals: ir.IntegerValue | None, raise_limits: bool) -> ir.IntegerColumn:
    """Say how many grains are left to each person, as `within_allowance` does in memory; UNLIMITED without a bound.

    FIRST is the allowance, SECOND what is taken of it.
    """
    import ibis

    total = allowance(rows.table[STATED]) if totals is None else totals
    first, second = rows.table[FIRST], rows.table[SECOND]
    bound = ibis.greatest(first, total) if raise_limits else first
    free = ibis.literal(UNLIMITED, "int64") if totals is None else total
    return ibis.cases((first.isnull() | (bound >= UNLIMITED), free), else_=bound - second)


def expression_cut_to(left: ir.IntegerColumn, levels: ArrayLike | None) -> ir.FloatingColumn:
    """Turn what is left into limits, as `cut_to` does over arrays."""
    import ibis

    if levels is None:
        return (left < USEFUL).ifelse(literal(0.0), epsilon(left))
    pairs = list(zip(*(both.tolist() for both in grains_of_levels(levels)), strict=True))
    return ibis.cases(*((left >= grains, literal(limit)) for grains, limit in reversed(pairs[1:])), else_=literal(0.0))


def allowance(limit: ir.FloatingColumn) -> ir.IntegerColumn:
    """Turn limits into grains, rounded down; infinity and anything from 2^30 up becomes UNLIMITED, as in the ledger."""
    import ibis

    return (ibis.least(limit, literal(UNLIMITED / GRAIN)) * literal(GRAIN)).floor().cast("int64")


def epsilon(grains: ir.IntegerColumn) -> ir.FloatingColumn:
    """Turn grains into epsilon, never rounding up: above 2^53 the last ten bits are dropped, as in the ledger."""
    short = (grains >= 2**53).ifelse(grains & np.int64(-1024).item(), grains)
    return short.cast("float64") * literal(1 / GRAIN)
