"""Connections that end: whoever asks or reads too slowly is hung up on, and so many are open that all others are served.

A server that waits for a request's last line waits for ever, and each connection kept costs a file. Uvicorn bounds only
how long an idle connection is kept; here the rest is bounded, below HTTP, where no thread is held yet. Many who come at once are
let in a few at a time, so that those who are in are served meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from optin.web.settings import WebSettings

AT_ONCE = 64
"""How many are let in before those who are in are looked at again."""
LOOK_AGAIN_SECONDS = 0.05
"""How soon room is made again where too many are still open."""
IN_LINE = 4096
"""How many the machine lets wait at the door; its own limit may be lower."""


class _Limited(H11Protocol):
    """A connection that has so many seconds for each request's head, and for taking an answer that does not fit at once."""

    header_seconds: float
    answer_seconds: float
    most: int
    looking: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, **more: Any) -> None:  # noqa: ANN401 - whatever uvicorn gives
        super().__init__(*given, **more)
        self._deadlines: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; where too many are open, those that have kept us waiting longest go."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._expect("head", self.header_seconds)
        if len(self.connections) > self.most:
            self._make_room()

    def _make_room(self) -> None:
        """Hang up on those that have kept us waiting longest, one in twenty at once: choosing takes longer than hanging up."""
        waiting = [one for one in self.connections if isinstance(one, _Limited) and one.keeps_us_waiting]
        going = len(self.connections) - self.most + self.most // 20
        for one in sorted(waiting, key=lambda one: one._since)[:going]:
            if not one.has_sent_more:
                one.hang_up()
        if len(self.connections) > self.most:
            self._look_again()

    def _look_again(self) -> None:
        """Make room again soon, though nobody else comes: some were spared, since what they sent is to be read first."""
        kind = type(self)
        if kind.looking is None:
            kind.looking = self.loop.call_later(LOOK_AGAIN_SECONDS, self._room_was_short)

    def _room_was_short(self) -> None:
        type(self).looking = None
        if len(self.connections) > self.most:
            self._make_room()

    @property
    def is_waiting(self) -> bool:
        """Whether no request has begun that is not answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def keeps_us_waiting(self) -> bool:
        """Whether the other side has to go on: with a request's head, with its body, or with taking an answer.

        Five hundred bodies that drip in would else be as many connections that may stay, and nobody else came in.
        """
        return self.is_waiting or self.cycle.more_body or "taking" in self._deadlines

    @property
    def has_sent_more(self) -> bool:
        """Whether something has come that we have not read yet: then it is we who keep them waiting."""
        place = self.transport.get_extra_info("socket").fileno()
        look = select.poll()
        look.register(place, select.POLLIN)
        return bool(look.poll(0))

    def data_received(self, data: bytes) -> None:
        """Read on; the head of a request must be whole in time, however often a little of it comes."""
        super().data_received(data)
        if not self.is_waiting:
            self._forget("head")
        elif "head" not in self._deadlines:
            self._expect("head", self.header_seconds)

    def on_response_complete(self) -> None:
        """Wait for the next request; its time begins with its first bytes."""
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for an answer to be taken, but not for ever."""
        super().pause_writing()
        self._expect("taking", self.answer_seconds)

    def resume_writing(self) -> None:
        """Go on with an answer that is being taken."""
        self._forget("taking")
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection, also one that never took the end of its answer."""
        super().timeout_keep_alive_handler()
        self.hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was waited for."""
        self._forget("head", "taking")
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """End a connection without waiting for the other side; from now on it is not counted."""
        self.connections.discard(self)
        self.transport.abort()

    def _expect(self, what: str, seconds: float) -> None:
        self._forget(what)
        self._deadlines[what] = self.loop.call_later(seconds, self.hang_up)

    def _forget(self, *those: str) -> None:
        for what in those:
            if what in self._deadlines:
                self._deadlines.pop(what).cancel()


def limited(settings: WebSettings) -> type[asyncio.Protocol]:
    """Make the kind of connection that keeps to what was set."""
    limits = {
        "header_seconds": settings.header_seconds,
        "answer_seconds": settings.answer_seconds,
        "most": settings.most_connections,
    }
    return type("Limited", (_Limited,), limits)


class Server(uvicorn.Server):
    """A server that lets a few in at a time, while many may stand at its door: asyncio has one number for both."""

    def __init__(self, config: uvicorn.Config, then: Callable[[], None]) -> None:
        super().__init__(config)
        self._then = then

    @property
    def found_no_room(self) -> bool:
        """Whether it ended because its address is another's, or none of this machine."""
        return not (self.started or self.lifespan.should_exit)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, with a long line; what is to be done once people can come is done then, and not before."""
        await super().startup(sockets)
        for each in [one for server in self.servers for one in server.sockets]:
            with contextlib.closing(socket.socket(fileno=socket.dup(each.fileno()))) as same:
                same.listen(IN_LINE)
        self._then()
