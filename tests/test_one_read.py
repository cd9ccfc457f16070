"""What is charged is what is added up, every refusal comes before the draw, and nothing is decided after a look at a value."""

import contextlib
import os

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ledger_steps import counts
from sqlalchemy import event

import optin
from optin import campaign
from optin.database.crash_points import LISTENERS
from optin.engine.session import Session
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger
from optin.releasing import noise
from optin.releasing.drawing import measure

N = 40
RNG = np.random.default_rng(4)
LIMITS = RNG.lognormal(-1.0, 1.0, N)
STRICT, LAX = np.argsort(LIMITS)[[0, -1]]
VALUES, JOINED = RNG.random(N), np.arange(N) % 4 > 0
VALUES[[STRICT, LAX]], JOINED[[STRICT, LAX]] = (1.0, 0.0), True
IDS = [f"p{number:02}" for number in range(N)]
HELD = optin.PrivacyConstrained(LIMITS, ids=IDS)
PLAN = optin.plan(HELD, bounds=(0, 1), data_sd=0.05)
EVERY_POINT = ["before lock", "after lock", "after checks", "after charges"]


def people(**changed):
    return pa.table({"id": IDS, "limit": LIMITS, "value": VALUES, "joined": JOINED} | changed)


def swapped(column):
    found = column.copy()
    found[[STRICT, LAX]] = found[[LAX, STRICT]]
    return found


class InTable:
    """People in a table of DuckDB, which can be written to at any time."""

    def __init__(self, _):
        self.connection = ibis.duckdb.connect()
        self.connection.create_table("people", people())

    def read(self, engine="duckdb"):
        return optin.read(self.connection.table("people"), limits="limit")

    def write(self, table):
        self.connection.con.execute("DELETE FROM people")
        self.connection.con.from_arrow(table).insert_into("people")


class InFile:
    """People in a file that is written in place, and says that it was not."""

    def __init__(self, folder):
        self.path = folder / "people.parquet"
        pq.write_table(people(), self.path)
        self.at = self.path.stat().st_mtime_ns

    def read(self, engine="duckdb"):
        return optin.read(str(self.path), limits="limit", engine=engine)

    def write(self, table):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        self.path.write_bytes(sink.getvalue().to_pybytes())
        os.utime(self.path, ns=(self.at, self.at))


@pytest.fixture
def drawn(monkeypatch):
    """The noise of each release's mean, as it is drawn: one call draws all that a release publishes."""
    found, draw = [], noise.draw

    def noted(count=1):
        noises = draw(count)
        found.append(noises[0])
        return noises

    monkeypatch.setattr(noise, "draw", noted)
    return found


@contextlib.contextmanager
def changed_while(monkeypatch, number, place, table, *, back=None):
    """Change people for the length of one query, and change them back."""
    sent, fetch, batches = [], Session.fetch, Session.batches

    @contextlib.contextmanager
    def counted():
        sent.append(len(sent))
        if sent[-1] == number:
            place.write(table)
        yield
        if sent[-1] == number:
            place.write(people() if back is None else back)

    def fetched(session, query, *, about):
        with counted():
            return fetch(session, query, about=about)

    def walked(session, query, *, about, **more):
        with counted():
            yield from batches(session, query, about=about, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "fetch", fetched)
        patch.setattr(Session, "batches", walked)
        yield sent


@contextlib.contextmanager
def at(point, act):
    """Do something whenever a transaction passes a point."""

    def listener(here):
        if here == point:
            act()

    LISTENERS.append(listener)
    try:
        yield
    finally:
        LISTENERS.remove(listener)


def exact(release, drawn):
    """The sum that the noise hides."""
    return release.sealed.noisy_total - drawn[-1]


def tried(offer, kept, ledger):
    """Release, or give None where a promise would have been broken."""
    try:
        return campaign.release(offer, kept, "value", joined="joined", ledger=ledger)
    except PromiseBroken:
        return None


ENGINES = [
    ("duckdb", InTable, "limit"),
    ("duckdb", InTable, "joined"),
    ("duckdb", InFile, "limit"),
    pytest.param("spark-local", InFile, "limit", marks=[pytest.mark.xdist_group("spark"), pytest.mark.slow]),
]


