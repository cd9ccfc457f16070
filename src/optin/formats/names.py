"""Many ids as one stretch of bytes and where each ends: nothing is made for each of them until somebody asks for one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_AT_ONCE = 2**17
"""Names whose bytes are multiplied at once."""


class Names(Sequence[str]):
    """Texts that lie side by side; ``ends`` has one number more than there are texts, the first being where they begin.

    >>> names = Names.of(["ada", "", "grüße"])
    >>> len(names), names[2], list(names[:2]), names.lengths.tolist(), names == Names.of(["ada", "", "grüße"])
    (3, 'grüße', ['ada', ''], [3, 0, 7], True)
    >>> list(names.take(np.array([2, 0]))), list(Names.joined([names, names[1:]]))
    (['grüße', 'ada'], ['ada', '', 'grüße', '', 'grüße'])
    """

    __slots__ = ("_data", "_ends")

    def __init__(self, data: bytes | bytearray | memoryview | NDArray[np.uint8], ends: Numbers) -> None:
        self._data = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        self._ends = ends

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """Put texts side by side."""
        if isinstance(names, Names):
            return names
        joined = "".join(names)
        each = names if joined.isascii() else [name.encode() for name in names]
        ends = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, each), dtype=np.int64, count=len(names)), out=ends[1:])
        return cls(joined.encode(), ends)

    @classmethod
    def separated(cls, data: bytes, mark: int, *, closed: bool) -> Names:
        """Read texts between which a byte stands that none of them holds; ``closed`` says that it stands after the last too.

        >>> list(Names.separated(b"a,bc,,d", ord(","), closed=False)), list(Names.separated(b"a,b,", ord(","), closed=True))
        (['a', 'bc', '', 'd'], ['a', 'b'])
        """
        given = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero(given == mark)
        ends = np.concatenate(([0], marks - np.arange(len(marks)), [] if closed else [len(given) - len(marks)]))
        return cls(given[given != mark], ends.astype(np.int64))

    @classmethod
    def joined(cls, parts: Sequence[Names]) -> Names:
        """Put several of them one after the other."""
        if len(parts) == 1:
            return parts[0]
        ends = np.zeros(sum(map(len, parts)) + 1, dtype=np.int64)
        start = 1
        for part in parts:
            ends[start : start + len(part)] = part.lengths
            start += len(part)
        np.cumsum(ends, out=ends)
        return cls(np.concatenate([np.zeros(0, dtype=np.uint8), *(part.array for part in parts)]), ends)

    @property
    def array(self) -> NDArray[np.uint8]:
        """The bytes of all of them."""
        return self._data[self._ends[0] : self._ends[-1]]

    @property
    def lengths(self) -> Numbers:
        """How many bytes each of them has."""
        return np.diff(self._ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Names: ...
    def __getitem__(self, at: int | slice) -> str | Names:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step != 1:
                return self.take(np.arange(start, stop, step))
            return Names(self._data, self._ends[start : max(start, stop) + 1])
        place = range(len(self))[at]
        return self._data[self._ends[place] : self._ends[place + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text = self.array.tobytes().decode()
        if len(text) != len(self.array):
            return (name.decode() for name in self.encoded())
        ends = (self._ends - self._ends[0]).tolist()
        return (text[start:end] for start, end in pairwise(ends))

    def encoded(self) -> list[bytes]:
        """List the bytes of each."""
        data, ends = self.array.tobytes(), (self._ends - self._ends[0]).tolist()
        return [data[start:end] for start, end in pairwise(ends)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return np.array_equal(self.lengths, other.lengths) and np.array_equal(self.array, other.array)
        return isinstance(other, list | tuple) and len(other) == len(self) and self == Names.of(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} names>"

    def take(self, places: Numbers) -> Names:
        """Pick some of them, in any order."""
        lengths = self.lengths[places]
        ends = np.zeros(len(places) + 1, dtype=np.int64)
        np.cumsum(lengths, out=ends[1:])
        return Names(self._data[np.repeat(self._ends[places] - ends[:-1], lengths) + np.arange(ends[-1])], ends)

    def kept(self, mask: NDArray[np.bool_]) -> Names:
        """Keep those that a mask marks."""
        if mask.all():
            return self
        ends = np.zeros(int(np.count_nonzero(mask)) + 1, dtype=np.int64)
        np.cumsum(self.lengths[mask], out=ends[1:])
        return Names(self.array[np.repeat(mask, self.lengths)], ends)

    def same(self, other: Names) -> NDArray[np.bool_]:
        """Say, place by place, whether two lists of one length hold the same text.

        >>> Names.of(["a", "bc", "", "de"]).same(Names.of(["a", "bd", "x", "de"])).tolist()
        [True, False, False, True]
        """
        found: NDArray[np.bool_] = self.lengths == other.lengths
        mine, others = self.kept(found), other.kept(found)
        wrong = np.flatnonzero(mine.array != others.array)
        places = np.searchsorted(mine._ends - mine._ends[0], wrong, side="right") - 1
        at = np.flatnonzero(found)
        found[at[places]] = False
        return found

    def keys(self) -> NDArray[np.uint64]:
        """Turn each into a number; other texts have another one, but for an accident in 2^57 (which callers look for)."""
        found = [self[start : start + _AT_ONCE]._keys() for start in range(0, len(self), _AT_ONCE)]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *found])

    def _keys(self) -> NDArray[np.uint64]:
        lengths = self.lengths
        starts = self._ends[:-1] - self._ends[0]
        inside = np.arange(len(self.array)) - np.repeat(starts, lengths)
        weighed = np.zeros(len(self.array) + 1, dtype=np.uint64)
        np.cumsum(_weights()[inside % _LONGEST] * (self.array.astype(np.uint64) + np.uint64(1)), out=weighed[1:])
        found: NDArray[np.uint64] = weighed[starts + lengths] - weighed[starts]
        return found


_LONGEST = 2**11
"""Bytes that have a weight of their own: the ledger takes no longer names."""


@cache
def _weights() -> NDArray[np.uint64]:
    return np.frombuffer(hashlib.shake_256(b"optin names 1").digest(8 * _LONGEST), np.uint64)
