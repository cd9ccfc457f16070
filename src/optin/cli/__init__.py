"""The command line: one file for each group of commands, and nothing in them but reading, calling and showing.

Importing this loads next to nothing, so that an interrupt finds `main` on guard from the first moment on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
STOPPED = "optin: interrupted; run the command again: nothing is charged twice\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every failure is one message on standard error and an exit code of the contract."""
    try:
        from optin.cli.one_command import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write(STOPPED)
        code = INTERRUPTED
        _forget_interrupt()
    sys.exit(code)


def _forget_interrupt() -> None:
    """Keep Python from killing itself at exit for an interrupt that was caught.

    CPython marks the process once a KeyboardInterrupt leaves code that was run from a string, as making a dataclass does,
    and ends a marked process by signal 2 instead of its exit code. Running any string clears the mark.
    """
    exec("")  # noqa: S102
