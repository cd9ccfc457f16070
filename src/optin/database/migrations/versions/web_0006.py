"""Groups by invitation: an invitation and whoever took it up may name a public group."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a column that is empty in every row there is: nobody was invited into a group."""
    for table in ("web_invitations", "web_registrations"):
        op.add_column(table, sa.Column("group_name", sa.Text))
