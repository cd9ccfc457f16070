"""The names that engines go by, for messages and help: light enough to be read before any engine is."""

from __future__ import annotations

MEMORY = "memory"
KNOWN = f"{MEMORY}, duckdb, spark-local, spark://host:port or sc://host:port"
