"""People who are assumed before anyone is asked: which limits they would choose, how many they are, in which groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from optin.errors import BadInput
from optin.kernel.pieces import Array
from optin.kernel.rounding import GRAIN

MIXES: dict[str, tuple[tuple[float, int], ...]] = {
    "careful": ((0.1, 50), (0.3, 40), (1.0, 10)),
    "mixed": ((0.1, 34), (0.5, 43), (1.0, 23)),
    "open": ((0.5, 20), (1.0, 40), (3.0, 40)),
}
"""Limits that people might choose: epsilon, and how many of a hundred choose it."""
MOST_PEOPLE = 10**9
MOST_GROUPS = 1_000
_HIGHEST = 1e6


def few_limits(limits: str | float | ArrayLike) -> tuple[Array, str]:
    """List the limits of a few people who stand for all, and say whose they are."""
    if isinstance(limits, str):
        if limits not in MIXES:
            raise BadInput(
                'limits must be {mixes}, one number, or people\'s limits; "{given}" is none of these',
                mixes=", ".join(MIXES),
                given=limits,
            )
        return np.repeat(*(np.array(part) for part in zip(*MIXES[limits], strict=True))).astype(float), limits
    try:
        few = np.atleast_1d(np.asarray(limits, dtype=float))
    except (TypeError, ValueError):
        raise BadInput("limits must be numbers") from None
    few = np.where(few < 1.0 / GRAIN, np.minimum(few, 0.0), few)
    if few.ndim != 1 or not few.size or not (few >= 0).all() or not (few > 0).any():
        raise BadInput("limits must be numbers of 0 or more, one of them positive")
    if (np.isfinite(few) & (few > _HIGHEST)).any():
        raise BadInput("limits must be infinite or at most {most:,.0f}", most=_HIGHEST)
    return few, f"{few[0]:g} each" if few.size == 1 else f"as {few.size:,} people had"


def group_sizes(people: object, groups: object) -> tuple[float, ...]:
    """Return how many people each group has: all of one size, or as given."""
    _check_count(people, "people")
    if isinstance(groups, Sequence | np.ndarray) and not isinstance(groups, str):
        for size in groups:
            _check_count(size, "each of groups")
        if sum(groups) != people:
            raise BadInput(
                "the sizes of groups add up to {total:,}, and people is {people:,}", total=sum(groups), people=people
            )
        if len(groups) > MOST_GROUPS:
            raise BadInput("there are more than {most:,} groups", most=MOST_GROUPS)
        return tuple(map(float, groups))
    _check_count(groups, "groups")
    many = cast("int", groups)
    if many > cast("int", people):
        raise BadInput("there are more groups than people")
    if many > MOST_GROUPS:
        raise BadInput("there are more than {most:,} groups", most=MOST_GROUPS)
    return (cast("int", people) / many,) * many


def _check_count(count: object, name: str) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST_PEOPLE:
        raise BadInput("{name} must be a whole number of 1 to 10^9", name=name)
