"""Running the service: one process, a link for the first analyst, and a quiet end."""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

import uvicorn

from optin.errors import BadInput
from optin.web.alone import alone
from optin.web.app import create_app, open_service
from optin.web.connections import AT_ONCE, Server, limited
from optin.web.logs import set_up_logs
from optin.web.organisation import organisation_of
from optin.web.service.accounts import first_analyst_secret
from optin.web.service.core import Service
from optin.web.settings import WebSettings, expect_key, own_origins, trusted_proxies
from optin.web.witnesses import witnesses_of

SECONDS_TO_FINISH = 30
SECONDS_BETWEEN_TURNS = 0.0001
"""After how long a thread that computes lets others go on. A page takes some forty turns (each look at the database ends one):
with Python's own 5 milliseconds a turn, everyone would wait for 0.2 seconds while a large campaign is released. A turn this
short costs neither pages nor what is computed anything that could be measured."""
LOOKS_BETWEEN_ALL = 50
"""How many times Python looks for garbage among younger objects before it looks through all, which stops every thread: of a
campaign of 10^5 people for 15 to 28 milliseconds, and with Python's own 10 several times in a release. With 500 a request left
400 bytes behind for longer than 17,000 others took."""
SECONDS_KEPT = 75
"""How long an idle connection is kept: longer than web servers in front do, so that it is they who hang up."""


def serve(settings: WebSettings) -> None:
    """Serve until interrupted or terminated; requests under way are answered, and a job's part under way is finished."""
    own_origins(settings)
    trusted_proxies(settings)
    organisation_of(settings)
    witnesses_of(settings)
    expect_key(settings)
    with alone(settings):
        _serve(settings)


def _serve(settings: WebSettings) -> None:
    service, notice = open_service(settings)
    try:
        if notice:
            _tell(notice)
        config = uvicorn.Config(create_app(settings, service), **server_options(settings))
        set_up_logs(settings.log_level)
        take_short_turns()
        _run(Server(config, lambda: _greet(settings, service)))
    finally:
        service.ledger.close()


def _run(server: Server) -> None:
    """Run a server to its end; one that could not listen says so in words, not only in the log."""
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.run()
    except SystemExit:
        if not server.found_no_room:
            raise
    else:
        return
    raise BadInput(
        "cannot listen on port {port} of {host}: something else does already, or this machine may not; choose another: "
        "--port, --host",
        port=server.config.port,
        host=server.config.host,
    )


def take_short_turns() -> None:
    """Keep long work from making others wait: threads change often, and garbage is seldom looked for among all objects, never
    among those that were there at the start.
    """
    sys.setswitchinterval(SECONDS_BETWEEN_TURNS)
    youngest, younger, _ = gc.get_threshold()
    gc.set_threshold(youngest, younger, LOOKS_BETWEEN_ALL)
    gc.collect()
    gc.freeze()


def server_options(settings: WebSettings) -> dict[str, Any]:
    """Say how the server runs: plain HTTP for a web server in front, no sockets of another kind, nobody who takes for ever."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": limited(settings),
        "backlog": AT_ONCE,
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": SECONDS_KEPT,
        "proxy_headers": settings.origin is not None,  # else nobody stands in front to say who asks
        "forwarded_allow_ips": trusted_proxies(settings),
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
    }


def _greet(settings: WebSettings, service: Service) -> None:
    """Say where the service is; the first analyst's link goes to the terminal and into no log."""
    origin = settings.seen_at
    _tell(f"serving {origin}")
    secret = first_analyst_secret(service)
    if secret is not None:
        _tell(f"no analyst yet; become the first one, with this link, once, within a week: {origin}/setup#{secret}")


def _tell(words: str) -> None:
    sys.stderr.write(f"optin: {words}\n")
    sys.stderr.flush()
