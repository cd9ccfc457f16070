"""Packs: what an act over many people writes is columns in blocks; every row there is stays as it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from optin.database.migrations.versions.ledger_0001 import refuse_changes_to

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add an empty table."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT one FROM head_lock FOR UPDATE")  # writers hold this first: none is met halfway
    op.create_table(
        "packs",
        sa.Column("act", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("part", sa.String(8), primary_key=True),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("least", sa.BigInteger, nullable=False),
        sa.Column("most", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    refuse_changes_to(("packs",))
