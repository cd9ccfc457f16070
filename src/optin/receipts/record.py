"""A receipt as its owner holds it, and as it is read from a file that anyone may have written."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any

from optin.errors import BadInput
from optin.formats.strict_json import once
from optin.receipts.sealing import VERSION
from optin.receipts.tree import SALT_BYTES


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What one person was promised, what was spent, in which release, and what remains; all in grains of 2^-32 epsilon.

    ``remaining`` is None for an allowance without limit. Whoever declined or stayed away has ``spent`` 0 and no proof: the
    tree shows who was charged, and cannot show that someone was not.
    """

    id: str = dataclasses.field(repr=False)
    promised: int = dataclasses.field(repr=False)
    spent: int = dataclasses.field(repr=False)
    remaining: int | None = dataclasses.field(repr=False)
    campaign: str
    round: int
    fingerprint: str
    ledger_number: int
    ledger_head: str
    offer: int
    at: str
    body: str
    rows: str
    joined: str
    previous: str
    charged_people: int
    index: int | None = None
    salt: str | None = dataclasses.field(default=None, repr=False)
    path: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    version: int = VERSION

    def to_json(self) -> str:
        """Write the receipt as JSON, for the person it belongs to."""
        return json.dumps({"optin": "receipt", **dataclasses.asdict(self)}, indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Read a receipt; anything else is BadInput."""
        names = {field.name for field in dataclasses.fields(cls)}
        try:
            fields: dict[str, Any] = json.loads(text, object_pairs_hook=once)
            if fields.pop("optin") != "receipt" or set(fields) != names or type(fields["path"]) is not list:
                raise ValueError
            receipt = cls(**{**fields, "path": tuple(fields["path"])})
            if is_well_formed(receipt):
                return receipt
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            pass
        raise BadInput(
            "this is not an optin receipt of version {version}; give the file that `optin receipt` wrote",
            version=VERSION,
        )


def outcome(receipt: Receipt) -> str:
    """Say what a release did with this person; those with nothing to give who joined are charged nothing, and sealed."""
    if receipt.index is None:
        return "declined or stayed away"
    return "charged" if receipt.spent else "joined with nothing to give"


_COUNTS = ("promised", "spent", "round", "ledger_number", "offer", "charged_people")
_HASHES = ("fingerprint", "ledger_head", "body", "rows", "joined", "previous")
_HASH, _SALT = re.compile(r"[0-9a-f]{64}"), re.compile(rf"[0-9a-f]{{{2 * SALT_BYTES}}}")


def is_well_formed(receipt: Receipt) -> bool:
    """Tell whether every field is what a receipt holds: whole numbers, texts, hashes, and a proof whole or absent."""
    numbers = [getattr(receipt, name) for name in _COUNTS]
    numbers += [number for number in (receipt.remaining, receipt.index) if number is not None]
    hashes = [*(getattr(receipt, name) for name in _HASHES), *receipt.path]
    proof = (receipt.salt, receipt.path) == (None, ()) if receipt.index is None else _matches(_SALT, receipt.salt)
    return (
        proof
        and all(type(number) is int and 0 <= number < 2**63 for number in [*numbers, receipt.version])
        and all(_matches(_HASH, words) for words in hashes)
        and all(isinstance(words, str) and _is_encodable(words) for words in (receipt.id, receipt.campaign, receipt.at))
        and receipt.version == VERSION
    )


def _matches(pattern: re.Pattern[str], words: object) -> bool:
    return isinstance(words, str) and pattern.fullmatch(words) is not None


def _is_encodable(words: str) -> bool:
    """Tell whether a text has bytes to hash; half of a surrogate pair, which JSON can spell, has none."""
    return not any("\ud800" <= letter <= "\udfff" for letter in words)
