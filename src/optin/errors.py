"""What can go wrong, with the exit code and the HTTP status of each.

    OptinError
    ├── BadInput (also ValueError)   exit 2, HTTP 422   the caller can mend it
    │   └── MissingExtra             exit 2, HTTP 422   a part of optin is not installed; the message is the line to install it
    ├── Infeasible                   exit 3, HTTP 409   no design makes these people join
    ├── PromiseBroken                exit 4, HTTP 409   going on would break what was announced
    ├── BudgetSpent                  exit 4, HTTP 409   someone's allowance does not cover it
    └── LedgerUnavailable            exit 5, HTTP 503   the database failed; the message says whether anything was written

Messages say what, where (a row, a line, an id) and what to do; never a private value. A failure carries its template and
its data, so that a surface can say it in its own words; ``str(error)`` is the template filled in.

    >>> error = BadInput("{argument} must be at least {least:g}", argument=Argument("slack"), least=0)
    >>> str(error), error.template, error.data["argument"].name
    ('slack must be at least 0', '{argument} must be at least {least:g}', 'slack')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optin.wording.sentences import Argument, Place, Say, Sentence

__all__ = [
    "Argument",
    "BadInput",
    "BudgetSpent",
    "Failure",
    "Infeasible",
    "LedgerUnavailable",
    "MissingExtra",
    "OptinError",
    "Place",
    "PromiseBroken",
]


class Failure(Exception):
    """A failure whose message is a sentence with its template and its data."""

    def __init__(self, template: str, /, **data: Any) -> None:  # noqa: ANN401 - whatever a template names
        super().__init__(Sentence(template, **data))

    @property
    def sentence(self) -> Sentence:
        """The message, with the template and the data it was made from."""
        words = self.args[0]
        return words if isinstance(words, Sentence) else Sentence(str(words))

    @property
    def template(self) -> str:
        """The message before its data was filled in: what a translation is looked up by."""
        return self.sentence.template

    @property
    def data(self) -> Mapping[str, Any]:
        """What is filled in: arguments, places, hints and numbers, none of them private."""
        return self.sentence.data

    def retell(self, say: Say) -> None:
        """Say the data in other words from now on: a line of a file where the library only knew an index."""
        self.args = (self.sentence.told(say), *self.args[1:])


class OptinError(Failure):
    """The root of every failure optin raises on purpose."""

    exit_code = 1
    http_status = 500


class BadInput(OptinError, ValueError):
    """Something given cannot be used; the message says what, where and what to do."""

    exit_code = 2
    http_status = 422


class MissingExtra(BadInput):
    """Something was asked for that is installed only on request; the message is the line that installs it."""

    @property
    def extra(self) -> str:
        """What pip calls it, such as optin[duckdb]."""
        return str(self.data["extra"])


class Infeasible(OptinError):
    """No design makes these people join.

    ``shortfall`` is how much benefit the best design lacks, in units of utility (where limits do not reach a given eta: how
    much epsilon they lack together); ``people_needed`` how many people like
    these would make a design possible (None: no number would); ``outside_needed`` the highest outside option that
    would; ``within_resolution`` that the answer is closer to feasible than a black-box benefit can be told apart.
    """

    exit_code = 3
    http_status = 409

    def __init__(
        self,
        template: str,
        /,
        *,
        shortfall: float | None = None,
        people_needed: int | None = None,
        outside_needed: float | None = None,
        within_resolution: bool = False,
        **data: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(template, **data)
        self.shortfall = shortfall
        self.people_needed = people_needed
        self.outside_needed = outside_needed
        self.within_resolution = within_resolution


class PromiseBroken(OptinError):
    """Going on would break what was announced.

    ``other_people`` says that the people given are not those announced, or allow something else: another table mends it.
    """

    exit_code = 4
    http_status = 409

    def __init__(self, template: str, /, *, other_people: bool = False, **data: Any) -> None:  # noqa: ANN401
        super().__init__(template, **data)
        self.other_people = other_people


class BudgetSpent(OptinError):
    """Someone's remaining allowance does not cover what is asked."""

    exit_code = 4
    http_status = 409


class LedgerUnavailable(OptinError):
    """The database could not be reached or could not write; the message says whether anything was written."""

    exit_code = 5
    http_status = 503


def came_of_interrupt(error: BaseException) -> bool:
    """Tell whether someone pressed Ctrl-C, where a library answers that with an error of its own.

    >>> try:
    ...     raise RuntimeError("Query interrupted") from KeyboardInterrupt()
    ... except RuntimeError as error:
    ...     came_of_interrupt(error)
    True
    """
    passed = set[int]()
    while id(error) not in passed:
        passed.add(id(error))
        error = error.__cause__ or error.__context__ or error
    return isinstance(error, KeyboardInterrupt)
