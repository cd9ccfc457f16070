"""Parquet with the types it declares; ids must be text or whole numbers, for 1 and 1.0 are not the same name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.extras import expect

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet


def _parquet() -> Any:  # noqa: ANN401 - a module
    """Load what reads Parquet, which is installed on request."""
    expect("parquet", "Parquet")
    import pyarrow.parquet as arrow_parquet

    return arrow_parquet


def _damage() -> tuple[type[Exception], ...]:
    """Name what is raised where a file is damaged."""
    import pyarrow as pa

    return (pa.ArrowException, OSError)


def _opened(path: Path) -> pa.OSFile:
    """Open a file by its name; Arrow by itself would take some names for addresses."""
    import pyarrow as pa

    return pa.OSFile(str(path))


def parquet_header(path: Path) -> list[str]:
    """Read the column names."""
    if path.stat().st_size == 0:
        raise BadInput("{path} is empty (0 bytes): it is not a Parquet file; write it again", path=path)
    try:
        names: list[str] | None = list(_parquet().read_schema(_opened(path)).names)
    except _damage():
        names = None
    if names is None:
        raise BadInput("{path} is not a Parquet file, or is damaged; write it again", path=path)
    return names


def parquet_types(path: Path) -> dict[str, pa.DataType]:
    """Read how each column is stored."""
    return types_in(_opened(path))


def types_in(opened: Any) -> dict[str, pa.DataType]:  # noqa: ANN401 - any file-like
    """Read how each column of an open file is stored."""
    return {field.name: field.type for field in _parquet().read_schema(opened)}


def read_parquet(path: Path, names: list[str]) -> pa.Table:
    """Read some columns as they are stored."""
    try:
        table = _parquet().ParquetFile(_opened(path)).read(columns=names)
        table.validate(full=True)  # text that is not UTF-8 is read without a word
    except _damage():
        table = None
    if table is None:
        expect_complete(path)
        raise BadInput("{path} is damaged: its rows cannot be read; write it again", path=path)
    return table


def expect_complete(path: Path) -> None:
    """Name the first column that cannot be read; one column of one row group is in memory at a time."""
    if not path.exists():
        raise BadInput("{path} was taken away while it was read; put it back, then try again", path=path)
    names = parquet_header(path)
    file = _parquet().ParquetFile(_opened(path))
    for group in range(file.num_row_groups):
        for name in names:
            if not _reads(file, group, name):
                raise BadInput(
                    "{path} is damaged: its column {name} cannot be read; write it again", path=path, name=name
                )


def _reads(file: arrow_parquet.ParquetFile, group: int, name: str) -> bool:
    try:
        file.read_row_group(group, columns=[name]).validate(full=True)
    except _damage():
        return False
    return True


def row_count(path: Path) -> int:
    """Return how many rows a file says it has; 0 if it cannot be read, which reading it will say better."""
    try:
        return int(_parquet().read_metadata(_opened(path)).num_rows)
    except _damage():
        return 0
