"""Rows added up on their way to a hash: what they promise or charge in all, and what each question gets of it (E20)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput, Place
from optin.grains.arrays import HIGHEST_EPSILON, Sums
from optin.grains.splitting import ALONE, all_of, part, spent
from optin.kernel.rounding import GRAIN
from optin.ledger.streamed_hashes import Block, Shares, whole

MOST = int(HIGHEST_EPSILON * GRAIN)
"""The most grains that any announcement promises anybody."""
_HALF = 21
"""Bits: MOST is cut into two halves whose squares, 2^20 of them, are added up within 63 bits."""


def sums_of(grains: NDArray[np.int64]) -> Sums:
    """Add up promises and their squares exactly, of up to 2^20 people.

    >>> found = sums_of(np.array([3, 2**42]))
    >>> (found.people, found.grains == 3 + 2**42, found.squares == 9 + 2**84)
    (2, True, True)
    """
    expect_possible(grains)
    high, low = grains >> _HALF, grains & ((1 << _HALF) - 1)
    upper, middle, lower = (int(np.sum(product)) for product in (high * high, high * low, low * low))
    return Sums(
        people=len(grains),
        promised=int(np.count_nonzero(grains)),
        grains=int(np.sum(grains)),
        squares=(upper << 2 * _HALF) + (middle << _HALF + 1) + lower,
    )


def expect_possible(grains: NDArray[np.int64]) -> None:
    """Refuse amounts that no announcement promises anybody."""
    odd = (grains < 0) | (grains > MOST)
    if np.any(odd):
        raise BadInput(
            "grains are from 0 to {most} (epsilon 1024), the most a release promises: see {person}",
            most=MOST,
            person=Place(int(odd.argmax())),
        )


class Tally:
    """Add up the grains of blocks that pass on their way to somebody else, and keep the largest amount.

    Blocks of one question hold id and grains first. Those of a sheet hold id, grains, what questions the row is about (of a
    promise, something else in its place), and what is split: then each question is added up too, and rows whose
    grains are not the parts of the questions they are about are counted as ``astray``.
    """

    def __init__(self, shares: Shares = ALONE) -> None:
        self.sums, self.most, self.astray, self._shares = Sums(), 0, 0, shares
        self._questions = [Sums() for _ in shares]

    @property
    def questions(self) -> tuple[Sums, ...]:
        """The sums of each question."""
        return (self.sums,) if len(self._shares) == 1 else tuple(self._questions)

    def promises(self, walk: Iterable[Block]) -> Iterator[Block]:
        """Hand every block of promises on."""
        for block in walk:
            self._add(block, np.full(len(block[0]), all_of(self._shares)))
            yield block

    def charges(self, walk: Iterable[Block]) -> Iterator[Block]:
        """Hand every block of charges on."""
        for block in walk:
            self._add(block, whole(block[2]) if len(block) > 2 else None)
            yield block

    def _add(self, block: Block, answered: NDArray[np.int64] | None) -> None:
        grains = whole(block[1])
        self.sums += sums_of(grains)
        if answered is None or len(block) <= 3:
            self.most = max(self.most, int(grains.max()))
        else:
            self._split(grains, whole(block[3]), answered)

    def _split(self, grains: NDArray[np.int64], capped: NDArray[np.int64], answered: NDArray[np.int64]) -> None:
        expect_possible(capped)
        self.most = max(self.most, int(capped.max()))
        strange = (answered & ~all_of(self._shares)) != 0
        self.astray += int(np.count_nonzero(strange | (spent(capped, self._shares, answered) != grains)))
        for k, share in enumerate(self._shares):
            self._questions[k] += sums_of(part(capped, share)[(answered >> k) & 1 == 1])
