"""The one chain of migrations, run from inside the package: an installed wheel needs no alembic.ini."""

from __future__ import annotations

from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy import Connection

from optin.errors import BadInput

__all__ = ["migrate", "scripts"]


def scripts() -> ScriptDirectory:
    """Open the folder of migrations that lies beside this file."""
    return ScriptDirectory(str(Path(__file__).parent))


def migrate(connection: Connection) -> None:
    """Bring the database to the newest revision in the caller's transaction: a step and its mark commit together."""
    folder, context = scripts(), MigrationContext.configure(connection)
    try:
        revisions = list(folder.iterate_revisions("head", context.get_current_revision() or "base"))
    except (CommandError, ResolutionError):
        raise BadInput("this ledger was written by a newer optin; upgrade optin to use it") from None
    with Operations.context(context):
        for revision in reversed(revisions):
            revision.module.upgrade()
            context.stamp(folder, revision.revision)
