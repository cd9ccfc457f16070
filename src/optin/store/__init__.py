"""What optin keeps: one metadata, one chain of migrations, and the ledger on top of them."""

from __future__ import annotations

from optin.errors import LedgerUnavailable
from optin.store.balances import allowance_grains, epsilons_of
from optin.store.chain import Entry, Terms
from optin.store.ledger import Act, Ledger
from optin.store.schema import UNLIMITED
from optin.store.verification import Verification
from optin.store.web_schema import accounts as _accounts  # noqa: F401 - puts the web tables into the one metadata

__all__ = [
    "UNLIMITED",
    "Act",
    "Entry",
    "Ledger",
    "LedgerUnavailable",
    "Terms",
    "Verification",
    "allowance_grains",
    "epsilons_of",
]
