"""Files and frames into columns: CSV and Parquet, headers, cells, places, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optin.tables.table import Table, names_in, read_table

__all__ = ["Table", "names_in", "read_table"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whoever checks a column of an array needs no reader of files
    """Load the reader of files when it is first asked for."""
    if name in __all__:
        from optin.tables import table

        return getattr(table, name)
    raise AttributeError(f"module 'optin.tables' has no attribute {name!r}")
