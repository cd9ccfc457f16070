"""Limits (or costs) in cells of at least ten people; never two sets of cells in a campaign that a few people tell apart.

Whether new cells are shown is decided as registration closes, and written down together with them: beside each set that was
shown before, in whatever round, nothing may have changed or ten people must differ. Otherwise the last ones are shown again.
How a choice was before it was made anew is not kept. Who may have differed then counts as a change, never towards the ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optin.client.wire import Cell
from optin.errors import PromiseBroken
from optin.web.schema import accounts, events, registrations
from optin.web.service.core import Service, log_event, words_of
from optin.web.service.drafts import Draft
from optin.web.service.ladder import ladder_of
from optin.web.service.lookups import READER, owned_row, people_of
from optin.web.service.records import Visitor
from optin.wording.groups import SMALLEST_GROUP
from optin.wording.language import N_, _
from optin.wording.sentences import Sentence

SMALLEST_CELL = SMALLEST_GROUP
_CLOSED, _SHOWN, _AGAIN = "close-registration", "cells", "cells-again"
_NOTE = N_(
    "Fewer than {people} people joined, left or chose anew since these groups were shown: beside the groups of before, new ones "
    "would single them out."
)


@dataclass(frozen=True)
class Cells:
    """Cells of at least ten people, and a note where they are those of before."""

    cells: tuple[Cell, ...]
    note: str | None = None


@dataclass(frozen=True)
class _Closing:
    """One closing of registration: when, and the cells shown since; undecided if it is from before there was this rule."""

    round: int
    at: float
    decided: bool = False
    again: bool = False
    cells: tuple[Cell, ...] = ()

    @property
    def showed(self) -> bool:
        """Whether anything may have been looked at."""
        return bool(self.cells) or not self.decided


def cells(service: Service, analyst: Visitor, campaign: str) -> Cells:
    """Show how limits (or costs) are spread: after registration closed, in cells of at least ten people."""

    def look(connection: Connection) -> Cells:
        row = owned_row(connection, analyst, campaign, least=READER)
        if row.state in ("draft", "registration"):
            raise PromiseBroken("limits are shown when registration is closed, so that no newcomer can be singled out")
        closings = _closings(connection, row)
        if closings and closings[-1].decided and not closings[-1].again:
            return Cells(closings[-1].cells)
        fresh = None if closings and closings[-1].decided else _fresh(connection, row, closings)
        return _last(closings) if fresh is None else Cells(fresh)

    return service.read(look)


def _last(closings: list[_Closing]) -> Cells:
    before = [closing.cells for closing in closings if closing.cells]
    if not before:
        raise PromiseBroken(
            "fewer than {people} people joined, left or chose anew since groups were shown: beside the groups of before, new "
            "ones would single them out. The plan can be announced all the same",
            people=SMALLEST_CELL,
        )
    return Cells(before[-1], _(_NOTE, people=SMALLEST_CELL))


def _listed(cell: Cell) -> Sentence:
    return Sentence("{people} people from {low!r} to {high!r}", people=cell.people, low=cell.low, high=cell.high)


def note_cells(service: Service, connection: Connection, row: Row[Any]) -> None:
    """Decide, as registration closes, whether its cells are shown, and write them down."""
    *earlier, closing = _closings(connection, row)
    fresh, kind = _fresh(connection, row, earlier), _SHOWN
    if fresh is None:
        kind, words = (
            _AGAIN,
            Sentence(
                "fewer than {people} people joined, left or chose anew since groups were shown; those are shown again",
                people=SMALLEST_CELL,
            ),
        )
    elif fresh:
        words = Sentence(
            "choices can be seen in groups: {listed}", listed=Sentence.listing(_listed(cell) for cell in fresh)
        )
    else:
        words = Sentence(
            "fewer than {people} people registered: nothing of their choices is shown", people=SMALLEST_CELL
        )
    log_event(connection, max(closing.at, _latest(connection, row)), kind, words, campaign=row.id, round=row.round)


def _latest(connection: Connection, row: Row[Any]) -> float:
    """Say when the last choice of a round was made."""
    mine = (registrations.c.campaign == row.id, registrations.c.round == row.round)
    return float(connection.scalar(select(func.max(registrations.c.at)).where(*mine)) or 0.0)


def shown_until(connection: Connection, row: Row[Any]) -> float | None:
    """Say up to when choices of this round may have been seen in cells, before registration was opened again."""
    return max((one.at for one in _closings(connection, row) if one.showed and one.round == row.round), default=None)


def time_of_choice(service: Service, connection: Connection, row: Row[Any]) -> float:
    """Say when a choice is made: now, and after whatever was shown of this round, also where clocks disagree."""
    until = shown_until(connection, row)
    return service.clock() if until is None else max(service.clock(), math.nextafter(until, math.inf))


def _closings(connection: Connection, row: Row[Any]) -> list[_Closing]:
    """List every closing of a campaign's registration, oldest first, with what was decided then."""
    kinds = events.c.kind.in_((_CLOSED, _SHOWN, _AGAIN))
    closings: list[_Closing] = []
    for event in connection.execute(select(events).where(events.c.campaign == row.id, kinds).order_by(events.c.number)):
        if event.kind == _CLOSED:
            closings.append(_Closing(event.round, event.at))
        else:
            again = event.kind == _AGAIN
            closings[-1] = _Closing(event.round, event.at, True, again, () if again else _read(words_of(event)))
    return closings