@pytest.mark.parametrize(("engine", "place", "column"), ENGINES)
def test_limits_or_answers_changed_during_one_query_never_change_a_weight(
    tmp_path, monkeypatch, drawn, engine, place, column
):
    place = place(tmp_path)
    joined = JOINED if column == "limit" else swapped(JOINED) & (np.arange(N) != STRICT)
    other = people(limit=swapped(LIMITS)) if column == "limit" else people(joined=joined)
    refused, number, queries = 0, 0, 1
    while number < queries:
        with Ledger.open(str(tmp_path / f"{number}.sqlite")) as ledger:
            offer, kept, before = campaign.announce(PLAN, HELD, ledger=ledger), place.read(engine), len(drawn)
            with changed_while(monkeypatch, number, place, other) as sent:
                found = tried(offer, kept, ledger)
            assert len(drawn) - before == (found is not None), "a release that is refused draws nothing"
            if found is not None:
                assert exact(found, drawn) == measure(offer, HELD, VALUES, joined=JOINED).those.questions[0].cells[0]
            refused, number, queries = refused + (found is None), number + 1, max(queries, len(sent))
            assert counts(ledger)["charges"] == (0 if found is None else JOINED.sum())
    assert refused >= 2, "both the rows that are charged and the sum must be caught"


def test_without_a_ledger_answers_that_change_after_the_decision_are_refused(monkeypatch, drawn, tmp_path):
    place = InTable(tmp_path)
    kept, offer = place.read(), PLAN.announce(HELD)
    other = people(joined=JOINED & (np.arange(N) != STRICT))
    with changed_while(monkeypatch, -1, place, other) as sent:
        optin.release(offer, kept, "value", joined="joined")
    decision, sum_ = sent
    for number in (decision, sum_):
        with (
            changed_while(monkeypatch, number, place, other),
            pytest.raises(PromiseBroken, match="changed while they were"),
        ):
            optin.release(offer, kept, "value", joined="joined")
    assert len(drawn) == 1, "nothing is drawn for what is refused"


def test_a_file_written_in_place_under_its_old_time_is_noticed(tmp_path, drawn):
    place = InFile(tmp_path)
    kept, offer = place.read(), PLAN.announce(HELD)
    place.write(people(limit=swapped(LIMITS)))
    with pytest.raises(PromiseBroken, match="was changed while this ran"):
        optin.release(offer, kept, "value")
    assert drawn == []


@pytest.mark.parametrize("point", EVERY_POINT)
def test_an_array_of_limits_that_changes_never_changes_a_weight(tmp_path, drawn, point):
    limits = LIMITS.copy()
    held = optin.PrivacyConstrained(limits, ids=IDS)

    def swap():
        limits[[STRICT, LAX]] = LIMITS[[LAX, STRICT]]

    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(PLAN, HELD, ledger=ledger)
        with at(point, swap):
            found = campaign.release(offer, held, VALUES, joined=JOINED, ledger=ledger)
    assert exact(found, drawn) == measure(offer, HELD, VALUES, joined=JOINED).those.questions[0].cells[0]
    assert found.grains.tolist() == (offer.grains(HELD) * JOINED).tolist()


@pytest.mark.parametrize("point", ["after rehearsal", *EVERY_POINT])
def test_an_array_of_who_joined_that_changes_never_changes_who_is_charged(tmp_path, drawn, point):
    limits, joined = LIMITS.copy(), JOINED.copy()
    limits[LAX], joined[LAX] = limits[STRICT], False  # so that sums say nothing about who of the two it was
    held = optin.PrivacyConstrained(limits, ids=IDS)
    before = joined.copy()

    def swap():
        joined[[STRICT, LAX]] = before[[LAX, STRICT]]

    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(optin.plan(held, bounds=(0, 1), data_sd=0.05), held, ledger=ledger)
        with at(point, swap):
            found = campaign.release(offer, held, VALUES, joined=joined, ledger=ledger)
        assert ledger.verify().ok
        assert [ledger.receipt(IDS[who]).spent > 0 for who in (STRICT, LAX)] == [True, False]
    assert exact(found, drawn) == measure(offer, held, VALUES, joined=before).those.questions[0].cells[0]
    assert found.grains.tolist() == (offer.grains(held) * before).tolist()


