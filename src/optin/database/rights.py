"""Who may read a ledger's file. It holds everyone's limits, so its owner alone should."""

from __future__ import annotations

import os
import shlex
import warnings
from pathlib import Path

from optin.errors import BadInput


class ReadableByOthers(UserWarning):
    """A ledger's file, or one that SQLite keeps beside it, can be read or written by others on this machine."""


def create_privately(path: Path) -> None:
    """Create the file readable by its owner alone: it holds everyone's limits (SQLite's side files copy the mode)."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        reason = error.strerror
    else:
        return
    raise BadInput("the ledger's file cannot be opened: {reason}; check the path and its rights", reason=reason)


def warn_of_readers(path: Path) -> None:
    """Warn where others may read; the rights are not changed, for whoever set them may have meant it.

    New files are made for their owner alone. One that was copied, restored or made by another program may not be, and the
    files beside it (``-wal``, ``-shm``) keep the rights with which they were made.
    """
    if os.name != "posix":
        return
    files = [str(file) for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")) if _is_open(file)]
    if files:
        warnings.warn(
            "others on this machine can read this ledger, which holds everyone's limits; if that is not meant, run: "
            f"chmod 600 {shlex.join(files)}",
            ReadableByOthers,
            stacklevel=4,
        )


def _is_open(file: Path) -> bool:
    try:
        return bool(file.stat().st_mode & 0o077)
    except OSError:
        return False
