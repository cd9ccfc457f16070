"""One process serves a SQLite file: of two each would do every job, and everyone on a list would get each mail twice."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optin.errors import BadInput
from optin.web.settings import WebSettings


@contextmanager
def alone(settings: WebSettings) -> Iterator[None]:
    """Keep other processes from serving the same file; PostgreSQL shares the work out, and may have several.

    The lock ends with its process, however that ends. What it is taken on is a file of its own: SQLite's locks of the database
    would end when anybody in this process closes that.
    """
    path = settings.sqlite_path
    handle = None if path is None or os.name != "posix" else _opened(path.with_name(path.name + ".serving"))
    try:
        if handle is not None and not _is_ours(handle):
            raise BadInput(
                "{path} is served by another process, or by one that is just ending: end it, or wait until it has. Several "
                "processes can share a PostgreSQL",
                path=path,
            )
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _opened(path: Path) -> int | None:
    """Open the file; where it cannot be made the database cannot either, and says why."""
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    return None


def _is_ours(handle: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no such locks
        return True
    return True
