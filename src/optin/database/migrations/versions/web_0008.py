"""Lists of people to invite, whose addresses only the service's key opens, and mails to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add two tables that are empty for everyone who is here."""
    op.create_table(
        "web_invitees",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("campaign", sa.String(32), nullable=False, index=True),
        sa.Column("mark", sa.String(64), nullable=False, unique=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("group_name", sa.Text()),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("unsubscribed_at", sa.Float()),
    )
    op.create_table(
        "web_mails",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("campaign", sa.String(32), nullable=False, index=True),
        sa.Column("invitee", sa.String(32), nullable=False, index=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("reason", sa.String(80)),
    )
