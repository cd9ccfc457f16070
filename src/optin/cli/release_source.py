"""How a release is drawn for the command line: which columns, from memory or an engine, with a ledger or without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.cli.announced_table import announced_table
from optin.cli.people_files import Columns, agents_of, read_people, said_of, usable_people
from optin.errors import BadInput
from optin.tables.how_read import AS_FOUND, HowRead, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from optin.agents import Agents
    from optin.announcement import Announcement
    from optin.campaign import Quorum
    from optin.cli.answers import AnswerColumns
    from optin.ledger import Ledger
    from optin.participation import Turnout
    from optin.releasing import Release
    from optin.tables import Table


@dataclass(frozen=True)
class Released:
    """What a release is drawn from: a table, its columns, what is asked, and how the table is read."""

    path: str
    given: Columns
    asked: AnswerColumns
    offer: Announcement
    how: HowRead = AS_FOUND

    def __post_init__(self) -> None:
        """Leave out rows only where it is known what makes one bad."""
        if self.how.skip_bad is not None and not self.given.say_limits:
            raise BadInput(
                "--skip-bad needs to know the columns: name them (--limits COL, or --budgets COL --costs COL)"
            )


def read_released(
    read: Released, engine: str | None, *, check_ids: bool, ledger: Ledger | None
) -> tuple[Table | None, Agents | None, Columns]:
    """Read the named columns and the people they describe, or all columns where the limits have to be found.

    People of an engine come without a table, and their columns are found here.
    """
    from optin.engine import check_engine, engine_for
    from optin.tables import names_in, read_table

    check_engine(engine)
    path, given, how = read.path, read.given, read.how
    chosen = engine_for(path, how) if engine is None else engine
    if chosen != "memory":
        source = _engine_columns(read, chosen, ledger)
        return None, read_people(path, source, engine=chosen, check_ids=check_ids, how=how).agents, source
    with screen.working("reading people"):
        expected = [*given.names, *given.by, *read.asked.all(names_in(path, how))]
        named = given.say_limits
        table = read_table(path, expected if named else None, expected=expected, how=how)
        if named:
            agents, table = usable_people(table, _settled(read.offer, given))
    reading = agents.reading if named else Reading(table.words([]))
    if str(reading):
        screen.note(said_of(reading, how))
    return table, agents if named else None, given


def _engine_columns(read: Released, engine: str, ledger: Ledger | None) -> Columns:
    """Settle the columns of people who stay in an engine: those given, or those that add up there."""
    from optin.cli.announced_columns import columns_in_engine

    given = read.given
    if given.say_limits:
        return _settled(read.offer, given)
    with screen.working("finding columns"):
        return columns_in_engine(read, engine=engine, ledger=ledger)


def quorum_of(people: int, standard_error: float | None) -> tuple[Quorum, list[Turnout]]:
    """Say when a release is worth its price, and note who came: nobody, where a stored release comes back."""
    from optin.campaign import Quorum

    came: list[Turnout] = []

    class Noting(Quorum):
        def expect(self, turnout: Turnout) -> None:
            super().expect(turnout)
            came.append(turnout)

    more = {} if standard_error is None else {"standard_error": standard_error}
    return Noting(people=people, **more), came


@dataclass(frozen=True)
class Taking:
    """Who is released, what they answered and who joined: columns, or in an engine their names."""

    agents: Agents
    columns: Columns
    answers: Any
    joined: NDArray[np.bool_] | str | None


def taking_of(
    offer: Announcement,
    table: Table | None,
    agents: Agents | None,
    given: Columns,
    asked: AnswerColumns,
    ledger: Ledger | None,
) -> Taking:
    """Read answers and who joined, unless they stay in an engine."""
    from optin.cli.announced_columns import announced_columns

    if table is None:
        assert agents is not None  # noqa: S101 — people are in memory or in an engine
        return Taking(agents, given, asked.values, asked.joined)
    people = lru_cache(maxsize=1)(partial(agents_of, table))  # those of the columns that add up were made to see it
    if not given.say_limits:
        besides = set(asked.all(table.names))
        source = announced_columns(offer, table, people, given=given, besides=besides, ledger=ledger)
    else:
        source = _settled(offer, given)
    joined = table.truths(asked.joined) if asked.joined else None
    return Taking(people(source) if agents is None else agents, source, asked.read(table), joined)


def draw(
    offer: Announcement,
    taking: Taking,
    table: Table | None,
    ledger: Ledger | None,
    *,
    quorum: Quorum,
    allow_no_noise: bool,
) -> Release:
    """Check the table, then draw: with a ledger accountably, without one for a look."""
    from optin import campaign
    from optin.participation import check_table

    agents, joined = taking.agents, taking.joined
    with announced_table(offer, table, agents, ledger):
        check_table(offer, agents)
        if ledger is not None:
            return campaign.release(
                offer,
                agents,
                taking.answers,
                ledger=ledger,
                joined=joined,
                quorum=quorum,
                allow_no_noise=allow_no_noise,
            )
        return campaign.look(offer, agents, taking.answers, joined=joined, quorum=quorum, allow_no_noise=allow_no_noise)


def _settled(offer: Announcement, given: Columns) -> Columns:
    from optin.cli.announced_columns import quasi_linear_columns

    if offer.model == "quasi-linear" and given.costs is not None and given.budgets is None:
        return quasi_linear_columns(offer, given, given.costs)
    return given.check()
