"""The ledger: what was promised and spent, in rows that are only ever added, hashed one to the next."""

from __future__ import annotations

from optin.errors import LedgerUnavailable
from optin.grains.units import UNLIMITED, allowance_grains, epsilons_of
from optin.ledger.chain import Entry, Terms
from optin.ledger.ledger import Act, Ledger
from optin.ledger.log import Log
from optin.ledger.verification import Verification

__all__ = [
    "UNLIMITED",
    "Act",
    "Entry",
    "Ledger",
    "LedgerUnavailable",
    "Log",
    "Terms",
    "Verification",
    "allowance_grains",
    "epsilons_of",
]
