"""A witness: it remembers where each log stood, signs a later checkpoint only if it begins with that, and keeps evidence else.

It sees hashes and sizes, never an act. What it promises by its signature is that it never saw two logs under one name.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optin.errors import BadInput, PromiseBroken
from optin.formats.atomic import AtomicWrite
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import count_of, fork_between
from optin.transparency.keys import SigningKey, read_key, write_key
from optin.transparency.note import Signature, SignedNote, VerifierKey
from optin.transparency.public_log import PublicLog
from optin.transparency.trust import Opened, Trust, opened
from optin.wording.records import Brief

FORKED = (
    "{how}: {origin} shows different people different ledgers. Nothing was signed; both checkpoints are in {evidence}"
)
ROLLED_BACK = (
    "{origin} stood at {before}, and now shows {now}: its ledger was rolled back or replaced. Nothing was signed; both"
    " checkpoints are in {evidence}"
)
REWRITTEN = (
    "the log of {now} that {origin} shows does not begin with the {before} that were signed before: its ledger was"
    " rewritten. Nothing was signed; both checkpoints are in {evidence}"
)


FORGOTTEN = (
    "what this witness remembers of the log cannot be read from {place}: {reason}. Nothing was signed. Put it back from a copy; a"
    " witness that begins anew finds nothing that was done before"
)


@dataclass(frozen=True, repr=False)
class Remembered(Brief):
    """Where a log stood when it was last seen, and the key that signed it: one that it followed signs no more."""

    note: SignedNote
    keys: tuple[VerifierKey, ...] = field(default=())


@dataclass(frozen=True, repr=False)
class Cosigned(Brief):
    """What a witness found and signed; ``first`` says that it had never seen this log before."""

    opened: Opened
    signature: Signature
    first: bool


class Witness:
    """A witness in a folder of its own: its private key, and one file for each log that it remembers."""

    def __init__(self, folder: Path, *, name: str | None = None) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, place = folder, folder / "witness.key"
        with self._alone():
            if not place.exists():
                write_key(place, SigningKey.new(name or f"witness-{secrets.token_hex(6)}", witness=True))
        self._key = read_key(place)
        if name is not None and self._key.name != name:
            raise BadInput("this folder is of the witness {name}; leave --name out", name=self._key.name)

    @property
    def verifier(self) -> VerifierKey:
        """The key that others know it by."""
        return self._key.verifier

    def remembered(self, origin: str) -> Remembered | None:
        """Say where a log stood."""
        place = self._place(origin)
        if not place.exists():
            return None
        try:
            record = json.loads(place.read_text())
            note, keys = SignedNote.from_text(record["checkpoint"]), map(VerifierKey.from_text, record["keys"])
            return Remembered(note, tuple(keys))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            reason = "it was changed, or is damaged"
        raise BadInput(FORGOTTEN, place=place, reason=reason)

    def see(self, log: PublicLog, *, time: int, trust: Trust | None = None) -> Cosigned:
        """Sign a log's newest checkpoint if it begins with what was seen before; PromiseBroken, with evidence, if it does not.

        A log that was never seen is taken at its word, or by the key that is known from elsewhere; one that was seen, by the key
        that signed it then, unless another one is known from elsewhere.
        """
        origin = Checkpoint.from_text(log.newest.text).origin
        with self._alone():
            before = self.remembered(origin)
            remembered = Trust(before.keys if before else ())
            known = log.trusting(trust if trust and trust.knows_logs else remembered)
            newest = opened(log.newest, log.keys, known)
            if before is not None:
                self._expect_grown(log, before, newest)
            self._remember(origin, Remembered(log.newest, (newest.signer,)))
            return Cosigned(newest, self._key.signed(log.newest.text, time=time), before is None)

    def _expect_grown(self, log: PublicLog, before: Remembered, newest: Opened) -> None:
        old, new = Checkpoint.from_text(before.note.text), newest.checkpoint
        told: dict[str, Any] = {"origin": new.origin, "before": count_of(old), "now": count_of(new)}
        if new.size < old.size:
            raise PromiseBroken(ROLLED_BACK, **told, evidence=self._keep(before.note, log))
        fork = fork_between(old, new, log.growths)
        if fork:
            raise PromiseBroken(FORKED, how=fork, origin=new.origin, evidence=self._keep(before.note, log))
        if fork is None:
            raise PromiseBroken(REWRITTEN, **told, evidence=self._keep(before.note, log))

    def _keep(self, before: SignedNote, log: PublicLog) -> Path:
        """Keep what was signed before beside what is shown now: together they convict the log."""
        record = {"before": before.to_text(), "now": json.loads(log.to_json())}
        text = json.dumps(record, indent=2)
        place = self._folder / f"evidence-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
        with AtomicWrite(place) as file:
            file.write(text + "\n")
        return place

    def _remember(self, origin: str, seen: Remembered) -> None:
        record = {"checkpoint": seen.note.to_text(), "keys": [key.to_text() for key in seen.keys]}
        with AtomicWrite(self._place(origin)) as file:
            file.write(json.dumps(record, indent=2) + "\n")

    def _place(self, origin: str) -> Path:
        return self._folder / f"log-{hashlib.sha256(origin.encode()).hexdigest()[:16]}.json"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Look and remember without another process of this witness in between: it could sign two logs."""
        handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def written_cosignature(key: VerifierKey, signature: Signature) -> str:
    """Write what a witness signed, under its public key, for the operator to keep."""
    return f"{key.to_text()}\n{signature.to_line()}"


def read_cosignature(text: str) -> tuple[VerifierKey, str]:
    """Read what a witness wrote: its key, and the line."""
    lines = text.splitlines()
    if len(lines) != 2:
        raise BadInput("this is not what a witness signs: a public key, and under it one line")
    return VerifierKey.from_text(lines[0]), Signature.from_line(lines[1]).to_line()
