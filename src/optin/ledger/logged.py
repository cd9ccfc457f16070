"""What the log's tables hold, read from a connection: leaves, checkpoints with what witnesses signed, keys, proofs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from optin.errors import BadInput, MissingExtra, OptinError, PromiseBroken
from optin.ledger.schema import acts, checkpoints, cosignatures, successions
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import Earlier, LogProof, act_leaf
from optin.transparency.keys import good_signature
from optin.transparency.note import Signature, SignedNote, VerifierKey
from optin.transparency.public_log import PublicLog, published_log
from optin.transparency.succession import Succession
from optin.transparency.tree import MerkleTree

REWRITTEN = (
    "the ledger no longer begins with the {size} acts that were signed: it was cut off or rewritten; nothing was signed."
    " Run `optin ledger verify`, and restore it from a backup"
)
OTHER_KEY = (
    "another key signs for this ledger ({name}); give that one, or let this one follow it: `optin ledger key --rotate`"
)


def leaves_of_acts(connection: Connection) -> list[bytes]:
    """List the leaves, one for each act in the order of acts."""
    return [act_leaf(head) for head in connection.scalars(select(acts.c.hash).order_by(acts.c.number))]


def rows_signed(connection: Connection) -> Sequence[Row[Any]]:
    """List the checkpoints as they are stored, smallest first."""
    return connection.execute(select(checkpoints).order_by(checkpoints.c.size, checkpoints.c.verifier)).all()


def signed(connection: Connection) -> list[SignedNote]:
    """List the checkpoints, smallest first: those of one size are one note, with what witnesses signed."""
    notes: dict[int, SignedNote] = {}
    for row in rows_signed(connection):
        note = SignedNote.from_text(row.note)
        notes[row.size] = notes[row.size].with_signature(*note.signatures) if row.size in notes else note
    for row in connection.execute(select(cosignatures).order_by(cosignatures.c.size, cosignatures.c.verifier)):
        if row.size in notes:
            notes[row.size] = notes[row.size].with_signature(Signature.from_line(row.line))
    return list(notes.values())


def stated_successions(connection: Connection) -> list[SignedNote]:
    """List which key followed which, oldest first."""
    query = select(successions.c.note).order_by(successions.c.number)
    return [SignedNote.from_text(note) for note in connection.scalars(query)]


def next_signer(connection: Connection) -> VerifierKey | None:
    """Say which key is to sign next: the last that followed another, else the one that signed."""
    stated = stated_successions(connection)
    if stated:
        return Succession.from_note(stated[-1]).new
    rows = rows_signed(connection)
    return VerifierKey.from_text(rows[-1].verifier) if rows else None


def all_keys(connection: Connection) -> tuple[VerifierKey, ...]:
    """List everyone's keys: the log's, then the witnesses'."""
    stated = [Succession.from_note(note).new.to_text() for note in stated_successions(connection)]
    signed_with = connection.scalars(select(checkpoints.c.verifier).order_by(checkpoints.c.size)).all()
    logs = sorted(signed_with, key=lambda key: stated.index(key) if key in stated else -1)
    witnesses = connection.scalars(select(cosignatures.c.verifier).order_by(cosignatures.c.verifier)).all()
    return tuple(VerifierKey.from_text(text) for text in dict.fromkeys((*logs, *witnesses)))


def expect_key(connection: Connection, key: VerifierKey) -> None:
    """Refuse a key that does not sign for this ledger, or not any more."""
    expected = next_signer(connection)
    if expected is not None and expected != key:
        raise BadInput(OTHER_KEY, name=expected.name)


def expect_continued(tree: MerkleTree, note: SignedNote) -> None:
    """Refuse to sign a log that does not begin with what was signed before."""
    before = Checkpoint.from_text(note.text)
    if before.size > tree.size or tree.root_of(before.size) != before.root:
        raise PromiseBroken(REWRITTEN, size=before.size)


def add_cosignature(connection: Connection, size: int, witness: VerifierKey, signature: Signature) -> bool:
    """Add what a witness signed, unless it signed that size before; say whether it is new."""
    key = witness.to_text()
    where = (cosignatures.c.size == size, cosignatures.c.verifier == key)
    if connection.scalar(select(cosignatures.c.size).where(*where)) is not None:
        return False
    connection.execute(insert(cosignatures).values(size=size, verifier=key, line=signature.to_line()))
    return True


def is_good(note: SignedNote, key: VerifierKey) -> bool:
    """Tell whether a key signed a note."""
    try:
        return good_signature(note, key) is not None
    except PromiseBroken:
        return False


