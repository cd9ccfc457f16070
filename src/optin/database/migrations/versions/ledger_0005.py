"""A transparency log: signed checkpoints, what witnesses signed, and which key followed which."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from optin.database.migrations.versions.ledger_0001 import refuse_changes_to

revision = "0005"
down_revision = "0004"

TABLES = ("checkpoints", "cosignatures", "successions")


def upgrade() -> None:
    """Add three empty tables: a ledger begins its log with the first checkpoint, over every act there is by then."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT one FROM head_lock FOR UPDATE")  # writers hold this first: none is met halfway
    _create("checkpoints", "note")
    _create("cosignatures", "line")
    number = sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False)
    op.create_table("successions", number, sa.Column("note", sa.Text, nullable=False), sqlite_with_rowid=False)
    refuse_changes_to(TABLES)


def _create(name: str, signed: str) -> None:
    op.create_table(
        name,
        sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("verifier", sa.Text, primary_key=True),
        sa.Column(signed, sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
