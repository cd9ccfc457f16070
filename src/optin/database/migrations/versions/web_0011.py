"""Who works on a campaign besides its owner, and who runs the service."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add a table of roles; whoever was the first analyst runs the service."""
    op.create_table(
        "web_roles",
        sa.Column("campaign", sa.String(32), primary_key=True),
        sa.Column("account", sa.String(32), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
    )
    op.create_index("web_roles_of_account", "web_roles", ["account"])
    op.execute(
        "INSERT INTO web_roles (campaign, account, role, since) SELECT '', id, 'administrator', created_at FROM web_accounts "
        "WHERE kind = 'analyst' ORDER BY created_at, id LIMIT 1"
    )
