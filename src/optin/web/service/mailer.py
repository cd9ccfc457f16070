"""How mail leaves: one SMTP server, plain text, nothing that tells whether it was read."""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage

SECONDS = 20.0
_ADDRESS = re.compile(r"[^@\s<>\"(),:;\\\[\]]{1,64}@[A-Za-z0-9.-]{1,189}")


def looks_like_address(text: str) -> bool:
    r"""Say whether a text can be written to; that someone reads it is known only when it comes back.

    >>> looks_like_address("ada@example.org"), looks_like_address("ada"), looks_like_address("a@b\nBcc: c@d")
    (True, False, False)
    """
    return bool(_ADDRESS.fullmatch(text)) and text.isprintable()


@dataclass(frozen=True)
class Mailer:
    """An SMTP server, and who writes; ``origin`` is where people see this service, ``signature`` ends every mail."""

    host: str
    port: int
    sender: str
    origin: str
    signature: str = ""
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

    def message(self, to: str, subject: str, body: str, *, name: str, stop: str | None = None) -> EmailMessage:
        """Write a mail: the same name each time it is tried, so that one that comes twice is seen once.

        ``stop`` is where its reader asks for no more; what someone asked for themselves needs none.
        """
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self.sender, to, " ".join(subject.split())
        mail["Message-ID"] = f"<{name}@{self.sender.rpartition('@')[2]}>"
        if stop is not None:
            mail["List-Unsubscribe"] = f"<{stop}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(signed(body, self.signature))
        return mail


def signed(body: str, signature: str) -> str:
    r"""End a mail with who writes, if that is said.

    >>> signed("Hello\n", "--\nTown"), signed("Hello\n", "")
    ('Hello\n\n--\nTown\n', 'Hello\n')
    """
    return f"{body.rstrip()}\n\n{signature}\n" if signature else body
