"""Spark: in this process's own cluster, on a standalone cluster, or through Spark Connect."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from optin.engine.dialect import Dialect
from optin.engine.functions import validated
from optin.engine.session import FAILED, Session
from optin.engine.spark_connect import connected
from optin.errors import BadInput
from optin.extras import expect
from optin.formats.scratch import Scratch

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr import types as ir

LOCAL = "spark-local"
KNOCK = 8.0  # seconds until a port counts as closed
PATIENCE = 20.0  # seconds until a cluster that took the call counts as silent, unless OPTIN_ENGINE_PATIENCE says more
PORTS = {"spark": 7077, "sc": 15002}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
LITERAL = {"__globPaths__": False, "recursiveFileLookup": True}
"""Take names as they are, not as patterns; and look for no columns in the names of folders, as Spark does by itself."""
CSV = {"header": True, "quote": '"', "escape": '"', "multiLine": True, "mode": "FAILFAST"}
UNREADABLE = re.compile(r"(^|/)([._][^/]*|[^/]*:[^/]*)$")
RENAME = "it passes over names that start with _ or ., and cannot open names with a colon; rename the file"


def _answers_to(engine: str) -> bool:
    """Tell whether an engine's name means Spark."""
    return engine == LOCAL or engine.startswith(("spark://", "sc://"))


