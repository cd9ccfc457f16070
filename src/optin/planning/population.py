"""How much each group counts in the whole: by the people announced, or by what is known of a population (E27)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from optin.errors import BadInput
from optin.wording.groups import listed_groups, shown_group

_NEARLY_ONE = 1e-6
_MOST_PEOPLE = 1e15
_COLUMNS = ("share", "people")


def population_shares(population: Any, groups: Sequence[str]) -> dict[str, float]:  # noqa: ANN401
    """Check what is known of a population, and return the share of each group.

    ``population`` gives every group, and no other, its share (they add up to 1) or its people (whole numbers); a file has
    the columns ``group`` and ``share``, or ``group`` and ``people``.

    >>> population_shares({"ER": 300, "ICU": 100}, ("ER", "ICU"))
    {'ER': 0.75, 'ICU': 0.25}
    """
    if not isinstance(population, Mapping):
        population = _as_mapping(population)
    missing = [name for name in groups if name not in population]
    others = [str(name) for name in population if name not in groups]
    if missing:
        raise BadInput("the population says nothing of the groups {missing}", missing=listed_groups(missing))
    if others:
        raise BadInput(
            "the population has groups that were not announced: {others}; the groups are {groups}",
            others=listed_groups(others),
            groups=listed_groups(groups),
        )
    sizes = {name: _positive(population[name], name) for name in groups}
    total = math.fsum(sizes.values())
    if abs(total - 1.0) > _NEARLY_ONE and not all(number == math.floor(number) for number in sizes.values()):
        raise BadInput("shares of a population must add up to 1, or be whole numbers of people")
    return {name: number / total for name, number in sizes.items()}


def _as_mapping(population: Any) -> Mapping[Any, Any]:  # noqa: ANN401
    """Read a file, or take whatever has an index and numbers, as a column of pandas does."""
    if isinstance(population, str | Path):
        return read_population(str(population))
    if hasattr(population, "to_dict"):
        if not getattr(getattr(population, "index", None), "is_unique", True):
            raise BadInput("the population names a group twice; give each group one number")
        population = population.to_dict()
    if not isinstance(population, Mapping):
        raise BadInput("population must give each group its share or its people, as a mapping by name")
    return population


def read_population(path: str) -> dict[str, float]:
    """Read each group's share, or its people, from CSV or Parquet."""
    from optin.tables.table import names_in, read_table

    known = names_in(path)
    given = [name for name in _COLUMNS if name in known]
    if len(given) != 1:
        raise BadInput(
            "{path} must have the columns group and share, or group and people; it has {names}",
            path=path,
            names=", ".join(known),
        )
    table = read_table(path, ["group", given[0]], expected=["group"])
    return dict(zip(table.ids("group"), table.numbers(given[0]).tolist(), strict=True))


def _positive(number: Any, name: str) -> float:  # noqa: ANN401
    counts = isinstance(number, Real) and not isinstance(number, bool)
    if not counts or not 0.0 < number < _MOST_PEOPLE:
        raise BadInput("the share of group {group} must be a positive number", group=shown_group(name))
    return float(number)
