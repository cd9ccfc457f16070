"""Whatever breaks, either nobody is charged and there is no result, or everybody is and there is one."""

import contextlib
import functools
import json
import random
import resource
import signal
import time
from collections import Counter

import numpy as np
import pytest
from forks import fork
from ledger_steps import OFFERS, counts, drawn_from, nth, spent
from ledger_steps import announce as hold
from ledger_steps import release as charge
from severing import SlammingDoor
from sqlalchemy import event, text

from optin import campaign
from optin.agents import PrivacyConstrained
from optin.database import connection, crash_points
from optin.errors import BudgetSpent
from optin.ledger import Ledger, LedgerUnavailable, packs
from optin.ledger.packing import Pack

PEOPLE = 1000
POINTS = ("after rehearsal", "before lock", "after charges", "before commit", "after commit", "before output")
ids = nth(PEOPLE)
values = np.linspace(0.0, 1.0, PEOPLE)
agents = PrivacyConstrained(np.linspace(0.1, 1.0, PEOPLE), ids=ids)
once = pytest.param(0, len(POINTS), id="0")  # one kill at each point; the slow run kills 20 more, the soak 200
slowly = pytest.param(1, 20, id="1", marks=pytest.mark.slow)
in_the_soak = [pytest.param(batch, 20, id=str(batch), marks=pytest.mark.soak) for batch in range(2, 12)]
batches = [once, slowly, *in_the_soak]


@pytest.fixture(autouse=True)
def _nobody_listens():
    yield
    crash_points.LISTENERS.clear()


@pytest.fixture(params=["rows", "packs"])
def storage(request, monkeypatch):
    """Have a thousand people lie in rows, or else as a hundred thousand do: in several packs."""
    if request.param == "packs":
        for name, size in (("PACKED_FROM", 1), ("SIZE", 256), ("FEW", 2)):
            monkeypatch.setattr(packs, name, size)


def spend_freely(ledger):
    """Register everyone with room for many releases."""
    rich = PrivacyConstrained(np.full(PEOPLE, 1e6), ids=ids)
    plan = campaign.plan(rich, bounds=(0, 1))
    campaign.cancel(campaign.announce(plan, rich, ledger=ledger), ledger=ledger)


def announce(ledger, name):
    return campaign.announce(campaign.plan(agents, bounds=(0, 1)), agents, ledger=ledger, campaign=name)


def release(ledger, offer):
    return campaign.release(offer, agents, values, ledger=ledger)


def afresh(url, job):
    """Run a job on a ledger that this process opened itself, with packs as large as they are here."""
    sizes = {name: getattr(packs, name) for name in ("PACKED_FROM", "SIZE", "FEW")}

    def opened():
        for name, size in sizes.items():
            setattr(packs, name, size)
        with Ledger.open(url) as ledger:
            return job(ledger)

    return opened


def charges(ledger):
    """How many charges lie under the number of each act, in rows or in packs, whether or not the act is there."""
    rows = "SELECT act, COUNT(*) FROM charges GROUP BY act"
    packed = """SELECT k.act, k.body FROM packs k LEFT JOIN acts t ON t.number = k.act
        WHERE k.part = 'rows' AND (t.kind IS NULL OR t.kind = 'release')"""
    with ledger.engine.connect() as link:
        found = Counter(dict(link.execute(text(rows)).all()))
        for act, body in link.execute(text(packed)):
            found[act] += Pack(body).count
    return found


def stored_results(ledger, name):
    """What the tables hold of one campaign: result and charges."""
    query, charged = "SELECT number, body FROM acts WHERE kind = 'release' AND campaign = :name", charges(ledger)
    with ledger.engine.connect() as link:
        return [(row.body, charged[row.number]) for row in link.execute(text(query), {"name": name})]


def expect_all_or_nothing(ledger, name, charges_before):
    found, charged = stored_results(ledger, name), charges(ledger).total()
    assert charged - charges_before in (0, PEOPLE)
    assert [charged for _, charged in found] in ([], [PEOPLE])
    assert (charged > charges_before) == bool(found)
    return found


def expect_one_result(ledger, name, found):
    """A retry completes what was not done, and never draws again what was."""
    offer = announce(ledger, name)
    again = release(ledger, offer)
    assert release(ledger, offer) == again
    ((body, charged),) = stored_results(ledger, name)
    assert charged == PEOPLE
    assert not found or found[0][0] == body
    (drawn,) = json.loads(body)["sealed"]["questions"]
    assert drawn["noisy_totals"] == [str(total) for total in again.sealed.answered[0].noisy_totals]


