"""A private folder for what an engine spills, or what a file is turned into.

It is removed on exit, and at the next start if the exit never came.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path

PREFIX = "optin-engine-"
LOCK = "in-use"


class Scratch:
    """A folder only its owner may enter, locked while its process lives.

    >>> scratch = Scratch()
    >>> oct(scratch.path.stat().st_mode)[-3:]
    '700'
    >>> scratch.remove()
    >>> scratch.path.exists()
    False
    """

    def __init__(self, parent: Path | None = None) -> None:
        home = parent or Path(tempfile.gettempdir())
        remove_abandoned(home)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
            self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if os.fstat(self._lock).st_nlink:
                break
            os.close(self._lock)  # whoever starts at this moment took it for abandoned, before it was locked
        self.remove = weakref.finalize(self, _remove, self.path, self._lock)


def remove_abandoned(home: Path) -> None:
    """Remove folders of this user whose process died: the system lets go of a dead process's locks."""
    for folder in home.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    """Remove a folder that nobody holds the lock of, nor is about to: a folder is born a moment before its lock.

    The lock is held meanwhile: whoever made it, and was about to take it, then sees that it is gone.
    """
    inside = os.listdir(folder)
    if LOCK not in inside:
        if inside:
            shutil.rmtree(folder, ignore_errors=True)
        return
    lock = os.open(folder / LOCK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError where someone holds it
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
