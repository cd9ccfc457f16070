"""Files appear whole or not at all; those that tell about single people are readable by their owner alone."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from optin.errors import BadInput

__all__ = ["Output", "expect_free", "read_record", "read_text"]

T = TypeVar("T")


class Output:
    """A file to be: its place is taken when this is made, so that a full disk or a wrong path is known before anything is done.

    Use it in a ``with``: leaving without `write` leaves nothing behind.
    """

    def __init__(self, path: Path | str, *, private: bool = False, inputs: Sequence[Path | str | None] = ()) -> None:
        self.path, self.private = Path(path), private
        expect_free(self.path, inputs)
        self._draft = self._open()

    def write(self, content: str | bytes) -> None:
        """Put the content in place, in one step."""
        try:
            with self._draft.open("wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
                file.flush()
                os.fsync(file.fileno())
            os.chmod(self._draft, 0o600 if self.private else 0o666 & ~_umask())
            os.replace(self._draft, self.path)
        except OSError as error:
            reason = error.strerror
        else:
            return
        raise BadInput(f"{self.path} cannot be written: {reason}; nothing was left there")

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self._draft.unlink(missing_ok=True)

    def _open(self) -> Path:
        try:
            handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        except OSError as error:
            reason = error.strerror
        else:
            os.close(handle)
            return Path(name)
        raise BadInput(f"{self.path} cannot be written: {reason}; choose another place with -o")


def expect_free(path: Path, inputs: Sequence[Path | str | None]) -> None:
    """Refuse to write over anything this command reads or keeps: its files, folders, globs, and its ledger."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name a file to write")
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is not an ordinary file and cannot be replaced; name a file to write")
    for given in inputs:
        if given is not None and _is_one_of(path, str(given)):
            raise BadInput(f"{path} is an input of this command; write to another file")


def _is_one_of(path: Path, given: str) -> bool:
    """Say whether a path is what is given, or a file behind it; a ledger that is yet to be made counts."""
    place = given.removeprefix("sqlite:///")
    if path.resolve() == Path(place).resolve():
        return True
    return path.exists() and any(path.samefile(kept) for kept in _files_of(place))


def _files_of(place: str) -> list[Path]:
    """List the files behind a path, a folder, a glob or a ledger in a file, SQLite's side files included."""
    found = [Path(place), Path(f"{place}-wal"), Path(f"{place}-shm"), *map(Path, glob.glob(place, recursive=True))]
    inside = [file for folder in found if folder.is_dir() for file in folder.rglob("*")]
    return [file for file in (*found, *inside) if file.is_file()]


def read_text(path: Path | str) -> str:
    """Read a JSON file that optin wrote."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "it is not text"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput(f"{path} cannot be read: {reason}")


def read_record(path: Path | str, parse: Callable[[str], T]) -> T:
    """Read a JSON file as what it should hold, and name the file if it does not."""
    text = read_text(path)
    try:
        return parse(text)
    except BadInput as error:
        reason = str(error)
    raise BadInput(f"{path}: {reason}")


def _umask() -> int:
    """Ask for the umask, which can only be asked by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