# --- kills ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "kills"), batches)
def test_a_kill_at_a_named_point_leaves_all_or_nothing(url, storage, batch, kills):
    with Ledger.open(url) as ledger:
        spend_freely(ledger)
        for turn in range(kills):
            point, name = POINTS[turn % len(POINTS)], f"kill {turn}"
            offer, before = announce(ledger, name), charges(ledger).total()
            child = fork(afresh(url, lambda mine, offer=offer: release(mine, offer)), die_at=point)
            assert child.finish() is None
            assert child.was_killed
            found = expect_all_or_nothing(ledger, name, before)
            assert bool(found) == (point in ("after commit", "before output"))
            expect_one_result(ledger, name, found)
            if turn % 5 == 4:
                assert ledger.verify().ok


@pytest.mark.parametrize(("batch", "kills"), batches)
def test_a_kill_at_random_leaves_all_or_nothing(url, storage, batch, kills):
    chance = random.Random(batch)
    with Ledger.open(url) as ledger:
        spend_freely(ledger)
        started = time.monotonic()
        fork(afresh(url, lambda mine: release(mine, announce(mine, "unharmed")))).finish()
        usual = time.monotonic() - started
        for turn in range(kills):
            name, before = f"kill {turn}", charges(ledger).total()
            child = fork(afresh(url, lambda mine, name=name: release(mine, announce(mine, name))))
            shown = child.finish(kill_after=chance.uniform(0, 1.1 * usual))
            found = expect_all_or_nothing(ledger, name, before)
            assert found or shown is None, "a result was shown that is not stored"
            expect_one_result(ledger, name, found)
            if turn % 5 == 4:
                assert ledger.verify().ok


# --- two at once ---------------------------------------------------------------------------------------------------


def poor(turn):
    """People whose allowance covers one of two campaigns."""
    return nth(200, start=1000 * turn)


def whole_job(url, name, who):
    def job(ledger):
        hold(ledger, name, ids=who, grains=6, allowances=10)
        return charge(ledger, name, ids=who, grains=6)

    return afresh(url, job)


@pytest.mark.parametrize(
    "rounds", [5, pytest.param(20, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.soak)]
)
def test_two_processes_at_once_cross_no_limit(url, storage, rounds):
    with Ledger.open(url) as ledger:
        for turn in range(rounds):
            children = [fork(whole_job(url, f"{turn}{side}", poor(turn))) for side in "ab"]
            outcomes = [child.finish() for child in children]
            assert sum(isinstance(outcome, BudgetSpent) for outcome in outcomes) == 1, outcomes
        assert set(spent(ledger).values()) == {6}
        assert ledger.verify().ok


def test_two_processes_releasing_the_same_campaign_draw_once(url, storage):
    with Ledger.open(url) as ledger:
        spend_freely(ledger)
        for turn in range(3):
            offer = announce(ledger, f"same {turn}")
            children = [fork(afresh(url, lambda mine, offer=offer: release(mine, offer))) for _ in range(2)]
            first, second = (child.finish() for child in children)
            assert first.ledger_head == second.ledger_head
            assert first == second
        assert ledger.verify().ok


@pytest.mark.parametrize("locked", [True, False])
def test_it_is_the_lock_that_prevents_the_overspend(url, storage, tmp_path, locked):
    """Hold both writers between their checks and their writes; without the lock both get there."""
    with Ledger.open(url) as ledger:
        hold(ledger, "registers", ids=poor(0), grains=1, allowances=11)
        children = [fork(_meeting(whole_job(url, side, poor(0)), tmp_path, side, locked)) for side in "ab"]
        outcomes = [child.finish() for child in children]
        refused = [isinstance(outcome, BudgetSpent) for outcome in outcomes]
        assert sum(refused) == (1 if locked else 0), outcomes
        assert set(spent(ledger).values()) == {6 if locked else 12}
        assert ledger.verify().ok == locked


def _meeting(job, folder, side, locked):
    """Wait after the checks until the other is there too (or 1 s: it may be locked out); then a goes first, alone."""
    other = "b" if side == "a" else "a"

    def meet(point):
        if point == "after checks" and not (folder / side).exists():
            (folder / side).touch()
            _wait_for(folder / other, 1.0)
            if side == "b":
                _wait_for(folder / "a is done", 2.0)

    def met():
        crash_points.LISTENERS.append(meet)
        if not locked:
            connection.take_head_lock = lambda link: None
        try:
            return job()
        finally:
            (folder / f"{side} is done").touch()

    return met


def _wait_for(path, seconds):
    patience = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < patience:
        time.sleep(0.01)


# --- the disk ------------------------------------------------------------------------------------------------------

MANY = nth(25_000)


@pytest.mark.parametrize("step", [hold, charge])
def test_a_full_disk_writes_nothing_by_halves(url, step, request):
    with Ledger.open(url) as ledger:
        if step is charge:
            hold(ledger, ids=MANY)
        before = counts(ledger)
        on_full_disk = _on_full_sqlite if url.startswith("sqlite") else _on_full_postgres
        outcome = on_full_disk(url, functools.partial(_step_after, dict(OFFERS), step), request)
        assert isinstance(outcome, LedgerUnavailable), outcome
        assert "the disk" in str(outcome)
        assert "nothing was written" in str(outcome)
        assert counts(ledger) == before
        assert ledger.verify().ok
        hold(ledger, ids=MANY)
        charge(ledger, ids=MANY)
        assert ledger.verify().ok


