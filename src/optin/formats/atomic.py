"""Atomic writes: a file (or an engine's folder of files) appears whole or not at all.

It is made in a private folder beside its place and put there in one step.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Self

from optin.errors import BadInput


class AtomicWrite:
    """A file to be: its place is taken when this is made, so that a full disk or a wrong path is known before anything is done.

    Use it in a ``with``: leaving without `write` leaves nothing behind. What is ``private`` is readable by its
    owner alone.
    """

    def __init__(self, path: Path | str, *, private: bool = False) -> None:
        self.path, self.private = Path(path), private
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", dir=self.path.parent))
        except OSError as error:
            raise BadInput(
                "{path} cannot be written: {strerror}; choose another place", path=self.path, strerror=error.strerror
            ) from None

    def write(self, content: str | bytes) -> None:
        """Put content in place, in one step."""
        self.write_by(lambda draft: _write(draft, content if isinstance(content, bytes) else content.encode()))

    def write_by(self, make: Callable[[Path], None]) -> None:
        """Have a file or folder made by somebody else, and put it in place in one step."""
        draft = self._folder / self.path.name
        try:
            make(draft)
            _sync(draft)
            self._set_modes(draft)
            os.replace(draft, self.path)
        except OSError as error:
            raise BadInput(
                "{path} cannot be written: {strerror}; nothing was left there", path=self.path, strerror=error.strerror
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _set_modes(self, draft: Path) -> None:
        mask = 0o077 if self.private else _umask()
        for made in [draft, *draft.rglob("*")]:
            os.chmod(made, (0o777 if made.is_dir() else 0o666) & ~mask)


def write_once(path: Path, text: str) -> None:
    """Put a file for its owner's eyes where there is none, whole or not at all; FileExistsError where there is one."""
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        draft = folder / path.name
        _write(draft, text.encode())
        os.chmod(draft, 0o600)
        _put_once(draft, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_once(draft: Path, path: Path) -> None:
    """Give a file its place if nobody has it; where a disk knows no second name of a file, the place is taken first."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(draft, path)


def _write(draft: Path, content: bytes) -> None:
    draft.write_bytes(content)
    _sync(draft)


def _sync(draft: Path) -> None:
    """Wait until every byte is on disk: a name put in place before its content could stand for nothing after a power cut."""
    for each in filter(Path.is_file, [draft, *draft.rglob("*")]):
        with each.open("rb") as file:
            os.fsync(file.fileno())


def _umask() -> int:
    """Ask for the umask, which can only be asked by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
