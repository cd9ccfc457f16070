"""A log as everyone may read it: its signed checkpoints, that each begins with the one before, its keys. It names no act."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from optin.errors import BadInput
from optin.formats.strict_json import once
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import Grown, count_of
from optin.transparency.note import SignedNote, VerifierKey, expect
from optin.transparency.tree import is_path
from optin.transparency.trust import Opened, Trust, opened
from optin.wording.records import Brief

_FIELDS = {"optin", "keys", "checkpoints", "paths", "successions"}


@dataclass(frozen=True, repr=False)
class PublicLog(Brief):
    """Checkpoints, smallest first, and a path from each to the next; the keys are the word of whoever published it."""

    notes: tuple[SignedNote, ...]
    paths: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    keys: tuple[VerifierKey, ...] = ()
    successions: tuple[SignedNote, ...] = ()

    @property
    def newest(self) -> SignedNote:
        """The checkpoint of the most acts."""
        return self.notes[-1]

    @property
    def growths(self) -> tuple[Grown, ...]:
        """That each checkpoint begins with the one before, as far as the paths show it."""
        places = [Checkpoint.from_text(note.text) for note in self.notes]
        return tuple(Grown(old, new, path) for (old, new), path in zip(pairwise(places), self.paths, strict=True))

    def trusting(self, trust: Trust) -> Trust:
        """Trust also the keys that follow known ones, or went before them."""
        return trust.following(self.successions)

    def to_json(self) -> str:
        """Write it for everyone to read."""
        record: dict[str, Any] = {
            "optin": "log",
            "keys": [key.to_text() for key in self.keys],
            "checkpoints": [note.to_text() for note in self.notes],
            "paths": [list(path) for path in self.paths],
            "successions": [note.to_text() for note in self.successions],
        }
        return json.dumps(record, indent=2)

    @classmethod
    def from_json(cls, text: str) -> PublicLog:
        """Read a log; anything else is BadInput."""
        try:
            record = json.loads(text, object_pairs_hook=once)
            lists = all(isinstance(record[name], list) for name in _FIELDS - {"optin"})
            if lists and set(record) == _FIELDS and record["optin"] == "log" and all(map(is_path, record["paths"])):
                log = cls(
                    tuple(SignedNote.from_text(str(note)) for note in record["checkpoints"]),
                    tuple(tuple(path) for path in record["paths"]),
                    tuple(VerifierKey.from_text(str(key)) for key in record["keys"]),
                    tuple(SignedNote.from_text(str(note)) for note in record["successions"]),
                )
                if len(log.notes) == len(log.paths) + 1 and log.growths is not None:
                    return log
        except BadInput:
            raise
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            pass
        raise BadInput("this is not the log of an optin ledger; give log.json as it was published")


def checked_log(log: PublicLog, trust: Trust | None = None) -> list[Opened]:
    """Check every signature of a log, and that each checkpoint begins with the one before; PromiseBroken otherwise."""
    trust = log.trusting(trust or Trust())
    checkpoints = [opened(note, log.keys, trust) for note in log.notes]
    for grown in log.growths:
        expect(
            grown.holds,
            f"the log of {count_of(grown.new)} does not begin with the one of {count_of(grown.old)} that was signed before:"
            " the ledger was rewritten",
        )
    return checkpoints


def published_log(
    notes: Iterable[SignedNote],
    paths: Iterable[tuple[str, ...]],
    keys: Iterable[VerifierKey],
    successions: Iterable[SignedNote],
) -> PublicLog:
    """Put a log together."""
    log = PublicLog(tuple(notes), tuple(paths), tuple(keys), tuple(successions))
    if not log.notes:
        raise BadInput("no checkpoint was signed yet: make a key with optin ledger key, and sign")
    return log