def _step_after(offers, step, ledger):
    OFFERS.update(offers)
    return step(ledger, ids=MANY)


def _on_full_sqlite(url, job, _request):
    """Let no file grow past a limit: the kernel refuses the write as it would on a full disk."""

    def limited(ledger):
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, 2**18))
        return job(ledger)

    return fork(afresh(url, limited)).finish()


def _on_full_postgres(url, job, request):
    server = request.getfixturevalue("postgres")
    server.stop()
    server.start(file_limit=2**20)
    try:
        return fork(afresh(url, job)).finish()
    finally:
        server.stop(signal.SIGQUIT)
        server.start()


def test_a_full_sqlite_says_so(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        hold(ledger, ids=MANY[:5000])
        before = counts(ledger)
        ledger.engine.dispose()
        event.listen(ledger.engine, "connect", lambda link, _: link.execute("PRAGMA max_page_count = 1"))
        with pytest.raises(LedgerUnavailable, match="the disk is full; nothing was written"):
            charge(ledger, ids=MANY[:5000])
        assert counts(ledger) == before
        assert ledger.verify().ok


# --- the connection ------------------------------------------------------------------------------------------------


@pytest.fixture
def remote(postgres):
    with Ledger.open(postgres.new_schema()) as opened:
        yield opened


@contextlib.contextmanager
def at(point, deed):
    """Do something once, when a transaction gets to a point."""

    def listener(reached):
        if reached == point:
            crash_points.LISTENERS.remove(listener)
            deed()

    crash_points.LISTENERS.append(listener)
    yield
    assert listener not in crash_points.LISTENERS


@pytest.mark.parametrize("point", ["after lock", "after charges", "before commit"])
def test_a_lost_connection_writes_nothing_by_halves(remote, postgres, point):
    hold(remote)
    before = counts(remote)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    with (
        at(point, lambda: postgres.execute(kill)),
        pytest.raises(LedgerUnavailable, match="connection to the database was lost; nothing was written"),
    ):
        charge(remote)
    assert counts(remote) == before
    charge(remote)
    assert remote.verify().ok


@pytest.fixture
def door(postgres):
    opened = SlammingDoor(postgres)
    yield opened
    opened.close()


def through(door, postgres):
    schema = postgres.new_schema().rsplit("%3D", 1)[1]
    return Ledger.open(postgres.url("postgres", schema=schema, folder=door.folder))


def test_a_commit_whose_answer_is_lost_is_found_again(door, postgres):
    with through(door, postgres) as ledger:
        hold(ledger)
        draws = []

        def draw(mask, number):
            draws.append(number)
            return drawn_from(OFFERS["c"], np.full(3, 5)[mask], number)

        with at("after lock", lambda: setattr(door, "slam", "before the answer")):
            first = charge(ledger, draw=draw)
        assert door.slam is None
        assert charge(ledger, draw=draw) == first
        assert (len(draws), set(spent(ledger).values()), ledger.verify().ok) == (1, {5}, True)


def test_a_commit_that_never_arrived_is_told_from_one_that_did(door, postgres):
    with through(door, postgres) as ledger:
        hold(ledger)
        before = counts(ledger)
        slam = at("after lock", lambda: setattr(door, "slam", "before the question"))
        with slam, pytest.raises(LedgerUnavailable, match="nothing was written and nothing was revealed"):
            charge(ledger)
        assert door.slam is None
        assert counts(ledger) == before
        assert charge(ledger).body


def test_a_crash_of_the_server_before_commit_writes_nothing(remote, postgres):
    hold(remote)
    before = counts(remote)
    crash = at("before commit", lambda: (postgres.stop(signal.SIGQUIT), postgres.start()))
    with crash, pytest.raises(LedgerUnavailable, match="nothing was written"):
        charge(remote)
    assert counts(remote) == before
    assert charge(remote).number == 3
    assert remote.verify().ok


def test_a_server_that_stays_away_leaves_the_outcome_unknown_and_a_retry_settles_it(remote, postgres, monkeypatch):
    monkeypatch.setattr(connection, "PAUSES", (0.0, 0.05))
    hold(remote)
    crash = at("before commit", lambda: postgres.stop(signal.SIGQUIT))
    with crash, pytest.raises(LedgerUnavailable, match="not known; ask again"):
        charge(remote)
    with pytest.raises(LedgerUnavailable, match="could not be reached"):
        remote.verify()
    postgres.start()
    assert charge(remote).number == 3
    assert remote.verify().ok
