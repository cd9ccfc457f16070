"""How much each group counts in the whole: by the people announced, or by what is known of a population (E27)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Protocol

from optin.errors import BadInput
from optin.tables.frames import is_frame
from optin.wording.groups import listed_groups, shown_group

_NEARLY_ONE = 1e-6
_MOST_PEOPLE = 1e15
_COLUMNS = ("share", "people")
_ADDED_UP = (1.0, 100.0)
_TWICE = "the population names a group twice; give each group one number"


class _Made(Protocol):
    """A group, and the labels of the people it is for: several, where small groups were merged."""

    @property
    def group(self) -> str | None: ...
    @property
    def labels(self) -> tuple[str, ...]: ...


def made_of(designs: Iterable[_Made]) -> dict[str, tuple[str, ...]]:
    """Say of which labels each group is made."""
    return {str(each.group): each.labels for each in designs}


def population_shares(population: Any, groups: Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, float]:  # noqa: ANN401
    """Check what is known of a population, and return the share of each group.

    ``population`` gives every group, and no other, its share (they add up to 1, or to 100 if they are percentages) or its
    people (whole numbers); a file, or a table in memory, has the columns ``group`` and ``share``, or ``group`` and ``people``.
    A group that was merged of several counts by its own name, or else by those of all that it is made of.

    >>> population_shares({"ER": 300, "ICU": 100}, ("ER", "ICU"))
    {'ER': 0.75, 'ICU': 0.25}
    >>> population_shares({"ER": 62.5, "ICU": 12.5, "lab": 25}, {"ER": ["ER"], "ICU + lab": ["ICU", "lab"]})
    {'ER': 0.625, 'ICU + lab': 0.375}
    """
    known = population if isinstance(population, Mapping) else _as_mapping(population)
    made = groups if isinstance(groups, Mapping) else {name: (name,) for name in groups}
    labels = {name: (name,) if name in known else tuple(own) for name, own in made.items()}
    _expect_these(known, [label for own in labels.values() for label in own], tuple(made))
    sizes = {name: _positive([known[label] for label in own], name) for name, own in labels.items()}
    total = math.fsum(sizes.values())
    if not any(abs(total / each - 1.0) <= _NEARLY_ONE for each in _ADDED_UP) and not all(
        map(_is_count, known.values())
    ):
        raise BadInput(
            "shares of a population must add up to 1, or to 100 as percentages, or be whole numbers of people; these add up"
            " to {total}",
            total=f"{total:.6g}",
        )
    return {name: number / total for name, number in sizes.items()}


def _expect_these(population: Mapping[Any, Any], wanted: Sequence[str], groups: Sequence[str]) -> None:
    """Refuse a population that lacks a group, or has others."""
    missing = [name for name in wanted if name not in population]
    if missing:
        raise BadInput("the population says nothing of the groups {missing}", missing=listed_groups(missing))
    others = [str(name) for name in population if name not in wanted]
    if others:
        raise BadInput(
            "the population has groups that were not announced: {others}; the groups are {groups}",
            others=listed_groups(others),
            groups=listed_groups(groups),
        )


def _as_mapping(population: Any) -> Mapping[Any, Any]:  # noqa: ANN401
    """Read a file or a table, or take whatever has an index and numbers, as a column of pandas does."""
    if isinstance(population, str | Path) or is_frame(population):
        return read_population(population)
    if hasattr(population, "to_dict"):
        if not getattr(getattr(population, "index", None), "is_unique", True):
            raise BadInput(_TWICE)
        population = population.to_dict()
    if not isinstance(population, Mapping):
        raise BadInput("population must give each group its share or its people, as a mapping by name")
    return population


def read_population(source: Any) -> dict[str, float]:  # noqa: ANN401 - a path, or a table in memory
    """Read each group's share, or its people, from CSV, Parquet or a table in memory."""
    from optin.tables.table import names_in, read_table

    known = names_in(source)
    given = [name for name in _COLUMNS if name in known]
    if len(given) != 1 or "group" not in known:
        raise BadInput(
            "{path} must have the columns group and share, or group and people; it has {names}",
            path="the population" if is_frame(source) else str(source),
            names=", ".join(known),
        )
    table = read_table(source, ["group", given[0]])
    groups = table.texts("group")
    twice = next((at for at, name in enumerate(groups) if name in groups[:at]), None)
    if twice is not None:
        raise BadInput("{place}: " + _TWICE, place=table.place(twice))
    return dict(zip(groups, table.numbers(given[0]).tolist(), strict=True))


def _positive(numbers: Sequence[Any], name: str) -> float:
    """Add up what a group is made of."""
    if not all(map(_is_share, numbers)) or not sum(numbers) > 0.0:
        raise BadInput("the share of group {group} must be a positive number", group=shown_group(name))
    return math.fsum(map(float, numbers))


def _is_share(number: Any) -> bool:  # noqa: ANN401
    counts = isinstance(number, Real) and not isinstance(number, bool)
    return counts and bool(0.0 <= number < _MOST_PEOPLE)


def _is_count(number: Any) -> bool:  # noqa: ANN401
    return bool(number == math.floor(number))
