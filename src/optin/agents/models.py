"""The two agent models: people who set a limit, and people who weigh benefit against privacy cost."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from optin.agents.benefit import Benefit, LinearBenefit, taken
from optin.agents.grouping import Groups, column_names, grouped
from optin.agents.protocols import Constrained, Found, LimitTable, Weighing, expect_finite
from optin.errors import BadInput
from optin.kernel.bound import Tally, tally_of
from optin.kernel.optimum import Design
from optin.kernel.passes import ArrayLimits
from optin.kernel.pieces import Array
from optin.kernel.rounding import above, quotient_below
from optin.tables.columns import EXTREME, Wanted, checked_ids, column, has_rows, numbers, same_rows
from optin.tables.labels import expect_labels, named_ids, together

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyConstrained(Constrained):
    """People who accept any epsilon up to their own limit (tau of the paper).

    ``limits`` are numbers >= 0 (infinity allowed), kept as a view of what was given. ``index`` are people's labels: those
    of the columns they are made from, if any, and whatever is given for them later is matched by these. ``groups`` are
    public labels, one text a person: each group is then planned, announced and released by itself (E27).

    >>> PrivacyConstrained([1, 4, 9, 9])
    PrivacyConstrained(4 people)
    >>> PrivacyConstrained([1, 4, 9, 9], groups=["ER", "ICU", "ICU", "ICU"])
    PrivacyConstrained(4 people in 2 groups)
    """

    limits: Array
    ids: tuple[str, ...] | None = field(default=None, kw_only=True)
    index: Any = field(default=None, kw_only=True)
    groups: Any = field(default=None, kw_only=True)
    most: float = field(init=False)

    if TYPE_CHECKING:  # columns of any kind are welcome, and kept as arrays and tuples

        def __init__(
            self,
            limits: ArrayLike,
            *,
            ids: Iterable[Any] | None = None,
            index: Any = None,  # noqa: ANN401
            groups: Any = None,  # noqa: ANN401
        ) -> None: ...

    def __post_init__(self) -> None:
        columns = {"limits": self.limits, "ids": self.ids, **_labelled(self.groups)}
        index, (limits, ids, *groups) = together(columns, self.index)
        same_rows(limits, ids, ("limits", "ids"))
        for name, value in (("index", index), ("id_column", named_ids(ids)), ("ids", ids)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "limits", column(limits, "limits"))
        expect_labels(index, len(self.limits))
        object.__setattr__(self, "ids", checked_ids(self.ids, len(self.limits)))
        object.__setattr__(self, "by", column_names(self.groups))
        object.__setattr__(self, "groups", grouped(groups[0] if groups else self.groups, len(self.limits)))
        object.__setattr__(self, "most", float(self.limits.max()))

    @classmethod
    def from_budgets(
        cls,
        budgets: Any,  # noqa: ANN401
        costs: Any,  # noqa: ANN401
        *,
        ids: Any = None,  # noqa: ANN401
        index: Any = None,  # noqa: ANN401
        groups: Any = None,  # noqa: ANN401
    ) -> PrivacyConstrained:
        """Set each limit to budget over cost; a cost of 0 means no limit at all, also with budget 0.

        The quotient is rounded down: cost times limit is never above the budget, in exact arithmetic.

        >>> PrivacyConstrained.from_budgets([1, 0, 0], [4, 2, 0]).limits.tolist()
        [0.25, 0.0, inf]
        """
        columns = {"budgets": budgets, "costs": costs, "ids": ids, "groups": groups}
        index, (budgets, costs, ids, groups) = together(columns, index)
        same_rows(budgets, costs, ("budgets", "costs"))
        budget, cost = column(budgets, Wanted.budgets("budgets")), column(costs, Wanted.costs("costs"))
        return cls(quotient_below(budget, cost), ids=ids, index=index, groups=groups)

    def __len__(self) -> int:
        return len(self.limits)

    def table(self) -> LimitTable:
        """Return the limits as the kernel reads them."""
        extreme = self.most > EXTREME and self.most_finite > EXTREME
        return ArrayLimits(self.limits, ceiling=EXTREME if extreme else math.inf)

    @property
    def most_finite(self) -> float:
        """The largest limit that anyone set."""
        return _largest_finite(self.limits)

    def scaled_table(self) -> LimitTable:
        """Return the limits in units of about the largest, for caps so high that squares would overflow."""
        return ArrayLimits(self.limits, scale=2.0 ** -math.frexp(self.most_finite)[1])

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design."""
        return tally_of(self.limits, design)

    def someone_above(self, bound: float) -> bool:
        """Tell whether someone set a finite limit above a bound."""
        return self.most > bound and self.most_finite > bound

    def limits_at(self, variance: float | None = None, *, data_variance: float | None = None) -> Array:
        """Return the limits, which do not depend on the variance here."""
        return self.limits

    def in_memory(self) -> PrivacyConstrained:
        """Return these people, who are."""
        return self

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> PrivacyConstrained:
        """Put people into other groups, by the place of each label among their names."""
        return _divided_anew(self, self.groups.put_into(places, names))

    def parts(self) -> Iterator[PrivacyConstrained]:
        """List the people of each group, in the order of the names of groups, without ids."""
        return map(_limited_to, self.groups.divided(self.limits))

    def each_group(self, find: Callable[[int, PrivacyConstrained], Found]) -> list[Found]:
        """Have something found of each group by itself, given its place."""
        return [find(place, part) for place, part in enumerate(self.parts())]


