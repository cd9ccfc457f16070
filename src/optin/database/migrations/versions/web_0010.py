"""The way back by mail: addresses under a keyed hash, who asked for a link, and links that work once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add three tables that are empty for everyone who is here."""
    op.create_table(
        "web_addresses",
        sa.Column("account", sa.String(32), primary_key=True),
        sa.Column("mark", sa.String(64), nullable=False, index=True),
    )
    op.create_table(
        "web_links_asked",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
    )
    op.create_table(
        "web_links_back",
        sa.Column("secret", sa.String(64), primary_key=True),
        sa.Column("account", sa.String(32), nullable=False, index=True),
        sa.Column("until", sa.Float(), nullable=False),
    )
