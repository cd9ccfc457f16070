"""Files as they come, turned into what every engine reads alike: CSV with commas in UTF-8, or Parquet.

What is plain already stays where it is. Anything else is written once, text cell for text cell, to a private folder that goes
with this process; messages name the file and the line that users know. So memory, DuckDB and Spark read the same bytes.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

from optin.errors import OptinError
from optin.formats.scratch import Scratch
from optin.tables.bad_rows import FIRST, BadRow, unusable
from optin.tables.csvfiles import csv_rows, expect_kind, expect_quotes, expect_utf8, lines_of
from optin.tables.csvlines import expect_top, width_words
from optin.tables.encodings import in_utf8, marked_encoding
from optin.tables.file_kinds import CSV, DUCKDB, JSON_LINES, WORKBOOK, FileKind, kind_of, unpacked
from optin.tables.file_stamps import Mark, marks_of
from optin.tables.how_read import AS_FOUND, HowRead, expect_stored
from optin.tables.places import files_of, is_parquet, real_name
from optin.tables.separators import COMMA, delimiter_of, in_words


@dataclass(frozen=True)
class DataFile:
    """A file of people: how users call it, where its plain form lies, and what was found out of the form it came in."""

    name: Path | str
    path: Path
    words: tuple[str, ...] = ()
    separated: bool = False
    """Whether its cells are separated by another sign than a comma, so that a comma may stand in a number."""
    lines: Sequence[int] | None = field(default=None, repr=False)
    """The line or row that each person stands on, where the plain form does not tell."""
    unit: str = "line"
    tells_missing: bool = False
    """Whether an empty cell is one in which nothing stood, and no empty selection: that is written as what separates options."""

    bad: tuple[tuple[int, tuple[str, ...], str], ...] = field(default=(), repr=False)
    """Lines that are no rows of the table and were left out of its plain form, because someone said so."""

    @property
    def copied(self) -> bool:
        """Whether its plain form is not the file itself."""
        return self.path != Path(self.name)

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say where rows stand: file and line, or of a table without lines file and row, counted from 1."""
        if is_parquet(self.path):
            return [f"{self.name} row {row + 1}" for row in rows]
        lines = lines_of(self.path, rows) if self.lines is None else [self.lines[row] for row in rows]
        return [f"{self.name} {self.unit} {line}" for line in lines]

    def bad_lines(self) -> list[tuple[str, tuple[str, ...], str]]:
        """Say where lines stand that are no rows of the table, what is on them, and what is wrong."""
        return [(f"{self.name} {self.unit} {line}", cells, words) for line, cells, words in self.bad]


Missing = tuple[str, ...] | None
"""Texts that someone said stand for empty cells."""


def emptied(cells: Sequence[str], missing: Missing) -> Sequence[str]:
    """Empty the cells of a row that hold a text for nothing.

    >>> emptied(["p1", " NA", "NAN"], ("NA",)), emptied(["p1", "NA"], None)
    (['p1', '', 'NAN'], ['p1', 'NA'])
    """
    return cells if missing is None else ["" if cell.strip() in missing else cell for cell in cells]


class Copy:
    """A plain CSV that is being written: row by row, each with the line it had where it came from."""

    def __init__(self, file: TextIO, missing: Missing = None) -> None:
        self.lines = array("q")
        self.bad = list[tuple[int, tuple[str, ...], str]]()
        self._writer = csv.writer(file, lineterminator="\n")
        self._missing = missing

    def add(self, line: int, cells: Sequence[str]) -> None:
        """Write one person's row."""
        self.lines.append(line)
        self._writer.writerow(emptied(cells, self._missing))

    def head(self, names: Sequence[str]) -> None:
        """Write the names of the columns."""
        self._writer.writerow(names)

    def refuse(self, line: int, cells: Sequence[str], words: str) -> None:
        """Note a line that is no row of the table."""
        self.bad.append((line, tuple(cells), words))


def plain_files(path: str, how: HowRead = AS_FOUND) -> tuple[DataFile, ...]:
    """Find the files a path stands for, and make sure that each lies somewhere in plain form."""
    return tuple(plain(file, how) for file in files_of(path))


def plain(file: Path, how: HowRead = AS_FOUND) -> DataFile:
    """Return a file that every engine reads: itself, or a copy that was made when it was first asked for."""
    real = real_name(str(file))
    with told([DataFile(file, Path(real))]):
        made = _made(real, marks_of([real])[0], how.delimiter, how.table, how.missing, how.skip_bad is not None)
    return replace(made, name=file, path=file if str(made.path) == real else made.path)


def words_of(files: Sequence[DataFile], marks: Sequence[str]) -> str:
    """Say in what form files came, and what stood before fractions; nothing of what is plain.

    >>> words_of([DataFile("a.csv", Path("b.csv"), ("semicolons", "gzip"))], [",", "."])
    'semicolons, gzip, with decimal commas'
    """
    forms = list(dict.fromkeys(word for file in files for word in file.words))
    commas = ["with decimal commas"] if "," in marks else []
    return " ".join([", ".join(forms), *commas]).strip() if len(forms) < 2 else ", ".join([*forms, *commas])


@contextmanager
def told(files: Sequence[DataFile]) -> Iterator[None]:
    """Name files as users do, in failures of whoever reads their plain form."""
    names = {str(file.path): str(file.name) for file in files if str(file.path) != str(file.name)}
    try:
        yield
    except OptinError as error:
        error.retell(lambda said: _renamed(said, names))
        raise


