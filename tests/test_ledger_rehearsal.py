"""What an act over people will write is found out before the ledger is locked: whoever writes meanwhile waits for none of it."""

import contextlib
import shutil
import sqlite3

import numpy as np
import pytest
from ledger_steps import OFFERS, announce, drawn_from, nth, release, spent, terms
from sqlalchemy import event

from optin.database import connection
from optin.database.connection import snapshot
from optin.database.crash_points import LISTENERS
from optin.database.turnstile import turnstile_of
from optin.errors import BudgetSpent, PromiseBroken
from optin.grains.batches import Batch
from optin.ledger import Ledger, charging, packed_holds, packs, staging
from optin.ledger.roster import roster_of

IDS = nth(11)
GRAINS = np.arange(11) + 1


@pytest.fixture(params=["rows", "packs"])
def storage(request, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 1)  # a writer who has to wait for this one would not wait for a minute
    if request.param == "packs":
        monkeypatch.setattr(packs, "PACKED_FROM", 1)
        monkeypatch.setattr(packs, "SIZE", 4)
        monkeypatch.setattr(packs, "FEW", 2)
    return request.param


@pytest.fixture
def two(url, storage):
    """One ledger as two writers have it open."""
    with Ledger.open(url) as ours, Ledger.open(url) as theirs:
        yield ours, theirs


@pytest.fixture
def points():
    """The points that transactions passed."""
    passed = []
    LISTENERS.append(passed.append)
    yield passed
    LISTENERS.clear()


class Settling(charging.Given):
    """A release that does something else while it is decided and added up for the first time, and keeps how many joined."""

    def __init__(self, deed, joined=GRAINS >= 0):
        super().__init__(lambda mask, number: drawn_from(OFFERS["c"], GRAINS[mask & joined], number))
        self.deed, self.added = deed, []

    def drawing(self, written):
        self.added.append(written.people)
        if len(self.added) == 1:
            self.deed()
        return super().drawing(written)


def settle(ledger, settling, joined=None):
    return ledger.charge(terms(), roster_of(Batch(IDS, GRAINS, joined=joined)), settling)


def held(ledger):
    announce(ledger, "c", ids=IDS, grains=GRAINS, allowances=50)


def test_a_release_is_decided_and_added_up_once_before_the_ledger_is_locked(two, points):
    ours, _ = two
    held(ours)
    points.clear()
    settling = Settling(lambda: points.append("added up"))
    settle(ours, settling)
    assert settling.added == [11]
    assert points.index("added up") < points.index("before lock")
    assert ours.verify().ok


def test_whoever_declines_while_a_release_is_added_up_does_not_wait_and_is_not_charged(two):
    ours, theirs = two
    held(ours)
    settling = Settling(lambda: theirs.let_go(terms(), ["p3"]))
    settle(ours, settling)
    assert settling.added == [11, 10], "what was found out stood no longer, and was found out again"
    assert spent(ours) == {person: grains + 1 for grains, person in enumerate(IDS) if person != "p3"}
    assert ours.verify().ok


def test_whoever_is_said_to_join_and_declines_meanwhile_is_not_charged(two):
    ours, theirs = two
    held(ours)
    with pytest.raises(PromiseBroken, match="declined"):
        settle(ours, Settling(lambda: theirs.let_go(terms(), ["p3"])), joined=np.ones(11, dtype=bool))
    assert spent(ours) == {}
    assert ours.verify().ok


@pytest.mark.parametrize("theirs_is", ["release", "cancel"])
def test_what_was_released_or_cancelled_meanwhile_is_not_drawn_again(two, theirs_is):
    ours, theirs = two
    held(ours)
    first = []

    def closing():
        if theirs_is == "cancel":
            theirs.cancel(terms())
        else:
            first.append(release(theirs, ids=IDS, grains=GRAINS))

    settling = Settling(closing)
    if theirs_is == "cancel":
        with pytest.raises(PromiseBroken, match="cancelled"):
            settle(ours, settling)
    else:
        assert settle(ours, settling) == first[0]
    assert len(settling.added) == 1
    assert [act.kind for act in ours.acts()].count("release") == (theirs_is == "release")
    assert ours.verify().ok


def meanwhile(deed):
    """Do something once, when the next act over people was rehearsed."""

    def listener(point):
        if point == "after rehearsal":
            LISTENERS.remove(listener)
            deed()

    LISTENERS.append(listener)


def test_people_whom_somebody_else_registers_meanwhile_are_the_same_people(two, points):
    ours, theirs = two
    meanwhile(lambda: announce(theirs, "b", ids=[*IDS[5:], "new"], grains=3, allowances=30))
    announce(ours, "c", ids=IDS, grains=GRAINS, allowances=50)
    assert points.count("after rehearsal") == 2
    assert ours.remaining([*IDS, "new"]).tolist() == [
        *(50 - grains for grains in GRAINS[:5]),
        *(27 - grains for grains in GRAINS[5:]),
        27,
    ]
    assert ours.verify().ok


