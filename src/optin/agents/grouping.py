"""Public groups of people in memory (E27): one label a person, text byte for byte, known beforehand and protected by nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput, Place
from optin.tables.arrow_texts import listed
from optin.tables.columns import NO_GROUP
from optin.tables.group_names import text_fault
from optin.wording.groups import shown_group

MOST_GROUPS = 1_000
CHUNK = 2**16
SEPARATOR = " / "
"""What stands between the labels of several columns; a slash inside a label is doubled, so that no two are confused."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Groups:
    """Names in the order of their code points, and the place of each person's name among them.

    >>> groups = grouped(["b", "a", "b"], 3)
    >>> groups.names, groups.codes.tolist(), [rows.tolist() for rows in groups]
    (('a', 'b'), [1, 0, 1], [[1], [0, 2]])
    """

    names: tuple[str, ...]
    codes: NDArray[np.uint16] = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of rows
        """List the rows of each group, in the order of its names."""
        return (self.rows(place) for place in range(len(self)))

    def __reduce__(self) -> tuple[type[Groups], tuple[Any, ...]]:
        """Pickle what was given; where people stand is found again."""
        return Groups, (self.names, self.codes)

    def rows(self, place: int) -> Rows:
        """List whose group it is, in the order of the people."""
        return self._rows[place]

    @cached_property
    def _rows(self) -> list[Rows]:
        return list(self.divided(np.arange(len(self.codes))))

    def divided(self, column: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Hand out one entry a person group by group, and within a group as people stand.

        People who already stand group by group are handed out as they are, without a copy. Otherwise about a third of them
        are copied at a time, block after block that fits the cache, and a group is put together when it is asked for: whoever
        is done with one before asking for the next needs memory for half of the column, or for a group that is larger.
        """
        if self._rising:
            edges = np.searchsorted(self.codes, _places(len(self))).tolist()
            return (np.ascontiguousarray(column[start:end]) for start, end in pairwise(edges))
        return (part for first, last in self._spans for part in self._some(column, first, last))

    def _some(self, column: NDArray[Any], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Hand out the groups from one place up to another."""
        order, edges = self._order
        lengths = edges[:, last] - edges[:, first]
        starts = np.cumsum(lengths) - lengths
        near, places = np.empty(lengths.sum(), dtype=column.dtype), np.empty(CHUNK, dtype=np.intp)
        for block, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
            at, foot = block * CHUNK, block * CHUNK + int(edges[block, first])
            places[:length] = order[foot : foot + length]
            # mode="clip" writes to where it belongs at once; no place is ever outside.
            there = near[start : start + length]
            np.take(column[at : at + CHUNK], places[:length], out=there, mode="clip")
        if last - first == 1:
            yield near
            return
        ends = edges[:, first : last + 1] + (starts - edges[:, first])[:, None]
        for span in pairwise(ends.T.tolist()):
            yield np.concatenate([near[a:b] for a, b in zip(*span, strict=True)])

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """Which groups are copied together: about a third of the people at a time, and each large group by itself."""
        sizes, people = np.diff(self._order[1], axis=1).sum(axis=0), len(self.codes)
        thirds = [int(np.argmin(np.abs(np.cumsum(sizes) - people * k / 3))) + 1 for k in (1, 2)]
        large = np.flatnonzero(sizes > people / 6)
        return list(pairwise(np.unique([0, *thirds, *large, *(large + 1), len(self)]).tolist()))

    @cached_property
    def _order(self) -> tuple[NDArray[np.uint16], NDArray[np.intp]]:
        """Where people of each group stand in each block, two bytes a person, and where groups begin and end in it.

        For 16 bits numpy sorts by digits; kept, since whoever plans divides more than once.
        """
        places, edges = np.empty(len(self.codes), dtype=np.uint16), list[NDArray[np.intp]]()
        for at in range(0, len(self.codes), CHUNK):
            codes = self.codes[at : at + CHUNK]
            order = np.argsort(codes, kind="stable")
            places[at : at + CHUNK] = order
            edges.append(codes.searchsorted(_places(len(self)), sorter=order))
        return places, np.stack(edges)

    @cached_property
    def _rising(self) -> bool:
        """Whether people stand group by group already; the first chunk that does not says no."""
        chunks = (self.codes[at : at + CHUNK + 1] for at in range(0, len(self.codes), CHUNK))
        return all(bool((chunk[1:] >= chunk[:-1]).all()) for chunk in chunks)

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> Groups:
        """Put people into other groups, by the place of each label among their names; a label that has none is refused."""
        lookup = np.array([places_of(places, name) for name in self.names], dtype=np.uint16)
        return Groups(tuple(names), lookup[self.codes])


def _places(groups: int) -> NDArray[np.uint16]:
    """List the places of so many groups, and one beyond."""
    return np.arange(groups + 1, dtype=np.uint16)


def places_of(places: Mapping[str, int], name: str) -> int:
    """Find the place of a label; one that is nowhere is refused."""
    place = places.get(name)
    if place is None:
        raise BadInput("no group is called {name}: people's groups are not those planned for", name=shown_group(name))
    return place


def grouped(labels: Any, people: int, name: str = "groups") -> Groups | None:  # noqa: ANN401 - any column is welcome
    """Check labels, one for each person, and put names into order; None where people are not divided."""
    if labels is None:
        return None
    if isinstance(labels, Groups):
        _expect_one_each(len(labels.codes), people, name)
        return labels
    texts = _texts(labels, name)
    _expect_one_each(len(texts), people, name)
    first: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = _numbered(texts, first, name)
    names = checked_names(first, lambda label: Place(first_at(codes, first[label]), name))
    order = {label: place for place, label in enumerate(names)}
    lookup = np.array([order[label] for label in first], dtype=np.uint16)
    return Groups(tuple(map(str, names)), lookup[codes])


def _texts(labels: Any, name: str) -> Sequence[Any]:  # noqa: ANN401
    """List labels in the order of the people; of a text, a set or a mapping nobody knows whose is whose."""
    if isinstance(labels, str | bytes | Mapping | AbstractSet) or getattr(labels, "ndim", 1) != 1:
        raise BadInput(
            "{groups} must be a column or a list with one label for each person, in the order of the people",
            groups=name,
        )
    if isinstance(labels, list | tuple | np.ndarray):
        return labels  # type: ignore[return-value] # a column of numpy is as good, and no copy is made
    return listed(labels)


def _expect_one_each(given: int, people: int, name: str) -> None:
    if given != people:
        raise BadInput(
            "{groups} has {given} entries for {people} people; give one for each",
            groups=name,
            given=given,
            people=people,
        )


def _numbered(texts: Sequence[Any], first: defaultdict[Any, int], name: str) -> NDArray[np.uint32]:
    """Give labels numbers in the order in which they come; ``first`` gives a new one the next."""
    try:
        return np.fromiter(map(first.__getitem__, texts), np.uint32, len(texts))
    except TypeError:
        pass
    raise BadInput("{groups} must be texts, one for each person", groups=name)


def first_at(codes: NDArray[np.uint32], code: int) -> int:
    """Say who is the first with a label."""
    return int(np.argmax(codes == code))


def checked_names(labels: Iterable[Any], said: Any) -> list[str]:  # noqa: ANN401 - what names a person with a label
    """Refuse labels that are missing, no text, or text that not every engine and file keeps; return them in order."""
    labels = list(labels)
    for label in labels:
        fault = fault_of(label)
        if fault:
            raise BadInput("{place} " + fault, place=said(label))
    if len(labels) > MOST_GROUPS:
        raise BadInput(
            "there are {count:,} groups, and at most {most:,} are planned at once; use a coarser column",
            count=len(labels),
            most=MOST_GROUPS,
        )
    return sorted(labels)


def fault_of(label: object) -> str:
    """Say what is wrong with a label, if anything is."""
    if label is None or type(label).__name__ == "NAType" or label != label or label == "":
        return NO_GROUP
    if not isinstance(label, str):
        return "is not text; groups are kept byte for byte, so turn them into str yourself"
    return text_fault(label)


def combined(columns: Sequence[Sequence[str]]) -> list[str]:
    """Combine the labels of several columns into one each.

    >>> combined([["ICU", "a/b"], ["nurse", "c"]])
    ['ICU / nurse', 'a//b / c']
    """
    if len(columns) == 1:
        return list(columns[0])
    return [SEPARATOR.join(map(_doubled, row)) for row in zip(*columns, strict=True)]


def _doubled(label: str) -> str:
    return label.replace("/", "//")


def column_names(labels: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Name the column that labels come from, where it says so, as one of pandas or polars does."""
    name = getattr(labels, "name", None)
    return (name,) if isinstance(name, str) else ()


def expect_named_once(by: Sequence[str]) -> None:
    """Refuse a column named twice: combined with itself it makes the same groups under longer names."""
    twice = next((name for name in by if by.count(name) > 1), None)
    if twice is not None:
        raise BadInput("{column} is named twice: name each column of groups once", column=twice)


def expect_public(by: Sequence[str], private: Iterable[str | None], what: str) -> None:
    """Refuse a column of groups named twice, and one that holds what people keep to themselves: groups would tell it."""
    expect_named_once(by)
    known = set(private)
    for name in by:
        if name in known:
            raise BadInput(
                "{column} is a column of {what}, which are private, and groups are public: everyone would read it off the"
                " groups. Divide people by what may be known of them",
                column=name,
                what=what,
            )