GIVEN = {"undivided": {}, "in groups": {"groups": ["A", "B"] * (N // 2)}}


def held_alike(grouped):
    """Two people of the same limit and group, so that sums say nothing about who of them answered."""
    limits = LIMITS.copy()
    limits[[0, 2]] = 0.5
    held = optin.PrivacyConstrained(limits, ids=IDS, **GIVEN[grouped])
    return held, optin.plan(held, [optin.Number(name, bounds=(0, 1), sd=0.05) for name in ("one", "two")])


@pytest.mark.parametrize("grouped", GIVEN)
def test_answers_that_change_after_it_was_settled_who_gave_them_are_refused_before_the_draw(tmp_path, drawn, grouped):
    held, plan = held_alike(grouped)
    one = VALUES.copy()
    one[[0, 2]] = 0.0, np.nan

    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(plan, held, ledger=ledger, allowances=20.0, min_people=1)
        other = campaign.announce(PLAN, HELD, ledger=ledger, campaign="other", allowances=20.0)

        def swap():
            if one[0] == 0.0:
                one[[0, 2]] = np.nan, 1.0
                campaign.cancel(other, ledger=ledger)  # so that what was rehearsed does not stand

        with at("after rehearsal", swap), pytest.raises(PromiseBroken, match="changed while they were read"):
            campaign.release(offer, held, {"one": one, "two": VALUES}, ledger=ledger)
        assert (drawn, counts(ledger)["charges"]) == ([], 0)


@pytest.mark.parametrize("grouped", GIVEN)
@pytest.mark.parametrize("accounted", [True, False])
def test_what_a_release_took_of_each_stays_what_it_was_whatever_becomes_of_the_arrays(tmp_path, grouped, accounted):
    held, plan = held_alike(grouped)
    one, joined = VALUES.copy(), np.arange(N) > 0
    one[2] = np.nan
    given = {"joined": joined}
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        if accounted:
            offer = campaign.announce(plan, held, ledger=ledger, min_people=1)
            found = campaign.release(offer, held, {"one": one, "two": VALUES}, ledger=ledger, **given)
        else:
            offer = plan.announce(held, min_people=1)
            found = optin.release(offer, held, {"one": one, "two": VALUES}, **given)
        one[:], joined[:] = np.nan, True
        assert found.grains[0] == 0 < found.grains[2] < found.grains.max()
        if accounted:
            assert found.grains.tolist() == [ledger.receipt(person).spent for person in IDS]


@pytest.mark.parametrize("point", ["after staging", "after checks", "after charges"])
def test_a_file_that_is_touched_stops_a_release_before_the_draw(ledger, tmp_path, drawn, point):
    place = InFile(tmp_path)
    offer = campaign.announce(PLAN, HELD, ledger=ledger)
    kept = place.read()
    for _ in range(3):
        with at(point, lambda: os.utime(place.path)), pytest.raises(PromiseBroken, match="was changed while this ran"):
            campaign.release(offer, kept, "value", joined="joined", ledger=ledger)
    assert drawn == []
    campaign.release(offer, place.read(), "value", joined="joined", ledger=ledger)
    assert len(drawn) == 1


@pytest.mark.parametrize("kind", ["memory", "engine"])
def test_after_the_draw_one_row_is_written_and_nothing_read(ledger, monkeypatch, tmp_path, kind):
    offer = campaign.announce(PLAN, HELD, ledger=ledger)
    given = (HELD, VALUES, JOINED) if kind == "memory" else (InTable(tmp_path).read(), "value", "joined")
    said, draw = [], noise.draw
    monkeypatch.setattr(noise, "draw", lambda count=1: (said.clear(), draw(count))[1])
    sent = given[0].rows.session.sent if kind == "engine" else None

    @event.listens_for(ledger.engine, "before_cursor_execute")
    def note(connection, cursor, statement, *rest):
        said.append(statement.split("(")[0].strip())

    event.listen(ledger.engine, "commit", lambda connection: said.append("COMMIT"))
    with at("before commit", lambda: said.append(None if sent is None else given[0].rows.session.sent)):
        campaign.release(offer, given[0], given[1], joined=given[2], ledger=ledger)
    written = [statement for statement in said[: said.index("COMMIT")] if isinstance(statement, str)]
    assert [statement for statement in written if not statement.startswith("SELECT acts.number, acts.hash")] == [
        "INSERT INTO acts"
    ]


class Touched:
    """Values that tell when they are looked at."""

    ndim, shape = 1, (N,)

    def __init__(self):
        self.looks = 0

    def __len__(self):
        return N

    def __array__(self, dtype=None, copy=None):
        self.looks += 1
        return VALUES


@pytest.fixture
def unreadable():
    """People in an engine that fails as soon as it looks at a value."""
    table = ibis.duckdb.connect().create_table("people", people(value=["no number"] * N))
    return optin.read(table.mutate(value=table.value.cast("float64")), limits="limit")


def declined(ledger, offer):
    campaign.answer(offer, {IDS[STRICT]: False}, ledger=ledger)


def test_a_quorum_is_missed_without_a_look_at_any_value(tmp_path, unreadable, drawn):
    few = campaign.Quorum(people=N)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer, values = campaign.announce(PLAN, HELD, ledger=ledger), Touched()
        for who, given, joined in ((HELD, values, JOINED), (unreadable, "value", "joined")):
            with pytest.raises(PromiseBroken, match="the quorum is"):
                campaign.release(offer, who, given, joined=joined, ledger=ledger, quorum=few)
        with pytest.raises(BadInput, match="cannot be read"):
            campaign.release(offer, unreadable, "value", joined="joined", ledger=ledger)
        assert counts(ledger)["charges"] == 0
    assert (values.looks, drawn) == (0, [])


def test_someone_who_declines_stops_a_release_without_a_look_at_any_value(ledger, url, unreadable, drawn):
    offer, values = campaign.announce(PLAN, HELD, ledger=ledger), Touched()

    def decline():
        with Ledger.open(url) as another:
            declined(another, offer)

    with at("after staging", decline), pytest.raises(PromiseBroken, match="declined"):
        campaign.release(offer, unreadable, "value", joined="joined", ledger=ledger)
    with pytest.raises(PromiseBroken, match="declined"):
        campaign.release(offer, HELD, values, joined=JOINED, ledger=ledger)
    assert (values.looks, drawn) == (0, [])


def test_other_promises_are_refused_without_a_look_at_any_value(unreadable, drawn):
    offer, values = optin.plan(HELD, bounds=(0, 1)).announce(HELD), Touched()
    other = optin.PrivacyConstrained(LIMITS * 0.9, ids=IDS)
    with pytest.raises(PromiseBroken, match="not the promises"):
        optin.release(offer, other, values)
    other = optin.plan(other, bounds=(0, 1)).announce(other)
    with pytest.raises(PromiseBroken, match="not the promises"):
        optin.release(other, unreadable, "value")
    assert (values.looks, drawn) == (0, [])


def test_rows_of_the_same_sums_that_are_not_those_decided_on_are_refused(tmp_path, monkeypatch, drawn):
    """Two sets of three people whose promises have one sum and one sum of squares: the tilt tells them apart."""
    limits = np.array([1.0, 5.0, 6.0, 2.0, 3.0, 7.0, *[4.0] * 14])
    held = optin.PrivacyConstrained(limits, ids=IDS[:20])
    plan = optin.plan(held, bounds=(0, 1), eta=float(limits.sum()))
    one = pa.table(
        {"id": IDS[:20], "limit": limits, "value": VALUES[:20], "joined": ~np.isin(np.arange(20), [3, 4, 5])}
    )
    other = one.set_column(3, "joined", [pa.array(~np.isin(np.arange(20), [0, 1, 2]))])
    place = InTable(tmp_path)
    place.connection.drop_table("people")
    place.connection.create_table("people", one)

    def released(number):
        with Ledger.open(str(tmp_path / f"{number}.sqlite")) as ledger:
            offer, kept, before = campaign.announce(plan, held, ledger=ledger), place.read(), len(drawn)
            with changed_while(monkeypatch, number, place, other, back=one) as sent:
                found = tried(offer, kept, ledger)
            assert len(drawn) - before == (found is not None)
            assert counts(ledger)["charges"] == (0 if found is None else 17)
            return found, len(sent)

    calm, queries = released(-1)
    found = [released(number)[0] for number in range(queries)]
    assert sum(each is None for each in found) == 2, (
        "charges and sum must be of the same people; a decision goes by sums"
    )
    assert {each.tilt for each in found if each is not None} == {calm.tilt}
