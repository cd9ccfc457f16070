"""Where the key that signs a ledger's log is kept, and signing with it; without one, nothing is signed and nothing is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from optin.cli import screen
from optin.cli.output import read_text
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.ledger import Ledger
    from optin.transparency.keys import SigningKey
    from optin.transparency.note import SignedNote
    from optin.transparency.trust import Trust

VARIABLE = "OPTIN_LOG_KEY"


def key_place(ledger: str, given: Path | None = None) -> Path:
    """Say where the key is: where told, where the environment says, or beside an SQLite file; never in the ledger."""
    if given is not None:
        return given
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if "://" in ledger and not ledger.startswith("sqlite:///"):
        raise BadInput(
            "with PostgreSQL say where the key that signs is kept: --key FILE, or {variable}", variable=VARIABLE
        )
    return Path(ledger.removeprefix("sqlite:///") + ".log-key")


def log_key(ledger: str, given: Path | None = None) -> SigningKey | None:
    """Read the key that signs this ledger's log, if there is one; one that was named has to be there."""
    from optin.transparency.keys import read_key

    named = given is not None or bool(os.environ.get(VARIABLE))
    if not named and "://" in ledger and not ledger.startswith("sqlite:///"):
        return None
    path = key_place(ledger, given)
    return read_key(path) if named or path.exists() else None


def sign_if_keyed(opened: Ledger | None, ledger: str | None) -> SignedNote | None:
    """Sign the log after something was done, where a key is kept; what was done stands whether or not this succeeds."""
    if opened is None or ledger is None:
        return None
    from optin.errors import OptinError
    from optin.ledger import Log

    try:
        key = log_key(ledger)
        return None if key is None else Log(opened).sign(key)
    except OptinError as error:
        screen.note(f"the ledger has it, and its log is not signed: {error}", bad=True)
    return None


def trusted(keys: list[str] | None) -> Trust:
    """Read keys that someone knows: each is written out, or the name of a file that holds one on each line."""
    from optin.transparency.note import VerifierKey
    from optin.transparency.trust import Trust

    verifiers = []
    for given in keys or []:
        lines = [given] if given.count("+") >= 2 and not Path(given).exists() else read_text(given).splitlines()
        verifiers += [VerifierKey.from_text(line) for line in lines if line.strip() and not line.startswith("#")]
    return Trust(tuple(verifiers))
