"""What a file is, by its first bytes and its name: text with separated cells unless it shows to be something else."""

from __future__ import annotations

import gzip
import shutil
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optin.errors import BadInput
from optin.extras import expect
from optin.tables.places import PARQUET

CSV, JSON_LINES, WORKBOOK, DUCKDB, PARQUET_KIND = "CSV", "JSON lines", "a workbook", "a DuckDB file", "Parquet"
GZIP, ZSTD = "gzip", "zstd"
_PACKED = {b"\x1f\x8b": GZIP, b"\x28\xb5\x2f\xfd": ZSTD}
_LINES = (".jsonl", ".ndjson", ".json")
_PACKED_ENDS = (".gz", ".zst", ".zstd")
_ZIP, _DUCK = b"PK\x03\x04", b"DUCK"


@dataclass(frozen=True)
class FileKind:
    """What a file holds, and how it is compressed, if it is."""

    holds: str
    packed: str | None = None

    @property
    def plain(self) -> bool:
        """Whether every engine reads it as it is, if its cells are separated by commas."""
        return self.packed is None and self.holds in (CSV, PARQUET_KIND)


def kind_of(file: Path) -> FileKind:
    """Look at a file."""
    if file.suffix.lower() in PARQUET:
        return FileKind(PARQUET_KIND)
    with file.open("rb") as opened:
        head = opened.read(16)
    packed = next((name for mark, name in _PACKED.items() if head.startswith(mark)), None)
    inner = Path(file.stem) if packed and file.suffix.lower() in _PACKED_ENDS else file
    if inner.suffix.lower() in _LINES:
        return FileKind(JSON_LINES, packed)
    if head[8:12] == _DUCK:
        return FileKind(DUCKDB)
    return FileKind(WORKBOOK if head.startswith(_ZIP) and _is_workbook(file) else CSV, packed)


def unpacked(file: Path, packed: str, to: Path) -> None:
    """Write a compressed file's bytes as they were before."""
    failed = False
    try:
        with gzip.open(file, "rb") if packed == GZIP else _unzstd(file) as opened, to.open("wb") as plain:
            shutil.copyfileobj(opened, plain, 1 << 20)
    except (OSError, EOFError, zlib.error):
        failed = True
    if failed:
        raise BadInput("{file} is damaged: it cannot be unpacked as {packed}; write it again", file=file, packed=packed)


def _is_workbook(file: Path) -> bool:
    """Tell a workbook by what is in its archive, or by its name where that cannot be opened: it was cut short, perhaps."""
    try:
        with zipfile.ZipFile(file) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError):
        return file.suffix.lower() == ".xlsx"


def _unzstd(file: Path) -> Any:  # noqa: ANN401 - a file of Arrow
    expect("parquet", "a file compressed with zstd")
    import pyarrow as arrow

    return arrow.CompressedInputStream(arrow.OSFile(str(file)), ZSTD)
