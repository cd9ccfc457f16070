"""How what a person gives is shared among questions (E20): in one way, or in that of their own public group (E27)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optin.announcement import Announcement
from optin.grains.splitting import ALONE
from optin.ledger.streamed_hashes import Shares
from optin.receipts import version_of


@dataclass(frozen=True)
class Sharing:
    """The shares of each design; where people are not in groups there is one."""

    designs: tuple[Shares, ...] = (ALONE,)
    grouped: bool = False

    @property
    def version(self) -> int:
        """Which version acts of these shares are of."""
        return version_of(self.designs[0], grouped=self.grouped)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The shares as a row for each design."""
        return np.array(self.designs, dtype=np.int64)


ONE = Sharing()
"""One question, and no groups."""


def sharing_of(offer: Announcement | None) -> Sharing:
    """Read how an announcement shares what people give; what cannot be read shares nothing."""
    if offer is None:
        return ONE
    return Sharing(tuple(part.shares for part in offer.parts), offer.grouped)
