"""What people do: choose a step of the ladder, join or decline, take it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, select, text

from optin.errors import BadInput, PromiseBroken
from optin.web.schema import answers, registrations
from optin.web.service.asking import codes_of, sheet_of
from optin.web.service.core import Service
from optin.web.service.deadlines import is_over
from optin.web.service.drafts import Draft
from optin.web.service.ladder import rung_of
from optin.web.service.limit_cells import shown_until, time_of_choice
from optin.web.service.lookups import expect_round, group_of
from optin.web.service.open_links import expect_place
from optin.web.service.people.allowing import say_total
from optin.web.service.people.looking import of_mine, visible
from optin.web.service.records import Visitor
from optin.web.service.totals import budget_of, keep_total
from optin.web.transactions import hold
from optin.wording.language import Day

MOST_TIMES = 100

Answers = Mapping[str, Any]
"""Answers by the names of their questions: numbers, truths, options, or lists of them."""
_REGISTER = """INSERT INTO web_registrations (campaign, round, person, step, at, group_name)
    VALUES (:campaign, :round, :person, :step, :at, :group)
    ON CONFLICT (campaign, round, person) DO UPDATE SET step = excluded.step, at = excluded.at"""
_ANSWER = """INSERT INTO web_answers (campaign, round, person, joined, value, at)
    VALUES (:campaign, :round, :person, :joined, :value, :at)
    ON CONFLICT (campaign, round, person)
    DO UPDATE SET joined = excluded.joined, value = excluded.value, at = excluded.at"""


def register(
    service: Service,
    person: Visitor,
    name: str,
    rung: int,
    *,
    given: Answers | None = None,
    times: int | None = None,
    round: int | None = None,  # noqa: A002 - the word of the contract
) -> None:
    """State a limit (or a cost); in a sealed campaign the answers come along. Said again, the last word counts.

    ``times`` says one's total over all campaigns with it: so many campaigns like this one, beside what was given so far.
    """
    chosen = Chosen(rung, given, times, round)
    service.change(lambda connection: register_in(service, connection, person, name, chosen))


@dataclass(frozen=True)
class Chosen:
    """What someone states for a round: a step of the ladder, perhaps their answers, their total, and the round they saw."""

    rung: int = field(repr=False)
    given: Answers | None = field(default=None, repr=False)
    times: int | None = field(default=None, repr=False)
    round: int | None = None


def register_in(service: Service, connection: Connection, person: Visitor, name: str, chosen: Chosen) -> None:
    """Register in the caller's transaction."""
    row = _held_row(connection, person, name)
    expect_round(row, chosen.round)
    if chosen.times is not None and not 1 <= chosen.times <= MOST_TIMES:
        raise BadInput("a total is 1 to {most_times} campaigns like this one", most_times=MOST_TIMES)
    draft = Draft.from_json(row.draft)
    rung = rung_of(draft.model, chosen.rung)
    _expect_open(service, row, draft)
    expect_place(connection, row, person.account)
    if not draft.sealed and chosen.given is not None:
        raise BadInput("answers are asked for later, in this campaign")
    if draft.sealed and chosen.given is None and not draft.window_hours:
        raise BadInput("give your answer together with your limit, in this campaign")
    at = time_of_choice(service, connection, row)
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": at}
    say_total(connection, person.account, row, rung, None if person.only else chosen.times)
    group = group_of(connection, row.id, person.account)
    connection.execute(text(_REGISTER), {**mine, "step": rung.index, "group": group})
    if chosen.given is not None:
        _store_answers(service, connection, row, person, chosen.given)
    else:  # a choice that was taken back is made again
        connection.execute(_of_round(delete(answers), answers, row, person))


def _expect_open(service: Service, row: Row[Any], draft: Draft) -> None:
    if row.state != "registration":
        raise PromiseBroken("registration is closed")
    if is_over(service, draft):
        raise PromiseBroken("the last day to answer, {day}, is over", day=Day.of(draft.answer_by))


def join(
    service: Service,
    person: Visitor,
    name: str,
    given: Answers,
    *,
    round: int | None = None,  # noqa: A002
) -> None:
    """Join with answers, or change them; they leave this function only as ciphertext.

    Each round has its own deal: with ``round``, nobody joins on other terms than those they were shown.
    """

    def work(connection: Connection) -> None:
        row = _row_with_total(connection, person, name)
        expect_round(row, round)
        _expect_answering(connection, row, person)
        _expect_promise(connection, row, person)
        _store_answers(service, connection, row, person, given)

    service.change(work)


