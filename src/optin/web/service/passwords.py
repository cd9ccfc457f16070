"""Passwords: hashed slowly, so never many at once; and browsers that are known, so that nobody else makes them wait.

Someone who fails again and again makes others at the same address wait too: nobody can tell them apart before a password
was looked at. A browser in which an analyst has logged in before can be told apart, by a cookie that proves just that. It
has a door and a count of its own, which no stranger comes near.
"""

from __future__ import annotations

import hmac
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, select

from optin.errors import BadInput
from optin.web.schema import accounts
from optin.web.service.core import Service, hashed, new_id, new_secret
from optin.web.service.delays import Patience, place_of
from optin.web.service.failures import Refused
from optin.web.service.gates import Gate
from optin.wording.language import N_

_SHORTEST, _LONGEST = 12, 256
WRONG = N_("name or password is wrong")
BEHIND = 10
"""How much a stranger's password gives way to everybody who is being served, in steps of ``nice``."""


def checked_name(name: str) -> str:
    """Refuse a name that cannot be shown, or that its owner could not type again."""
    if not 1 <= len(name) <= 64 or name != name.strip() or not name.isprintable():
        raise BadInput("a name needs 1 to 64 characters that can be shown, without spaces at its ends")
    return name


def checked_password(password: str) -> str:
    """Refuse a password that could be guessed, or that would only cost time."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise BadInput(
            "a password needs {shortest} to {longest} characters; a sentence is easy to remember",
            shortest=_SHORTEST,
            longest=_LONGEST,
        )
    return password


def hashed_slowly(service: Service, password: str) -> str:
    """Hash a new password; whoever comes so far has shown a one-time secret."""
    with service.known_door.passing():
        return _hasher().hash(password)


def matches(password: str, known: str | None) -> bool:
    """Say whether a password is right; where there is none to be right, it takes as long."""
    try:
        return _hasher().verify(known or _nobodys_hash(), password) and known is not None
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


def expect_unchanged(connection: Connection, account: Any) -> None:  # noqa: ANN401 - a row of accounts
    """Let nobody in by a password that was changed, or of an account that was revoked, while it was being hashed."""
    here = (accounts.c.id == account.id, accounts.c.password == account.password, accounts.c.left_at.is_(None))
    if connection.execute(select(accounts.c.id).where(*here).with_for_update(read=True)).first() is None:
        raise Refused(WRONG)


def matches_behind_others(password: str, known: str | None) -> bool:
    """Say the same of a password that anybody may have sent: processors do it when they have nothing better to do.

    A thread of its own does it, whose place a thread may lower and not raise again; those that argon2 starts inherit it.
    """
    with ThreadPoolExecutor(1, initializer=_give_way) as behind:
        return behind.submit(matches, password, known).result()


def _give_way() -> None:
    if sys.platform == "linux":  # elsewhere a place belongs to the whole process
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + BEHIND)


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash(new_secret())


def browser_mark(service: Service, account: str) -> str:
    """Make what a browser keeps after someone logged in: it lets nobody in, it says that they were here."""
    name = new_id()
    return f"{name}.{_proof(service, account, name)}"


def known_browser(service: Service, account: str, mark: str) -> str | None:
    """Return the name of a browser in which this analyst has logged in before; None for any other."""
    name, _, proof = mark.partition(".")
    right = _proof(service, account, name)
    return name if hmac.compare_digest(proof.encode("utf-8", "replace"), right.encode()) else None


def _proof(service: Service, account: str, name: str) -> str:
    return service.keys.digest("browser", hashed(f"{account}:{name}"))


def door_for(service: Service, name: str, *, address: str, browser: str | None) -> tuple[Gate, str, Patience]:
    """Say through which door a password is tried, from which place, and with what it is counted."""
    if browser is not None:
        return service.known_door, browser, Patience(f"known:{browser}", free=10)
    place = place_of(address)
    return service.strangers_door, place, Patience(f"sign in:{place}:{name}", free=30)
