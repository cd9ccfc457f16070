"""Many ids as one stretch of bytes and where each ends: nothing is made for each of them until somebody asks for one."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_AT_ONCE = 2**17
"""Names whose bytes are multiplied at once."""
_MOVED = 2**15
"""Names whose bytes are picked at once: each byte takes a number that says where it lies."""


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
        growing = Growing()
        for part in parts:
            growing.add(part)
        return growing.names()

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
            start, stop, stride = at.indices(len(self))
            if stride != 1:
                return self.take(np.arange(start, stop, stride))
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
        ends = np.zeros(len(places) + 1, dtype=np.int64)
        np.subtract(self._ends[1:][places], self._ends[:-1][places], out=ends[1:])
        np.cumsum(ends, out=ends)
        data = np.empty(ends[-1], dtype=np.uint8)
        for start in range(0, len(places), _MOVED):
            some = ends[start : start + _MOVED + 1]
            shifts = np.repeat(self._ends[places[start : start + _MOVED]] - some[:-1], np.diff(some))
            data[some[0] : some[-1]] = self._data[shifts + np.arange(some[0], some[-1])]
        return Names(data, ends)

    def kept(self, mask: NDArray[np.bool_]) -> Names:
        """Keep those that a mask marks."""
        if mask.all():
            return self
        ends = np.zeros(int(np.count_nonzero(mask)) + 1, dtype=np.int64)
        np.subtract(self._ends[1:][mask], self._ends[:-1][mask], out=ends[1:])
        np.cumsum(ends, out=ends)
        data, at = np.empty(ends[-1], dtype=np.uint8), 0
        for start in range(0, len(self), _MOVED):
            part = self[start : start + _MOVED]
            letters = part.array[np.repeat(mask[start : start + _MOVED], part.lengths)]
            data[at : at + len(letters)] = letters
            at += len(letters)
        return Names(data, ends)

    def same(self, other: Names) -> NDArray[np.bool_]:
        """Say, place by place, whether two lists of one length hold the same text.

        >>> Names.of(["a", "bc", "", "de"]).same(Names.of(["a", "bd", "x", "de"])).tolist()
        [True, False, False, True]
        """
        same: NDArray[np.bool_] = self.lengths == other.lengths
        mine, others = self.kept(same), other.kept(same)
        wrong = np.flatnonzero(mine.array != others.array)
        places = np.searchsorted(mine._ends - mine._ends[0], wrong, side="right") - 1
        at = np.flatnonzero(same)
        same[at[places]] = False
        return same

    def keys(self) -> NDArray[np.uint64]:
        """Turn each into a number; other texts have another one, but for an accident in 2^57 (which callers look for)."""
        parts = [self[start : start + _AT_ONCE]._keys() for start in range(0, len(self), _AT_ONCE)]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])

    def _keys(self) -> NDArray[np.uint64]:
        lengths = self.lengths
        starts = self._ends[:-1] - self._ends[0]
        inside = np.arange(len(self.array)) - np.repeat(starts, lengths)
        weighed = np.zeros(len(self.array) + 1, dtype=np.uint64)
        np.cumsum(_weights()[inside % _LONGEST] * (self.array.astype(np.uint64) + np.uint64(1)), out=weighed[1:])
        keys: NDArray[np.uint64] = weighed[starts + lengths] - weighed[starts]
        return keys


class Growing:
    """Names put one after the other as they come; what lies there already is not written again.

    >>> growing = Growing()
    >>> growing.add(Names.of(["ada", "ben"])[1:])
    >>> growing.add(Names.of(["", "grüße"]))
    >>> list(growing.names())
    ['ben', '', 'grüße']
    """

    def __init__(self) -> None:
        self._data, self._ends = bytearray(), array("q", [0])

    def add(self, names: Names) -> None:
        """Put some more behind those that are there."""
        self._ends.frombytes((names._ends[1:] + (self._ends[-1] - names._ends[0])).tobytes())
        self._data += names.array.tobytes()

    def names(self) -> Names:
        """Return all of them; none comes after that."""
        return Names(self._data, np.frombuffer(self._ends, np.int64))


_LONGEST = 2**11
"""Bytes that have a weight of their own: the ledger takes no longer names."""


@cache
def _weights() -> NDArray[np.uint64]:
    return np.frombuffer(hashlib.shake_256(b"optin names 1").digest(8 * _LONGEST), np.uint64)
