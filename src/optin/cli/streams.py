"""Where words go: streams that are closed, full, broken or know few letters must not end a command with a trace."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TextIO

PLAIN = {"±": "+/-", "…": "..."} | dict(zip("▁▂▃▄▅▆▇█", ".:-=+*%#", strict=True))


def prepare() -> None:
    """Make both streams accept anything: a closed one swallows it, and characters that an encoding lacks are replaced."""
    codecs.register_error("optin", _spell)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="optin")


def silence(stream: TextIO) -> None:
    """Send what still waits for a stream nowhere, so that Python does not complain about it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Write letters that a stream lacks in letters it has.

    >>> _spell(UnicodeEncodeError("ascii", "± 2", 0, 1, ""))
    ('+/-', 1)
    """
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - streams only encode here
    letter = error.object[error.start]
    return PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii"), error.start + 1