def _read(noted: Sentence) -> tuple[Cell, ...]:
    """Take the cells from what was noted; where none were shown, nothing of a list was."""
    listed = noted.data.get("listed")
    groups = [] if listed is None else [each.data for each in listed.data.values()]
    return tuple(Cell(float(each["low"]), float(each["high"]), int(each["people"])) for each in groups)


def _fresh(connection: Connection, row: Row[Any], before: list[_Closing]) -> tuple[Cell, ...] | None:
    """Merge the choices of a round into cells; None if a few people tell them from cells that were shown before.

    Only where some were is it looked at who chose what: everyone who writes waits for this.
    """
    shown = [closing for closing in before if closing.showed]
    if shown:
        people = people_of(connection, row.id, row.round)
        now = dict(zip(people.ids, people.rungs.tolist(), strict=True))
        if not all(_tells_nobody(connection, row, closing, now) for closing in shown):
            return None
    amounts, chosen = [rung.amount for rung in ladder_of(Draft.from_json(row.draft).model)], _chosen(connection, row)
    return tuple(merged(amounts, [chosen.get(step, 0) for step in range(len(amounts))]))


def _chosen(connection: Connection, row: Row[Any]) -> dict[int, int]:
    """Count who chose each step of the ladder, of those whom `people_of` lists."""
    counted = (
        select(registrations.c.step, func.count().label("people"))
        .join(accounts, accounts.c.id == registrations.c.person)
        .where(registrations.c.campaign == row.id, registrations.c.round == row.round)
        .group_by(registrations.c.step)
    )
    return {row.step: row.people for row in connection.execute(counted)}


def _tells_nobody(connection: Connection, row: Row[Any], shown: _Closing, now: dict[str, int]) -> bool:
    """Say whether the people of now are the same, to a choice, as those shown then, or else ten of them differ for sure."""
    then = _choices(connection, row.id, shown.round)
    if len(then) < SMALLEST_CELL:
        return True  # of so few nothing was shown
    known = {person: rung for person, (rung, at) in then.items() if at <= shown.at}
    size = sum(cell.people for cell in shown.cells) or len(known)
    chose_anew = size - len(known)
    if known == now and not chose_anew:
        return True
    changed = sum(now.get(person) != rung for person, rung in known.items())
    newcomers = max(sum(person not in known for person in now) - chose_anew, 0)
    return changed + newcomers >= SMALLEST_CELL


def _choices(connection: Connection, campaign: str, round: int) -> dict[str, tuple[int, float]]:  # noqa: A002
    """Read each person's last choice of a round, and when it was made."""
    query = select(registrations).where(registrations.c.campaign == campaign, registrations.c.round == round)
    return {row.person: (row.step, row.at) for row in connection.execute(query)}


def merged(amounts: list[float], counts: list[int]) -> list[Cell]:
    """Join neighbouring steps from below until each cell has ten people; a small rest goes to the cell before it.

    >>> merged([0.1, 0.2, 0.5, 1.0], [12, 3, 8, 4])
    [Cell(low=0.1, high=0.1, people=12), Cell(low=0.2, high=1.0, people=15)]
    >>> merged([0.1, 0.2], [4, 5])
    []
    """
    done: list[Cell] = []
    held: Cell | None = None
    for amount, people in zip(amounts, counts, strict=True):
        if people:
            held = Cell(held.low if held else amount, amount, people + (held.people if held else 0))
        if held and held.people >= SMALLEST_CELL:
            done.append(held)
            held = None
    if held and done:
        before = done.pop()
        done.append(Cell(before.low, held.high, before.people + held.people))
    return done
