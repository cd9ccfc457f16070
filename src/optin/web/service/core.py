"""The service as its functions see it: the ledger's database, the keys, the clock, and a bell for the one who works."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, insert

from optin.database.connection import read
from optin.ledger import Ledger
from optin.web.schema import events
from optin.web.service.gates import Gate
from optin.web.service.keys import Keyring
from optin.web.service.mailer import Mailer
from optin.web.transactions import change
from optin.wording.language import N_
from optin.wording.sentences import Sentence
from optin.wording.stored_sentences import stored, stored_sentence

T = TypeVar("T")
_MANY = N_("many people are logging in at this moment")


def _strangers_door() -> Gate:
    return Gate(inside=2, waiting=4, each=3, words=_MANY)


def _known_door() -> Gate:
    return Gate(inside=1, waiting=3, words=_MANY)


@dataclass(frozen=True)
class Service:
    """Everything a function of the service needs to do its work."""

    ledger: Ledger
    keys: Keyring
    clock: Callable[[], float] = time.time
    bell: threading.Event = field(default_factory=threading.Event)
    strangers_door: Gate = field(default_factory=_strangers_door)
    known_door: Gate = field(default_factory=_known_door)
    days_to_announce: float = 90.0
    days_to_answer: float = 60.0
    days_to_publish: float = 14.0
    days_to_keep_ids: float = 365.0
    mail: Mailer | None = None

    def read(self, look: Callable[[Connection], T]) -> T:
        """Look at one consistent state."""
        return read(self.ledger.engine, look)

    def change(self, work: Callable[[Connection], T]) -> T:
        """Write in one transaction."""
        return change(self.ledger.engine, work)


def new_id() -> str:
    """Draw an id of 128 bits: of an account, a campaign, a job."""
    return secrets.token_hex(16)


def new_secret() -> str:
    """Draw a secret of 256 bits, in letters that a link can carry."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """Hash a secret for the store; with 256 random bits a plain hash cannot be turned back.

    >>> len(hashed("x"))
    64
    """
    return hashlib.sha256(b"optin secret 1:" + secret.encode("utf-8", "surrogatepass")).hexdigest()


def words_of(event: Row[Any]) -> Sentence:
    """Read what was written down, with what was filled in."""
    return stored_sentence(event.words, event.told)


def log_event(
    connection: Connection,
    at: float,
    kind: str,
    words: str,
    *,
    campaign: str | None = None,
    round: int | None = None,  # noqa: A002 - the word of the contract
) -> None:
    """Write down what was done, in the transaction that does it."""
    row = {"at": at, "kind": kind, "words": str(words), "told": stored(words), "campaign": campaign, "round": round}
    connection.execute(insert(events).values(row))
