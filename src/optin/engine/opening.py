"""optin.read: people stay where they are, and come back as agents that every step accepts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from optin.agents.benefit import Benefit
from optin.agents.grouping import combined, expect_public
from optin.agents.models import Agents, PrivacyConstrained, QuasiLinear
from optin.engine import remote
from optin.engine.agents import EngineConstrained, limit_for_all, limit_of, with_labels
from optin.engine.checks import MANY, expect_distinct_ids
from optin.engine.engines import (
    dialect_for,
    dialect_of,
    expect_reachable,
    grouped,
    open_session,
    read_csv,
    read_parquet,
)
from optin.engine.left_out import usable_rows
from optin.engine.rows import Rows
from optin.engine.session import Session
from optin.engine.weighing import EngineQuasiLinear
from optin.errors import BadInput
from optin.extras import installed
from optin.tables.columns import Wanted, checked_limit
from optin.tables.csvfiles import expect_readable, expect_text, line_count
from optin.tables.databases import is_database
from optin.tables.file_stamps import marks_of
from optin.tables.frames import index_of, is_frame
from optin.tables.headers import expect_column, expect_one_type, expect_told_apart, header
from optin.tables.how_read import AS_FOUND, GivenReading, HowRead, Reading, expect_stored
from optin.tables.parquetfiles import expect_complete, parquet_types, row_count
from optin.tables.places import is_parquet, real_name
from optin.tables.plain_files import DataFile, told
from optin.tables.sources import Source, files_from
from optin.tables.stored_types import expect_opened
from optin.tables.table import Table, read_table
from optin.tables.usable_rows import usable
from optin.wording.engines import MEMORY

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr import types as ir

DEFAULT = "duckdb"
ACCEPTED = "limits, budgets or costs"


def read(
    source: str | Path | ir.Table | Any,  # noqa: ANN401 - a table of pandas, polars or Arrow
    *,
    id: str = "id",  # noqa: A002 - the word of the contract
    limits: str | None = None,
    limit: float | None = None,
    budgets: str | None = None,
    costs: str | None = None,
    benefit: Benefit | None = None,
    outside: Any = 0.0,  # noqa: ANN401
    groups: str | Sequence[str] | None = None,
    engine: str | None = None,
    check_ids: bool | None = None,
    **given: Unpack[GivenReading],
) -> Agents:
    """Open a table of people where it lies, check it there, and return agents for `plan`, `announce` and `release`.

    ``source`` is a file, folder or glob (CSV with any ``delimiter`` and ``decimal`` mark, Parquet, JSON lines, a workbook or
    a DuckDB file and its ``table``), a postgresql:// address and a ``query``, a table of pandas, polars or Arrow, or of any
    Ibis backend. Name the column of ``limits``, or one ``limit`` for all; or ``budgets`` and ``costs``; or ``costs`` with a
    common ``benefit``. Rows that cannot be used are named by line or id, all at once, or left out and written to the file
    ``skip_bad``; an empty limit counts as ``blank_limit``. How it was read is said by ``reading`` of what comes back. The
    engine is DuckDB, or memory for a table that is there already. Ids are compared below 10^6 people, and above with
    ``check_ids=True``. ``groups`` names a column of public labels, or several whose combinations are the groups (E27): each
    group is then planned and released by itself.
    """
    _expect_source(source)
    _check_columns((limits, limit), budgets, costs, benefit)
    by = (groups,) if isinstance(groups, str) else tuple(groups or ())
    expect_public(by, (limits, budgets, costs), ACCEPTED)
    said = Described(id, limits, limit, budgets, costs, benefit, outside, by)
    how, wanted = HowRead.of(**given), said.names
    engine = engine or (MEMORY if is_frame(source) else DEFAULT)
    if engine == MEMORY and not hasattr(type(source), "get_backend"):
        table = read_table(source, None if how.skip_bad and is_frame(source) else [id, *wanted, *by], how=how)
        return usable_agents(table, said, index=index_of(source))[0]
    rows = rows_of(source, id=id, columns=[*wanted, *by], engine=engine, how=how)
    left_out = 0
    if how.skip_bad is not None:
        rows, left_out = usable_rows(rows, said.wanted(how.blank_limit))
    people = people_of(rows, said)
    if check_ids or (check_ids is None and len(people) < MANY):
        expect_distinct_ids(rows)
    return read_so(people, rows.reading(wanted, left_out))


@dataclass(frozen=True)
class Described:
    """Which columns describe people, in memory or in an engine, and what does not stand in any column."""

    id: str
    limits: str | None = None
    limit: float | None = None
    budgets: str | None = None
    costs: str | None = None
    benefit: Benefit | None = None
    outside: Any = 0.0
    by: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns of what they accept."""
        return [name for name in (self.limits, self.budgets, self.costs) if name is not None]

    def wanted(self, blank: float | None) -> tuple[Wanted, ...]:
        """Say what is wanted of the columns that are named; of none where one limit is everyone's."""
        if self.limits is not None:
            return (Wanted.limits(self.limits, blank),)
        if self.budgets is not None:
            return Wanted.budgets(self.budgets), Wanted.divisors(str(self.costs))
        return () if self.costs is None else (Wanted.costs(self.costs),)


