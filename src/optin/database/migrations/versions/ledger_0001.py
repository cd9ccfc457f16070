"""The ledger: acts, people, allowances, promises, returns, charges, and the triggers that keep them append-only."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from alembic import op

from optin.database.append_only import REFUSAL, guards

revision = "0001"
down_revision = None

TABLES = ("acts", "people", "allowances", "promises", "returns", "charges", "head_lock")


def _key(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, primary_key=True, autoincrement=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def upgrade() -> None:
    """Create the ledger's tables and refuse every later UPDATE and DELETE on them."""
    _create_acts()
    _create_people()
    _create_holds()
    op.create_table("head_lock", sa.Column("one", sa.Integer, primary_key=True, autoincrement=False))
    op.execute("INSERT INTO head_lock VALUES (1)")
    _refuse_changes()


def _create_acts() -> None:
    op.create_table(
        "acts",
        _key("number"),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("campaign", sa.Text),
        sa.Column("round", sa.Integer),
        sa.Column("offer", sa.BigInteger),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("fingerprint", sa.String(64)),
        sa.Column("result", sa.String(64)),
        sa.Column("body", sa.Text, nullable=False),
        _number("people"),
        sa.Column("rows", sa.String(64), nullable=False),
        sa.Column("joined", sa.String(64)),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False),
        sqlite_with_rowid=False,
    )
    announced, closed = sa.text("kind = 'announce'"), sa.text("kind IN ('release', 'cancel')")
    op.create_index(
        "one_offer", "acts", ["campaign", "round"], unique=True, sqlite_where=announced, postgresql_where=announced
    )
    op.create_index("one_closing", "acts", ["offer"], unique=True, sqlite_where=closed, postgresql_where=closed)


def _create_people() -> None:
    op.create_table(
        "people", _key("person"), sa.Column("id", sa.Text, nullable=False), _number("act"), sqlite_with_rowid=False
    )
    op.create_index("one_id", "people", ["id"], unique=True)
    op.create_table("allowances", _key("person"), _key("act"), _number("grains"), sqlite_with_rowid=False)
    op.create_index("allowances_of_act", "allowances", ["act"])


def _create_holds() -> None:
    op.create_table(
        "promises",
        _key("offer"),
        _key("position"),
        _number("person"),
        _number("grains"),
        sa.Column("bounded", sa.Boolean(create_constraint=False), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("one_promise", "promises", ["person", "offer"], unique=True)
    op.create_table("returns", _key("offer"), _key("position"), _number("act"), sqlite_with_rowid=False)
    op.create_table(
        "charges", _key("offer"), _key("position"), _number("act"), _number("grains"), sqlite_with_rowid=False
    )


def _refuse_changes() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $${REFUSAL}$$")
    refuse_changes_to(TABLES)


def refuse_changes_to(tables: Iterable[str]) -> None:
    """Hang the triggers onto tables that keep them append-only."""
    if op.get_bind().dialect.name == "sqlite":
        for table in tables:
            for trigger in guards(table).values():
                op.execute(trigger)
        return
    for table in tables:
        op.execute(
            f"CREATE TRIGGER {table}_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
