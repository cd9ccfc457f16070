"""optin.read: people stay where they are, and come back as agents that every step accepts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.agents.benefit import Benefit
from optin.agents.grouping import combined
from optin.agents.models import Agents, PrivacyConstrained, QuasiLinear
from optin.engine import remote
from optin.engine.checks import expect_distinct_ids
from optin.engine.engines import dialect_for, dialect_of, grouped, open_session, read_csv, read_parquet
from optin.engine.people import EngineConstrained, EngineQuasiLinear, limit_of, with_labels
from optin.engine.rows import Rows
from optin.engine.session import Session
from optin.errors import BadInput
from optin.extras import installed
from optin.tables.columns import Wanted
from optin.tables.csvfiles import expect_readable, expect_text, line_count
from optin.tables.file_stamps import marks_of
from optin.tables.headers import expect_column, expect_one_type, expect_told_apart, header, is_parquet
from optin.tables.parquetfiles import expect_whole, parquet_types, row_count
from optin.tables.places import files_of, real_name
from optin.tables.reading import Table, read_table
from optin.tables.stored_types import expect_opened
from optin.wording.engines import MEMORY

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr import types as ir

MANY = 1_000_000  # from so many people on, ids are compared only when asked for


def read(
    source: str | Path | ir.Table,
    *,
    id: str = "id",  # noqa: A002 - the word of the contract
    limits: str | None = None,
    budgets: str | None = None,
    costs: str | None = None,
    benefit: Benefit | None = None,
    outside: Any = 0.0,  # noqa: ANN401
    groups: str | Sequence[str] | None = None,
    engine: str = "duckdb",
    check_ids: bool | None = None,
) -> Agents:
    """Open a table of people where it lies, check it there, and return agents for `plan`, `announce` and `release`.

    ``source`` is a file, folder or glob of Parquet or CSV, or a table of any Ibis backend. Name the column of ``limits``; or
    ``budgets`` and ``costs``; or ``costs`` with a common ``benefit``. The first scan counts what cannot be used and names one
    such person by id. Ids are compared below 10^6 people, and above with ``check_ids=True``. ``groups`` names a column of
    public labels, or several whose combinations are the groups (E27): each group is then planned and released by itself.
    """
    _expect_source(source)
    by = (groups,) if isinstance(groups, str) else tuple(groups or ())
    wanted = [name for name in (limits, budgets, costs, *by) if name is not None]
    _check_columns(limits, budgets, costs, benefit)
    if engine == MEMORY and not hasattr(source, "execute"):
        table = read_table(str(source), [id, *wanted])
        return agents_of(
            table, id=id, limits=limits, budgets=budgets, costs=costs, benefit=benefit, outside=outside, groups=by
        )
    rows = rows_of(source, id=id, columns=wanted, engine=engine)
    people = people_of(rows, limits=limits, budgets=budgets, costs=costs, benefit=benefit, outside=outside, groups=by)
    if check_ids or (check_ids is None and len(people) < MANY):
        expect_distinct_ids(rows)
    return people


def people_of(
    rows: Rows,
    *,
    limits: str | None,
    budgets: str | None,
    costs: str | None,
    benefit: Benefit | None,
    outside: Any = 0.0,  # noqa: ANN401
    groups: tuple[str, ...] = (),
) -> EngineConstrained | EngineQuasiLinear:
    """Take rows that are open for the people that some of their columns describe."""
    rows = with_labels(rows, groups)
    if benefit is not None:
        return EngineQuasiLinear(rows, str(costs), benefit=benefit, outside=outside, by=groups)
    return limit_of(rows, limits, budgets, costs, groups)


def _expect_source(source: object) -> None:
    """Refuse a table in memory, which needs no reading: say how it becomes people."""
    if isinstance(source, str | Path) or hasattr(source, "get_backend"):
        return
    raise BadInput(
        "optin.read opens files and tables of Ibis. A table in memory is people already:"
        ' optin.PrivacyConstrained(table["limit"], ids=table["id"]); or read ibis.memtable(table)'
    )


def _header(file: str, found: remote.Located | None) -> tuple[str, ...]:
    """Read the column names, and look through CSV before an engine does: they differ in what they make of other text."""
    if found is not None:
        return tuple(found.header(file))
    known = tuple(header(Path(file)))
    if not is_parquet(file):
        expect_text(Path(file))
    return known


def _types(file: str, found: remote.Located | None) -> dict[str, pa.DataType]:
    return parquet_types(Path(file)) if found is None else found.types(file)


def _expect_whole(files: Sequence[str]) -> None:
    """Where an engine gave up on local files, name the file and where it is damaged; nothing the engine said is passed on."""
    for file in files:
        if not remote.is_remote(file):
            expect_whole(Path(file)) if is_parquet(file) else expect_readable(Path(file))


def engine_for(path: str) -> str:
    """Choose memory below 10^6 rows, and DuckDB from there on, if it is installed, or for files that lie elsewhere."""
    if remote.is_remote(path):
        return "duckdb"
    if not installed("duckdb"):
        return MEMORY
    rows = 0
    for file in files_of(path):
        rows += row_count(file) if is_parquet(file) else line_count(file, enough=MANY - rows)
        if rows >= MANY:
            return "duckdb"
    return MEMORY


def _check_columns(limits: str | None, budgets: str | None, costs: str | None, benefit: Benefit | None) -> None:
    given = (limits is not None, budgets is not None, costs is not None, benefit is not None)
    if given not in ((True, False, False, False), (False, True, True, False), (False, False, True, True)):
        raise BadInput(
            "say what people accept in one way: limits=…, or budgets=… and costs=…, or costs=… and benefit=…"
        )


def rows_of(source: str | Path | ir.Table, *, id: str, columns: list[str], engine: str) -> Rows:  # noqa: A002
    """Open the table; every file must have the id and the columns, once."""
    if not isinstance(source, str | Path):
        session = Session(
            source.get_backend(), source.get_backend().name, dialect_of(source.get_backend()), owned=False
        )
        return Rows(session, source, "the table", id)
    found = remote.located(str(source)) if remote.is_remote(str(source)) else None
    files = [str(file) for file in files_of(str(source))] if found is None else found.files
    real = tuple(real_name(file) for file in files)
    marks = marks_of(real)  # before anything is read of them
    headers = [(file, _header(file, found)) for file in files]
    for file, known in headers:
        for name in (id, *columns):
            expect_column(file, name, list(known))
        if is_parquet(file):
            expect_told_apart(file, list(known))
    types = [(file, _types(file, found)) for file in files if is_parquet(file)]
    stored = {name: tuple(kinds[name] for _, kinds in types if name in kinds) for _, kinds in types for name in kinds}
    if dialect_for(engine).one_stored_type:
        expect_opened(stored, str(source), engine)
        expect_one_type(types)
    session = open_session(engine)
    session.explain = partial(_expect_whole, files)
    if found is not None:
        found.register(session)
    if is_parquet(files[0]):
        table, places = session.tried(lambda: (read_parquet(session, files), {}), about=str(source))
    else:
        table, places = session.tried(lambda: read_csv(session, grouped(headers)), about=str(source))
    rows = Rows(session, table, str(source), id, real, marks, places, tuple(headers), stored)
    rows.ids()
    return rows


def agents_of(
    table: Table, *, id: str, limits: str | None, budgets: str | None, costs: str | None,  # noqa: A002
    benefit: Benefit | None, outside: Any = 0.0, groups: tuple[str, ...] = (),  # noqa: ANN401
) -> Agents:  # fmt: skip
    """Build the agents that a table in memory describes: what is wrong is looked for in the same order as in an engine."""
    table.expect_stored(id, [name for name in (limits, budgets, costs) if name is not None])
    labels = combined([table.labels(name) for name in groups]) if groups else None
    if limits is not None:
        return PrivacyConstrained(table.numbers(limits), ids=tuple(table.ids(id)), groups=labels)
    if benefit is not None:
        cost = table.numbers(Wanted.costs(str(costs)))
        return QuasiLinear(cost, benefit=benefit, outside=outside, ids=tuple(table.ids(id)), groups=labels)
    budget, cost = table.numbers(Wanted.budgets(str(budgets))), table.numbers(Wanted.divisors(str(costs)))
    return PrivacyConstrained.from_budgets(budget, cost, ids=tuple(table.ids(id)), groups=labels)
