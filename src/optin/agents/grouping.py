"""Public groups of people in memory (E27): one label a person, text byte for byte, known beforehand and protected by nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput, Place
from optin.tables.columns import NO_GROUP
from optin.wording.groups import shown_group

MOST_GROUPS = 1_000
CHUNK = 2**16
LONGEST = 2**14
"""Characters of a group's name."""
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

    def rows(self, place: int) -> Rows:
        """List whose group it is, in the order of the people."""
        return self.order[self._edges[place] : self._edges[place + 1]]

    @property
    def spans(self) -> list[slice]:
        """Where each group stands in `order`."""
        return [slice(*each) for each in pairwise(self._edges.tolist())]

    @cached_property
    def order(self) -> Rows:
        """Everyone's place, group after group."""
        return self.sorted(np.arange(len(self.codes)))

    def sorted(self, column: NDArray[Any]) -> NDArray[Any]:
        """Put one entry a person into order, group after group, and within a group as people stand.

        A chunk at a time: what is looked up and where it goes then both lie near, and numpy sorts 16 bits by their digits.
        """
        found, free = np.empty(len(column), dtype=column.dtype), self._edges[:-1].copy()
        for start in range(0, len(column), CHUNK):
            codes = self.codes[start : start + CHUNK]
            counts = np.bincount(codes, minlength=len(self))
            before = np.cumsum(counts) - counts
            places = np.repeat(free - before, counts) + np.arange(len(codes))
            found[places] = column[start : start + CHUNK][np.argsort(codes, kind="stable")]
            free += counts
        return found

    @cached_property
    def _edges(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=len(self)))])

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> Groups:
        """Put people into other groups, by the place of each label among their names; a label that has none is refused."""
        lookup = np.array([places_of(places, name) for name in self.names], dtype=np.uint16)
        return Groups(tuple(names), lookup[self.codes])


def places_of(places: Mapping[str, int], name: str) -> int:
    """Find the place of a label; one that is nowhere is refused."""
    found = places.get(name)
    if found is None:
        raise BadInput("no group is called {name}: people's groups are not those planned for", name=shown_group(name))
    return found


def grouped(labels: Any, people: int, name: str = "groups") -> Groups | None:  # noqa: ANN401 - any column is welcome
    """Check labels, one for each person, and put names into order; None where people are not divided."""
    if labels is None:
        return None
    if isinstance(labels, Groups):
        _expect_one_each(len(labels.codes), people, name)
        return labels
    texts = _texts(labels, name)
    _expect_one_each(len(texts), people, name)
    first: dict[Any, int] = {}
    found = _numbered(texts, first, name)
    names = checked_names(first, lambda label: Place(first_at(found, first[label]), name))
    order = {label: place for place, label in enumerate(names)}
    lookup = np.array([order[label] for label in first], dtype=np.uint16)
    return Groups(tuple(map(str, names)), lookup[found])


def _texts(labels: Any, name: str) -> list[Any]:  # noqa: ANN401
    """List labels in the order of the people; of a text, a set or a mapping nobody knows whose is whose."""
    if isinstance(labels, str | bytes | Mapping | AbstractSet) or getattr(labels, "ndim", 1) != 1:
        raise BadInput(
            "{groups} must be a column or a list with one label for each person, in the order of the people",
            groups=name,
        )
    return labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)


def _expect_one_each(given: int, people: int, name: str) -> None:
    if given != people:
        raise BadInput(
            "{groups} has {given} entries for {people} people; give one for each",
            groups=name,
            given=given,
            people=people,
        )


def _numbered(texts: list[Any], first: dict[Any, int], name: str) -> NDArray[np.int64]:
    """Count labels in the order in which they come."""
    try:
        return np.fromiter((first.setdefault(text, len(first)) for text in texts), np.int64, len(texts))
    except TypeError:
        pass
    raise BadInput("{groups} must be texts, one for each person", groups=name)


def first_at(codes: NDArray[np.int64], code: int) -> int:
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
    if "\0" in label or any("\ud800" <= letter <= "\udfff" for letter in label):
        return "holds a character that not every file keeps (NUL, or half of a pair); rename the group"
    return (
        f"is a name of more than {LONGEST:,} characters; give the group a shorter one" if len(label) > LONGEST else ""
    )


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


def expect_public(by: Sequence[str], private: Iterable[str | None], what: str) -> None:
    """Refuse columns of groups that hold what people keep to themselves: everyone would read it off the groups."""
    known = set(private)
    for name in by:
        if name in known:
            raise BadInput(
                "{column} is a column of {what}, which are private, and groups are public: everyone would read it off the"
                " groups. Divide people by what may be known of them",
                column=name,
                what=what,
            )
