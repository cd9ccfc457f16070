"""Logs as lines of JSON: what was asked by route template, how it ended, how long it took; never by whom, never a value."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime

from starlette.types import Message, Receive, Scope, Send

from optin.web.middleware import Middleware

_SHOWN = ("method", "route", "status", "ms", "reason", "job", "kind")
LOG = logging.getLogger("optin.web")


class JsonLines(logging.Formatter):
    """Write one record as one line; only fields of a fixed list pass, and no trace, since traces can quote values."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        shown = {name: getattr(record, name) for name in _SHOWN if hasattr(record, name)}
        line = {
            "at": at,
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
            **shown,
        }
        if record.exc_info and record.exc_info[0]:
            line |= {"failure": record.exc_info[0].__name__, "where": _place(record)}
        return json.dumps(line)


def _place(record: logging.LogRecord) -> list[str]:
    """List files and lines of a trace, without the code's values."""
    trace = record.exc_info[2] if record.exc_info else None
    places = []
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[-8:]


def set_up_logs(log_level: str) -> None:
    """Send every log line of the process to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=log_level.upper(), handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = name != "uvicorn.access"


class RequestLog(Middleware):
    """Log each request once, by the template of its route: paths and queries hold ids, and could hold anything."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and log how it ended."""
        began, status = time.perf_counter(), 500

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watching)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            ms = round(1000 * (time.perf_counter() - began), 1)
            LOG.info("request", extra={"method": scope["method"], "route": route, "status": status, "ms": ms})
