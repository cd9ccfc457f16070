"""Files are written atomically (whole or not at all); those that tell about single people are readable by their owner alone."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from optin.errors import BadInput
from optin.extras import expect
from optin.formats.atomic import AtomicWrite

T = TypeVar("T")


class Output(AtomicWrite):
    """A file to be (`AtomicWrite`) that is none of the files this command reads or keeps."""

    def __init__(self, path: Path | str, *, private: bool = False, inputs: Sequence[Path | str | None] = ()) -> None:
        expect_free(Path(path), inputs)
        super().__init__(path, private=private)


def expect_free(path: Path | None, inputs: Sequence[Path | str | None]) -> None:
    """Refuse to write over anything this command reads or keeps: its files, folders, globs, and its ledger."""
    if path is None:
        return
    if path.is_dir():
        raise BadInput("{path} is a folder; name a file to write", path=path)
    if path.exists() and not path.is_file():
        raise BadInput("{path} is not an ordinary file and cannot be replaced; name a file to write", path=path)
    for given in inputs:
        if given is not None and _is_one_of(path, str(given)):
            raise BadInput("{path} is an input of this command; write to another file", path=path)


def expect_outputs(output: Path, grains: Path | None, inputs: Sequence[Path | str | None]) -> None:
    """Refuse a file (and one of everyone's grains) that could not be written, before anything is drawn, held or charged."""
    expect_free(output, inputs)
    if grains is None:
        return
    expect_free(grains, [*inputs, output])
    expect("parquet", "writing everyone's grains")
    with AtomicWrite(grains, private=True):
        """Its place was taken, and is given back."""


def _is_one_of(path: Path, given: str) -> bool:
    """Say whether a path is what is given, or a file behind it; a ledger that is yet to be made counts."""
    place = given.removeprefix("sqlite:///")
    if path.resolve() == Path(place).resolve():
        return True
    return path.exists() and any(path.samefile(known) for known in _files_of(place))


def _files_of(place: str) -> list[Path]:
    """List the files behind a path, a folder, a glob or a ledger in a file, SQLite's side files included."""
    files = [Path(place), Path(f"{place}-wal"), Path(f"{place}-shm"), *map(Path, glob.glob(place, recursive=True))]
    inside = [file for folder in files if folder.is_dir() for file in folder.rglob("*")]
    return [file for file in (*files, *inside) if file.is_file()]


def read_text(path: Path | str) -> str:
    """Read a JSON file that optin wrote."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "it is not text"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput("{path} cannot be read: {reason}", path=path, reason=reason)


def read_record(path: Path | str, parse: Callable[[str], T]) -> T:
    """Read a JSON file as what it should hold, and name the file if it does not."""
    text = read_text(path)
    try:
        return parse(text)
    except BadInput as error:
        reason = str(error)
    raise BadInput("{path}: {reason}", path=path, reason=reason)