def decline(service: Service, person: Visitor, name: str) -> None:
    """Decline, or take a yes back; the value given before is gone, and what was promised is given back with the next batch."""

    def work(connection: Connection) -> None:
        row = _row_with_total(connection, person, name)
        _expect_answering(connection, row, person, states=("announced", "answers"))
        _store_no(service, connection, row, person)

    service.change(work)


def withdraw(service: Service, person: Visitor, name: str) -> None:
    """Take a registration back while registration is open; afterwards decline.

    Analysts see cells once registration is closed: if people could vanish from them, each would show where they were.
    """

    def work(connection: Connection) -> None:
        row = _row_with_total(connection, person, name)
        _expect_in_time(connection, row, person)
        _withdraw(service, connection, person, row)

    service.change(work)


def give_up(service: Service, person: Visitor, name: str) -> None:
    """Take back what can be taken back: whoever leaves is counted where answers are closed, as they are told before."""
    service.change(lambda connection: _withdraw(service, connection, person, _row_with_total(connection, person, name)))


def _expect_in_time(connection: Connection, row: Row[Any], person: Visitor) -> None:
    """Say to nobody that their answers are deleted when they are counted."""
    joined = connection.scalar(_of_round(select(answers.c.joined), answers, row, person))
    if joined and row.state in ("closed", "released"):
        raise PromiseBroken(
            "answers are closed, and yours are counted once, as promised: nothing can be taken back now"
        )


def _withdraw(service: Service, connection: Connection, person: Visitor, row: Row[Any]) -> None:
    if row.state in ("released", "cancelled"):
        return
    chosen_at = connection.scalar(_of_round(select(registrations.c.at), registrations, row, person))
    shown = shown_until(connection, row)
    if row.state == "registration" and (shown is None or (chosen_at or shown) > shown):
        for table in (registrations, answers):
            connection.execute(_of_round(delete(table), table, row, person))
    elif row.state != "closed" and chosen_at is not None:
        _store_no(service, connection, row, person)


def _of_round(query: Any, table: Any, row: Row[Any], person: Visitor) -> Any:  # noqa: ANN401 - SQLAlchemy's own generics
    return of_mine(query, table, {"campaign": row.id, "round": row.round, "person": person.account})


def _held_row(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign and keep it from taking a step until the transaction ends: joining and closing cannot cross."""
    visible(connection, person, name)
    hold(connection, name, shared=True)
    return visible(connection, person, name)


def _row_with_total(connection: Connection, person: Visitor, name: str) -> Row[Any]:
    """Find a campaign as `_held_row` does, and keep the person's total: joining and lowering it cannot cross."""
    row = _held_row(connection, person, name)
    keep_total(connection, person.account)
    return row


def _expect_answering(
    connection: Connection, row: Row[Any], person: Visitor, *, states: tuple[str, ...] = ("answers",)
) -> None:
    if row.state not in states:
        raise PromiseBroken(
            "answers are not open: they open after the announcement, and end when the analyst closes them"
        )
    if connection.execute(_of_round(select(registrations.c.step), registrations, row, person)).first() is None:
        raise PromiseBroken("you did not register for this round, so nothing was promised to you")


def _expect_promise(connection: Connection, row: Row[Any], person: Visitor) -> None:
    """Let someone who declined join after all only where their promise still stands and their total still covers it."""
    if connection.scalar(_of_round(select(answers.c.joined), answers, row, person)) is not False:
        return
    budget = budget_of(connection, person.account)
    held = budget.holding(row.id, row.round)
    if held is not None and held.returned:
        raise PromiseBroken(
            "you declined, and what was promised to you has been given back, for other campaigns to ask for; you can take "
            "part in the next round"
        )
    if held is not None and budget.uncommitted is not None and budget.uncommitted < held.promised:
        raise PromiseBroken(
            "your total no longer covers what was promised to you here; raise it first, to join after all"
        )


def _store_answers(service: Service, connection: Connection, row: Row[Any], person: Visitor, given: Answers) -> None:
    codes = codes_of(sheet_of(Draft.from_json(row.draft)), given)
    sealed = service.keys.seal(codes, campaign=row.id, round=row.round, person=person.account)
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": True, "value": sealed})


def _store_no(service: Service, connection: Connection, row: Row[Any], person: Visitor) -> None:
    mine = {"campaign": row.id, "round": row.round, "person": person.account, "at": service.clock()}
    connection.execute(text(_ANSWER), {**mine, "joined": False, "value": None})