def people_of(rows: Rows, said: Described) -> EngineConstrained | EngineQuasiLinear:
    """Take rows that are open for the people that some of their columns describe."""
    rows = with_labels(rows, said.by)
    if said.benefit is not None:
        return EngineQuasiLinear(rows, str(said.costs), benefit=said.benefit, outside=said.outside, by=said.by)
    if said.limit is not None:
        return limit_for_all(rows, said.limit, said.by)
    return limit_of(rows, said.limits, said.budgets, said.costs, said.by)


def _expect_source(source: object) -> None:
    """Refuse what is no table."""
    if not (isinstance(source, str | Path) or hasattr(type(source), "get_backend") or is_frame(source)):
        raise BadInput(
            "optin.read opens files, queries, and tables of pandas, polars, Arrow and Ibis; of columns alone make people"
            " yourself: optin.PrivacyConstrained(limits, ids=ids)"
        )


def _header(file: DataFile, located: remote.Located | None) -> tuple[str, ...]:
    """Read the column names, and look through CSV before an engine does: they differ in what they make of other text."""
    if located is not None:
        return tuple(located.header(str(file.name)))
    known = tuple(header(file.path))
    if not is_parquet(file.path):
        expect_text(file.path)
    return known


def _types(file: DataFile, located: remote.Located | None) -> dict[str, pa.DataType]:
    return parquet_types(file.path) if located is None else located.types(str(file.name))


def _expect_complete(files: Sequence[DataFile]) -> None:
    """Where an engine gave up on local files, name the file and where it is damaged; nothing the engine said is passed on."""
    with told(files):
        for file in files:
            if not remote.is_remote(str(file.name)):
                expect_complete(file.path) if is_parquet(file.path) else expect_readable(file.path)


def engine_for(path: str, how: HowRead = AS_FOUND) -> str:
    """Choose memory below 10^6 rows, and DuckDB from there on, if it is installed, or for files that lie elsewhere."""
    if remote.is_remote(path):
        return DEFAULT
    if not installed("duckdb"):
        return MEMORY
    rows = 0
    for file in files_from(path, how):
        rows += row_count(file.path) if is_parquet(file.path) else line_count(file.path, enough=MANY - rows)
        if rows >= MANY:
            return DEFAULT
    return MEMORY


def _check_columns(
    limits: tuple[str | None, float | None], budgets: str | None, costs: str | None, benefit: Benefit | None
) -> None:
    said = sum(each is not None for each in limits)
    given = (said, budgets is not None, costs is not None, benefit is not None)
    if given not in ((1, False, False, False), (0, True, True, False), (0, False, True, True)):
        raise BadInput(
            "say what people accept in one way: limits=… (or limit=… for everyone), or budgets=… and costs=…, or costs=… and"
            " benefit=…"
        )


