"""The ledger: who may spend how much, who was promised what, what was spent on which release. It never forgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, select

from optin.announcement.naming import check_round, checked_campaign
from optin.database.connection import open_engine, read, write
from optin.errors import PromiseBroken
from optin.grains.batches import Batch
from optin.grains.splitting import Released
from optin.ledger import charging, holds, receipting, verification
from optin.ledger.arrivals import enter
from optin.ledger.balances import remaining
from optin.ledger.chain import Entry, Terms, is_stored, last
from optin.ledger.holdings import cut_promises, promised
from optin.ledger.one_look import ONE_LOOK
from optin.ledger.packed_holds import Rehearsed
from optin.ledger.roster import Roster, as_grains, as_ids, roster_of
from optin.ledger.schema import acts
from optin.receipts import Receipt
from optin.tables.labels import together
from optin.wording.records import Listed, OneLine


@dataclass(frozen=True, repr=False)
class Act(Listed):
    """One public line of the ledger."""

    number: int
    kind: str
    campaign: str | None
    round: int | None
    at: str
    people: int
    hash: str


@dataclass(frozen=True)
class Bounded:
    """Those whose promise the ledger cut below their limit, and to what, in grains."""

    ids: list[str] = field(repr=False)
    grains: NDArray[np.int64] = field(repr=False)


class Ledger(OneLine):
    """An append-only record in SQLite or PostgreSQL; use ``Ledger.open``.

    >>> import optin, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite"
    >>> people = optin.PrivacyConstrained([0.5] * 10 + [2.0] * 10, ids=[f"p{k}" for k in range(20)])
    >>> plan = optin.plan(people, bounds=(0, 1))
    >>> with Ledger.open(str(path)) as ledger:
    ...     offer = optin.campaign.announce(plan, people, ledger=ledger, allowances=4.0)
    ...     (ledger.remaining(["p0", "p19"]) * 2.0**-32).tolist()
    [3.5, 2.0]
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Ledger:
        """Open a ledger: a path, ``sqlite:///path`` or ``postgresql://…``.

        With ``create=False`` (for those who only look) a place without a ledger is refused rather than made into one.
        """
        return cls(open_engine(url, create=create))

    def close(self) -> None:
        """Let the database go."""
        self.engine.dispose()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger in {self.engine.dialect.name}>"

    def announce(
        self,
        terms: Terms,
        *,
        body: str,
        ids: Sequence[str],
        grains: NDArray[np.int64],
        allowances: NDArray[np.int64],
        bounded: NDArray[np.bool_] | None = None,
        capped: NDArray[np.int64] | None = None,
        raise_limits: bool = False,
        lower_limits: bool = False,
        exact: bool = False,
    ) -> Entry:
        """Record promises as holds on people's budgets; BudgetSpent if anyone's allowance does not cover theirs.

        People seen for the first time are registered with ``allowances``; for the others it counts only with
        ``raise_limits``, which is written into the chain. With ``lower_limits`` nobody is promised beyond ``allowances``
        here, even where the ledger, whose allowances only grow, has a higher one. ``exact`` says that there will be no
        noise, which no finite allowance covers. The same announcement again changes nothing. ``body`` is the
        announcement as it is published: PromiseBroken if what it announces is not, to the last grain, what is to be held.
        Where it asks several questions, ``capped`` is what each person gives to all of them before it is split (E20), and
        ``grains`` the sum of the parts. ``optin.campaign.announce`` makes all of these.
        """
        columns = {"ids": ids, "grains": grains, "allowances": allowances, "bounded": bounded, "capped": capped}
        _, (ids, grains, allowances, bounded, capped) = together(columns)
        roster = roster_of(Batch(ids, grains, allowances, bounded, capped=capped))
        limits = {"raise_limits": raise_limits, "lower_limits": lower_limits}
        return self.hold(roster, holds.Holding(terms, body, exact=exact, **limits))

    def hold(self, arrivals: Roster, holding: holds.Holding, *, recheck: Callable[[], None] | None = None) -> Entry:
        """Record promises as holds of people; ``recheck`` is the last word before COMMIT."""

        def work(connection: Connection, rehearsed: Rehearsed | None) -> Entry:
            entry = holds.announce(connection, holding, arrivals, rehearsed)
            if recheck is not None:
                recheck()
            return entry

        rehearse = partial(holds.rehearse, holding=holding, roster=arrivals)
        return enter(self.engine, arrivals, rehearse, work, Rehearsed.waiting)

    def let_go(
        self, terms: Terms, ids: Sequence[str] | Callable[[Connection], Sequence[str]], *, at_least: int = 1
    ) -> Entry:
        """Give the holds of people who decline or leave back to them; those already given back stay so.

        Where the answers are kept beside the ledger, ``ids`` looks them up in the same transaction: nobody can change
        their mind in between. Fewer than ``at_least`` holds are left for a later batch, since acts are public.
        """
        given = [] if callable(ids) else as_ids(ids)

        def work(connection: Connection) -> Entry:
            names = ids(connection) if callable(ids) else given
            offer = holds.expect_offer(connection, terms)
            if holds.closing_of(connection, offer.number) is not None:
                raise PromiseBroken("this campaign and round are closed: a result or a cancellation is final")
            if len(names) < at_least:
                return last(connection)
            asked = holds.positions_of(connection, offer, names)
            positions = np.sort(asked[~holds.returned(connection, offer)[asked]])
            return holds.let_go(connection, offer, positions) if len(positions) >= at_least else last(connection)

        return self._write(work)

    def cancel(self, terms: Terms) -> Entry:
        """Close a campaign's round without a release and give every hold back; doing it twice changes nothing."""

        def work(connection: Connection) -> Entry:
            offer = holds.expect_offer(connection, terms)
            closing = holds.closing_of(connection, offer.number)
            if closing is None:
                return holds.cancel(connection, offer)
            if closing.kind == "release":
                raise PromiseBroken("this campaign and round were released; what was spent stays spent")
            return Entry(closing.number, closing.hash)

        return self._write(work)

    def release(
        self,
        terms: Terms,
        *,
        ids: Sequence[str],
        grains: NDArray[np.int64],
        draw: charging.Draw,
        joined: NDArray[np.bool_] | None = None,
        capped: NDArray[np.int64] | None = None,
        answered: NDArray[np.int64] | None = None,
        released: Released = None,
    ) -> Entry:
        """Charge those who joined and store the result in one transaction; nothing is returned before its COMMIT.

        ``draw(joined, number)`` is called at most once, inside the transaction, and gives the release's public text and
        fingerprint; PromiseBroken, and nothing is written, if its sums are not those of the charges. Asked again for the
        same campaign and round, the stored text comes back and nothing is drawn. Where several questions were announced,
        ``capped`` is what each person gives to all of them, ``answered`` has a bit for each question that they answered, and
        ``released`` one for each that is released (None: all): they are charged the parts of what is in both, and the rest
        of their promise goes back.
        """
        columns = {"ids": ids, "grains": grains, "joined": joined, "capped": capped, "answered": answered}
        _, (ids, grains, joined, capped, answered) = together(columns)
        roster = roster_of(Batch(ids, grains, joined=joined, capped=capped, answered=answered))
        return self.charge(terms, roster, charging.Given(draw, released))

    def charge(self, terms: Terms, arrivals: Roster, settlement: charging.Settlement) -> Entry:
        """Charge those who joined and store the result, as `release` does."""
        rehearse = partial(charging.rehearse, terms=terms, roster=arrivals, settlement=settlement)
        work = partial(charging.charge, terms=terms, roster=arrivals, settlement=settlement)
        return enter(self.engine, arrivals, rehearse, work)

    def remaining(
        self,
        ids: Sequence[str],
        *,
        besides: Terms | None = None,
        raised_to: NDArray[np.int64] | None = None,
        lowered_to: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Say how many grains each person has left; UNLIMITED if unbounded or not registered yet.

        ``besides`` is an announcement whose own holds are not counted; ``raised_to`` asks what would be left if
        allowances were raised to these numbers, ``lowered_to`` if they were lowered to them. Given both, they are the same.
        """
        _, (ids, raised_to, lowered_to) = together({"ids": ids, "raised_to": raised_to, "lowered_to": lowered_to})
        names = as_ids(ids)
        raised, lowered = (None if given is None else as_grains(given, len(names)) for given in (raised_to, lowered_to))

        def look(connection: Connection) -> NDArray[np.int64]:
            offer = holds.offer_of(connection, besides) if besides else None
            number = offer.number if offer else 0
            return remaining(connection, names, besides=number, raised_to=raised, lowered_to=lowered)

        return read(self.engine, look)

    def standing(self, terms: Terms) -> NDArray[np.bool_]:
        """Mark, in announced order, the people whose hold was neither declined nor cancelled."""

        def look(connection: Connection) -> NDArray[np.bool_]:
            offer = holds.expect_offer(connection, terms)
            return ~holds.returned(connection, offer)

        return read(self.engine, look)

    def stands(self, terms: Terms, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Say, for each of these people, whether their hold stands."""
        names = as_ids(ids)

        def look(connection: Connection) -> NDArray[np.bool_]:
            offer = holds.expect_offer(connection, terms)
            return ~holds.returned(connection, offer)[holds.positions_of(connection, offer, names)]

        return read(self.engine, look)

    def is_announced(self, terms: Terms) -> bool:
        """Say whether this campaign and round were announced, whatever the fingerprint."""
        return read(self.engine, lambda connection: holds.offer_of(connection, terms) is not None)

    def offer(self, terms: Terms) -> str | None:
        """Return what was announced under this campaign and round, sealed numbers included; None if nothing was."""
        row = read(self.engine, lambda connection: holds.offer_of(connection, terms))
        return None if row is None else str(row.body)

    def body(self, number: int) -> tuple[str, str, str] | None:
        """Return the kind, the whole text, sealed numbers included, and the hash of an act; None if there is none."""
        query = select(acts.c.kind, acts.c.body, acts.c.hash).where(acts.c.number == number)
        row = read(self.engine, lambda connection: connection.execute(query).one_or_none())
        return None if row is None else (row.kind, row.body, row.hash)

    def offers(self) -> list[str]:
        """List every announcement with its sealed numbers, oldest first: what is public of one is in its `to_json`."""
        query = select(acts.c.body).where(acts.c.kind == "announce").order_by(acts.c.number)
        return read(self.engine, lambda connection: list(connection.scalars(query)))

    def promises(self, terms: Terms) -> dict[str, int]:
        """List what this campaign and round promised each person, in grains and in announced order."""
        return read(self.engine, lambda connection: promised(connection, terms))

    def bounded(self, terms: Terms) -> Bounded:
        """List those whose promise was cut to what remained of their allowance, and to what, before it was split."""
        return Bounded(*read(self.engine, lambda connection: cut_promises(connection, terms)))

    def receipt(self, person: str, *, campaign: str | None = None, round: int | None = None) -> Receipt:  # noqa: A002
        """Write one person's receipt: of the newest release announced to them, of that campaign, or of that round."""
        names = as_ids([person])
        if campaign is not None:
            checked_campaign(campaign)
        if round is not None:
            check_round(round)

        def look(connection: Connection) -> Receipt:
            with ONE_LOOK.look():
                if campaign is not None and round is not None:
                    return receipting.read_receipts(connection, names, campaign, round)[0]
                newest = receipting.last_release_of(connection, person, campaign)
                return receipting.read_receipts(connection, names, *newest)[0]

        return read(self.engine, look)

    def receipts(self, ids: Sequence[str], *, campaign: str, round: int) -> list[Receipt]:  # noqa: A002
        """Write many people's receipts of one release."""
        names = as_ids(ids)
        checked_campaign(campaign)
        check_round(round)
        return read(self.engine, lambda connection: receipting.read_receipts(connection, names, campaign, round))

    def verify(self, against: Sequence[verification.OutsideCopy] = ()) -> verification.Verification:
        """Recompute the chain and compare it with releases and receipts kept outside."""
        return read(self.engine, lambda connection: verification.verify(connection, against))

    def acts(self) -> list[Act]:
        """List everything that was done, oldest first, in public words."""
        columns = [acts.c[name] for name in Act.__dataclass_fields__]
        query = select(*columns).order_by(acts.c.number)
        return read(self.engine, lambda connection: [Act(*row) for row in connection.execute(query)])

    def _write(self, work: Callable[[Connection], Entry]) -> Entry:
        return write(self.engine, work, is_stored=is_stored)