def test_what_is_promised_elsewhere_meanwhile_is_not_promised_twice(two, points):
    ours, theirs = two
    announce(ours, "a", ids=IDS, grains=1, allowances=20)
    meanwhile(lambda: announce(theirs, "b", ids=IDS[3:4], grains=16))
    with pytest.raises(BudgetSpent):
        announce(ours, "c", ids=IDS, grains=GRAINS)
    assert ours.remaining(IDS[2:5]).tolist() == [19, 3, 19]
    assert points[-1] != "after commit"
    assert ours.verify().ok


def test_allowances_that_are_raised_meanwhile_stay_raised(two):
    ours, theirs = two
    announce(ours, "a", ids=IDS, grains=1, allowances=20)
    meanwhile(lambda: announce(theirs, "b", ids=IDS[3:5], grains=1, allowances=40, raise_limits=True))
    announce(ours, "c", ids=IDS, grains=GRAINS, allowances=30, raise_limits=True)
    assert ours.remaining(IDS[2:6]).tolist() == [29 - 3, 38 - 4, 38 - 5, 29 - 6]
    assert ours.verify().ok


@pytest.mark.parametrize("storage", ["packs"], indirect=True)
def test_what_everyone_has_left_is_reckoned_before_the_ledger_is_locked(two, points, monkeypatch):
    ours, _ = two
    announce(ours, "a", ids=IDS, grains=1, allowances=20)
    points.clear()

    def reckoned(*given):
        points.append("reckoned")
        return everyones(*given)

    everyones = packed_holds.everyones_taken
    monkeypatch.setattr(packed_holds, "everyones_taken", reckoned)
    announce(ours, "c", ids=[*IDS, "new"], grains=2, allowances=30, raise_limits=True)
    assert points[:3] == ["reckoned", "after rehearsal", "before lock"]
    assert "reckoned" not in points[1:]
    assert ours.remaining(["p0", "new"]).tolist() == [27, 28]
    assert ours.verify().ok


STRANGE = ['"', "\\", "\\u0041", "\n\t", "\x01", "ß\U0001f600", "\u2028", "0", "null", "[1]", "'; --"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("waiting", [0, 4, 11])
def test_ids_of_every_letter_are_registered_as_they_are(two, waiting, monkeypatch):
    """SQLite takes them out of texts, in which some letters are written otherwise, before the ledger is locked or after."""
    monkeypatch.setattr(staging, "WAITING", waiting)
    monkeypatch.setattr(staging, "STRETCH", 2)
    ours, _ = two
    announce(ours, "c", ids=STRANGE, grains=GRAINS, allowances=50)
    assert list(ours.promises(terms())) == STRANGE
    assert ours.verify().ok


@pytest.fixture
def sent(two):
    """What SQLite is sent by one writer, and whether another one would have to wait then."""
    statements, engine = [], two[0].engine

    def sending(_connection, _cursor, statement, *_):
        statements.append((statement, turnstile_of(engine).busy))

    event.listen(engine, "before_cursor_execute", sending)
    return statements


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("storage", ["packs"], indirect=True)
@pytest.mark.parametrize("meanwhile_others", [False, True])
def test_ids_are_read_and_the_log_is_taken_in_while_nobody_waits(two, sent, meanwhile_others, tmp_path):
    ours, theirs = two
    if meanwhile_others:
        meanwhile(lambda: announce(theirs, "b", ids=IDS[:3], grains=1, allowances=50))
    announce(ours, "c", ids=IDS, grains=GRAINS, allowances=50)
    tables = [busy for statement, busy in sent if "CREATE TEMPORARY TABLE newcomers" in statement]
    assert tables == ([False, True] if meanwhile_others else [False]), "under the lock only what was rehearsed in vain"
    assert [busy for statement, busy in sent if "wal_checkpoint" in statement] == [False]
    with ours.engine.connect() as link:
        assert link.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 1000
        assert not link.exec_driver_sql("SELECT name FROM temp.sqlite_master").all()
    assert acts_in_file_alone(ours, tmp_path) == len(ours.acts())
    assert ours.verify().ok


def acts_in_file_alone(ledger, folder):
    """Count acts in a copy of SQLite's file without its log."""
    copy = shutil.copy(ledger.engine.url.database, folder / "file-alone.sqlite")
    with contextlib.closing(sqlite3.connect(copy)) as link:
        return link.execute("SELECT COUNT(*) FROM acts").fetchone()[0]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("storage", ["packs"], indirect=True)
def test_an_announcement_is_stored_though_the_log_cannot_be_taken_in(two, sent):
    ours, theirs = two
    announce(theirs, "b", ids=IDS[:3], grains=1, allowances=50)
    with snapshot(theirs.engine) as reading:
        before = reading.exec_driver_sql("SELECT COUNT(*) FROM acts").scalar()
        announce(ours, "c", ids=IDS, grains=GRAINS, allowances=50)
        assert reading.exec_driver_sql("SELECT COUNT(*) FROM acts").scalar() == before
    assert [act.kind for act in ours.acts()][-1] == "announce"
    assert ours.verify().ok
