"""Open the ledger that a command names, without creating one by mistake."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.ledger import Ledger


def ledger_exists(url: str) -> bool:
    """Say whether a ledger's file is there; a server is asked when it is opened."""
    path = _file(url)
    return path is None or path.exists()


def open_ledger(url: str, *, create: bool = False) -> Ledger:
    """Open a ledger; only ``announce`` creates one."""
    if not create and not ledger_exists(url):
        raise BadInput("there is no ledger at {file}; check --ledger (optin announce creates one)", file=_file(url))
    from optin.ledger import Ledger

    return Ledger.open(url)


def existing_ledger(url: str | None) -> AbstractContextManager[Ledger | None]:
    """Open a ledger if there is one: without, or with one that is still to be created, nothing is known of anyone."""
    return nullcontext() if url is None or not ledger_exists(url) else open_ledger(url)


def _file(url: str) -> Path | None:
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    return None if "://" in url else Path(url)
