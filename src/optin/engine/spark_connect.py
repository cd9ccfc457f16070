"""Spark Connect: a cluster that talks through one port, and may fall silent at any time."""

from __future__ import annotations

import atexit
import threading
from typing import Any

RETRIES = 4  # some five seconds for each call; left alone, Spark would ask a lost cluster for ten minutes
GOODBYE = 2.0  # seconds


def connected(address: str) -> Any:  # noqa: ANN401 - pyspark names no common type
    """Connect to a cluster by ``sc://host:port`` and see it answer.

    Spark's own farewell at the end of a process waits for an answer without end, so it is replaced by one that does not.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session = SparkSession.builder.remote(address).create()
    atexit.unregister(session.client._on_exit)
    session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    session.range(1).count()
    atexit.register(_leave, session)
    return session


def _leave(session: Any) -> None:  # noqa: ANN401
    """Let the cluster forget this session; if it says nothing, it will do so by itself."""
    thread = threading.Thread(target=session.stop, daemon=True)
    thread.start()
    thread.join(GOODBYE)
