"""Charges as packs: columns by position, and the branches of the tree over them."""

from __future__ import annotations

from optin.ledger import packs
from optin.ledger.branches import write_branches
from optin.ledger.chain import Written, last, packed_of
from optin.ledger.packed_holds import as_given
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import ROWS, write_packs
from optin.ledger.splits import Split
from optin.ledger.taking import Taking


class PackedTaking(Taking):
    """People announced in packs, whose charges are packs too."""

    def charge(self, split: Split) -> int:
        """Write the charges of those who joined."""
        number = last(self.connection).number + 1
        stored = self._spent(split)[: 2 if split.several else 1]
        write_packs(self.connection, number, ROWS, [self._positions, *stored])
        return number

    def charged(self, act: int, salt: str, split: Split) -> Written:
        """Read the charges back, build the tree over them and store its branches."""
        ids = self._names(packs.SIZE)
        walk = packed_walk(self.connection, "release", act, self.held, split.version, ids=ids)
        checked = as_given(walk, None, self._spent(split))
        written = packed_of("release", checked, salt, version=split.version, sharing=split.sharing)
        write_branches(self.connection, act, written.people, written.branches)
        return written
