"""Doors through which only so many pass at once: what costs a stranger nothing to ask for must not stop the others.

A password's hash takes 64 MiB and a tenth of a second on purpose, a picture takes longer. A few are worked on, a few wait,
and whoever comes after them is told at once to come back: no thread and no memory is kept for them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from optin.web.service.failures import TooSoon
from optin.wording.language import N_


class Gate:
    """A door with room for ``inside`` at work and ``waiting`` behind them, of these ``each`` from one place.

    >>> gate = Gate(inside=1, waiting=0, words="busy")
    >>> with gate.passing():
    ...     with gate.passing():
    ...         pass
    Traceback (most recent call last):
        ...
    optin.web.service.failures.TooSoon: busy; wait 1 s and try again
    """

    def __init__(self, *, inside: int, waiting: int, words: str, each: int | None = None) -> None:
        self.most = inside + waiting
        self._each, self._words = each or self.most, words
        self._room = threading.Semaphore(inside)
        self._here: Counter[str] = Counter()
        self._guard = threading.Lock()

    @contextmanager
    def passing(self, place: str = "") -> Iterator[None]:
        """Pass through, or wait for those before; raise TooSoon where too many wait, or too many from this place."""
        with self._guard:
            if self._here.total() >= self.most or self._here[place] >= self._each:
                raise TooSoon(1, self._words)
            self._here[place] += 1
        try:
            with self._room:
                yield
        finally:
            with self._guard:
                self._here[place] -= 1
                if not self._here[place]:
                    del self._here[place]


DRAWING = Gate(inside=1, waiting=30, words=N_("many pictures are being drawn at this moment"))
"""One picture at a time: matplotlib's settings are the whole process's. A browser asks for six at once; five may wait."""
