"""Acts of one round as everyone may read them: the fields that the chain hashes, and the way up to a signed checkpoint."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass, field
from typing import Any

from optin.errors import BadInput
from optin.receipts import Seal
from optin.transparency.tree import is_path
from optin.wording.records import Brief

KINDS = ("announce", "release", "cancel")
"""Acts that are public: who let a hold go, and who was registered, is nobody's business."""
_NAMES = {each.name for each in dataclasses.fields(Seal)}
_TEXTS = ("kind", "campaign", "at", "fingerprint", "result", "body", "rows", "joined", "previous")
_NUMBERS = ("version", "number", "round", "offer", "people")


@dataclass(frozen=True, repr=False)
class SealedAct(Brief):
    """One act, and its path to the root of the newest checkpoint."""

    seal: Seal
    path: tuple[str, ...] = field(default=(), repr=False)

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return asdict(self.seal) | {"path": list(self.path)}

    @classmethod
    def from_record(cls, record: object) -> SealedAct:
        """Read it from a file that anyone may have written."""
        if isinstance(record, dict) and set(record) == _NAMES | {"path"} and is_path(record["path"]):
            fields = {name: value for name, value in record.items() if name != "path"}
            texts = all(fields[name] is None or _is_text(fields[name]) for name in _TEXTS)
            numbers = all(fields[name] is None or type(fields[name]) is int for name in _NUMBERS)
            if texts and numbers and fields["kind"] in KINDS and fields["number"] is not None:
                return cls(Seal(**fields), tuple(record["path"]))
        raise BadInput("this bundle's acts.json cannot be read")


def _is_text(entry: object) -> bool:
    """Tell whether this is a text with bytes to hash; half of a surrogate pair, which JSON can spell, has none."""
    return isinstance(entry, str) and not any("\ud800" <= letter <= "\udfff" for letter in entry)
