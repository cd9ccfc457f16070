"""People where they lie: kept in an engine (DuckDB, Spark) and asked by queries."""

from __future__ import annotations

from optin.engine.agents import EngineConstrained
from optin.engine.engines import check_engine, open_session
from optin.engine.opening import engine_for, read
from optin.engine.session import Session
from optin.engine.weighing import EngineQuasiLinear

__all__ = [
    "EngineConstrained",
    "EngineQuasiLinear",
    "Session",
    "check_engine",
    "engine_for",
    "open_session",
    "read",
]
