"""``optin serve``: the web service, on this machine unless told otherwise."""

from __future__ import annotations

import gc
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optin.errors import BadInput
from optin.extras import expect

if TYPE_CHECKING:
    from optin.web.settings import WebSettings

ServiceLedger = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help="Where everything is kept: a path or postgresql://…",
        show_default="optin-web.sqlite",
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys", metavar="FOLDER", help="Where keys of answers are kept.", show_default="beside the SQLite file"
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        "--origin", metavar="ORIGIN", help="How people's browsers see the service, such as https://example.org."
    ),
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="PORT", help="The port the service listens on.", show_default="8000")
]


def serve_web(
    ledger: ServiceLedger = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="The address to listen on.", show_default="127.0.0.1")
    ] = None,
    port: Port = None,
    origin: Origin = None,
    keys: Keys = None,
) -> None:
    """Serve campaigns that people join in their browsers; see docs/how-to/serve.md.

    Without options it keeps everything in optin-web.sqlite and can be reached from this machine only. Each option has a
    variable: OPTIN_WEB_LEDGER, OPTIN_WEB_HOST, OPTIN_WEB_PORT, OPTIN_WEB_ORIGIN, OPTIN_WEB_KEYS; the key that wraps the
    others is only ever read from OPTIN_WEB_KEY.

    Example: optin serve
    """
    settings = web_settings(ledger=ledger, host=host, port=port, origin=origin, keys=keys)
    with _no_garbage():
        from optin.web.serving import serve

    serve(settings)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Look for no garbage while modules are loaded: there is none, and looking takes a tenth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def web_settings(**given: Any) -> WebSettings:  # noqa: ANN401 - whatever an option takes
    """Read what is set by options and by the environment; a fault names the ways to set it."""
    expect("web", "the web service")
    from pydantic import ValidationError

    from optin.web.settings import WebSettings, unknown_variables

    for name in unknown_variables(os.environ):
        near = get_close_matches(name.upper(), [f"OPTIN_WEB_{each.upper()}" for each in WebSettings.model_fields], 1)
        raise BadInput(
            "{name} sets nothing{near}; docs/how-to/serve.md lists what can be set",
            name=name,
            near=f": is {near[0]} meant?" if near else "",
        )
    try:
        return WebSettings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        faults = [(str(problem["loc"][0]), problem["msg"]) for problem in error.errors()]
    words = [f"{_how_to_set(name, given)}: {says[:1].lower()}{says[1:]}" for name, says in faults]
    raise BadInput("; ".join(words))


def _how_to_set(name: str, options: Container[str]) -> str:
    """Name the variable of a setting, and the option where the command has one."""
    variable = f"OPTIN_WEB_{name.upper()}"
    return f"--{name} (or {variable})" if name in options else variable
