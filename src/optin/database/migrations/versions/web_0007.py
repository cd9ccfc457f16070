"""One person in several campaigns: ids of invitation lists under a keyed hash, and sessions that see one campaign alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add what is empty for everyone who is here."""
    op.add_column("web_sessions", sa.Column("only_campaign", sa.String(32)))
    op.create_table(
        "web_invited_ids",
        sa.Column("invitation", sa.String(64), primary_key=True),
        sa.Column("campaign", sa.String(32), nullable=False, index=True),
        sa.Column("mark", sa.String(64), nullable=False, index=True),
        sa.Column("account", sa.String(32)),
    )
