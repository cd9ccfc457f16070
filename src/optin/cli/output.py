"""Files appear whole or not at all; those that tell about single people are readable by their owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from optin.errors import BadInput

__all__ = ["Output", "read_text"]


class Output:
    """A file to be: its place is taken when this is made, so that a full disk or a wrong path is known before anything is done.

    Use it in a ``with``: leaving without `write` leaves nothing behind.
    """

    def __init__(self, path: Path | str, *, private: bool = False, inputs: Sequence[Path | str] = ()) -> None:
        self.path, self.private = Path(path), private
        for given in inputs:
            if self.path.exists() and Path(given).exists() and self.path.samefile(given):
                raise BadInput(f"{self.path} is an input of this command; write to another file")
        if self.path.is_dir():
            raise BadInput(f"{self.path} is a folder; name a file to write")
        self._draft = self._open()

    def write(self, text: str) -> None:
        """Put the text in place, in one step."""
        try:
            with self._draft.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
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


def read_text(path: Path | str) -> str:
    """Read a JSON file that optin wrote."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "it is not text"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput(f"{path} cannot be read: {reason}")


def _umask() -> int:
    """Ask for the umask, which can only be asked by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
