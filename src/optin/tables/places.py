"""Which files a path means: one file, everything in a folder, or whatever a glob finds, always in the same order.

What exists under a name is meant by it; only a name that nothing bears is taken as a pattern. Once listed, a file is never
looked for again: engines are handed its real, absolute name, which they take literally.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import escape, glob, has_magic
from pathlib import Path

from optin.errors import BadInput

PARQUET = (".parquet", ".pq")
KNOWN = (".csv", *PARQUET)
TEXTS = (".csv", ".tsv")
LINES = (".jsonl", ".ndjson")
PACKED = ("", ".gz", ".zst", ".zstd")
FORMS = {
    **dict.fromkeys([text + packed for text in TEXTS for packed in PACKED], "CSV"),
    **dict.fromkeys([text + packed for text in LINES for packed in PACKED], "JSON lines"),
    **dict.fromkeys(PARQUET, "Parquet"),
    ".xlsx": "workbooks",
}
"""How names end that are read from a folder, and what they are."""


def files_of(path: str) -> tuple[Path, ...]:
    """List the files a path stands for, sorted by name; never an empty list, never two kinds at once."""
    place = Path(path)
    if place.is_dir():
        return _one_kind(path, _inside(place))
    if has_magic(path) and not place.exists():
        files = sorted({Path(name) for name in glob(_pattern(place), recursive=True)})
        return _one_kind(path, [file for file in files if file.is_file()])
    if path == "-" or place.is_fifo():
        raise BadInput(
            "{path} is a stream, and people are read from files, more than once; save it to a file first", path=path
        )
    if not place.is_file():
        raise BadInput("there is no file, folder or match for {path}; check the path", path=path)
    return (place,)


def real_name(file: str) -> str:
    """Return the name that stays right whatever the working folder is and wherever links lead: ``link/..`` is no text."""
    return file if "://" in file else os.path.realpath(file)


def _pattern(place: Path) -> str:
    """Take the part of a glob that exists as it is, and only the rest as a pattern."""
    known = next(parent for parent in place.parents if parent.exists())
    return os.path.join(escape(str(known)), str(place.relative_to(known)))


def _inside(folder: Path) -> list[Path]:
    """List data files at any depth."""
    try:
        return sorted(
            file
            for file in folder.rglob("*")
            if form_of(file) and file.is_file() and not is_hidden(file.relative_to(folder).parts)
        )
    except OSError as error:
        reason = error.strerror or "it changes"
    raise BadInput("{folder} cannot be listed whole ({reason}); name its files", folder=folder, reason=reason)


def form_of(file: Path) -> str | None:
    """Tell by its name what a file is; None for a name that tells nothing."""
    name = file.name.lower()
    return next((form for end, form in FORMS.items() if name.endswith(end)), None)


def is_parquet(file: Path | str) -> bool:
    """Tell Parquet by its name."""
    return Path(file).suffix.lower() in PARQUET


def is_hidden(parts: Sequence[str]) -> bool:
    """Tell other tools' notes, and files they have not finished, by a dot or an underscore before a name."""
    return any(part.startswith((".", "_")) for part in parts)


def _one_kind(path: str, files: list[Path]) -> tuple[Path, ...]:
    if not files:
        raise BadInput(
            "{path} holds no CSV or Parquet file (nor JSON lines, nor a workbook); give a table with one row per person",
            path=path,
        )
    forms = sorted({form_of(file) or "CSV" for file in files})
    if len(forms) > 1:
        raise BadInput(
            "{path} mixes {forms}; give one kind, or people could be read twice", path=path, forms=" and ".join(forms)
        )
    return tuple(files)
