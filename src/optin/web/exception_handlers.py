"""What a visitor is told when something fails: words of our own, as JSON or as a page, never what they sent."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from optin.errors import Failure, OptinError
from optin.web.languages import of_reader
from optin.web.middleware import Middleware
from optin.web.service.failures import TooSoon, VisitFailure
from optin.wording.language import N_, speaking

LOG = logging.getLogger("optin.web")


def set_up(app: FastAPI) -> None:
    """Answer every failure in our own words."""
    app.add_exception_handler(OptinError, _known)
    app.add_exception_handler(VisitFailure, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def answered(request: Request, status: int, why: Failure | str, headers: dict[str, str] | None = None) -> Response:
    """Say why, to programs in our own words and on a page in the language of the page."""
    path = request.url.path
    if path.startswith("/api/") or path in ("/api", "/health", "/ready"):
        return JSONResponse({"error": str(why)}, status_code=status, headers=headers)
    from optin.web.pages.errors import page

    with speaking(of_reader(request.scope, otherwise=request.app.state.settings.language)):
        shown = page(request, status, why)
    shown.headers.update(headers or {})
    return shown


def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, OptinError | VisitFailure)  # noqa: S101 - registered for these alone
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooSoon) else None
    return answered(request, error.http_status, error, headers)


def _invalid(request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    return answered(request, 422, "; ".join(_told(problem) for problem in problems) or "this cannot be used")


def _told(problem: dict[str, Any]) -> str:
    """Name the field and what it should be; a name that only the sender chose is as private as a value."""
    place: Sequence[object] = problem.get("loc", ())
    if problem.get("type") in ("extra_forbidden", "json_invalid"):
        place = ()
    names = [str(part) for part in place[1:]] or ["the body"]
    words = {"extra_forbidden": "has a field that is not known", "json_invalid": "is not JSON"}
    return f"{'.'.join(names)}: {words.get(str(problem.get('type')), problem.get('msg', 'cannot be used'))}"


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    status = 422 if status == 400 else status  # one status for what cannot be read, whichever part could not read it
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    words = {404: N_("there is nothing here, or it is not yours"), 405: N_("this cannot be done here")}
    return answered(request, status, words.get(status, N_("this cannot be used")), headers)


class NoSurprises(Middleware):
    """Answer what nobody foresaw, inside the guards: such an answer needs their headers most of all."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; if it fails before its answer began, answer in our own words and log the place."""
        begun = False

        async def watching(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watching)
        except Exception as error:
            LOG.error("unexpected failure", exc_info=error)
            if begun:
                raise
            words = N_("something unexpected happened; the operator's log names the place")
            await answered(Request(scope), 500, words)(scope, receive, send)
