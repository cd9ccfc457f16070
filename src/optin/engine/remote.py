"""Files that lie elsewhere: any address that fsspec knows (s3://, gs://, abfs://, memory://, …), listed once."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from glob import has_magic
from typing import TYPE_CHECKING, Any

from optin.engine.session import Session
from optin.errors import BadInput
from optin.extras import expect
from optin.tables.csvfiles import expect_kind, expect_quotes, expect_utf8
from optin.tables.csvlines import expect_lines
from optin.tables.databases import is_database
from optin.tables.parquetfiles import types_in
from optin.tables.places import KNOWN, is_hidden

if TYPE_CHECKING:
    import pyarrow as pa

FIRST = 1 << 20  # bytes in which a CSV file must name its columns


def is_remote(path: str) -> bool:
    """Tell an address from a path; a database is neither."""
    return "://" in path and not is_database(path)


@dataclass(frozen=True)
class Located:
    """A filesystem of fsspec and the files found in it, by their full addresses."""

    system: Any
    files: list[str]

    def header(self, file: str) -> list[str]:
        """Read the column names of one file, which if it is CSV must be UTF-8."""
        if file.lower().endswith(".csv"):
            self._expect_text(file)
        names = None
        try:
            with self.system.open(file) as opened:
                names = _names(opened, parquet=not file.lower().endswith(".csv"))
        except Exception:  # noqa: S110 - what a storage service says may hold keys
            pass
        if not names:
            raise _unreadable(file)
        return names

    def types(self, file: str) -> dict[str, pa.DataType]:
        """Read how each column of a Parquet file is stored."""
        with self.system.open(file) as opened:
            return types_in(opened)

    def _expect_text(self, file: str) -> None:
        failed = True
        try:
            for expected in (expect_kind, expect_utf8, expect_quotes, expect_lines):
                expected(file, lambda: self.system.open(file, "rb"))
            failed = False
        except BadInput:
            raise
        except Exception:  # noqa: S110 - what a storage service says may hold keys
            pass
        if failed:
            raise _unreadable(file)

    def register(self, session: Session) -> None:
        """Let DuckDB read through fsspec; Spark has its own ways."""
        if session.dialect.reads_fsspec:
            session.backend.register_filesystem(self.system)


def _unreadable(file: str) -> BadInput:
    return BadInput("{file} cannot be read as a table: it is empty, damaged or not yours to read; check it", file=file)


def located(url: str) -> Located:
    """List the files of an address: one file, everything in a folder, or whatever a glob finds."""
    expect("duckdb", "reading an address", package="fsspec")
    system, listed = None, []
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
        listed = _listed(system, path)
    except ImportError as error:
        reason = str(error)
    except Exception:
        reason = "check the address and your rights there"
    else:
        reason = "it holds no CSV or Parquet file"
    files = sorted(system.unstrip_protocol(file) for file in listed if file.lower().endswith(KNOWN)) if system else []
    if not files:
        raise BadInput("{url} cannot be opened: {reason}", url=url, reason=reason)
    if len({file.lower().endswith(".csv") for file in files}) > 1:
        raise BadInput("{url} mixes CSV and Parquet; give one kind, or people could be read twice", url=url)
    return Located(system, files)


def _listed(system: Any, path: str) -> list[str]:  # noqa: ANN401 - fsspec names no type
    """Take what exists under a name first, and only a name that nothing bears as a pattern."""
    if system.isfile(path):
        return [path]
    if has_magic(path) and not system.isdir(path):
        return [file for file in system.glob(path) if system.isfile(file) and not _beside(path, file)]
    files: list[str] = system.find(path)
    return [file for file in files if not is_hidden(file.removeprefix(path).strip("/").split("/"))]


def _beside(pattern: str, file: str) -> bool:
    """Tell a file whose name begins with a dot, which a pattern without one does not mean: so it is on a disk too."""
    parts = pattern.split("/")
    known = next(at for at, part in enumerate(parts) if has_magic(part))
    dotted = [any(part.startswith(".") for part in name[known:]) for name in (parts, file.split("/"))]
    return dotted == [False, True]


def _names(opened: Any, *, parquet: bool) -> list[str]:  # noqa: ANN401 - any file-like
    if parquet:
        import pyarrow.parquet as arrow_parquet

        return list(arrow_parquet.read_schema(opened).names)
    text = opened.read(FIRST).decode("utf-8-sig", errors="replace")
    return next(csv.reader(io.StringIO(text, newline="")), [])
