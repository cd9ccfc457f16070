"""Groups: of people in public groups, whose group each is in stands beside their promise."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add a column that is empty in every row there is: none of those is about groups."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT one FROM head_lock FOR UPDATE")  # writers hold this first: none is met halfway
    op.add_column("promises", sa.Column("design", sa.BigInteger))
