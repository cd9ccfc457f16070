"""One metadata for all tables of a database, the ledger's and the web service's: one chain of migrations makes them."""

from __future__ import annotations

from sqlalchemy import MetaData

REVISION = "0013"
"""The newest migration this code knows."""

metadata = MetaData()
