"""The log over a ledger's acts: each act's hash is a leaf of one RFC 6962 tree, and the operator's key signs its root.

A ledger that had no log before begins one at its head: the first checkpoint is over every act there is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select

from optin.database.connection import read, write
from optin.errors import BadInput
from optin.ledger import logged
from optin.ledger.ledger import Ledger
from optin.ledger.schema import acts, checkpoints, cosignatures, successions
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import LogProof
from optin.transparency.keys import SigningKey
from optin.transparency.note import COSIGNATURE, Signature, SignedNote, VerifierKey
from optin.transparency.public_log import PublicLog
from optin.transparency.succession import Succession
from optin.transparency.tree import MerkleTree
from optin.wording.records import OneLine


class Log(OneLine):
    """The signed checkpoints of a ledger, and proofs of what they stand for."""

    def __init__(self, ledger: Ledger) -> None:
        self._engine = ledger.engine

    def __repr__(self) -> str:
        return f"<Log of {len(self.checkpoints())} checkpoints>"

    def sign(self, key: SigningKey) -> SignedNote:
        """Sign the log as it stands; the same size again gives the note that is stored. What was signed is never contradicted."""
        verifier = key.verifier.to_text()

        def work(connection: Connection) -> str:
            tree = MerkleTree(logged.leaves_of_acts(connection))
            logged.expect_key(connection, key.verifier)
            before = logged.rows_signed(connection)
            if before:
                logged.expect_continued(tree, SignedNote.from_text(before[-1].note))
            same = [row.note for row in before if (row.size, row.verifier) == (tree.size, verifier)]
            if same:
                return str(same[0])
            if not tree.size:
                raise BadInput("there is nothing to sign yet: announce a campaign first")
            text = Checkpoint(key.name, tree.size, tree.root).to_text()
            note = SignedNote(text, (key.signed(text),)).to_text()
            connection.execute(insert(checkpoints).values(size=tree.size, verifier=verifier, note=note))
            return note

        stored = select(checkpoints.c.note)
        return SignedNote.from_text(
            write(self._engine, work, is_stored=lambda connection, note: note in connection.scalars(stored).all())
        )

    def rotate(self, new: SigningKey, old: SigningKey | None = None) -> SignedNote:
        """Let another key sign from here on; without the old one, which is lost, only the new one says so."""

        def work(connection: Connection) -> str:
            last = logged.next_signer(connection)
            if last is None:
                raise BadInput("no key has signed for this ledger yet: make one with `optin ledger key`")
            if old is not None and old.verifier != last:
                raise BadInput("this is not the key that signed last; give that one, or say that it is lost")
            succession = Succession(len(logged.leaves_of_acts(connection)), last, new.verifier)
            note = succession.signed(*([new] if old is None else [old, new]))
            number = len(logged.stated_successions(connection)) + 1
            connection.execute(insert(successions).values(number=number, note=note.to_text()))
            return note.to_text()

        stored = select(successions.c.note)
        return SignedNote.from_text(
            write(self._engine, work, is_stored=lambda connection, note: note in connection.scalars(stored).all())
        )

    def cosign(self, line: str, witness: VerifierKey) -> bool:
        """Keep what a witness signed, if it is good and about a checkpoint there is; say whether it is new."""
        signature = Signature.from_line(line)
        if witness.kind != COSIGNATURE:
            raise BadInput("this key is a log's, not a witness's")

        def work(connection: Connection) -> tuple[int, bool]:
            for row in connection.execute(select(checkpoints).order_by(checkpoints.c.size.desc())).all():
                note = SignedNote(SignedNote.from_text(row.note).text, (signature,))
                if logged.is_good(note, witness):
                    return row.size, logged.add_cosignature(connection, row.size, witness, signature)
            raise BadInput("this witness signed no checkpoint of this ledger")

        key = witness.to_text()
        where = select(cosignatures.c.size).where(cosignatures.c.verifier == key)
        return write(self._engine, work, is_stored=lambda connection, done: done[0] in connection.scalars(where).all())[
            1
        ]

    def checkpoints(self) -> list[SignedNote]:
        """List what was signed, smallest first, each with what witnesses signed."""
        return read(self._engine, logged.signed)

    def successions(self) -> list[SignedNote]:
        """List which key followed which."""
        return read(self._engine, logged.stated_successions)

    def keys(self) -> tuple[VerifierKey, ...]:
        """List the keys of everyone who signed: the log's, then the witnesses'."""
        return read(self._engine, logged.all_keys)

    def signer(self) -> VerifierKey | None:
        """Say which key is to sign next."""
        return read(self._engine, logged.next_signer)

    def growth(self, old: int, new: int) -> tuple[str, ...]:
        """Show that the log of ``new`` acts begins with that of ``old`` acts."""

        def look(connection: Connection) -> tuple[str, ...]:
            tree = MerkleTree(logged.leaves_of_acts(connection))
            if not 0 <= old <= new <= tree.size:
                raise BadInput("a log grows: give two sizes of it, the smaller one first")
            return tree.growth(old, new)

        return read(self._engine, look)

    def proofs(self, numbers: Sequence[int]) -> dict[int, LogProof]:
        """Show that acts are in the log, as far as a checkpoint covers them; those of one act are the same whoever asks."""
        return read(self._engine, lambda connection: logged.proofs(connection, numbers))

    def published(self, *, since: int = 0) -> PublicLog:
        """Write the log as everyone may read it: checkpoints of ``since`` acts and more, and that each begins with the last."""
        return read(self._engine, lambda connection: logged.published(connection, since=since))

    def lags(self, kinds: Sequence[str]) -> bool:
        """Tell whether an act of these kinds is not under a checkpoint yet."""

        def look(connection: Connection) -> bool:
            done = connection.scalar(select(func.max(acts.c.number)).where(acts.c.kind.in_(kinds))) or 0
            return bool(done > (connection.scalar(select(func.max(checkpoints.c.size))) or 0))

        return read(self._engine, look)
