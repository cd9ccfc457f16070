"""Answers that are at hand for a while: what is asked of a database again in between costs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


class AskedOnce:
    """Questions of one sort: within a look each is asked once, outside of one anew.

    At most so many answers are at hand, and the oldest goes first. Threads have looks of their own.

    >>> people = AskedOnce("people")
    >>> with people.look():
    ...     people.answer("how many?", lambda: 3), people.answer("how many?", lambda: 4)
    (3, 3)
    >>> people.answer("how many?", lambda: 4)
    4
    """

    def __init__(self, name: str, *, most: float = math.inf) -> None:
        self._most = most
        self._answers: ContextVar[dict[Hashable, object] | None] = ContextVar(name, default=None)

    @contextmanager
    def look(self) -> Iterator[None]:
        """Keep answers at hand in here: what a database says a moment later may be something else."""
        before = self._answers.set({})
        try:
            yield
        finally:
            self._answers.reset(before)

    def answer(self, question: Hashable, ask: Callable[[], T]) -> T:
        """Ask, unless the same was asked before within this look."""
        answers = self._answers.get()
        if answers is None:
            return ask()
        if question not in answers:
            answers[question] = ask()
            if len(answers) > self._most:
                del answers[next(iter(answers))]
        answer: T = answers[question]  # type: ignore[assignment]  # what this question was answered with
        return answer
