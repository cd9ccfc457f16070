"""Read people from files as the agents of a plan, and name files and lines where the library names an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput, OptinError, Place
from optin.tables.how_read import AS_FOUND, HowRead, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from optin.agents import Agents
    from optin.engine.opening import Described
    from optin.tables import Table


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns hold what, and for people who weigh costs what accuracy is worth: kept in plan.json."""

    id: str = "id"
    limits: str | None = None
    limit: float | None = None
    """One limit for everyone, where no column has their own."""
    budgets: str | None = None
    costs: str | None = None
    benefit_base: float | None = None
    benefit_slope: float | None = None
    outside: float | str = 0.0
    allowances: str | None = None
    total: float | None = None
    by: tuple[str, ...] = ()
    """The columns whose labels, or combinations of labels, are public groups."""

    @property
    def quasi_linear(self) -> bool:
        """Whether people weigh costs against a benefit."""
        return self.benefit_base is not None

    @property
    def names(self) -> list[str]:
        """List the columns that say who people are and what they accept."""
        return [name for name in (self.id, self.limits, self.budgets, self.costs) if name is not None]

    @property
    def say_limits(self) -> bool:
        """Whether it is said what people accept, by columns or by one number."""
        return len(self.names) > 1 or self.limit is not None

    def check(self) -> Columns:
        """Insist on exactly one of the three ways to say what people accept."""
        from optin.agents.grouping import expect_public

        benefit = self.benefit_base is not None or self.benefit_slope is not None
        limits = (self.limits is not None) + (self.limit is not None)
        given = (limits, self.budgets is not None, self.costs is not None, benefit)
        if given not in ((1, False, False, False), (0, True, True, False), (0, False, True, True)):
            raise BadInput(
                "say what people accept in one way: --limits COL, or --limit NUMBER for everyone, or --budgets COL --costs"
                " COL, or --costs COL --benefit-base A --benefit-slope B"
            )
        expect_public(self.by, (self.allowances,), "allowances")
        if self.allowances is not None and self.total is not None:
            raise BadInput("--total is one number for everyone and --allowances a column of them: give one of the two")
        if benefit and (self.benefit_base is None or self.benefit_slope is None):
            raise BadInput("a benefit is base - slope * variance: give both --benefit-base and --benefit-slope")
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return what was set, for plan.json."""
        columns = {name: value for name, value in asdict(self).items() if value is not None and name != "by"}
        return columns | ({"by": list(self.by)} if self.by else {})

    @classmethod
    def from_plan(cls, record: dict[str, Any]) -> Columns | None:
        """Read what `as_dict` wrote into a plan, if it is there and whole."""
        stored = record.get("columns")
        try:
            return cls(**stored | {"by": tuple(stored.get("by", ()))}).check() if isinstance(stored, dict) else None
        except TypeError:
            return None


@dataclass(frozen=True)
class ReadPeople:
    """A table and the agents it describes; no table where people stay in an engine."""

    table: Table | None
    agents: Agents
    allowances: NDArray[np.float64] | str | float | None = None
    """What each allows over all releases of a ledger, where that is not their first limit; in an engine the column's name."""
    left_out: int = 0
    """How many rows could not be used and were left out, because someone named a file for them."""


def read_people(
    path: str,
    columns: Columns,
    *,
    more: Sequence[str] = (),
    engine: str | None = "memory",
    check_ids: bool = False,
    how: HowRead = AS_FOUND,
) -> ReadPeople:
    """Read the columns (and ``more`` of them, for values and answers) and build agents; None chooses the engine by size.

    How the table was read is said, unless it was as plain as can be.
    """
    from optin.cli.screen import note, working
    from optin.engine import check_engine, engine_for
    from optin.tables import read_table

    check_engine(engine)
    with working("reading people"):
        chosen = engine_for(path, how) if engine is None else engine
        totals = columns.allowances
        if chosen != "memory":
            agents = _engine_agents(path, columns, chosen, check_ids=check_ids, how=how)
            people = ReadPeople(None, agents, totals or columns.total, agents.reading.left_out)
        else:
            read = [*columns.names, *columns.by, *([] if totals is None else [totals]), *more]
            table = read_table(path, read, how=how)
            agents, left = usable_people(table, columns)
            stated = columns.total if totals is None else left.numbers(totals)
            people = ReadPeople(left, agents, stated, agents.reading.left_out)
    if str(agents.reading):
        note(said_of(agents.reading, how))
    return people


def usable_people(table: Table, columns: Columns) -> tuple[Agents, Table]:
    """Build the agents that a table describes, and return it without the rows that were left out."""
    from optin.engine import opening

    return opening.usable_agents(table, described(columns))


def said_of(reading: Reading, how: HowRead) -> str:
    """Say how a table was read, and where the rows are that were left out."""
    return f"{reading}, and written to {how.skip_bad}" if reading.left_out else str(reading)


def _engine_agents(path: str, columns: Columns, engine: str, *, check_ids: bool, how: HowRead) -> Agents:
    """Leave people where they are."""
    from optin.engine import read

    said = {**vars(described(columns))}
    return read(path, groups=said.pop("by"), **said, engine=engine, check_ids=True if check_ids else None, **vars(how))


def agents_of(table: Table, columns: Columns) -> Agents:
    """Build the agents that a table describes."""
    return usable_people(table, columns)[0]


def described(columns: Columns) -> Described:
    """Name the columns, and what accuracy is worth, as the library does."""
    from optin.agents import LinearBenefit
    from optin.engine.opening import Described

    worth = LinearBenefit(base=columns.benefit_base, slope=columns.benefit_slope) if columns.quasi_linear else None
    names = {name: getattr(columns, name) for name in ("id", "limits", "limit", "budgets", "costs")}
    return Described(**names, benefit=worth, outside=columns.outside, by=columns.by)


def source_of(path: Path, planned: Columns | None, given: Columns) -> Columns:
    """Settle which columns to read: those given, else those of the plan, of which totals stay even where limits are given."""
    source = planned if not given.say_limits else given.check()
    if source is None:
        raise BadInput(
            "{path} does not say which columns to read; give --limits COL, or plan again with optin plan", path=path
        )
    source = replace(source, by=given.by or (planned.by if planned else ()))
    if given.allowances is not None or given.total is not None or planned is None:
        return replace(source, allowances=given.allowances, total=given.total)
    return replace(source, allowances=planned.allowances, total=planned.total)


@contextmanager
def located(table: Table | None) -> Iterator[None]:
    """Name file and line in a failure that names an index: that is where its reader will look. Engines name the id."""
    with _retold(lambda place: place.at(table.place(place.index)) if table is not None else place):
        yield


@contextmanager
def named(ids: Sequence[str]) -> Iterator[None]:
    """Name the id in a failure that names an index: these ids were typed, and no file was."""
    with _retold(lambda place: f"id {ids[place.index]}"):
        yield


@contextmanager
def _retold(say: Callable[[Place], object]) -> Iterator[None]:
    try:
        yield
    except OptinError as error:
        error.retell(lambda said: say(said) if isinstance(said, Place) else said)
        raise
