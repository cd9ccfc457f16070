"""Read people from CSV and Parquet: a file, a folder or a glob, one row a person, ids as text byte for byte."""

from __future__ import annotations

from optin.engine.reading import ENGINES, Table, check_engine, read_table

__all__ = ["ENGINES", "Table", "check_engine", "read_table"]
