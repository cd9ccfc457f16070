"""Reading a list of people as someone pasted it: addresses or ids, or what a spreadsheet or a program for mail wrote.

Whoever stands in it is invited, and a group is public: what could be read in two ways is refused with its line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from optin.errors import BadInput
from optin.web.service.campaigns import checked_group
from optin.web.service.identities import MOST_LETTERS
from optin.web.service.mailer import looks_like_address

_COLUMNS = {
    "address": "address adresse mail email e-mail email-address e-mail-address email-adresse e-mail-adresse mail-adresse "
    "mailadresse emailadresse e-mailadresse",
    "id": "id employee-id personnel-number kennung personalnummer personal-nr personal-nr.",
    "group": "group team ward department unit gruppe station abteilung bereich",
}
_NAMES = {name: column for column, names in _COLUMNS.items() for name in names.split()}
"""What headings are called, in English and in German."""
_AS_MAILED = re.compile(r"[^<>]*<\s*([^<>\s]+@[^<>\s]+)\s*>")
_KEPT_FROM_COMPUTING = re.compile(r"(?:^|(?<=;))'(?= *[=+\-@])")
"""An apostrophe that our own files have before what a spreadsheet would compute."""
_END = "\N{END OF TEXT}"
_MARKS = ";\t,"


@dataclass(frozen=True)
class Entry:
    """Someone to be invited: an address, an id, or both, and perhaps a public group."""

    address: str = field(default="", repr=False)
    id: str = field(default="", repr=False)
    group: str | None = None
    line: int = field(default=0, compare=False, repr=False)
    """In which line of a pasted list they stood; 0 where none was pasted."""

    @property
    def known_by(self) -> str:
        """By what they are told from others: their id or else their address, whose case says nothing."""
        return self.id or self.address.casefold()


@dataclass(frozen=True)
class _Cells:
    """A row of a list, and the line in which it begins."""

    line: int
    cells: tuple[str, ...]


def entries_in(text: str) -> list[Entry]:
    r"""Read a pasted list or CSV: an address or an id on each line, then a group; or columns named in the first line.

    Addresses beside each other, as programs for mail copy them, are so many people. A group is public: no address is one.

    >>> [each.known_by for each in entries_in("ada@example.org; ICU\nBea@example.org; ER")]
    ['ada@example.org', 'bea@example.org']
    >>> entries_in("id,email,ward\n7,ada@example.org,ICU")[0].group
    'ICU'
    >>> [each.known_by for each in entries_in("Byron, Ada <ada@example.org>; Coe, Bea <bea@example.org>")]
    ['ada@example.org', 'bea@example.org']
    """
    lines = text.replace("\N{ZERO WIDTH NO-BREAK SPACE}", "").splitlines(keepends=True)
    written = [at for at, line in enumerate(lines) if line.strip()]
    if written and lines[written[0]].casefold().startswith("sep="):  # how a spreadsheet is told its mark
        lines[written.pop(0)] = "\n"
    mailed = [(at, _recipients(lines[at])) for at in written]
    if all(addresses for _, addresses in mailed):
        return [_named({"address": each}, at + 1) for at, addresses in mailed for each in addresses]
    return _entries(_rows(lines, _mark_of(lines, written[0])))


def _entries(rows: Sequence[_Cells]) -> list[Entry]:
    """Read rows by the headings of the first, or without any."""
    if not rows:
        return []
    names = [_NAMES.get("-".join(cell.casefold().replace("_", " ").split()), "") for cell in rows[0].cells]
    if not any(names) or any("@" in cell for cell in rows[0].cells):
        _expect_no_headings(rows)
        return [entry for row in rows for entry in _plain(row)]
    _expect_each_once(names, rows[0].cells)
    return [_under(names, row) for row in rows[1:]]


def _recipients(line: str) -> list[str]:
    """List the addresses of a line as programs for mail copy it: a name before each, with a comma in it or without."""
    parts = re.split("[<>]", line)
    names, addresses = parts[::2], parts[1::2]
    bare = [name.lstrip(" ;,") for name in names]
    odd = len(names) == len(addresses) or bare[-1].strip() or any(re.search(r"[@;\t\d]", name) for name in bare)
    return [] if odd else [each.strip() for each in addresses]


def _mark_of(lines: Sequence[str], first: int) -> str:
    """Say what stands between cells: what the first line has most of, or else what all of them have."""
    return max(_MARKS, key=lambda mark: (lines[first].count(mark), sum(line.count(mark) for line in lines)))


def _rows(lines: Iterable[str], mark: str) -> list[_Cells]:
    """Read lines as cells; empty ones are left out, as spreadsheets write some at the end."""
    reader, rows = csv.reader([*lines, _END], delimiter=mark), list[_Cells]()
    begins = 1
    try:
        for row in reader:
            rows.append(_Cells(begins, tuple(_KEPT_FROM_COMPUTING.sub("", cell.strip()) for cell in row)))
            begins = reader.line_num + 1
    except csv.Error:
        raise BadInput(
            "this is no list: a line of it is far too long; give an address or an id on each line, then a group"
        ) from None
    if rows[-1].cells != (_END,):
        raise BadInput("line {line}: a quotation mark opens there and does not close: take it out", line=rows[-1].line)
    return [row for row in rows[:-1] if any(row.cells)]


def _expect_no_headings(rows: Sequence[_Cells]) -> None:
    """Refuse headings that are called otherwise: taken for someone, they would be invited."""
    addressed = [any("@" in cell for cell in row.cells) for row in rows]
    if len(rows) > 1 and len([cell for cell in rows[0].cells if cell]) > 1 and not addressed[0] and all(addressed[1:]):
        raise BadInput(
            "line {line}: no column of these is known; name the columns in the first line: address, id, group",
            line=rows[0].line,
        )


def _expect_each_once(names: Sequence[str], headings: Sequence[str]) -> None:
    """Refuse two columns of one meaning: whichever were taken, the other would be dropped unsaid."""
    for name in filter(None, names):
        alike = [heading for heading, read in zip(headings, names, strict=True) if read == name]
        if len(alike) > 1:
            raise BadInput(
                "the columns “{first}” and “{second}” mean the same here: leave one of them out",
                first=alike[0],
                second=alike[1],
            )


def _under(names: Sequence[str], row: _Cells) -> Entry:
    """Read a row under its headings; one that is longer has a mark too many, and would say something else of someone."""
    if any(row.cells[len(names) :]):
        raise BadInput(
            "line {line} has more cells than there are headings: a mark within a name needs quotation marks around it",
            line=row.line,
        )
    cells = dict(zip(names, row.cells, strict=False))
    if "address" not in names and any(
        looks_like_address(cell) for name, cell in zip(names, row.cells, strict=False) if not name
    ):
        raise BadInput(
            "line {line} holds an address under a heading that is not known: call that column address, or leave it out",
            line=row.line,
        )
    return _named(cells, row.line)


def _plain(row: _Cells) -> list[Entry]:
    """Read a line without headings: one address after another, or an address or an id and perhaps a group."""
    cells = [cell for cell in row.cells if cell]
    if len(cells) > 1 and all("@" in cell for cell in cells):
        return [_named({"address": cell}, row.line) for cell in cells]
    if any(row.cells[2:]):
        raise BadInput(
            "line {line} holds more than an address or id and a group: name the columns in the first line: address, id, group",
            line=row.line,
        )
    first, *group = row.cells
    return [_named({"address" if "@" in first else "id": first, "group": group[0] if group else ""}, row.line)]


def _named(cells: dict[str, str], line: int) -> Entry:
    """Refuse a line that names nobody, by its number alone."""
    address, name, group = cells.get("address", ""), cells.get("id", ""), cells.get("group") or None
    mailed = _AS_MAILED.fullmatch(address)
    address = mailed[1] if mailed else address
    if group is not None and "@" in group:
        raise BadInput(
            "line {line}: a group is public, and no address: name the columns in the first line: address, id, group",
            line=line,
        )
    if not (address or name):
        raise BadInput("line {line} names nobody: give an address or an id", line=line)
    if address and not looks_like_address(address):
        raise BadInput("line {line}: the address cannot be written to", line=line)
    if name and not (name.isprintable() and len(name) <= MOST_LETTERS):
        raise BadInput("line {line}: an id is text of at most {most} characters", line=line, most=MOST_LETTERS)
    return Entry(address, name, checked_group(group), line)