def rows_of(
    source: Source,
    *,
    id: str,  # noqa: A002 - the word of the contract
    columns: Sequence[str],
    engine: str,
    how: HowRead = AS_FOUND,
) -> Rows:
    """Open the table; every file must have the id and the columns, once."""
    if hasattr(type(source), "get_backend") or remote.is_remote(str(source)):
        expect_stored(how)
    if hasattr(type(source), "get_backend"):
        backend = source.get_backend()
        return Rows(Session(backend, backend.name, dialect_of(backend), owned=False), source, "the table", id, how=how)
    located = remote.located(str(source)) if remote.is_remote(str(source)) else None
    if located is None:
        files = files_from(source, how, None if how.skip_bad else [id, *columns], others=True)
    else:
        files = tuple(DataFile(file, Path(file)) for file in located.files)
    with told(files):
        return _opened(files, located, source, id=id, columns=columns, engine=engine, how=how)


def _opened(
    files: tuple[DataFile, ...],
    located: remote.Located | None,
    source: Source,
    *,
    id: str,  # noqa: A002
    columns: Sequence[str],
    engine: str,
    how: HowRead,
) -> Rows:
    about = str(source) if isinstance(source, str | Path) and not is_database(str(source)) else str(files[0].name)
    real = tuple(_original(file) for file in files)
    marks = marks_of(real)  # before anything is read of them
    headers = [(file, _header(file, located)) for file in files]
    for file, known in headers:
        for name in (id, *columns):
            expect_column(file.path, name, list(known))
        if is_parquet(file.path):
            expect_told_apart(file.path, list(known))
    types = [(str(file.path), _types(file, located)) for file in files if is_parquet(file.path)]
    stored = {name: tuple(kinds[name] for _, kinds in types if name in kinds) for _, kinds in types for name in kinds}
    if dialect_for(engine).one_stored_type:
        expect_opened(stored, about, engine)
        expect_one_type(types)
    expect_reachable(files, engine)
    session = open_session(engine)
    session.explain = partial(_expect_complete, files)
    if located is not None:
        located.register(session)
    paths = [(str(file.path) if located is None else str(file.name), known) for file, known in headers]
    if is_parquet(files[0].path):
        table, places = session.tried(lambda: (read_parquet(session, [path for path, _ in paths]), {}), about=about)
    else:
        table, places = session.tried(lambda: read_csv(session, grouped(paths)), about=about)
    named = tuple((str(file.name), known) for file, known in headers)
    rows = Rows(session, table, about, id, real, marks, places, named, stored, how, files)
    rows.ids()
    return rows


def _original(file: DataFile) -> str:
    """Name the file whose change would matter: what users call a table in memory or a database is none."""
    name = str(file.name)
    return real_name(name if "://" in name or os.path.exists(name) else str(file.path))


def usable_agents(table: Table, said: Described, *, index: Any = None) -> tuple[Agents, Table]:  # noqa: ANN401
    """Build the agents that a table in memory describes, and return it without rows that were left out.

    What is wrong is looked for in the same order as in an engine.
    """
    expect_public(said.by, (said.limits, said.budgets, said.costs), ACCEPTED)
    table.expect_stored(said.id, said.names)
    wanted = said.wanted(table.how.blank_limit)
    checked = usable(table, said.id, wanted)
    columns = [checked.numbers[one.name] for one in wanted]
    labels = index if index is None or checked.table.kept is None else index[checked.table.kept]
    groups = combined([checked.table.labels(name) for name in said.by]) if said.by else None
    named: dict[str, Any] = {"ids": checked.ids, "groups": groups}
    if said.benefit is not None:
        people: Agents = QuasiLinear(*columns, benefit=said.benefit, outside=said.outside, index=labels, **named)
    elif said.limit is not None:
        people = PrivacyConstrained(np.full(len(checked.ids), checked_limit(said.limit)), index=labels, **named)
    elif said.limits is not None:
        people = PrivacyConstrained(*columns, index=labels, **named)
    else:
        people = PrivacyConstrained.from_budgets(*columns, index=labels, **named)
    object.__setattr__(people, "by", said.by)  # people are frozen
    object.__setattr__(people, "id_column", said.id)
    words = checked.table.words([one.name for one in wanted])
    return read_so(people, Reading(words, checked.left_out)), checked.table


def read_so(people: Agents, reading: Reading) -> Agents:
    """Note how a table of people was read."""
    object.__setattr__(people, "reading", reading)  # people are frozen, and are made in several ways
    return people
