"""Write a query's rows to Parquet by the engine itself: private to its owner, and whole or not there at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from optin.engine.session import Session
from optin.errors import BadInput

if TYPE_CHECKING:
    from ibis.expr import types as ir

__all__ = ["appears_whole", "write_parquet"]


def write_parquet(session: Session, query: ir.Table, path: Path, *, about: str) -> None:
    """Let the engine write; DuckDB makes a file, Spark a folder of files. Either is readable by its owner alone."""
    appears_whole(path, lambda draft: session.write(query, str(draft), about=about))


def appears_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Have something written in a private folder beside its place, and put it there in one step."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}; choose another place") from None
    reason: str | None = None
    try:
        write(folder / path.name)
        _make_private(folder / path.name)
        os.replace(folder / path.name, path)
    except OSError as error:
        reason = error.strerror
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if reason is not None:
        raise BadInput(f"{path} cannot be written: {reason}; nothing was left there")


def _make_private(made: Path) -> None:
    for found in [made, *made.rglob("*")]:
        os.chmod(found, 0o700 if found.is_dir() else 0o600)
