"""What environment variables set, in the one table that the help and the docs print."""

from __future__ import annotations

import os
from dataclasses import dataclass

from optin.wording.engines import KNOWN


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name, the option it stands in for (if any) and what it does."""

    name: str
    option: str | None
    meaning: str


SETTINGS = (
    Variable("OPTIN_LEDGER", "--ledger", "the ledger: a path, sqlite:///path or postgresql://user@host/name"),
    Variable("OPTIN_ENGINE", "--engine", f"what reads the people: {KNOWN}"),
    Variable("OPTIN_ID", "--id", "the column that holds ids (id unless set)"),
    Variable("OPTIN_LOG_KEY", "--key", "the file of the key that signs the ledger's log"),
    Variable(
        "OPTIN_DEBUG", None, "set to 1 to see the whole trace of an unexpected failure; it may show private values"
    ),
    Variable("NO_COLOR", None, "set to anything for output without colour"),
)


def settings_markdown() -> str:
    """Write the table for the docs.

    >>> print(settings_markdown().splitlines()[2])
    | `OPTIN_LEDGER` | `--ledger` | the ledger: a path, sqlite:///path or postgresql://user@host/name |
    """
    rows = [f"| `{s.name}` | {f'`{s.option}`' if s.option else ''} | {s.meaning} |" for s in SETTINGS]
    return "\n".join(["| variable | instead of | meaning |", "|---|---|---|", *rows])


def debugging() -> bool:
    """Say whether traces were asked for."""
    return os.environ.get("OPTIN_DEBUG", "") not in ("", "0")
