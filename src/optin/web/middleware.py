"""What stands around the application: a request passes each of these on its way in, and its answer on the way out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send


class Middleware(ABC):
    """Look at HTTP requests alone; whatever else a server sends (its start and end) is passed on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    @abstractmethod
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one HTTP request."""
