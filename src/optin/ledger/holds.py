"""Announcing, declining, cancelling: how holds on people's budgets come and go. All run under the head lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, select, text

from optin.database.crash_points import reached
from optin.errors import Argument, BadInput, BudgetSpent, Place, PromiseBroken
from optin.grains.batches import Batch
from optin.ledger import packed_holds, packs
from optin.ledger.balances import uncovered
from optin.ledger.chain import About, ActRows, Entry, Terms, append, last, new_salt, rows_of, written_of
from optin.ledger.held import fetched, places_of
from optin.ledger.people_numbers import persons_of
from optin.ledger.roster import Roster
from optin.ledger.schema import acts
from optin.ledger.sharing import sharing_of
from optin.ledger.staging import NOT_SPLIT, add_returns, enroll_staged, newcomers_waiting, stage_people
from optin.ledger.streamed_hashes import pieces
from optin.ledger.texts import announcement_in, expect_announced
from optin.receipts import asks_several

STAGED_PROMISES = """staged s CROSS JOIN people p CROSS JOIN promises q
    WHERE p.id = s.id AND q.person = p.person AND q.offer = :offer"""
"""Whoever is staged and holds a promise. Written so, SQLite goes by its keys; it might else compare everyone with everyone."""

SAME_PROMISE = """(q.grains = s.grains AND (q.capped IS NULL OR q.capped = COALESCE(s.capped, -1))
    AND (q.design IS NULL OR q.design = COALESCE(s.design, -1)))"""
"""Whether someone staged is to give what they were promised to, before and after it is split among questions, in their group."""


def offer_of(connection: Connection, terms: Terms) -> Row[Any] | None:
    """Find the act that announced a campaign's round, whatever its fingerprint."""
    where = (acts.c.kind == "announce", acts.c.campaign == terms.campaign, acts.c.round == terms.round)
    return connection.execute(select(acts).where(*where)).first()


def expect_offer(connection: Connection, terms: Terms) -> Row[Any]:
    """Find an announcement in the ledger, exactly as it was announced."""
    offer = offer_of(connection, terms)
    if offer is None:
        raise BadInput("this campaign and round were never announced in this ledger; announce first")
    if offer.fingerprint != terms.fingerprint:
        raise PromiseBroken("this is not the announcement made under this campaign and round; use the one published")
    return offer


def terms_of(act: Row[Any]) -> Terms:
    """Read what an act was about."""
    return Terms(act.campaign, act.round, act.fingerprint)


def closing_of(connection: Connection, offer: int) -> Row[Any] | None:
    """Find the act that closed an offer: its release, or its cancelling."""
    return connection.execute(select(acts).where(acts.c.offer == offer, acts.c.kind.in_(("release", "cancel")))).first()


@dataclass(frozen=True)
class Holding:
    """What an announcement says, and how allowances are dealt with; ``exact`` says that there will be no noise."""

    terms: Terms
    body: str
    raise_limits: bool = False
    lower_limits: bool = False
    exact: bool = False

    @property
    def about(self) -> About:
        """What the act of it says."""
        return About(self.terms, body=self.body)


def rehearse(connection: Connection, *, holding: Holding, roster: Roster) -> packed_holds.Rehearsed | None:
    """Find out what an announcement to many people will write, or refuse it; nothing of one to few, or that was made before."""
    if len(roster) < packs.PACKED_FROM or offer_of(connection, holding.terms) is not None:
        return None
    offer = announcement_in(holding.body)
    limits = packed_holds.Limits(holding.raise_limits, holding.lower_limits, holding.exact)
    rehearsed = packed_holds.rehearse(connection, roster, sharing_of(offer), limits)
    _expect_covered(rehearsed.short, holding, roster)
    expect_announced(offer, holding.terms, rehearsed.promised.written, exact=holding.exact)
    return rehearsed