def proofs(connection: Connection, numbers: Sequence[int]) -> dict[int, LogProof]:
    """Show that acts are in the log; of checkpoints that cover one, the first with the most witnesses is taken."""
    notes = signed(connection)
    if not notes:
        return {}
    tree, keys = MerkleTree(leaves_of_acts(connection)), all_keys(connection)
    followed = tuple(stated_successions(connection))
    sized = [(Checkpoint.from_text(note.text), note) for note in notes]
    by_number = {}
    for number in numbers:
        covering = [(at, note) for at, note in sized if number <= at.size <= tree.size]
        if not covering:
            continue
        at, note = max(covering, key=lambda each: len(each[1].signatures))  # max takes the first of equals
        first = covering[0]
        before = [each for each in sized if each[0].size < number][-1:]
        earlier = [*before, *([first] if first[0].size < at.size else [])]
        shown = tuple(Earlier(old, tree.growth(size.size, at.size)) for size, old in earlier)
        signers = {(each.name, each.key_id) for one in (note, *(old for _, old in earlier)) for each in one.signatures}
        known = tuple(key for key in keys if (key.name, key.id) in signers)
        by_number[number] = LogProof(note, known, tree.path(number - 1, at.size), shown, followed)
    return by_number


def published(connection: Connection, *, since: int = 0) -> PublicLog:
    """Write the log as everyone may read it: checkpoints of ``since`` acts and more, and that each begins with the last."""
    tree = MerkleTree(leaves_of_acts(connection))
    notes = [note for note in signed(connection) if Checkpoint.from_text(note.text).size >= since]
    sizes = [Checkpoint.from_text(note.text).size for note in notes]
    if notes:
        expect_continued(tree, notes[-1])
    paths = [tree.growth(old, new) for old, new in pairwise(sizes)]
    return published_log(notes, paths, all_keys(connection), stated_successions(connection))


def log_faults(connection: Connection) -> list[str]:
    """Say what is wrong with the log: what was signed is not what is there, or was not signed."""
    try:
        return _faults(connection)
    except MissingExtra:
        raise
    except OptinError as error:
        return [f"the log cannot be read: {error}"]
    except (TypeError, ValueError, AttributeError):
        return ["the log cannot be read: it was changed"]


def _faults(connection: Connection) -> list[str]:
    tree, faults = MerkleTree(leaves_of_acts(connection)), list[str]()
    rows = rows_signed(connection)
    for row in rows:
        note = SignedNote.from_text(row.note)
        at = Checkpoint.from_text(note.text)
        if at.size != row.size or not is_good(note, VerifierKey.from_text(row.verifier)):
            faults.append(f"the checkpoint of {row.size} acts is not signed as it says")
        elif at.size > tree.size:
            faults.append(
                f"the checkpoint of {row.size} acts was signed, and only {tree.size} are there: some were cut off"
            )
        elif tree.root_of(at.size) != at.root:
            faults.append(f"the checkpoint of {row.size} acts was signed over other acts: the ledger was rewritten")
    names = {Checkpoint.from_text(SignedNote.from_text(row.note).text).origin for row in rows}
    if len(names) > 1:
        faults.append("checkpoints of several logs are in one ledger")
    return [*faults, *_bad_cosignatures(connection), *_broken_successions(connection, rows)]


def _bad_cosignatures(connection: Connection) -> list[str]:
    """Name checkpoints under which a witness's signature is not good."""
    notes = {Checkpoint.from_text(note.text).size: note for note in signed(connection)}
    stored = connection.execute(select(cosignatures).order_by(cosignatures.c.size)).all()
    bad = [
        row.size
        for row in stored
        if row.size not in notes or not is_good(notes[row.size], VerifierKey.from_text(row.verifier))
    ]
    return [f"what a witness signed of {size} acts is not good" for size in dict.fromkeys(bad)]


def _broken_successions(connection: Connection, rows: Sequence[Row[Any]]) -> list[str]:
    """Name keys that signed without following the one before, or after another had followed them."""
    following = [Succession.from_note(note) for note in stated_successions(connection)]
    signers = {row.verifier for row in rows}
    first = {following[0].old.to_text()} if following else set(sorted(signers)[:1])
    stated = first | {each.new.to_text() for each in following}
    broken = any(after.old != before.new for before, after in pairwise(following)) or not signers <= stated
    ends = {each.old.to_text(): each.size for each in following}
    late = [row.size for row in rows if row.size > ends.get(row.verifier, row.size)]
    faults = ["a key signed that does not follow the one before it"] if broken else []
    return faults + [f"the checkpoint of {size} acts is signed with a key that another had followed" for size in late]
