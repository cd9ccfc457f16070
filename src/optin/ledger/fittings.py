"""What the database itself must be like for rows to mean what they say: tables, keys, triggers, and nothing beside them.

A trigger, rule or policy that is not ours can change a row on its way in or hide it from whoever reads; a missing key
lets one person have two ids or one campaign two results. Hashes see none of this while it is being done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, Index

from optin.database.append_only import REFUSAL, guards
from optin.database.kinds import is_sqlite
from optin.database.metadata import metadata
from optin.ledger.schema import APPEND_ONLY

TABLES = [metadata.tables[name] for name in APPEND_ONLY]


def changed_fittings(connection: Connection) -> Iterator[str]:
    """Name what was taken away, changed or put in; all of it is what only someone with full rights can do."""
    if is_sqlite(connection):
        yield from _in_sqlite(connection)
    else:
        yield from _in_postgresql(connection)
    if list(connection.scalars(text("SELECT one FROM head_lock"))) != [1]:
        yield "the row that every writer locks is missing or not the only one"


def _compared(expected: dict[tuple[str, str], str], actual: dict[tuple[str, str], str]) -> Iterator[str]:
    """Compare things by kind and name."""
    lost = sorted(f"{kind} {name}" for kind, name in expected.keys() - actual.keys())
    other = sorted(f"{kind} {name}" for (kind, name), how in expected.items() if actual.get((kind, name), how) != how)
    added = sorted(f"{kind} {name}" for kind, name in actual.keys() - expected.keys())
    for words, things in (("is missing", lost), ("is not as optin made it", other), ("is not optin's", added)):
        yield from (f"the database was altered: {thing} {words}" for thing in things)


# --- SQLite: it keeps every statement word for word -----------------------------------------------------------------


def _in_sqlite(connection: Connection) -> Iterator[str]:
    names = [table.name for table in TABLES]
    rows = connection.execute(text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")).all()
    ours = [row for row in rows if row.type in ("trigger", "view") or row.tbl_name in names]
    yield from _compared(_made_in_sqlite(), {(row.type, row.name): _plain(row.sql) for row in ours})


def _made_in_sqlite() -> dict[tuple[str, str], str]:
    made = {("table", table.name): str(CreateTable(table).compile(dialect=sqlite.dialect())) for table in TABLES}
    made |= {("index", str(index.name)): _index(index) for index in _indexes()}
    made |= {("trigger", name): sql for table in TABLES for name, sql in guards(table.name).items()}
    return {what: _plain(sql) for what, sql in made.items()}


def _indexes() -> list[Index]:
    return [index for table in TABLES for index in table.indexes]


def _index(index: Index) -> str:
    return str(CreateIndex(index).compile(dialect=sqlite.dialect()))


def _plain(statement: str) -> str:
    """Write a statement without what means nothing outside of texts: quotes around names, spaces, capitals."""
    parts = re.split(r"('(?:[^']|'')*')", statement)
    bare = [part if at % 2 else " ".join(f" {part} ".replace('"', "").split()).lower() for at, part in enumerate(parts)]
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(bare))


# --- PostgreSQL: its catalogue --------------------------------------------------------------------------------------

_WITH = """WITH ours AS (SELECT CAST(to_regclass(name) AS oid) AS oid FROM unnest(CAST(:names AS text[])) AS name),
    home AS (SELECT relnamespace AS oid FROM pg_class WHERE oid = to_regclass('acts')),
    extensions AS (SELECT objid AS oid FROM pg_depend WHERE deptype = 'e') """

_CATALOGUE = {
    "table": """SELECT c.relname AS name, CONCAT_WS(' ', c.relkind, c.relpersistence, c.relrowsecurity,
            c.relforcerowsecurity, c.relispartition, c.relnamespace = (SELECT oid FROM home)) AS how
        FROM pg_class c WHERE c.oid IN (SELECT oid FROM ours)""",
    "column": """SELECT c.relname || '.' || a.attname AS name, CONCAT_WS(' ', format_type(a.atttypid, a.atttypmod),
            a.attnotnull, a.attgenerated, a.attidentity, a.atthasdef, a.attcollation IN (0, 100)) AS how
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attrelid IN (SELECT oid FROM ours) AND a.attnum > 0 AND NOT a.attisdropped""",
    "index": """SELECT i.relname AS name, CONCAT_WS(' ', c.relname, x.indisunique, x.indisprimary,
            x.indisvalid AND x.indisready AND x.indislive AND x.indimmediate AND x.indexprs IS NULL, m.amname,
            (SELECT STRING_AGG(a.attname, ',' ORDER BY k.at) FROM unnest(x.indkey) WITH ORDINALITY AS k(number, at)
             JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number),
            (SELECT BOOL_AND(o.opcdefault) FROM pg_opclass o WHERE o.oid = ANY (x.indclass)),
            (SELECT BOOL_AND(n IN (0, 100)) FROM unnest(x.indcollation) AS n)) || ' '
            || COALESCE(pg_get_expr(x.indpred, x.indrelid), '') AS how
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
        JOIN pg_am m ON m.oid = i.relam WHERE x.indrelid IN (SELECT oid FROM ours)""",
    "constraint": """SELECT c.relname || '.' || k.conname AS name, CONCAT_WS(' ', k.contype, k.convalidated) AS how
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        WHERE k.conrelid IN (SELECT oid FROM ours) AND k.contype <> 'n'""",
    "trigger": """SELECT c.relname || '.' || t.tgname AS name, CONCAT_WS(' ', t.tgtype, t.tgenabled IN ('O', 'A'),
            t.tgqual IS NULL AND t.tgnargs = 0 AND t.tgattr = '', l.lanname, p.proconfig IS NULL, p.prosrc) AS how
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
        JOIN pg_language l ON l.oid = p.prolang WHERE c.relnamespace = (SELECT oid FROM home)""",
    "rule": """SELECT c.relname || '.' || r.rulename AS name, '' AS how FROM pg_rewrite r
        JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace = (SELECT oid FROM home) AND c.relkind NOT IN ('v', 'm')""",
    "policy": "SELECT polname AS name, '' AS how FROM pg_policy WHERE polrelid IN (SELECT oid FROM ours)",
    "table that inherits": """SELECT c.relname AS name, '' AS how FROM pg_inherits h
        JOIN pg_class c ON c.oid = h.inhrelid
        WHERE h.inhparent IN (SELECT oid FROM ours) OR h.inhrelid IN (SELECT oid FROM ours)""",
    "view": """SELECT c.relname AS name, '' AS how FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM home)
        AND c.relkind IN ('v', 'm') AND c.oid NOT IN (SELECT oid FROM extensions)""",
    "function": """SELECT p.proname AS name, CONCAT_WS(' ', l.lanname, p.prokind, p.prosrc) AS how FROM pg_proc p
        JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = (SELECT oid FROM home) AND p.oid NOT IN (SELECT oid FROM extensions)""",
    "operator": """SELECT o.oprname AS name, '' AS how FROM pg_operator o
        WHERE o.oprnamespace = (SELECT oid FROM home) AND o.oid NOT IN (SELECT oid FROM extensions)""",
}

_ONCE_BEFORE_UPDATE_DELETE_TRUNCATE = 2 + 8 + 16 + 32  # the bits of pg_trigger.tgtype


def _in_postgresql(connection: Connection) -> Iterator[str]:
    actual = {
        (kind, row.name): _bare(row.how)
        for kind, query in _CATALOGUE.items()
        for row in connection.execute(text(_WITH + query), {"names": list(APPEND_ONLY)})
    }
    yield from _compared(_made_in_postgresql(), actual)
    if connection.scalar(text("SHOW session_replication_role")) != "origin":
        yield "the database was altered: for this user triggers are switched off (session_replication_role)"


def _made_in_postgresql() -> dict[tuple[str, str], str]:
    made = {("table", table.name): "r p f f f t" for table in TABLES}
    for table in TABLES:
        made |= {("column", f"{table.name}.{one.name}"): _column(table, one.name) for one in table.columns}
        made |= {("index", f"{table.name}_pkey"): _key(table, "t", [one.name for one in table.primary_key])}
        made |= {("constraint", f"{table.name}.{table.name}_pkey"): "p t"}
        refuses = f"{_ONCE_BEFORE_UPDATE_DELETE_TRUNCATE} t t plpgsql t {REFUSAL}"
        made |= {("trigger", f"{table.name}.{table.name}_refuses_change"): refuses}
    for index in _indexes():
        where = index.dialect_options["postgresql"]["where"]
        assert index.table is not None  # noqa: S101 — declared with one
        words = _key(index.table, "f", [one.name for one in index.columns], unique="t" if index.unique else "f")
        made |= {("index", str(index.name)): f"{words} {'' if where is None else where}"}
    made |= {("function", "refuse_change"): f"plpgsql f {REFUSAL}"}
    return {what: _bare(how) for what, how in made.items()}


def _column(table: Table, name: str) -> str:
    one = table.columns[name]
    kind = str(one.type).lower().replace("varchar", "character varying").replace("blob", "bytea")
    return f"{kind} {'f' if one.nullable else 't'} f t"


def _key(table: Table, primary: str, columns: list[str], *, unique: str = "t") -> str:
    return f"{table.name} {unique} {primary} t btree {','.join(columns)} t t"


def _bare(how: str) -> str:
    """Write a condition as we declare it, not with the casts, brackets and spaces that a server adds."""
    plain = re.sub(r"::(character varying|text)(\[\])?|\bARRAY\b|[()\[\]]", "", how.replace("= ANY", "IN"))
    return " ".join(plain.split())
