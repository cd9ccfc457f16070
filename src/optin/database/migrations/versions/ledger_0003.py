"""Sheets: what someone gives to all questions together stands beside their promise, which were charged beside their charge."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add two columns that are empty in every row there is: each of those is about one question."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT one FROM head_lock FOR UPDATE")  # writers hold this first: none is met halfway
    op.add_column("promises", sa.Column("capped", sa.BigInteger))
    op.add_column("charges", sa.Column("answered", sa.BigInteger))
