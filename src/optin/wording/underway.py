"""How far a long step is: whoever does it says so as it goes, and whoever shows it listens; nobody has to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Heard = Callable[[str, int, int], None]
"""Told what is being done, how many people it was done for, and for how many it will be."""
T = TypeVar("T")
_LISTENER: ContextVar[Heard | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Heard) -> Iterator[None]:
    """Have someone listen while something is done."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def say(what: str, done: int, people: int) -> None:
    """Tell whoever listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, people)


def counted(what: str, walk: Iterable[T], people: int, size: Callable[[T], int]) -> Iterator[T]:
    """Hand parts on, and say of how many people they were when the next one is asked for.

    >>> heard = []
    >>> with heard_by(lambda *told: heard.append(told)):
    ...     parts = list(counted("reading", [[1, 2], [3]], 3, len))
    >>> parts, heard
    ([[1, 2], [3]], [('reading', 0, 3), ('reading', 2, 3), ('reading', 3, 3)])
    """
    done = 0
    say(what, done, people)
    for part in walk:
        yield part
        done += size(part)
        say(what, done, people)