def announce(
    connection: Connection, holding: Holding, roster: Roster, rehearsed: packed_holds.Rehearsed | None = None
) -> Entry:
    """Register whoever is new, then hold everyone's promise, or refuse as a whole; what was rehearsed still stands."""
    earlier = offer_of(connection, holding.terms)
    if earlier is not None and packs.is_packed(connection, earlier.number):
        same = packed_holds.is_held(connection, earlier.number, roster, earlier.version)
        return _expect_unchanged(connection, earlier, holding.terms, same=same)
    if rehearsed is not None:
        return _announce_packed(connection, holding, rehearsed)
    again = rehearse(connection, holding=holding, roster=roster)
    if again is not None:
        with newcomers_waiting(connection, again.names):
            return _announce_packed(connection, holding, again)
    roster.stage(connection)
    if earlier is not None:
        return _expect_unchanged(connection, earlier, holding.terms, same=_is_held(connection, earlier, roster))
    _register(connection)
    if holding.raise_limits:
        _raise_allowances(connection, roster)
    short = uncovered(connection, exact=holding.exact, lower_limits=holding.lower_limits)
    _expect_covered(short, holding, roster)
    reached("after checks")
    return _hold(connection, holding, roster)


def _announce_packed(connection: Connection, holding: Holding, rehearsed: packed_holds.Rehearsed) -> Entry:
    """Do the same for many people, in packs."""
    reached("after checks")
    packed_holds.enroll(connection, rehearsed)
    packed_holds.hold(connection, rehearsed, last(connection).number + 1)
    promised, version = rehearsed.promised, rehearsed.sharing.version
    return append(connection, "announce", promised.written, promised.salt, holding.about, version=version)


def _expect_covered(short: tuple[int, int | None], holding: Holding, roster: Roster) -> None:
    count, first = short
    if count and holding.exact:
        raise BudgetSpent(
            "this release would be exact, without noise, and {count} of {people} people have a finite allowance, first"
            " {person}: no finite one covers it. Plan with these people's limits, or leave them out",
            count=count,
            people=len(roster),
            person=roster.place(first or 0),
        )
    if count:
        raise BudgetSpent(
            "the remaining allowance of {count} of {people} people does not cover this promise, first {person}; plan"
            " with the ledger, cancel first a round that came to nothing, or raise allowances with {raised} to the totals"
            " that people now allow ({totals})",
            count=count,
            people=len(roster),
            person=roster.place(first or 0),
            raised=Argument("raise_limits", True),
            totals=Argument("allowances"),
        )


def _is_held(connection: Connection, earlier: Row[Any], roster: Roster) -> bool:
    """Tell whether the same people are promised the same; why a promise was cut may have changed since."""
    query = f"SELECT COUNT(*) FROM {STAGED_PROMISES} AND {SAME_PROMISE}"  # noqa: S608 — constants
    same = connection.scalar(text(query), {"offer": earlier.number})
    return bool(same == earlier.people == len(roster))


def _expect_unchanged(connection: Connection, earlier: Row[Any], terms: Terms, *, same: bool) -> Entry:
    if earlier.fingerprint != terms.fingerprint or not same:
        raise PromiseBroken("this campaign and round were announced before, differently; announce a new round")
    closing = closing_of(connection, earlier.number)
    if closing is not None and closing.kind == "cancel":
        raise PromiseBroken("this campaign and round were cancelled; announce a new round")
    return Entry(earlier.number, earlier.hash, earlier.body)


def _register(connection: Connection) -> None:
    """Write down new ids with their first limit as allowance."""
    number = last(connection).number + 1
    base = connection.scalar(text("SELECT COALESCE(MAX(person), 0) FROM people"))
    added = enroll_staged(connection, int(base or 0), number)
    if added:
        connection.execute(
            text(
                "INSERT INTO allowances (person, act, grains) SELECT p.person, p.act, s.total "
                "FROM staged s JOIN people p ON p.id = s.id WHERE p.act = :act ORDER BY p.person"
            ),
            {"act": number},
        )
        _seal_allowances(connection, "register", number, expected=added)


def _raise_allowances(connection: Connection, roster: Roster) -> None:
    """Raise the allowance of everyone who now states a higher limit; nobody's is ever lowered."""
    if packs.has_packs(connection):
        packed_holds.raise_allowances(connection, roster)
        return
    number = last(connection).number + 1
    raised = connection.execute(
        text(
            "INSERT INTO allowances (person, act, grains) SELECT p.person, :act, s.total "
            "FROM staged s JOIN people p ON p.id = s.id "
            "WHERE s.total > (SELECT MAX(a.grains) FROM allowances a WHERE a.person = p.person) ORDER BY p.person"
        ),
        {"act": number},
    ).rowcount
    if raised:
        _seal_allowances(connection, "raise", number, expected=raised)


