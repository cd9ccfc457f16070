"""What one person can hold against the operator: a receipt, and how to check it with the published files alone.

A release is sealed into the ledger's chain together with the root of a Merkle tree over all its charges. A receipt
shows one leaf of that tree and the way up to the root. The other leaves appear only as salted hashes, so a receipt
says nothing about anyone else but how many people were charged.
"""

from __future__ import annotations

from optin.receipts.checking import check, root_of, seal_of
from optin.receipts.record import Receipt, outcome
from optin.receipts.sealing import GROUPS, SHEETS, VERSION, Seal, asks_several, sealed, version_of
from optin.receipts.tree import BLOCK, SALT_BYTES, charge_salts, leaves_of
from optin.transparency.tree import MerkleTree, climb

__all__ = [
    "BLOCK",
    "GROUPS",
    "SALT_BYTES",
    "SHEETS",
    "VERSION",
    "MerkleTree",
    "Receipt",
    "Seal",
    "asks_several",
    "charge_salts",
    "check",
    "climb",
    "leaves_of",
    "outcome",
    "root_of",
    "seal_of",
    "sealed",
    "version_of",
]
