"""Where answers stand in a table of people, who joined there, and what is in those columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.questions import Question, Sheet
    from optin.tables import Table


@dataclass(frozen=True)
class AnswerColumns:
    """The columns that a release reads: of every question, or the one that is named, and of who joined."""

    sheet: Sheet
    values: str | None
    joined: str | None

    def __post_init__(self) -> None:
        """Refuse one column for several questions: each of them names its own."""
        if self.values is not None and len(self.sheet) > 1:
            raise BadInput(
                "--values names the column of one question, and this announcement asks {count}: leave it out, for columns"
                " carry the questions' names, or what the sheet states as column",
                count=len(self.sheet),
            )

    @property
    def named(self) -> set[str]:
        """The columns that are named for answers, whether or not they are there."""
        return {question.column for question in self.sheet} if self.values is None else {self.values}

    def of_answers(self, known: Collection[str]) -> list[str]:
        """List the columns that answers stand in, in a table that has these columns."""
        if self.values is not None:
            return [self.values]
        columns = [name for question in self.sheet for name in question.columns_in(known)]
        if len(self.sheet) == 1 and not set(columns) <= set(known):
            raise BadInput(
                "--values is missing: no column of this table is called {name}, so name the one that holds the answers",
                name=columns[0],
            )
        return columns

    def all(self, known: Collection[str]) -> list[str]:
        """List them with the column of who joined."""
        return [*self.of_answers(known), *([self.joined] if self.joined else [])]

    def read(self, table: Table) -> Any:  # noqa: ANN401 - a column, or several by name
        """Read the answers; where one question is asked, what is no number there is missing, and refused as such."""
        alone = len(self.sheet) == 1
        if self.values is not None:
            return _column(table, self.sheet.questions[0], self.values, alone=alone)
        return {
            name: _column(table, question, name, alone=alone)
            for question in self.sheet
            for name in question.columns_in(table.names)
        }


def _column(table: Table, question: Question, name: str, *, alone: bool) -> Any:  # noqa: ANN401
    if not question.numeric:
        return table.entries(name)
    return table.values(name) if alone else table.skippable(name)
