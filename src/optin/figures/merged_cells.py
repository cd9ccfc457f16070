"""Groups of people for pictures and tables: neighbours merged until nobody stands alone.

Pictures show limits, which nothing here protects. A cell that could be a handful of people is joined to its neighbour,
so that no mark and no row stands for a person.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from optin.agents import Agents, Bucket, Description, describe
from optin.planning import Plan
from optin.wording.groups import SMALLEST_GROUP
from optin.wording.numbers import outward
from optin.wording.records import Brief

SMALLEST_CELL = SMALLEST_GROUP
GROUPS = 8
PeopleShown = Agents | Description
"""Whom a picture is of: the people themselves, or the description that a plan was written with."""


def described(plan: Plan, people: PeopleShown) -> Description:
    """Describe people as a plan sees them, unless that was done before."""
    if isinstance(people, Description):
        return people
    return describe(people, variance=plan.promised_variance, data_variance=plan.data_variance)


@dataclass(frozen=True, repr=False)
class Cell(Brief):
    """People with neighbouring limits: how many, the sums of their limits and epsilons, and their pull on the error.

    ``pull`` is sum tau max(cap - tau, 0): the cell's part of E1, which is also its part of what the variance would lose
    if everyone allowed one per cent more (E7).
    """

    low: float
    high: float
    count: int
    total: float
    granted: float
    pull: float

    @property
    def limit(self) -> float:
        """Return the mean limit; infinite if someone here has none."""
        return self.total / self.count

    @property
    def epsilon(self) -> float:
        """Return the mean epsilon granted."""
        return self.granted / self.count

    @property
    def pulled(self) -> bool:
        """Whether someone here has a positive limit below the cap."""
        return self.pull > 0

    def __add__(self, other: Cell) -> Cell:
        return Cell(
            min(self.low, other.low),
            max(self.high, other.high),
            self.count + other.count,
            self.total + other.total,
            self.granted + other.granted,
            self.pull + other.pull,
        )


def cells(plan: Plan, people: PeopleShown, *, smallest: int = SMALLEST_CELL) -> tuple[Cell, ...]:
    """List cells of at least ``smallest`` people by rising limit; none at all if there are fewer people than that.

    Cells end at the cap unless that would leave a single one of people enough for two.

    >>> import optin
    >>> people = optin.PrivacyConstrained([1.0] * 12 + [2.0] * 8 + [3.0] * 9)
    >>> plan, description = optin.plan(people, bounds=(0, 1), sd=0.1), optin.describe(people)
    >>> [(cell.count, cell.low, cell.high) for cell in cells(plan, people)]
    [(12, 1.0, 1.0), (17, 2.0, 3.0)]
    >>> cells(plan, description, smallest=30)
    ()
    """
    description = described(plan, people)
    merged = _merged(_fine(plan, description), smallest)
    if len(merged) == 1 and description.people >= 2 * smallest:
        return _merged(_fine(plan, description), smallest, across=True)
    return merged


def groups(plan: Plan, people: PeopleShown, *, most: int = GROUPS, smallest: int = SMALLEST_CELL) -> tuple[Cell, ...]:
    """List about ``most`` groups of about equally many people, each of at least ``smallest``, for tables."""
    description = described(plan, people)
    enough = max(smallest, math.ceil(description.people / most))
    return _merged(cells(plan, description, smallest=smallest), smallest, enough)


def coarse(description: Description, *, smallest: int = SMALLEST_CELL) -> Description:
    """Merge buckets until each holds ``smallest`` people and round their edges outwards: what may be printed of a description.

    A few people with limit 0, or with none, go to the neighbouring bucket. Edges stay exact where a whole bucket shares
    one limit. Rounding down never lets a reference point look better than it is.

    >>> import optin
    >>> coarser = coarse(optin.describe(optin.PrivacyConstrained([0.0, 0.01234, *[0.5] * 12, 0.7654])))
    >>> [(b.low, b.high, b.count) for b in coarser.buckets], coarser.zeros
    ([(0.012, 0.77, 15)], 0)
    """
    buckets, zeros, infinite = list(description.buckets), description.zeros, description.infinite
    if buckets and zeros < smallest:
        buckets[0], zeros = replace(buckets[0], count=buckets[0].count + zeros), 0
    if buckets and infinite < smallest:
        last = buckets[-1]
        more = Bucket(last.high, last.high, infinite, infinite * last.high, infinite * last.high**2)
        buckets[-1], infinite = _together(last, more), 0
    done: list[Bucket] = []
    for bucket in buckets:
        done = [*done[:-1], _together(done[-1], bucket)] if done and done[-1].count < smallest else [*done, bucket]
    if len(done) > 1 and done[-1].count < smallest:
        done[-2:] = [_together(*done[-2:])]
    return Description(description.people, zeros, infinite, tuple(_rounded(bucket) for bucket in done))


def _together(first: Bucket, second: Bucket) -> Bucket:
    return Bucket(
        min(first.low, second.low),
        max(first.high, second.high),
        first.count + second.count,
        first.total + second.total,
        first.squares + second.squares,
    )


def _rounded(bucket: Bucket) -> Bucket:
    mean = bucket.total / bucket.count
    if bucket.squares <= bucket.count * mean * mean * (1 + 1e-12):
        return replace(bucket, low=mean, high=mean)
    return replace(bucket, low=outward(bucket.low, 0.0, loose=0.0)[0], high=outward(0.0, bucket.high)[1])


def _fine(plan: Plan, description: Description) -> Iterator[Cell]:
    if description.zeros:
        yield Cell(0.0, 0.0, description.zeros, 0.0, 0.0, 0.0)
    for bucket in description.buckets:
        yield _cell(plan, bucket)
    if description.infinite:
        yield Cell(math.inf, math.inf, description.infinite, math.inf, description.infinite * plan.cap, 0.0)


def _cell(plan: Plan, bucket: Bucket) -> Cell:
    """Narrow a bucket's edges by Samuelson's inequality: everyone lies within mean ± sd sqrt(count - 1)."""
    mean = bucket.total / bucket.count
    away = math.sqrt(max(bucket.squares / bucket.count - mean * mean, 0.0) * (bucket.count - 1))
    low, high = max(bucket.low, mean - away), min(bucket.high, mean + away)
    if mean >= plan.cap:
        return Cell(low, high, bucket.count, bucket.total, bucket.count * plan.cap, 0.0)
    pull = bucket.total if math.isinf(plan.cap) else plan.cap * bucket.total - bucket.squares
    return Cell(low, high, bucket.count, bucket.total, bucket.total, pull)


def _merged(
    fine: Iterable[Cell], smallest: int, enough: int | None = None, *, across: bool = False
) -> tuple[Cell, ...]:
    """Gather neighbours from below until a cell has ``enough`` people; none stays below ``smallest``.

    A cell that is large by itself stays itself, and a cell does not reach ``across`` the cap unless it must: a small rest
    goes to the cell before it.
    """
    done: list[Cell] = []
    held: Cell | None = None
    for cell in fine:
        if held is not None and (cell.count >= (enough or smallest) or (held.pulled != cell.pulled and not across)):
            held = _settle(done, held, smallest)
        held = cell if held is None else held + cell
        if held.count >= (enough or smallest):
            done.append(held)
            held = None
    if held is not None:
        rest = _settle(done, held, smallest)
        if rest is not None and rest.count >= smallest:
            done.append(rest)
    return tuple(done)


def _settle(done: list[Cell], held: Cell, smallest: int) -> Cell | None:
    """Close a cell early: on its own if large enough, else as part of the one before; return it if there is none."""
    if held.count >= smallest:
        done.append(held)
    elif done:
        done.append(done.pop() + held)
    else:
        return held
    return None
