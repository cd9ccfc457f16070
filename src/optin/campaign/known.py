"""What a ledger knows of people, as people of either form ask for it (`optin.grains.people.Known`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.ledger import Ledger, Terms
from optin.ledger.bulk_reads import each_balance, each_change


@dataclass(frozen=True)
class Known:
    """What a ledger knows of people: besides the holds of one announcement, or about that announcement."""

    ledger: Ledger
    terms: Terms | None = None

    def remaining(
        self, ids: list[str], *, raised_to: NDArray[np.int64] | None, lowered_to: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Say how many grains each of them has left."""
        return self.ledger.remaining(ids, besides=self.terms, raised_to=raised_to, lowered_to=lowered_to)

    def each_balance(self, take: Callable[[Any], None]) -> None:
        """Hand out id, allowance and what is taken of it, for everyone who is known."""
        each_balance(self.ledger, self.terms, take)

    def cut(self) -> dict[str, int]:
        """List the promises that were cut to what remained of an allowance."""
        cuts = self.ledger.bounded(self._terms)
        return dict(zip(cuts.ids, cuts.grains.tolist(), strict=True))

    def stands(self, ids: list[str]) -> NDArray[np.bool_]:
        """Say whose promise stands."""
        return self.ledger.stands(self._terms, ids)

    def each_change(self, take: Callable[[Any], None]) -> None:
        """Hand out id, the promise if it was cut (else -1), and whether they declined (1 or 0), where either holds."""
        each_change(self.ledger, self._terms, take)

    @property
    def _terms(self) -> Terms:
        assert self.terms is not None  # noqa: S101 - asked about an announcement
        return self.terms