def _seal_allowances(connection: Connection, kind: str, number: int, *, expected: int) -> None:
    """Seal the allowances just written, unless a trigger that is not ours made others of them."""
    salt = new_salt()
    written = rows_of(connection, ActRows(kind, number, salt))
    as_asked = connection.scalar(text(_AS_ASKED), {"act": number})
    if not expected == written.people == as_asked:
        raise PromiseBroken(
            "the database wrote other allowances than it was asked to; nothing was kept: run `optin ledger verify`"
        )
    append(connection, kind, written, salt)


_AS_ASKED = """SELECT COUNT(*) FROM staged s CROSS JOIN people p CROSS JOIN allowances a
    WHERE p.id = s.id AND a.person = p.person AND a.act = :act AND a.grains = s.total"""


def _hold(connection: Connection, holding: Holding, roster: Roster) -> Entry:
    number, offer, salt = last(connection).number + 1, announcement_in(holding.body), new_salt()
    sharing = sharing_of(offer)
    version = sharing.version
    if asks_several(version) and connection.scalar(text("SELECT COUNT(*) FROM staged WHERE capped IS NULL")):
        raise BadInput(NOT_SPLIT)
    columns = {
        "capped": "s.capped" if asks_several(version) else "NULL",
        "design": "s.design" if sharing.grouped else "NULL",
    }
    held = connection.execute(text(_HOLD.format(**columns)), {"offer": number})
    if held.rowcount != len(roster):
        raise BadInput("some ids were not kept as given; use ids that differ byte for byte")
    written = rows_of(connection, ActRows("announce", number, salt, number, version, sharing))
    if written.digest != roster.promised(salt, sharing).digest:
        raise PromiseBroken(packs.OTHER_ROWS)
    expect_announced(offer, holding.terms, written, exact=holding.exact)
    return append(connection, "announce", written, salt, holding.about, version=version)


_HOLD = """INSERT INTO promises (offer, position, person, grains, bounded, capped, design)
    SELECT :offer, s.position, p.person, s.grains, s.bounded = 1, {capped}, {design} FROM staged s
    JOIN people p ON p.id = s.id ORDER BY s.position"""


def let_go(connection: Connection, offer: Row[Any], positions: NDArray[np.int64], *, kind: str = "return") -> Entry:
    """Give back the holds at some positions, as one act."""
    number, salt = last(connection).number + 1, new_salt()
    for (some,) in pieces(positions):
        add_returns(connection, offer.number, some, number)
    written = written_of(kind, pieces(positions), salt)
    return append(connection, kind, written, salt, About(terms_of(offer), offer.number))


def positions_of(connection: Connection, offer: Row[Any], ids: Sequence[str]) -> NDArray[np.int64]:
    """Find where these people stand in an offer."""
    if packs.is_packed(connection, offer.number):
        return _places_in_packs(connection, offer.number, ids)
    stage_people(connection, Batch(ids))
    query = """SELECT s.position AS at, q.position AS position FROM staged s LEFT JOIN people p ON p.id = s.id
        LEFT JOIN promises q ON q.person = p.person AND q.offer = :offer ORDER BY s.position"""
    rows = connection.execute(text(query), {"offer": offer.number}).all()
    for row in rows:
        if row.position is None:
            raise BadInput("{person} was not among those announced; check the id, byte for byte", person=Place(row.at))
    return np.array([row.position for row in rows], dtype=np.int64)


def _places_in_packs(connection: Connection, offer: int, ids: Sequence[str]) -> NDArray[np.int64]:
    """Find where these people stand in a packed offer."""
    places = places_of(connection, offer, persons_of(connection, ids))
    if np.any(places < 0):
        at = Place(int(np.argmax(places < 0)))
        raise BadInput("{person} was not among those announced; check the id, byte for byte", person=at)
    return places


def cancel(connection: Connection, offer: Row[Any]) -> Entry:
    """Close an offer without a release: every hold that stands is given back."""
    standing = np.flatnonzero(~returned(connection, offer))
    return let_go(connection, offer, standing, kind="cancel")


def returned(connection: Connection, offer: Row[Any], *, before_closing: bool = False) -> NDArray[np.bool_]:
    """Mark the positions whose hold was given back; ``before_closing`` leaves out those given back by the release."""
    query = "SELECT r.position FROM returns r JOIN acts a ON a.number = r.act WHERE r.offer = :offer"
    if before_closing:
        query += " AND a.kind = 'return'"
    gone = np.zeros(offer.people, dtype=np.bool_)
    gone[fetched(connection, query, {"offer": offer.number}, 1)[0]] = True
    return gone
