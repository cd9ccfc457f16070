"""Which key follows which: a short note that the old and the new key sign; where the old one is lost, the new one alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice

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
    def from_text(cls, text: str) -> Succession:
        """Read what both keys sign."""
        lines = text.split("\n")
        if len(lines) != 5 or lines[0] != _TITLE or not lines[1].isdecimal() or len(lines[1]) > 18:
            raise BadInput("this does not say which key follows which")
        succession = cls(int(lines[1]), VerifierKey.from_text(lines[2]), VerifierKey.from_text(lines[3]))
        if (
            succession.old.name != succession.new.name
            or {succession.old.kind, succession.new.kind} != {ED25519}
            or succession.old == succession.new
        ):
            raise BadInput("a key can only be followed by another one of the same log")
        return succession

    @classmethod
    def from_note(cls, note: SignedNote) -> Succession:
        """Read one; the new key must have signed it."""
        succession = cls.from_text(note.text)
        if good_signature(note, succession.new) is None:
            raise BadInput("a new key has to sign that it follows another")
        return succession

    def signed(self, *keys: SigningKey) -> SignedNote:
        """Sign it."""
        text = self.to_text()
        return SignedNote(text, tuple(key.signed(text) for key in keys))


def with_successors(known: Mapping[VerifierKey, float], notes: Iterable[SignedNote]) -> dict[VerifierKey, float]:
    """Add keys that follow known ones, or went before them; each key has the most acts of a log that it may sign.

    A key is followed by whom it signed as its successor, once: what it signs for more acts after that is a thief's. A lost
    key signed no successor, so whoever knows only the lost one knows none. Whom a known key says to follow is believed it.
    """
    ends, successions = dict(known), {note: Succession.from_note(note) for note in notes}
    agreed, before = (
        cache(lambda note: good_signature(note, successions[note].old) is not None),
        dict[VerifierKey, float](),
    )
    while ends != before:
        before = dict(ends)
        for succession in successions.values():
            if succession.new in ends:
                ends[succession.old] = min(ends.get(succession.old, math.inf), succession.size)
        follows = (
            succession.new
            for note, succession in successions.items()
            if ends.get(succession.old) == math.inf and agreed(note)
        )
        ends |= dict.fromkeys(islice(follows, 1), math.inf)  # one at a time: it ends the key that it follows
    return ends
