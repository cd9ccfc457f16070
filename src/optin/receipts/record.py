"""A receipt as its owner holds it, and as it is read from a file that anyone may have written."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from optin.errors import BadInput
from optin.formats.strict_json import is_fingerprint, once
from optin.grains.splitting import part
from optin.kernel.rounding import epsilon_of
from optin.receipts.sealing import GROUPS, SHEETS, VERSION
from optin.receipts.tree import SALT_BYTES
from optin.transparency.evidence import LogProof
from optin.wording.telling import Telling, Told


@dataclass(frozen=True, kw_only=True, repr=False)
class Receipt(Told):
    """What one person was promised, what was spent, in which release, and what remains; all in grains of 2^-32 epsilon.

    ``remaining`` is None for an allowance without limit. Whoever declined or stayed away has ``spent`` 0 and no proof: the
    tree shows who was charged, and cannot show that someone was not. Where several questions were asked (version 2),
    ``capped`` is what was split among them, and ``answered`` has a bit for each that was charged; None without a charge.
    Where people were in public groups (version 3), ``design`` is the place of the person's group in the announcement.
    Where the operator signs a log, ``log`` shows the release's act in it.
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
    capped: int | None = dataclasses.field(default=None, repr=False)
    answered: int | None = dataclasses.field(default=None, repr=False)
    design: int | None = None
    log: LogProof | None = dataclasses.field(default=None, repr=False)

    def question_grains(self, shares: tuple[int, ...]) -> tuple[int, ...]:
        """Say what each question took, given the announcement's shares: together they are what was spent (E20)."""
        if self.capped is None:
            return (self.spent,)
        marks, capped = self.answered or 0, np.array([self.capped], dtype=np.int64)
        return tuple(int(part(capped, share)[0]) * (marks >> k & 1) for k, share in enumerate(shares))

    def telling(self) -> Telling:
        """Say what was promised, spent and is left; hashes and the proof stay in its file."""
        left = "without limit" if self.remaining is None else f"epsilon {epsilon_of(self.remaining):.9g}"
        spent = f"epsilon {epsilon_of(self.spent):.9g}" if self.spent else f"nothing: {outcome(self)}"
        lines = (
            ("release", f"{self.campaign}, round {self.round}"),
            ("promised", f"epsilon {epsilon_of(self.promised):.9g}"),
            ("spent", spent),
            ("remaining", left),
            ("sealed in", f"act {self.ledger_number} of the ledger"),
        )
        return Telling("Receipt", lines)

    def to_json(self) -> str:
        """Write the receipt as JSON, for the person it belongs to."""
        fields = {name: getattr(self, name) for name in _names(self.version)}
        if self.log is not None:
            fields["log"] = self.log.to_record()
        return json.dumps({"optin": "receipt", **fields}, indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Read a receipt; anything else is BadInput."""
        try:
            fields: dict[str, Any] = json.loads(text, object_pairs_hook=once)
            log = LogProof.from_record(fields.pop("log")) if "log" in fields else None
            known = fields.pop("optin") == "receipt" and set(fields) == _names(fields["version"])
            if not known or type(fields["path"]) is not list:
                raise ValueError
            receipt = cls(**{**fields, "path": tuple(fields["path"])}, log=log)
            if is_well_formed(receipt):
                return receipt
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            pass
        raise BadInput(
            "this is not an optin receipt of version {version}, {sheets} or {groups}; give the file that `optin receipt` wrote",
            version=VERSION,
            sheets=SHEETS,
            groups=GROUPS,
        )


def _names(version: object) -> set[str]:
    """List the fields of a receipt; only where several questions were asked does it say what was split, and among which."""
    names = {field.name for field in dataclasses.fields(Receipt)} - {"log"}
    left_out = {VERSION: {"capped", "answered", "design"}, SHEETS: {"design"}}
    return names - left_out.get(version, set()) if isinstance(version, int) else names


def outcome(receipt: Receipt) -> str:
    """Say what a release did with this person; those who joined and are charged nothing are sealed all the same."""
    if receipt.index is None:
        return "declined or stayed away"
    if receipt.spent:
        return "charged"
    return "joined and answered nothing that was released" if receipt.promised else "joined with nothing to give"


_COUNTS = ("promised", "spent", "round", "ledger_number", "offer", "charged_people")
_HASHES = ("fingerprint", "ledger_head", "body", "rows", "joined", "previous")
_SALT = re.compile(rf"[0-9a-f]{{{2 * SALT_BYTES}}}")


def is_well_formed(receipt: Receipt) -> bool:
    """Tell whether every field is what a receipt holds: whole numbers, texts, hashes, and a proof whole or absent."""
    numbers = [getattr(receipt, name) for name in _COUNTS]
    optional = (receipt.remaining, receipt.index, receipt.capped, receipt.answered, receipt.design)
    numbers += [number for number in optional if number is not None]
    hashes = [*(getattr(receipt, name) for name in _HASHES), *receipt.path]
    proof = (receipt.salt, receipt.path) == (None, ()) if receipt.index is None else _is_salt(receipt.salt)
    return (
        proof
        and all(type(number) is int and 0 <= number < 2**63 for number in [*numbers, receipt.version])
        and all(map(is_fingerprint, hashes))
        and all(isinstance(words, str) and _is_encodable(words) for words in (receipt.id, receipt.campaign, receipt.at))
        and _is_of_its_version(receipt)
        and (receipt.log is None or isinstance(receipt.log, LogProof))
    )


def _is_of_its_version(receipt: Receipt) -> bool:
    """Tell whether what is split is there exactly where several questions were asked, and which were charged where some were."""
    split = (receipt.capped is not None, receipt.answered is not None, receipt.design is not None)
    charged = receipt.index is not None
    expected = {VERSION: (False, False, False), SHEETS: (True, charged, False), GROUPS: (True, charged, True)}
    return split == expected.get(receipt.version)


def _is_salt(words: object) -> bool:
    return isinstance(words, str) and _SALT.fullmatch(words) is not None


def _is_encodable(words: str) -> bool:
    """Tell whether a text has bytes to hash; half of a surrogate pair, which JSON can spell, has none."""
    return not any("\ud800" <= letter <= "\udfff" for letter in words)
