"""How promises of a sheet become charges: each question takes its part, of whoever answered it, if it is released (E20, E28)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row

from optin.announcement import Announcement
from optin.errors import PromiseBroken
from optin.grains.splitting import BITS, Released, all_of, spent, spent_by_group
from optin.ledger.sharing import ONE, Sharing, sharing_of
from optin.ledger.texts import announcement_in
from optin.receipts import asks_several


@dataclass(frozen=True)
class Split:
    """The shares of an announcement's questions, and a bit for each question that is released; of groups, for each of them."""

    sharing: Sharing = ONE
    released: tuple[int, ...] = (1,)

    @property
    def version(self) -> int:
        """Which version the acts are of."""
        return self.sharing.version

    @property
    def several(self) -> bool:
        """Whether a charge may be other than its promise: there is more than one question, or people are in groups."""
        return asks_several(self.version)

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """List place, released questions and shares of each group."""
        groups = zip(self.released, self.sharing.designs, strict=True)
        return [(place, released, *shares) for place, (released, shares) in enumerate(groups)]

    def spent_sql(self, *, capped: str, answered: str) -> str:
        """Write E20's sum of parts as SQL; what is split is at most 2^42 and a share 2^20, so 63 bits hold the product."""
        shares = self.sharing.designs[0]
        written = (
            [f"d.share_{k}" for k in range(len(shares))] if self.sharing.grouped else [str(each) for each in shares]
        )
        parts = (f"((({capped} * {share}) >> {BITS}) * (({answered} >> {k}) & 1))" for k, share in enumerate(written))
        return " + ".join(parts)

    def columns(
        self, capped: NDArray[np.int64], answered: NDArray[np.int64], design: NDArray[np.int64] | None
    ) -> list[NDArray[np.int64]]:
        """List what is charged to people in memory, for which questions, and out of how much; in groups, in which."""
        if design is None or not self.sharing.grouped:
            charged = answered & self.released[0]
            return [spent(capped, self.sharing.designs[0], charged), charged, capped]
        charged = answered & np.array(self.released, dtype=np.int64)[design]
        return [spent_by_group(capped, self.sharing.matrix, design, charged), charged, capped, design]


def split_of(offer: Row[Any], released: Released, known: Announcement | None = None) -> Split:
    """Read the shares of an announced round, and check which of its questions are released; None: all of them.

    Whoever knows what was announced spares reading it again: the fingerprint binds the shares.
    """
    if not asks_several(offer.version):
        return Split()
    same = known is not None and known.fingerprint == offer.fingerprint
    announced = known if same else announcement_in(offer.body)
    if announced is None:
        raise PromiseBroken("the ledger's announcement cannot be read; run `optin ledger verify`")
    sharing = sharing_of(announced)
    every = all_of(sharing.designs[0])
    given = (released,) * len(sharing.designs) if released is None or isinstance(released, int) else released
    wanted = tuple(every if each is None else each for each in given)
    if len(wanted) != len(sharing.designs) or not any(wanted) or not all(0 <= each <= every for each in wanted):
        raise PromiseBroken("no question is left to release; wait for more answers, or cancel")
    return Split(sharing, wanted)
