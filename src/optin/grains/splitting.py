"""E20: how one person's grains are split among the questions of a sheet, in integers.

Whoever has ``capped`` grains in all, A = floor(min(limit, cap) 2^32), gives question k exactly A_k = (A B_k) >> 20 of them,
B_k its share in parts of 2^20. The parts add up to at most A; their sum is what the person is promised. With one question
the share is 2^20 and nothing is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optin.kernel.sharing import SHARES

Integers = NDArray[np.int64]
Released = int | tuple[int, ...] | None
"""A bit for each question that is released, of everyone or of each group; None for all of them."""
BITS = SHARES.bit_length() - 1
ALONE = (SHARES,)
"""The shares of a sheet of one question."""


def part(capped: Integers, share: int) -> Integers:
    """Return what one question gets of everyone's grains: at most 2^42 grains times 2^20 fit into 63 bits.

    >>> part(np.array([3, 2**42]), 699051).tolist() == [2, 699051 << 22]
    True
    """
    return np.asarray(capped if share == SHARES else (capped * share) >> BITS, dtype=np.int64)


def least_capped(share: int, grains: int = 1) -> int:
    """Return the fewest grains in all that leave so many for a question of this share.

    >>> least_capped(699051, 2), least_capped(SHARES, 7)
    (3, 7)
    """
    return -(-(grains << BITS) // share)


def promised(capped: Integers, shares: tuple[int, ...]) -> Integers:
    """Return what everyone is promised: the sum of their parts."""
    return spent(capped, shares, np.full(len(capped), all_of(shares), dtype=np.int64))


def spent(capped: Integers, shares: tuple[int, ...], answered: Integers) -> Integers:
    """Return what everyone gives for the questions whose bit is set in ``answered``.

    >>> spent(np.array([3, 3, 3]), (699051, 349525), np.array([0b01, 0b10, 0b11])).tolist()
    [2, 0, 2]
    """
    total = np.zeros(len(capped), dtype=np.int64)
    for k, share in enumerate(shares):
        total += part(capped, share) * ((answered >> k) & 1)
    return total


def spent_by_group(capped: Integers, shares: Integers, design: Integers, answered: Integers) -> Integers:
    """Return what everyone gives, where the group of each has shares of its own: a row of ``shares`` for each design.

    >>> spent_by_group(np.array([3, 3]), np.array([[699051, 349525], [2**20 - 1, 1]]), np.array([0, 1]), np.array([3, 1]))
    array([2, 2])
    """
    total = np.zeros(len(capped), dtype=np.int64)
    for k in range(shares.shape[1]):
        total += ((capped * shares[design, k]) >> BITS) * ((answered >> k) & 1)
    return total


def all_of(shares: tuple[int, ...]) -> int:
    """Return the number in which the bit of every question is set."""
    return (1 << len(shares)) - 1