def _open(engine: str) -> Session:
    """Connect to Spark; a process has one connection to each cluster and keeps it."""
    expect("spark", f"engine {engine}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Spark says of the pandas it finds: nothing here goes through pandas
        return Session(_backend(engine), engine, SPARK, owned=False)


@cache
def _backend(engine: str) -> BaseBackend:
    import ibis

    if engine != LOCAL:
        _knock(engine)
    local = engine == LOCAL
    opened = _started(engine, _local_session) if local else _answer(engine, lambda: _remote_session(engine))
    return ibis.pyspark.connect(session=opened)


def _knock(engine: str) -> None:
    """Try the port first: Spark itself would ask a closed one for a minute."""
    place = urlsplit(engine)
    if place.hostname is None:
        raise BadInput(
            "engine {engine} names no host; write {scheme}://host:{port}",
            engine=engine,
            scheme=place.scheme,
            port=PORTS[place.scheme],
        )
    port = place.port or PORTS[place.scheme]
    try:
        socket.create_connection((place.hostname, port), timeout=KNOCK).close()
    except OSError:
        port = -1
    if port < 0:
        raise _silent(engine)


def _answer(engine: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401 - a session of one of two kinds
    """Wait for a cluster, but not for ever; nothing is charged or planned yet."""
    patience = _patience()
    _started(engine, lambda: _start_java(engine))
    answers: list[Any] = []

    def tried() -> None:
        try:
            answers.append(call())
        except Exception:
            answers.append(FAILED)

    thread = threading.Thread(target=tried, daemon=True)
    thread.start()
    thread.join(patience)
    if not answers or answers[0] is FAILED:
        raise _silent(engine)
    return answers[0]


def _patience() -> float:
    """Return how many seconds to wait."""
    given = os.environ.get("OPTIN_ENGINE_PATIENCE") or str(PATIENCE)
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < threading.TIMEOUT_MAX:
        raise BadInput("OPTIN_ENGINE_PATIENCE is a number of seconds to wait for a cluster, such as 60")
    return seconds


def _started(engine: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Start Spark in this process; what it says when it cannot names neither Java nor what to do."""
    started = FAILED
    with contextlib.suppress(Exception):
        started = call()
    if started is FAILED:
        raise BadInput(
            "Spark does not start for engine {engine}: it needs Java 17 (java on the PATH, or JAVA_HOME); and a"
            " process that has used sc://… cannot use another Spark: start a new one",
            engine=engine,
        )
    return started


def _start_java(engine: str) -> None:
    """Start the driver's Java beforehand: how long that takes is not the cluster's doing."""
    if engine.startswith("spark://"):
        from pyspark import SparkContext

        SparkContext._ensure_initialized()


def _silent(engine: str) -> BadInput:
    return BadInput(
        "the cluster {engine} does not answer; check the address and that it runs and has a free worker. Nothing was"
        " planned, released or charged",
        engine=engine,
    )


def _local_session() -> Any:  # noqa: ANN401
    from pyspark.sql import SparkSession

    return _configured(SparkSession.builder.master("local[*]"), here=True).getOrCreate()


def _remote_session(engine: str) -> Any:  # noqa: ANN401
    from pyspark.sql import SparkSession

    if engine.startswith("sc://"):
        return connected(engine)
    here = urlsplit(engine).hostname == "127.0.0.1"
    session = _configured(SparkSession.builder.master(engine), here=here).getOrCreate()
    session.range(1).count()  # a master without workers takes jobs and never starts them
    return session


def _configured(builder: Any, *, here: bool) -> Any:  # noqa: ANN401
    """Set what Spark needs; on loopback nothing listens elsewhere."""
    scratch = str(_scratch().path)
    settings = SETTINGS | {"spark.local.dir": scratch, "spark.sql.warehouse.dir": f"{scratch}/warehouse"}
    if here:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.appName("optin")


@cache
def _scratch() -> Scratch:
    return Scratch()


def _read_parquet(session: Session, files: Sequence[str]) -> ir.Table:
    """Read Parquet files with the same columns in any order."""
    return _named(session, files, lambda read: read.parquet(*files))


def _read_csv(session: Session, files: Sequence[str], header: Sequence[str]) -> ir.Table:
    """Read CSV files with one header as text, cell for cell: nothing is sniffed."""
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in header])
    return _named(session, files, lambda read: read.schema(schema).options(**CSV).csv(list(files)))


def _named(session: Session, files: Sequence[str], opened: Callable[[Any], Any]) -> ir.Table:
    for file in files:
        if UNREADABLE.search(file):
            raise BadInput("Spark does not read {file}: " + RENAME, file=file)
    frame = opened(session.backend._session.read.options(**LITERAL))
    _expect_all(frame, files)
    name = f"optin_{uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return session.backend.table(name)


def _expect_all(frame: Any, files: Sequence[str]) -> None:  # noqa: ANN401
    """Refuse if Spark would read other files than were listed; it would say nothing."""
    to_read = Counter(_own_name(unquote(address)) for address in frame.inputFiles())
    if to_read != Counter(map(_own_name, files)):
        raise BadInput(
            "Spark does not read {file} and what is beside it file by file as listed: " + RENAME,
            file=files[0],
        )


def _own_name(address: str) -> str:
    """Strip what Spark puts before a path; of a file elsewhere only the last part is certain to be told as it was given."""
    path = re.sub("^file:/+", "/", address)
    return path.rpartition("/")[2] if "://" in path else path


def _arrow(backend: BaseBackend, query: ir.Table) -> pa.Table:
    """Fetch rows as Arrow; Ibis would fetch them by way of pandas, which takes NaN for NULL."""
    return backend._session.sql(backend.compile(query)).toArrow()


def _write(backend: BaseBackend, query: ir.Table, path: str) -> None:
    backend._session.sql(backend.compile(query)).write.parquet(path)


def _arrow_batches(backend: BaseBackend, query: ir.Table, size: int) -> Iterator[pa.RecordBatch]:
    """Fetch rows bit by bit; Ibis would fetch all at once."""
    import pyarrow as pa

    rows = iter(backend._session.sql(backend.compile(query)).toLocalIterator(prefetchPartitions=True))
    schema = query.schema().to_pyarrow()
    while part := list(islice(rows, size)):
        columns = zip(*part, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )


SPARK = Dialect(
    fetch=_arrow,
    batches=_arrow_batches,
    write=_write,
    valid_text=validated,
    one_stored_type=True,
    answers_to=_answers_to,
    elsewhere=LOCAL.__ne__,
    open=_open,
    read_parquet=_read_parquet,
    read_csv=_read_csv,
)
