"""Which keys of a service are on a machine: the one that wraps the others, those of rounds, the one that signs the log."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from optin.database.connection import read
from optin.errors import BadInput
from optin.ledger import Ledger, Log
from optin.web.schema import answers, campaigns
from optin.web.service.keys import Keyring
from optin.web.settings import WebSettings, environment_key, key_folder

_OVER = ("released", "cancelled")


def keyring(settings: WebSettings) -> Keyring | None:
    """Open the keys that are here; None where the one that wraps the others is not. Nothing is ever made."""
    try:
        key, _ = environment_key(settings, served_before=lambda: True)
        return Keyring(key_folder(settings), key, make=False)
    except BadInput:
        return None


def key_mark(settings: WebSettings) -> str | None:
    """Write a mark by which a key is known again, and from which it cannot be found."""
    ring = keyring(settings)
    return None if ring is None else ring.digest("backup", "key")


@dataclass(frozen=True)
class KeysHere:
    """What is here, and what cannot be read without what is not."""

    wrapping: bool
    unreadable_rounds: int
    """Running rounds with answers whose key is not here, or was wrapped by another."""
    signs_log: bool


def keys_here(settings: WebSettings, ledger: Ledger) -> KeysHere:
    """Look which keys of a database are on this machine."""
    ring = keyring(settings)
    rounds = read(ledger.engine, _rounds_with_answers)
    stored = ring.stored_rounds() if ring is not None and key_folder(settings).is_dir() else []
    held = {each for each in stored if ring is not None and ring.opens(*each)}
    signer = Log(ledger).signer()
    return KeysHere(ring is not None, sum(each not in held for each in rounds), signer is None or _has_log_key(ring))


def _has_log_key(ring: Keyring | None) -> bool:
    return ring is not None and ring.log_key.exists()


def _rounds_with_answers(connection: Connection) -> list[tuple[str, int]]:
    here = (answers.c.campaign == campaigns.c.id) & (answers.c.round == campaigns.c.round)
    query = (
        select(campaigns.c.id, campaigns.c.round, func.count())
        .join(answers, here)
        .where(campaigns.c.state.not_in(_OVER), answers.c.value.is_not(None))
        .group_by(campaigns.c.id, campaigns.c.round)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
