"""Parquet with the types it declares; ids must be text or whole numbers, for 1 and 1.0 are not the same name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from optin.errors import BadInput

__all__ = ["parquet_header", "parquet_types", "read_parquet", "row_count"]


def parquet_header(path: Path) -> list[str]:
    """Read the column names."""
    if path.stat().st_size == 0:
        raise BadInput(f"{path} is empty (0 bytes): it is not a Parquet file; write it again")
    try:
        names: list[str] | None = list(arrow_parquet.read_schema(path).names)
    except (pa.ArrowException, OSError):
        names = None
    if names is None:
        raise BadInput(f"{path} is not a Parquet file, or is damaged; write it again")
    return names


def parquet_types(path: Path) -> dict[str, str]:
    """Read how each column is stored."""
    return {field.name: str(field.type) for field in arrow_parquet.read_schema(path)}


def read_parquet(path: Path, names: list[str]) -> pa.Table:
    """Read some columns as they are stored."""
    try:
        table = arrow_parquet.ParquetFile(path).read(columns=names)
    except (pa.ArrowException, OSError):
        table = None
    if table is None:
        raise BadInput(f"{path} is damaged: its rows cannot be read; write it again")
    return table


def row_count(path: Path) -> int:
    """Return how many rows a file says it has; 0 if it cannot be read, which reading it will say better."""
    try:
        return int(arrow_parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0
