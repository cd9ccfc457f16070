"""Rows added up on their way to a hash: what they promise or charge in all, and what each question gets of it (E20)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput, Place
from optin.grains.arrays import HIGHEST_EPSILON
from optin.grains.exact_sums import QuestionSums
from optin.grains.splitting import ALONE, BITS, all_of, part, spent, spent_by_group
from optin.kernel.rounding import GRAIN
from optin.ledger.sharing import Sharing
from optin.ledger.streamed_hashes import Block, Shares, integers

MOST = int(HIGHEST_EPSILON * GRAIN)
"""The most grains that any announcement promises anybody."""
_HALF = 21
"""Bits: MOST is cut into two halves whose squares, 2^20 of them, are added up within 63 bits."""


def sums_of(grains: NDArray[np.int64]) -> QuestionSums:
    """Add up promises and their squares exactly, of up to 2^20 people.

    >>> sums = sums_of(np.array([3, 2**42]))
    >>> (sums.people, sums.grains == 3 + 2**42, sums.squares == 9 + 2**84)
    (2, True, True)
    """
    expect_possible(grains)
    high, low = grains >> _HALF, grains & ((1 << _HALF) - 1)
    upper, middle, lower = (int(np.sum(product)) for product in (high * high, high * low, low * low))
    return QuestionSums(
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


@dataclass(frozen=True)
class DesignTally:
    """What was added up of one public group: people, the largest amount before it is split, and the sums of each question."""

    people: int
    most: int
    questions: tuple[QuestionSums, ...]


class Tally:
    """Add up the grains of blocks that pass on their way to somebody else, and keep the largest amount.

    Blocks of one question hold id and grains first. Those of a sheet hold id, grains, what questions the row is about (of a
    promise, something else in its place), and what is split: then each question is added up too, and rows whose
    grains are not the parts of the questions they are about are counted as ``astray``.
    """

    def __init__(self, shares: Shares = ALONE) -> None:
        self.sums, self.most, self.astray, self._shares = QuestionSums(), 0, 0, shares
        self._questions = [QuestionSums() for _ in shares]

    designs: tuple[DesignTally, ...] = ()

    @property
    def questions(self) -> tuple[QuestionSums, ...]:
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
            self._add(block, integers(block[2]) if len(block) > 2 else None)
            yield block

    def _add(self, block: Block, answered: NDArray[np.int64] | None) -> None:
        grains = integers(block[1])
        self.sums += sums_of(grains)
        if answered is None or len(block) <= 3:
            self.most = max(self.most, int(grains.max()))
        else:
            self._split(grains, integers(block[3]), answered)

    def _split(self, grains: NDArray[np.int64], capped: NDArray[np.int64], answered: NDArray[np.int64]) -> None:
        expect_possible(capped)
        self.most = max(self.most, int(capped.max()))
        strange = (answered & ~all_of(self._shares)) != 0
        self.astray += int(np.count_nonzero(strange | (spent(capped, self._shares, answered) != grains)))
        for k, share in enumerate(self._shares):
            self._questions[k] += sums_of(part(capped, share)[(answered >> k) & 1 == 1])


class GroupTally:
    """Add up blocks that hold also, last, the place of each person's group: each group by itself (E27)."""

    def __init__(self, sharing: Sharing) -> None:
        self.sums, self.most, self.astray, self.questions = QuestionSums(), 0, 0, ()
        self._shares, self._all = sharing.matrix, all_of(sharing.designs[0])
        self._people, self._most = (np.zeros(len(self._shares), dtype=np.int64) for _ in range(2))
        self._totals = np.zeros((len(self._shares), self._shares.shape[1], len(_KINDS)), dtype=object)

    @property
    def designs(self) -> tuple[DesignTally, ...]:
        """What was added up of each group."""
        groups = zip(self._people.tolist(), self._most.tolist(), self._totals, strict=True)
        return tuple(DesignTally(people, most, tuple(map(_sums, questions))) for people, most, questions in groups)

    def promises(self, walk: Iterable[Block]) -> Iterator[Block]:
        """Hand every block of promises on."""
        for block in walk:
            self._add(block, np.full(len(block[0]), self._all, dtype=np.int64))
            yield block

    def charges(self, walk: Iterable[Block]) -> Iterator[Block]:
        """Hand every block of charges on."""
        for block in walk:
            self._add(block, integers(block[2]))
            yield block

    def _add(self, block: Block, answered: NDArray[np.int64]) -> None:
        grains, capped, design = (integers(block[at]) for at in (1, 3, 4))
        expect_possible(capped)
        self.sums += sums_of(grains)
        self.most = max(self.most, int(capped.max()))
        strange = (design < 0) | (design >= len(self._shares))
        if strange.any():
            raise ValueError("no group stands at this place")
        followed = spent_by_group(capped, self._shares, design, answered)
        self.astray += int(np.count_nonzero(((answered & ~self._all) != 0) | (followed != grains)))
        self._people += np.bincount(design, minlength=len(self._shares))
        np.maximum.at(self._most, design, capped)
        for k in range(self._shares.shape[1]):
            gave = (answered >> k) & 1 == 1
            self._add_question(k, design[gave], capped[gave] * self._shares[design[gave], k] >> BITS)

    def _add_question(self, k: int, design: NDArray[np.int64], grains: NDArray[np.int64]) -> None:
        high, low = grains >> _HALF, grains & ((1 << _HALF) - 1)
        columns = (np.ones_like(grains), (grains > 0).astype(np.int64), grains, high * high, high * low, low * low)
        for at, column in enumerate(columns):
            totals = np.zeros(len(self._shares), dtype=np.int64)
            np.add.at(totals, design, column)
            self._totals[:, k, at] += totals.astype(object)


_KINDS = ("people", "promised", "grains", "upper", "middle", "lower")


def _sums(totals: NDArray[Any]) -> QuestionSums:
    people, promised, grains, upper, middle, lower = (int(each) for each in totals)
    return QuestionSums(people, promised, grains, (upper << 2 * _HALF) + (middle << _HALF + 1) + lower)


def tally_of(sharing: Sharing) -> Tally | GroupTally:
    """Add up as the shares ask for: all rows alike, or group by group."""
    return GroupTally(sharing) if sharing.grouped else Tally(sharing.designs[0])
