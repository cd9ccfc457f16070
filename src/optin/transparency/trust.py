"""Who signed a checkpoint: the log's key, and the witnesses who saw it; by keys that one knows, or by those it came with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from optin.transparency.checkpoint import Checkpoint
from optin.transparency.keys import good_signature, time_of
from optin.transparency.note import COSIGNATURE, ED25519, SignedNote, VerifierKey, expect
from optin.transparency.succession import with_successors
from optin.wording.language import _
from optin.wording.numbers import count
from optin.wording.records import Brief
from optin.wording.spoken import spoken


@dataclass(frozen=True, repr=False)
class Trust(Brief):
    """Keys that someone knows from elsewhere; without any, a checkpoint is checked with the keys it came with.

    Whoever knows some counts no other witnesses; where none of them is a log's, the log's key is the one it came with.

    ``ended`` says of keys that another one followed how many acts they signed at most.
    """

    keys: tuple[VerifierKey, ...] = ()
    ended: tuple[tuple[VerifierKey, float], ...] = ()

    def of(self, kind: int, brought: Iterable[VerifierKey]) -> tuple[VerifierKey, ...]:
        """List the keys of a kind to check with: those known or, where nobody is vouched for, those that came along."""
        known = tuple(key for key in self.keys if key.kind == kind)
        if known or (self.keys and kind == COSIGNATURE):
            return known
        return tuple(key for key in brought if key.kind == kind)

    @property
    def knows_logs(self) -> bool:
        """Tell whether a key of a log is known."""
        return any(key.kind == ED25519 for key in self.keys)

    def knows(self, key: VerifierKey) -> bool:
        """Tell whether a key is known from elsewhere."""
        return key in self.keys

    def until(self, key: VerifierKey) -> float:
        """Say how many acts a key signs at most: without end, unless another one followed it."""
        return dict(self.ended).get(key, math.inf)

    def following(self, successions: Iterable[SignedNote]) -> Trust:
        """Trust also the keys that follow known ones and those that went before them, each for its own time."""
        ends = with_successors({key: self.until(key) for key in self.keys}, successions)
        return Trust(tuple(ends), tuple((key, end) for key, end in ends.items() if end < math.inf))


@dataclass(frozen=True, repr=False)
class Seen(Brief):
    """A witness who signed a checkpoint, and when."""

    key: VerifierKey
    time: int

    def __str__(self) -> str:
        return f"{self.key.name} at {datetime.fromtimestamp(self.time, UTC):%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, repr=False)
class Opened(Brief):
    """A checkpoint whose signatures are good: which log, which key, which witnesses."""

    checkpoint: Checkpoint
    signer: VerifierKey
    witnesses: tuple[Seen, ...] = field(default=())

    def told(self, trust: Trust) -> tuple[str, ...]:
        """Say who signed, and what of it is the word of whoever handed it over."""
        said = {"acts": count(self.checkpoint.size, "act", "acts"), "name": self.signer.name}
        if trust.knows(self.signer):
            first = _("the checkpoint of {acts} is signed for {name} with the key you know", **said)
        else:
            first = _("the checkpoint of {acts} is signed for {name} with the key that came with it", **said)
        lines = [
            first,
            _("that key's words: {words}", words=spoken(self.signer.fingerprint)),
            seen_by(self.witnesses) if self.witnesses or not trust.keys else _("seen by no witness whose key you gave"),
        ]
        if not all(trust.knows(key) for key in (self.signer, *(seen.key for seen in self.witnesses))):
            lines.append(_("whose keys these are nobody here can tell: compare their words with others, or give --key"))
        return tuple(lines)


def seen_by(witnesses: tuple[Seen, ...]) -> str:
    """Say how many witnesses saw a checkpoint.

    >>> seen_by(())
    'seen by no witness yet'
    """
    if not witnesses:
        return _("seen by no witness yet")
    return _(
        "seen by {witnesses}: {names}",
        witnesses=count(len(witnesses), "witness", "witnesses"),
        names=", ".join(map(str, witnesses)),
    )


def opened(note: SignedNote, brought: Iterable[VerifierKey] = (), trust: Trust | None = None) -> Opened:
    """Check a checkpoint's signatures; PromiseBroken without a good one of its log, or with one that is not good."""
    trust, along = trust or Trust(), tuple(brought)
    checkpoint = Checkpoint.from_text(note.text)
    logs = [key for key in trust.of(ED25519, along) if key.name == checkpoint.origin]
    signers = [key for key in logs if good_signature(note, key) is not None]
    expect(bool(signers), f"the checkpoint of {checkpoint.origin} is not signed with a key known as that log's")
    signer = max(reversed(signers), key=trust.until)
    expect(
        checkpoint.size <= trust.until(signer),
        f"the checkpoint of {count(checkpoint.size, 'act', 'acts')} is signed for {checkpoint.origin} with a key that another one"
        " had followed by then: whoever has the old key made it",
    )
    cosigned = [(key, good_signature(note, key)) for key in dict.fromkeys(trust.of(COSIGNATURE, along))]
    witnesses = tuple(Seen(key, time_of(signature)) for key, signature in cosigned if signature is not None)
    return Opened(checkpoint, signer, witnesses)
