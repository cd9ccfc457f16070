"""People where they lie: CSV and Parquet in memory, or kept in an engine (DuckDB, Spark) and asked by queries."""

from __future__ import annotations

from optin.engine.opening import read
from optin.engine.reading import ENGINES, Table, check_engine, read_table

__all__ = ["ENGINES", "Table", "check_engine", "read", "read_table"]
