"""Which files a path means: one file, everything in a folder, or whatever a glob finds, always in the same order."""

from __future__ import annotations

from glob import glob, has_magic
from pathlib import Path

from optin.errors import BadInput

__all__ = ["PARQUET", "files_of"]

PARQUET = (".parquet", ".pq")
KNOWN = (".csv", *PARQUET)


def files_of(path: str) -> tuple[Path, ...]:
    """List the files a path stands for, sorted by name; never an empty list, never two kinds at once."""
    place = Path(path)
    if place.is_dir():
        return _one_kind(path, _inside(place))
    if has_magic(path) and not place.exists():
        found = sorted(Path(name) for name in glob(path, recursive=True))
        return _one_kind(path, [file for file in found if file.is_file()])
    if path == "-" or place.is_fifo():
        raise BadInput(f"{path} is a stream, and people are read from files, more than once; save it to a file first")
    if not place.is_file():
        raise BadInput(f"there is no file, folder or match for {path}; check the path")
    return (place,)


def _inside(folder: Path) -> list[Path]:
    """List data files at any depth; names that start with a dot or an underscore are other tools' notes."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in KNOWN
        and file.is_file()
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    )


def _one_kind(path: str, files: list[Path]) -> tuple[Path, ...]:
    if not files:
        raise BadInput(f"{path} holds no CSV or Parquet file; give a table with one row a person")
    if len({file.suffix.lower() in PARQUET for file in files}) > 1:
        raise BadInput(f"{path} mixes CSV and Parquet; give one kind, or people could be read twice")
    return tuple(files)
