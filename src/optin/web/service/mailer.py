"""How mail leaves: one SMTP server, plain text, nothing that tells whether it was read."""

from __future__ import annotations

import contextlib
import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage, Message
from email.policy import EmailPolicy, Policy
from email.utils import format_datetime
from typing import Any, TypeVar

SECONDS = 20.0
SECONDS_AT_A_TIME = 30.0
"""How long mail keeps other work waiting, beside the one mail that is on its way when they are over."""
MOST_SECONDS = 120.0
"""How long one connection lasts at most: of a server that drips, each byte begins ``SECONDS`` anew."""
_ATOM = r"[^@\s<>\"(),:;\\\[\].]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"(?=[^@]{{1,64}}@.{{1,189}}\Z)(?!.*=\?){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
T = TypeVar("T")


def looks_like_address(text: str) -> bool:
    r"""Say whether a text can be written to; that someone reads it is known only when it comes back.

    >>> looks_like_address("ada@example.org"), looks_like_address("ada"), looks_like_address("a@b\nBcc: c@d")
    (True, False, False)
    >>> [looks_like_address(each) for each in ("a.@b.org", "a@b..org", "=?utf-8?q?=0aBcc?=@b.org", "jörg@b.org")]
    [False, False, False, True]
    """
    return bool(_ADDRESS.fullmatch(text)) and text.isprintable()


def for_a_while(waiting: Iterable[T], *, seconds: float = SECONDS_AT_A_TIME) -> Iterator[T]:
    """Go through what waits, and leave the rest for the next time once so many seconds are over.

    >>> list(for_a_while("abc")), list(for_a_while("abc", seconds=-1.0))
    (['a', 'b', 'c'], ['a'])
    """
    until = time.monotonic() + seconds
    for each in waiting:
        yield each
        if time.monotonic() > until:
            return


def as_subject(text: str) -> str:
    r"""Write a text on one line, in which nothing is read as a code for other characters: one could end the line.

    >>> as_subject("=?utf-8?q?=0aBcc:x?=\nBreaks")
    '= ?utf-8?q?=0aBcc:x?= Breaks'
    """
    return " ".join(text.split()).replace("=?", "= ?")


class _OnOneLine(UnstructuredHeader, BaseHeader):
    """A header that is an address of the web: in pieces, as long ones are written otherwise, no program for mail reads it."""

    def fold(self, *, policy: Policy[Message[str, str]]) -> str:
        """Write it as it is."""
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("list-unsubscribe", _OnOneLine)
_WRITTEN = EmailPolicy(header_factory=_HEADERS)


class _Bounded(smtplib.SMTP):
    """A connection that is cut when its time is over, whatever its server sends: whoever reads from it is told that it ended."""

    def connect(self, host: str = "localhost", port: int = 0, source_address: Any = None) -> tuple[int, bytes]:  # noqa: ANN401
        """Connect; from here on time runs."""
        self._until = threading.Timer(MOST_SECONDS, self._cut)
        self._until.daemon = True
        self._until.start()
        try:
            return super().connect(host, port, source_address)
        except BaseException:
            self._until.cancel()
            raise

    def close(self) -> None:
        """Close, and let no time run any more."""
        self._until.cancel()
        super().close()

    def _cut(self) -> None:
        line = self.sock
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


class _BoundedTls(_Bounded, smtplib.SMTP_SSL):
    """The same, encrypted from the first byte on."""


@dataclass(frozen=True)
class Mailer:
    """An SMTP server, and who writes; ``origin`` is where people see this service.

    One of the ``signatures`` ends every mail: that of the mail's language, or else of the service's.
    """

    host: str
    port: int
    sender: str
    origin: str
    signatures: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"
    security: str = "starttls"
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @contextlib.contextmanager
    def connected(self) -> Iterator[smtplib.SMTP]:
        """Open a connection, encrypted unless told otherwise; a server that wants nothing of us says so here."""
        context = ssl.create_default_context()
        if self.security == "tls":
            server: _Bounded = _BoundedTls(self.host, self.port, timeout=SECONDS, context=context)
        else:
            server = _Bounded(self.host, self.port, timeout=SECONDS)
        with server:
            if self.security == "starttls":
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password)
            server.ehlo_or_helo_if_needed()
            yield server

    def message(
        self, to: str, subject: str, body: str, *, name: str, stop: str | None = None, language: str = ""
    ) -> EmailMessage:
        """Write a mail: the same name each time it is tried, so that one that comes twice is seen once.

        ``stop`` is where its reader asks for no more; what someone asked for themselves needs none.
        """
        mail = EmailMessage(_WRITTEN)
        mail["From"], mail["To"], mail["Subject"] = self.sender, to, as_subject(subject)
        mail["Date"] = format_datetime(datetime.now(UTC))
        mail["Message-ID"] = f"<{name}@{self.sender.rpartition('@')[2]}>"
        if stop is not None:
            mail["List-Unsubscribe"] = f"<{stop}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(signed(body, self.signatures.get(language or self.language, "")))
        return mail


def signed(body: str, signature: str) -> str:
    r"""End a mail with who writes, if that is said.

    >>> signed("Hello\n", "--\nTown"), signed("Hello\n", "")
    ('Hello\n\n--\nTown\n', 'Hello\n')
    """
    return f"{body.rstrip()}\n\n{signature}\n" if signature else body
