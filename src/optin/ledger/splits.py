"""How promises of a sheet become charges: each question takes its part, of whoever answered it, if it is released (E20, E28)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from optin.errors import PromiseBroken
from optin.grains.splitting import ALONE, BITS, all_of
from optin.ledger.streamed_hashes import Shares
from optin.ledger.texts import announcement_in
from optin.receipts import asks_several, version_of


@dataclass(frozen=True)
class Split:
    """The shares of an announcement's questions, and a bit for each question that is released."""

    shares: Shares = ALONE
    released: int = 1

    @property
    def version(self) -> int:
        """Which version the acts are of."""
        return version_of(self.shares)

    @property
    def several(self) -> bool:
        """Whether there is more than one question."""
        return asks_several(self.version)

    def spent_sql(self, *, capped: str, answered: str) -> str:
        """Write E20's sum of parts as SQL; what is split is at most 2^42 and a share 2^20, so 63 bits hold the product."""
        parts = (
            f"((({capped} * {share}) >> {BITS}) * (({answered} >> {k}) & 1))" for k, share in enumerate(self.shares)
        )
        return " + ".join(parts)


def split_of(offer: Row[Any], released: int | None) -> Split:
    """Read the shares of an announced round, and check which of its questions are released; None: all of them."""
    if not asks_several(offer.version):
        return Split()
    announced = announcement_in(offer.body)
    if announced is None:
        raise PromiseBroken("the ledger's announcement cannot be read; run `optin ledger verify`")
    every = all_of(announced.shares)
    wanted = every if released is None else released
    if not 0 < wanted <= every:
        raise PromiseBroken("no question is left to release; wait for more answers, or cancel")
    return Split(announced.shares, wanted)