def _renamed(said: Any, names: dict[str, str]) -> Any:  # noqa: ANN401 - whatever a template names
    if not isinstance(said, str | Path):
        return said
    text = str(said)
    for path, name in names.items():
        text = text.replace(path, name)
    return said if text == str(said) else text


@cache
def _scratch() -> Scratch:
    return Scratch()


def scratch_file(suffix: str) -> Path:
    """Name a new private file that goes with this process."""
    return _scratch().path / f"people-{uuid4().hex}{suffix}"


@cache
def _made(real: str, _: Mark, delimiter: str | None, table: str | None, missing: Missing, skip: bool) -> DataFile:
    """Look at a file, and copy it unless it is plain; the same file, unchanged, is not copied twice."""
    file = Path(real)
    kind = kind_of(file)
    if kind.holds in _READERS:
        return _READERS[kind.holds](file, kind, HowRead(table=table, missing=missing), skip)
    if kind.holds == CSV:
        return _text(file, kind, delimiter, missing, skip=skip)
    expect_stored(HowRead(missing=missing))
    return DataFile(file, file)


def _text(file: Path, kind: FileKind, delimiter: str | None, missing: Missing, *, skip: bool) -> DataFile:
    path, words = _as_text(file, kind, ".csv")
    expect_kind(file, lambda: path.open("rb"))
    sign = delimiter or delimiter_of(file, path)
    known = (*(() if sign == COMMA and missing is None else (in_words(sign),)), *words, *_empty(missing))
    plainly = DataFile(file, path, known, separated=sign != COMMA)
    if sign == COMMA and not skip and missing is None:
        return plainly
    with told([plainly]):
        for expect in (expect_utf8, partial(expect_quotes, delimiter=sign), expect_top):
            expect(path, lambda: path.open("rb"))
        return _with_commas(plainly, sign, missing, skip=skip)


def _empty(missing: Missing) -> tuple[str, ...]:
    """Say which texts count as empty."""
    return () if missing is None else (" and ".join(missing) + " as empty cells",)


def _as_text(file: Path, kind: FileKind, suffix: str) -> tuple[Path, tuple[str, ...]]:
    """Unpack a file and turn it into UTF-8, where it is not so already; return where that lies, and what was done."""
    path, words = file, list[str]()
    if kind.packed is not None:
        path = scratch_file(suffix)
        unpacked(file, kind.packed, path)
        words.append(kind.packed)
    with path.open("rb") as opened:
        encoding = marked_encoding(opened.read(4))
    if encoding is not None:
        marked, path = path, scratch_file(suffix)
        in_utf8(file, marked, encoding, path)
        words.append(encoding)
    return path, tuple(words)


def _with_commas(file: DataFile, sign: str, missing: Missing, *, skip: bool) -> DataFile:
    """Write the same cells on the same lines, with commas between them.

    Lines of another width than the header are left blank if that was asked for, and are for others to refuse if not.
    """
    to, bad, width, at = scratch_file(".csv"), list[tuple[int, tuple[str, ...], str]](), 0, 1
    with to.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        for line, cells in csv_rows(file.path, sign):
            row, width = (emptied(cells, missing) if width else cells), width or len(cells)
            if skip and len(row) != width:
                bad.append((line, tuple(row), width_words(len(row), width)))
                continue
            opened.write("\n" * (line - at))
            writer.writerow(row)
            text = "".join(row)
            inside = "\n" in text or "\r" in text
            at = line + 1 + (sum(len(_BREAK.findall(cell)) for cell in row) if inside else 0)
    return replace(file, path=to, bad=tuple(bad))


_BREAK = re.compile("\r\n|\r|\n")


def written(form: DataFile, write: Callable[[Copy], None], missing: Missing, *, skip: bool) -> DataFile:
    """Write a plain CSV of what was read from something else; lines that are no rows are refused unless they are skipped."""
    with form.path.open("w", encoding="utf-8", newline="") as opened:
        copy = Copy(opened, missing)
        write(copy)
    made = replace(form, lines=copy.lines, bad=tuple(copy.bad))
    if copy.bad and not skip:
        rows = [BadRow(place, "", words) for place, _, words in made.bad_lines()[:FIRST]]
        raise unusable(rows, len(copy.bad))
    return made


def _json_lines(file: Path, kind: FileKind, how: HowRead, skip: bool) -> DataFile:
    from optin.tables.jsonlines import copy_objects

    path, words = _as_text(file, kind, ".jsonl")
    form = DataFile(file, scratch_file(".csv"), (kind.holds, *words, *_empty(how.missing)), tells_missing=True)
    return written(form, lambda copy: copy_objects(file, path, copy), how.missing, skip=skip)


def _workbook(file: Path, _: FileKind, how: HowRead, skip: bool) -> DataFile:
    from optin.tables.workbooks import copy_sheet, sheet_of

    with sheet_of(file, how.table) as sheet:
        words = (f"sheet {sheet.title} of a workbook", *_empty(how.missing))
        form = DataFile(file, scratch_file(".csv"), words, unit="row")
        return written(form, lambda copy: copy_sheet(file, sheet, copy), how.missing, skip=skip)


def _duckdb(file: Path, _: FileKind, how: HowRead, __: bool) -> DataFile:
    from optin.tables.databases import copy_duckdb

    expect_stored(how)
    to = scratch_file(".parquet")
    return DataFile(file, to, (f"table {copy_duckdb(file, how.table, to)} of a DuckDB file",))


_READERS: dict[str, Callable[[Path, FileKind, HowRead, bool], DataFile]] = {
    JSON_LINES: _json_lines,
    WORKBOOK: _workbook,
    DUCKDB: _duckdb,
}
