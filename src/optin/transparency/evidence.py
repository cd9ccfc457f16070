"""What a receipt carries of the log: a signed checkpoint, the way up to its root, and the way from earlier checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from optin.errors import BadInput
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.note import SignedNote, VerifierKey, expect
from optin.transparency.succession import Succession
from optin.transparency.tree import climb, grew, is_path, leaf_of
from optin.transparency.trust import Opened, Trust, opened
from optin.wording.numbers import count
from optin.wording.records import Brief

_FIELDS = {"checkpoint", "keys", "path", "earlier", "successions"}
_MOST = 200


@dataclass(frozen=True, repr=False)
class Grown(Brief):
    """That a log grew from one checkpoint to another without changing what was there."""

    old: Checkpoint
    new: Checkpoint
    path: tuple[str, ...] = field(default=(), repr=False)

    @property
    def holds(self) -> bool:
        """Whether the path shows it."""
        same = self.old.origin == self.new.origin
        return same and grew(self.old.size, self.old.root, self.new.size, self.new.root, self.path)


@dataclass(frozen=True, repr=False)
class Earlier(Brief):
    """An earlier signed checkpoint, and the path that shows the later one to begin with it."""

    note: SignedNote
    path: tuple[str, ...] = field(default=(), repr=False)

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return {"checkpoint": self.note.to_text(), "path": list(self.path)}


@dataclass(frozen=True, repr=False)
class LogProof(Brief):
    """That one act is in the log: the checkpoint, its keys, the path of the act, and checkpoints before it."""

    note: SignedNote
    keys: tuple[VerifierKey, ...] = ()
    path: tuple[str, ...] = field(default=(), repr=False)
    earlier: tuple[Earlier, ...] = ()
    successions: tuple[SignedNote, ...] = field(default=(), repr=False)

    @property
    def checkpoint(self) -> Checkpoint:
        """Where the log stood."""
        return Checkpoint.from_text(self.note.text)

    @property
    def growths(self) -> tuple[Grown, ...]:
        """What it says of earlier checkpoints."""
        new = self.checkpoint
        return tuple(Grown(Checkpoint.from_text(each.note.text), new, each.path) for each in self.earlier)

    def trusting(self, trust: Trust) -> Trust:
        """Trust also the keys that follow known ones, or went before them."""
        return trust.following(self.successions)

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it; which key followed which, only where one did."""
        followed = {"successions": [note.to_text() for note in self.successions]} if self.successions else {}
        return {
            "checkpoint": self.note.to_text(),
            "keys": [key.to_text() for key in self.keys],
            "path": list(self.path),
            "earlier": [each.to_record() for each in self.earlier],
        } | followed

    @classmethod
    def from_record(cls, record: object) -> LogProof:
        """Read it from a file that anyone may have written."""
        if not isinstance(record, dict) or set(record) | {"successions"} != _FIELDS:
            raise BadInput("this receipt's proof of the log cannot be read")
        keys, path, lists = record["keys"], record["path"], (record["earlier"], record.get("successions", []))
        if not (is_path(path) and all(isinstance(each, list) and len(each) <= _MOST for each in (keys, *lists))):
            raise BadInput("this receipt's proof of the log cannot be read")
        earlier, successions = lists
        proof = cls(
            _note(record["checkpoint"]),
            tuple(VerifierKey.from_text(_text(key)) for key in keys),
            tuple(path),
            tuple(_earlier(each) for each in earlier),
            tuple(_note(each) for each in successions),
        )
        # that each is a checkpoint, or says which key follows which, is known from here on
        _ = proof.growths, [Succession.from_text(each.text) for each in proof.successions]
        return proof


def _text(entry: object) -> str:
    if not isinstance(entry, str):
        raise BadInput("this receipt's proof of the log cannot be read")
    return entry


def _note(entry: object) -> SignedNote:
    return SignedNote.from_text(_text(entry))


def _earlier(record: object) -> Earlier:
    if not isinstance(record, dict) or set(record) != {"checkpoint", "path"} or not is_path(record["path"]):
        raise BadInput("this receipt's proof of the log cannot be read")
    return Earlier(_note(record["checkpoint"]), tuple(record["path"]))


def act_leaf(head: str) -> bytes:
    """Hash an act's own hash into the leaf that stands for it."""
    return leaf_of(bytes.fromhex(head))


def shown_in(proof: LogProof, *, number: int, head: str, trust: Trust | None = None) -> Opened:
    """Check that an act is in the log of a signed checkpoint, and that the log grew from each earlier one to it."""
    trust = proof.trusting(trust or Trust())
    shown = opened(proof.note, proof.keys, trust)
    expect_act(shown.checkpoint, proof.path, number=number, head=head)
    for each, grown in zip(proof.earlier, proof.growths, strict=True):
        opened(each.note, proof.keys, trust)
        expect(
            grown.holds,
            f"the log of {count_of(grown.new)} does not begin with the one of {count_of(grown.old)} that was signed before:"
            " the ledger was rewritten",
        )
    return shown


def expect_act(checkpoint: Checkpoint, path: Sequence[str], *, number: int, head: str) -> None:
    """Refuse an act that is not under a checkpoint's root."""
    expect(0 < number <= checkpoint.size, f"act {number} is not in a log of {count_of(checkpoint)}")
    root = climb(act_leaf(head), number - 1, checkpoint.size, path)
    expect(root == checkpoint.root, f"act {number} is not in the log that was signed")


def count_of(checkpoint: Checkpoint) -> str:
    """Say how many acts a log has."""
    return count(checkpoint.size, "act", "acts")


def fork_between(one: Checkpoint, other: Checkpoint, growths: Iterable[Grown]) -> str | None:
    """Compare two checkpoints that were signed for one log: say how they contradict each other, "" if they agree.

    None: they are of different sizes, and no growth that is at hand leads from the smaller to the larger.
    """
    old, new = sorted((one, other), key=lambda each: each.size)
    if old.size == new.size:
        same = old.root == new.root
        return "" if same else f"two different logs of {count_of(old)} were signed for {old.origin}"
    return "" if _leads(old, new, [grown for grown in growths if grown.holds]) else None


def _leads(old: Checkpoint, new: Checkpoint, growths: Sequence[Grown]) -> bool:
    """Tell whether growths lead from one checkpoint to another."""
    reached = {old}
    while True:
        newer = {grown.new for grown in growths if grown.old in reached} - reached
        if not newer:
            return new in reached
        reached |= newer