@dataclass(frozen=True, eq=False, repr=False)
class QuasiLinear(Weighing):
    """People who join iff benefit(variance) - cost * epsilon is at least their outside option.

    ``benefit`` never rises with the variance: a `LinearBenefit` or any callable, giving one number or one for each person.
    ``outside`` is a number, one for each person, or "own-data": the benefit of using only one's own value.

    >>> QuasiLinear([1, 0.25], benefit=LinearBenefit(base=1.28125, slope=1.0))
    QuasiLinear(2 people, benefit=LinearBenefit(base=1.28125, slope=1.0))
    """

    costs: Array
    benefit: Benefit = field(default_factory=LinearBenefit, kw_only=True)
    outside: Any = field(default=0.0, kw_only=True)
    ids: tuple[str, ...] | None = field(default=None, kw_only=True)
    index: Any = field(default=None, kw_only=True)
    groups: Any = field(default=None, kw_only=True)

    if TYPE_CHECKING:

        def __init__(
            self,
            costs: ArrayLike,
            *,
            benefit: Benefit = ...,
            outside: Any = 0.0,  # noqa: ANN401
            ids: Iterable[Any] | None = None,
            index: Any = None,  # noqa: ANN401
            groups: Any = None,  # noqa: ANN401
        ) -> None: ...

    def __post_init__(self) -> None:
        line = self.benefit if isinstance(self.benefit, LinearBenefit) else None
        columns = {"costs": self.costs, "ids": self.ids, "outside": self.outside, "the benefit": line}
        index, (costs, ids, outside, line, *groups) = together(columns | _labelled(self.groups), self.index)
        same_rows(costs, ids, ("costs", "ids"))
        made = {"index": index, "id_column": named_ids(ids), "ids": ids}
        for name, value in (made | {"benefit": self.benefit if line is None else line}).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "costs", column(costs, Wanted.costs("costs")))
        expect_labels(index, len(self.costs))
        object.__setattr__(self, "ids", checked_ids(self.ids, len(self.costs)))
        object.__setattr__(self, "by", column_names(self.groups))
        object.__setattr__(self, "groups", grouped(groups[0] if groups else self.groups, len(self.costs)))
        if not callable(self.benefit):
            raise BadInput(
                "benefit must be callable: optin.LinearBenefit(base=…, slope=…), or a function of the variance"
            )
        if isinstance(self.benefit, LinearBenefit):
            self.benefit.expect_rows_of(self.costs)
        object.__setattr__(self, "outside", _outside(outside, self.costs))

    def __len__(self) -> int:
        return len(self.costs)

    def cost_of(self, epsilons: Array) -> Array:
        """Return what everyone's epsilon costs them; who bears no cost pays nothing for an infinite one either.

        >>> QuasiLinear([0, 2]).cost_of(np.array([math.inf, 3.0])).tolist()
        [0.0, 6.0]
        """
        return np.multiply(self.costs, epsilons, out=np.zeros(len(self)), where=self.costs > 0)

    def table(self) -> LimitTable:
        """Return t = 1/c as the kernel reads it (E10)."""
        return ArrayLimits(self.costs, inverse=True)

    def table_at(self, variance: float, *, data_variance: float | None = None) -> LimitTable:
        """Return the limits at a variance as the kernel reads them."""
        return PrivacyConstrained(self.limits_at(variance, data_variance=data_variance)).table()

    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design and the limits of a variance."""
        return tally_of(self.limits_at(variance or 0.0, data_variance=data_variance), design)

    def limits_at(self, variance: float, *, data_variance: float | None = None) -> Array:
        """Return the epsilon at which each person is indifferent: max(surplus, 0) / cost (E9)."""
        surplus = np.asarray(self.surplus_at(variance, data_variance=data_variance), dtype=np.float64)
        return indifferent(surplus, self.costs)

    def scaled_at(self, variance: float, *, data_variance: float | None = None) -> tuple[LimitTable, float] | None:
        """Return the limits at a variance, as they are."""
        limits = self.limits_at(variance, data_variance=data_variance)
        return (PrivacyConstrained(limits).table(), 1.0) if (limits > 0).any() else None

    def in_memory(self) -> QuasiLinear:
        """Return these people, who are."""
        return self

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> QuasiLinear:
        """Put people into other groups, by the place of each label among their names."""
        return _divided_anew(self, self.groups.put_into(places, names))

    def parts(self) -> Iterator[QuasiLinear]:
        """List the people of each group, in the order of the names of groups, without ids."""
        return map(self._part, self.groups)

    def _part(self, rows: Any) -> QuasiLinear:  # noqa: ANN401 - places of people
        outside = self.outside if np.ndim(self.outside) == 0 else self.outside[rows]
        return QuasiLinear(self.costs[rows], benefit=taken(self.benefit, rows, self.index), outside=outside)

    def each_group(self, find: Callable[[int, QuasiLinear], Found]) -> list[Found]:
        """Have something found of each group by itself, given its place."""
        return [find(place, part) for place, part in enumerate(self.parts())]


Agents = Constrained | Weighing
InMemory = PrivacyConstrained | QuasiLinear
Either = TypeVar("Either", PrivacyConstrained, QuasiLinear)


def _limited_to(limits: Array) -> PrivacyConstrained:
    """Return people with limits that were checked before."""
    people = object.__new__(PrivacyConstrained)
    known = {"limits": limits, "ids": None, "index": None, "groups": None}
    for name, value in (known | {"most": float(limits.max(initial=0.0))}).items():
        object.__setattr__(people, name, value)
    return people


def _divided_anew(agents: Either, groups: Groups) -> Either:
    """Return the same people, whom nobody checks again, in other groups."""
    people = copy.copy(agents)
    object.__setattr__(people, "groups", groups)
    return people


def _labelled(groups: Any) -> dict[str, Any]:  # noqa: ANN401
    """Name labels that still stand in a column; those that were checked before have no labels of their own."""
    return {} if groups is None or isinstance(groups, Groups) else {"groups": groups}


def indifferent(surplus: Array, costs: Array) -> Array:
    """Divide surplus by cost; who bears no cost accepts anything worth joining for, and nothing below that (E9)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        limits = np.maximum(surplus, 0.0) / costs
    free = costs == 0
    if free.any():
        limits = np.where(free, np.where(surplus >= 0, math.inf, 0.0), limits)
    return np.asarray(limits)


def _outside(outside: Any, costs: Array) -> float | Array | Literal["own-data"]:  # noqa: ANN401
    if isinstance(outside, str):
        if outside != "own-data":
            raise BadInput('outside must be a number, one number for each person, or "own-data"')
        return "own-data"
    same_rows(costs, outside, ("costs", "outside"))
    value = expect_finite(numbers(outside if has_rows(outside) else [outside], "outside", rounded=above), "outside")
    return float(value[0]) if np.ndim(outside) == 0 else value  # type: ignore[index]


def _largest_finite(limits: Array) -> float:
    largest = float(limits.max())
    if math.isinf(largest):
        largest = float(np.max(limits, where=np.isfinite(limits), initial=0.0))
    return largest
