"""How mail leaves: one SMTP server, plain text, nothing that tells whether it was read."""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TypeVar

SECONDS = 20.0
SECONDS_AT_A_TIME = 30.0
"""How long mail keeps other work waiting, beside the one mail that is on its way when they are over."""
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
        """Open a connection, encrypted unless it was said that it shall not be."""
        context = ssl.create_default_context()
        if self.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=SECONDS)
        with server:
            if self.security == "starttls":
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password)
            yield server

    def message(
        self, to: str, subject: str, body: str, *, name: str, stop: str | None = None, language: str = ""
    ) -> EmailMessage:
        """Write a mail: the same name each time it is tried, so that one that comes twice is seen once.

        ``stop`` is where its reader asks for no more; what someone asked for themselves needs none.
        """
        mail = EmailMessage()
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
