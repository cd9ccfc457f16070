"""Packs on SQLite beside their keys: whoever looks for one block need not read others, which a key would hold whole."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from optin.database.migrations.versions.ledger_0001 import refuse_changes_to

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Copy what is there as it is, under the lock that every writer takes first."""
    if op.get_bind().dialect.name == "postgresql":
        return
    for verb in ("replace", "update", "delete"):
        op.execute(f"DROP TRIGGER packs_refuses_{verb}")
    op.rename_table("packs", "packs_by_key")
    op.create_table(
        "packs",
        sa.Column("act", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("part", sa.String(8), primary_key=True),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("least", sa.BigInteger, nullable=False),
        sa.Column("most", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    columns = "act, part, block, least, most, body"
    op.execute(f"INSERT INTO packs ({columns}) SELECT {columns} FROM packs_by_key ORDER BY act, part, block")  # noqa: S608
    op.drop_table("packs_by_key")
    refuse_changes_to(("packs",))
