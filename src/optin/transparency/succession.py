"""Which key follows which: a short note that the old and the new key sign; where the old one is lost, the new one alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from optin.errors import BadInput
from optin.transparency.keys import SigningKey, good_signature
from optin.transparency.note import ED25519, SignedNote, VerifierKey
from optin.wording.records import Brief

_TITLE = "optin: from here on another key signs"


@dataclass(frozen=True, repr=False)
class Succession(Brief):
    """That from a size on another key signs for a log."""

    size: int
    old: VerifierKey
    new: VerifierKey

    def to_text(self) -> str:
        """Write what both keys sign."""
        return f"{_TITLE}\n{self.size}\n{self.old.to_text()}\n{self.new.to_text()}\n"

    @classmethod
    def from_note(cls, note: SignedNote) -> Succession:
        """Read one; the new key must have signed it."""
        lines = note.text.split("\n")
        if len(lines) != 5 or lines[0] != _TITLE or not lines[1].isdecimal() or len(lines[1]) > 18:
            raise BadInput("this does not say which key follows which")
        found = cls(int(lines[1]), VerifierKey.from_text(lines[2]), VerifierKey.from_text(lines[3]))
        if found.old.name != found.new.name or {found.old.kind, found.new.kind} != {ED25519}:
            raise BadInput("a key can only be followed by one of the same log")
        if good_signature(note, found.new) is None:
            raise BadInput("a new key has to sign that it follows another")
        return found

    def signed(self, *keys: SigningKey) -> SignedNote:
        """Sign it."""
        text = self.to_text()
        return SignedNote(text, tuple(key.signed(text) for key in keys))


def followers(known: Iterable[VerifierKey], notes: Iterable[SignedNote]) -> tuple[VerifierKey, ...]:
    """Add to the keys that are known those which a known key signed as its successor; a lost key has none."""
    found = list(known)
    for note in notes:
        step = Succession.from_note(note)
        if step.old in found and step.new not in found and good_signature(note, step.old) is not None:
            found.append(step.new)
    return tuple(found)
