"""Who writes next into a SQLite file, among the threads of one process: whoever came first."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import Engine

from optin.database.kinds import is_sqlite

PATIENCE = 60
"""Seconds a writer waits for other writers, of this process and then of others, before it gives up."""


class Turnstile:
    """A lock that lets threads through in the order in which they came.

    SQLite has one writer at a time, and lets those who wait sleep and try again: under load some would be overtaken for
    seconds, and after a long transaction all would sleep on for a while. Standing in line costs nothing.

    >>> turnstile = Turnstile()
    >>> with turnstile.passing():
    ...     turnstile.busy
    True
    """

    def __init__(self) -> None:
        self._inside: threading.Event | None = None
        self._waiting: deque[threading.Event] = deque()
        self._guard = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether someone is inside."""
        return self._inside is not None

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._waiting)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Wait for one's turn, and call the next one at the end.

        Whoever has waited too long goes on to the file as another process would, and hears from it what it says to those.
        """
        turn = threading.Event()
        try:
            self._stand_in_line(turn)
            turn.wait(PATIENCE)
            yield
        finally:
            self._leave(turn)

    def _stand_in_line(self, turn: threading.Event) -> None:
        with self._guard:
            self._waiting.append(turn)
            if self._inside is None:
                self._call_next()

    def _leave(self, turn: threading.Event) -> None:
        """Also whoever is interrupted in line leaves it: a turn that nobody takes would stop all others."""
        with self._guard:
            if turn is self._inside:
                self._call_next()
            elif turn in self._waiting:
                self._waiting.remove(turn)

    def _call_next(self) -> None:
        self._inside = self._waiting.popleft() if self._waiting else None
        if self._inside is not None:
            self._inside.set()


_OF_FILES: dict[str, Turnstile] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_OF_FILES.clear)  # whoever was inside is so in the parent alone


def turnstile_of(engine: Engine) -> Turnstile:
    """Find the turnstile of a SQLite file, which everyone in this process passes who writes there."""
    return _OF_FILES.setdefault(str(Path(str(engine.url.database)).resolve()), Turnstile())


def in_turn(engine: Engine) -> AbstractContextManager[None]:
    """Wait for one's turn to write; PostgreSQL has locks of its own, which are fair."""
    return turnstile_of(engine).passing() if is_sqlite(engine) else nullcontext()
