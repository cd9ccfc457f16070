"""Charges as packs: columns by position, and the branches of the tree over them."""

from __future__ import annotations

from optin.ledger import packs
from optin.ledger.branches import write_branches
from optin.ledger.chain import Written, last, packed_of
from optin.ledger.held import Numbers
from optin.ledger.packed_holds import expect_given
from optin.ledger.packed_rows import packed_walk
from optin.ledger.packs import ROWS, write_packs
from optin.ledger.splits import Split
from optin.ledger.taking import Taking


class PackedTaking(Taking):
    """People announced in packs, whose charges are packs too."""

    def foresee(self, salt: str, split: Split) -> Written:
        """Build the tree over what is to be charged."""
        blocks = zip(self._names(packs.SIZE), *self._cut(split), strict=True)
        return packed_of("release", map(list, blocks), salt, version=split.version, sharing=split.sharing)

    def _cut(self, split: Split) -> list[list[Numbers]]:
        """Cut what is charged into the blocks in which it is packed."""
        starts = range(0, len(self._positions), packs.SIZE)
        return [[column[start : start + packs.SIZE] for start in starts] for column in self._spent(split)]

    def charge(self, split: Split) -> int:
        """Write the charges of those who joined."""
        number = last(self.connection).number + 1
        stored = self._spent(split)[: 2 if split.several else 1]
        write_packs(self.connection, number, ROWS, [self._positions, *stored])
        return number

    def expect_charged(self, act: int, split: Split, written: Written) -> None:
        """Read the charges back, compare them with what was to be charged, and store the branches of their tree."""
        ids = self._names(packs.SIZE)
        walk = packed_walk(self.connection, "release", act, self.held, split.version, ids=ids)
        expect_given(walk, None, self._spent(split))
        write_branches(self.connection, act, written.people, written.branches)
