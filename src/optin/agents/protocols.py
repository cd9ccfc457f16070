"""What planning asks of people, whether their rows lie in memory (`optin.agents.models`) or in an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from optin.agents.benefit import Benefit, LinearBenefit, called, number_or_array
from optin.errors import BadInput, Place
from optin.kernel.bound import Tally
from optin.kernel.optimum import Design
from optin.kernel.pieces import Array, Limits
from optin.tables.how_read import Reading
from optin.tables.labels import ID, aligned
from optin.wording.records import OneLine

if TYPE_CHECKING:
    from optin.agents.models import PrivacyConstrained, QuasiLinear


Found = TypeVar("Found")


class Named(Protocol):
    """Public groups: their names, in the order of their code points."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each group."""


class LimitTable(Limits, Protocol):
    """What the planner asks of a table of limits, in memory or in an engine, beyond what the kernel does.

    Limits above ``ceiling`` are read as infinite; all answers are in units of 1 / ``scale``.
    """

    @property
    def scale(self) -> float:
        """A power of two."""

    @property
    def ceiling(self) -> float:
        """The largest cap these answers are right for."""

    @property
    def least(self) -> float:
        """The smallest positive finite limit."""

    @property
    def zeros(self) -> int:
        """How many limits are zero."""

    @property
    def infinite(self) -> int:
        """How many limits are infinite."""


class Constrained(OneLine, ABC):
    """People who accept any epsilon up to their own limit, in memory (`PrivacyConstrained`) or in an engine."""

    model = "privacy-constrained"
    most: float
    reading = Reading()
    """How the table they come from was read, if `optin.read` read one."""
    groups: Any = None
    by: tuple[str, ...] = ()
    """The columns their groups come from, if `optin.read` read them."""
    id_column: str = ID
    """The column their ids come from, by which a table of answers is matched to them."""

    def __repr__(self) -> str:
        return f"PrivacyConstrained({len(self)} people{_divided(self.groups)})"

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> Constrained:
        """Put people into other groups, by the place of each label among their names."""

    @abstractmethod
    def each_group(self, find: Callable[[int, Any], Found]) -> list[Found]:
        """Have something found of each group by itself, given its place; in an engine all groups share its scans."""

    @abstractmethod
    def table(self) -> LimitTable:
        """Return the limits as the kernel reads them."""

    @abstractmethod
    def scaled_table(self) -> LimitTable:
        """Return the limits in units of about the largest, for caps so high that squares would overflow."""

    @abstractmethod
    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design."""

    @abstractmethod
    def someone_above(self, bound: float) -> bool:
        """Tell whether someone set a finite limit above a bound; in an engine nobody looks for that."""

    @abstractmethod
    def in_memory(self) -> PrivacyConstrained:
        """Return people whose limits can be looked at one by one, or refuse."""


class Weighing(OneLine, ABC):
    """People who weigh a benefit against their own cost, in memory (`QuasiLinear`) or in an engine."""

    model = "quasi-linear"
    reading = Reading()
    """How the table they come from was read, if `optin.read` read one."""
    benefit: Benefit
    outside: Any
    index: Any
    groups: Any = None
    by: tuple[str, ...] = ()
    """The columns their groups come from, if `optin.read` read them."""
    id_column: str = ID
    """The column their ids come from, by which a table of answers is matched to them."""

    def __repr__(self) -> str:
        return f"QuasiLinear({len(self)} people{_divided(self.groups)}, benefit={benefit_name(self.benefit)})"

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> Weighing:
        """Put people into other groups, by the place of each label among their names."""

    @abstractmethod
    def each_group(self, find: Callable[[int, Any], Found]) -> list[Found]:
        """Have something found of each group by itself, given its place; in an engine all groups share its scans."""

    @abstractmethod
    def table(self) -> LimitTable:
        """Return t = 1/c as the kernel reads it (E10)."""

    @abstractmethod
    def table_at(self, variance: float, *, data_variance: float | None = None) -> LimitTable:
        """Return the limits at a variance as the kernel reads them."""

    @abstractmethod
    def scaled_at(self, variance: float, *, data_variance: float | None = None) -> tuple[LimitTable, float] | None:
        """Return a table and what its limits are to be multiplied by at a variance; None where nobody accepts anything."""

    @abstractmethod
    def tally(self, design: Design, *, variance: float | None = None, data_variance: float | None = None) -> Tally:
        """Compute the sums a certificate needs, at the cap of a design and the limits of a variance."""

    @abstractmethod
    def in_memory(self) -> QuasiLinear:
        """Return people whose costs can be looked at one by one, or refuse."""

    def outside_at(self, data_variance: float | None) -> float | Array:
        """Return the outside option as a number, or one for each person; never less than it is."""
        if not isinstance(self.outside, str):
            return self.outside  # type: ignore[no-any-return]
        if data_variance is None:
            raise BadInput('outside="own-data" needs the data variance: it is the benefit of one value alone')
        if isinstance(self.benefit, LinearBenefit):
            return self.benefit.above(data_variance)  # type: ignore[no-any-return]
        return expect_finite(
            self._called(data_variance), f"the benefit of one's own data, at variance {data_variance:g},"
        )

    def benefit_at(self, variance: float) -> float | Array:
        """Return the benefit at this variance, a number or one for each person; never more than it is."""
        if isinstance(self.benefit, LinearBenefit):
            return self.benefit.below(variance)  # type: ignore[no-any-return]
        return self._called(variance)

    def _called(self, variance: float) -> float | Array:
        return number_or_array(aligned(called(self.benefit, variance), self.index, "the benefit"))

    def surplus_at(self, variance: float, *, data_variance: float | None = None) -> float | Array:
        """Return benefit - outside at this variance, a number or one for each person."""
        return self.benefit_at(variance) - self.outside_at(data_variance)


def _divided(groups: Named | None) -> str:
    return "" if groups is None else f" in {len(groups.names)} group{'s' * (len(groups.names) != 1)}"


def benefit_name(benefit: Callable[..., Any]) -> str:
    """Name a benefit for people to read; it is never called by that name."""
    return repr(benefit) if isinstance(benefit, LinearBenefit) else getattr(benefit, "__name__", type(benefit).__name__)


def expect_finite(value: float | Array, name: str) -> float | Array:
    """Refuse what is not finite."""
    wrong = ~np.isfinite(np.atleast_1d(value))
    if wrong.any():
        place = Place(int(np.argmax(wrong)), name) if name == "outside" else name
        raise BadInput("{place} is not finite; give a finite number", place=place)
    return value
