"""What stands before every route: body limits, hosts, origins, and the headers that keep a browser in its lane."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from optin.web.exception_handlers import answered
from optin.web.middleware import Middleware
from optin.wording.language import N_

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
}
SAFE = ("GET", "HEAD", "OPTIONS")
_ANOTHER_NAME = N_("this service goes by another name; use the address you were given")
_ANOTHER_PAGE = N_("changes are accepted only from this service's own pages: send its Origin")
LISTS = re.compile(r"/a/c/[0-9a-f]{32}/people")
TIMES_FOR_A_LIST = 4
"""Where a list of people is sent, and how many times as long it may be as anything else: three thousand with ids and groups."""
MOST_HELD = 100
"""How many answers wait at once: each keeps a connection, and others have to find one."""


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, words: str) -> None:
    """Refuse a request as everything is refused: to programs in a word, to a browser on a page in its reader's language."""
    await answered(Request(scope, receive), status, words)(scope, receive, send)


class SecurityHeaders(Middleware):
    """Add the security headers to every answer, and forbid storing what is not a shipped file."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        super().__init__(app)
        self._https = https

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, adding headers to its answer."""

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if self._https:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
                if not scope["path"].startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, adding)


class OwnOrigin(Middleware):
    """Refuse names that are not ours (rebound hosts), and changes asked for by pages that are not ours."""

    def __init__(self, app: ASGIApp, *, origins: frozenset[str]) -> None:
        super().__init__(app)
        self._origins = origins
        self._hosts = {urlsplit(origin).netloc for origin in origins}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from us."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts and scope["path"] not in ("/health", "/ready"):
            await _refuse(scope, receive, send, 403, _ANOTHER_NAME)
        elif scope["method"] not in SAFE and headers.get("origin") not in self._origins:
            await _refuse(scope, receive, send, 403, _ANOTHER_PAGE)
        else:
            await self._app(scope, receive, send)


class BodyLimit(Middleware):
    """Refuse bodies that are longer than anything asked for here, or that take too long to come, before they are used."""

    def __init__(self, app: ASGIApp, *, most: int, seconds: float) -> None:
        super().__init__(app)
        self._most, self._seconds = most, seconds

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on bodies that are short and quick enough; read at most one piece too many of the others."""
        if scope["method"] in SAFE:
            await self._app(scope, receive, send)
            return
        most = self._most * (TIMES_FOR_A_LIST if LISTS.fullmatch(scope["path"]) else 1)
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._complete(receive, most)
        except TimeoutError:
            words = f"a request must be whole within {self._seconds:g} s; send it again"
            await _refuse(scope, receive, send, 408, words)
            return
        if body is None:
            return
        if len(body) > most:
            await _refuse(scope, receive, send, 413, f"at most {most} bytes are accepted")
            return
        await self._app(scope, _replayed(body, receive), send)

    async def _complete(self, receive: Receive, most: int) -> bytes | None:
        """Read a body to its end or past what is accepted; None if its sender hung up."""
        body, more = b"", True
        while more and len(body) <= most:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return body


class HeadsToo(Middleware):
    """Answer HEAD as GET without its body: programs that check whether a link leads somewhere ask so, before a mail is shown."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; of the answer to HEAD only what stands before its body goes out."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


class Unhurried(Middleware):
    """Keep whoever is told to wait waiting a little, without a thread: who asks again at once would take all the time."""

    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        super().__init__(app)
        self._seconds, self._held = seconds, 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; an answer that says "too many" goes out later, unless many such wait already."""

        async def later(message: Message) -> None:
            if message.get("status") == 429 and self._held < MOST_HELD:
                self._held += 1
                try:
                    await asyncio.sleep(self._seconds)
                finally:
                    self._held -= 1
            await send(message)

        await self._app(scope, receive, later)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replaying() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replaying
