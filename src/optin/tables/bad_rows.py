"""Rows that cannot be used, all in one go: the first of them by their places, and how many there are.

They are never dropped in silence: someone names a file, and they are written there, each with what is to be mended.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from optin.errors import Argument, BadInput
from optin.formats.atomic import AtomicWrite
from optin.tables.columns import advised

FIRST = 20
WHERE, MENDED = "where", "what to mend"
"""The columns that are added to rows that were left out."""
SHARED_ID = "is the id of another row too; every person needs their own"


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used: where it is, which column, and what is wrong with it."""

    place: str
    column: str
    words: str

    @property
    def where(self) -> str:
        """Name the place and the column, if it is about one."""
        return f"{self.place}: {self.column}" if self.column else self.place


def unusable(rows: Sequence[BadRow], people: int) -> BadInput:
    """Say what is wrong with the first of so many rows; ``rows`` are those first ones."""
    first, others = rows[0], people - 1
    template = "{place} " + first.words + (" ({others:,} more)" if others else "")
    data: dict[str, object] = {"place": first.where, "others": others}
    for at, row in enumerate(rows[1:], start=1):
        template += f"\n  {{place_{at}}} {row.words}"
        data[f"place_{at}"] = row.where
    if others:
        template += "\n  … and {rest:,} more" if people > len(rows) else ""
        template += (
            "\n{people:,} rows cannot be used: mend them, or leave them out with {skip}, which writes them there"
        )
        data |= {"rest": people - len(rows), "people": people, "skip": Argument("skip_bad", "FILE")}
    return BadInput(template, **data, **advised(template))


def mended(column: str, words: str) -> str:
    """Say what is to be mended, for whoever opens the file: an argument by its name, which is no option and no Python there.

    >>> mended("limit", "is missing; say with {blank} what an empty limit counts as")
    'limit is missing; say with blank_limit what an empty limit counts as'
    """
    return f"{column} {words.format(**{name: said.name for name, said in advised(words).items()})}"


def write_bad(path: Path, header: Sequence[str], rows: Iterable[tuple[str, Sequence[str], str]]) -> None:
    """Write rows for people to mend: where each stood, its cells, and what is wrong; readable by its owner alone.

    A file that holds anything else is left as it is: people may be mending the rows of an earlier time in it.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([WHERE, MENDED, *header])
    writer.writerows([where, words, *cells] for where, cells, words in rows)
    if path.is_file() and path.read_bytes() != text.getvalue().encode():
        raise BadInput(
            "{path} is there already with something else in it, perhaps rows that are being mended; give {skip} another name,"
            " or move that file away",
            path=path,
            skip=Argument("skip_bad"),
        )
    with AtomicWrite(path, private=True) as file:
        file.write(text.getvalue())


def none_left(left_out: int, path: Path) -> BadInput:
    """Say that every row of a table was left out."""
    return BadInput(
        "no row can be used: all {count:,} were left out, and written to {path} with what to mend",
        count=left_out,
        path=path,
    )
