"""A tree of hashes over the charges of a release: each can be shown to be there without showing any other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optin.formats.names import Names

SALT_BYTES = 16
BLOCK = 2**20
"""Charges that share one stretch of salts."""
_LEAVES = {1: 0, 3: 2, 4: 3}
"""The first byte of what is hashed into a leaf, by how many numbers it holds: of one question, of a sheet, of groups."""


def charge_salts(key: bytes, count: int, *, start: int = 0, size: int = BLOCK) -> bytes:
    """Stretch one release's secret into a salt for each of ``count`` charges from ``start`` on, so that no leaf can be guessed.

    >>> len(charge_salts(b"k" * 32, 3)), charge_salts(b"k" * 32, 2, start=1) == charge_salts(b"k" * 32, 3)[16:]
    (48, True)
    """
    parts, end = [], start + count
    while start < end:
        number, offset = divmod(start, size)
        last = min(size, offset + end - start)
        mark = number.to_bytes(8, "big") if number else b""
        stretched = hashlib.shake_256(b"optin charge salts 1" + key + mark)
        parts.append(stretched.digest(SALT_BYTES * last)[SALT_BYTES * offset :])
        start += last - offset
    return b"".join(parts)


def leaves_of(salts: bytes, ids: Sequence[str], grains: NDArray[np.int64], *of_sheet: NDArray[np.int64]) -> list[bytes]:
    """Hash each charge with its salt; all but the id have fixed lengths, so the id needs none.

    Of one question: a byte 0, the salt, the grains, the id. Of a sheet: a byte 2, the salt, the grains, which questions were
    charged, what was split among all of them, the id. Of groups: a byte 3, and after what was split the number of the person's
    group. Numbers take eight bytes, the highest first; the first byte tells leaves of the three kinds, and nodes, apart.
    """
    numbers = [grains, *of_sheet]
    count, width = len(ids), 1 + SALT_BYTES + 8 * len(numbers)
    heads = np.full((count, width), _LEAVES.get(len(numbers), 2), dtype=np.uint8)
    heads[:, 1 : 1 + SALT_BYTES] = np.frombuffer(salts, np.uint8).reshape(count, SALT_BYTES)
    for start, column in zip(range(1 + SALT_BYTES, width, 8), numbers, strict=True):
        heads[:, start : start + 8] = np.ascontiguousarray(column, dtype=">i8").view(np.uint8).reshape(count, 8)
    packed, sha256 = heads.tobytes(), hashlib.sha256
    starts = range(0, width * count, width)
    return [
        sha256(packed[start : start + width] + person).digest()
        for start, person in zip(starts, Names.of(ids).encoded(), strict=True)
    ]
