"""Acts over many people lie in packs: they mean what rows mean, and nothing in them can be changed unseen."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_steps import announce, as_if, copy_of, counts, damage, nth, release, spent, terms
from sqlalchemy import select, text
from test_engine_ledger import (
    JOINED,
    VALUES,
    files,  # noqa: F401 - a fixture
    held,  # noqa: F401
    kept,  # noqa: F401
    test_a_release_killed_at_any_point_leaves_nothing_and_the_next_one_is_whole,  # noqa: F401 - run here on packs
    test_a_second_round_is_planned_and_promised_with_what_remains,  # noqa: F401
    test_an_allowance_that_does_not_cover_is_refused_by_id_and_nothing_is_held,  # noqa: F401
    test_an_id_that_stands_twice_is_refused_by_the_ledgers_key,  # noqa: F401
    test_other_people_and_edited_limits_are_refused,  # noqa: F401
    test_those_who_declined_are_left_out_where_nobody_says_who_joined,  # noqa: F401
)
from test_ledger_machine import test_the_ledger_agrees_with_its_model  # noqa: F401

from optin import campaign
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.ledger import Ledger, packs
from optin.ledger.bulk_reads import charges_of, each_balance, promises_held
from optin.ledger.holdings import given_back, holdings, promised_nothing
from optin.ledger.packing import Pack, pack, unpack
from optin.ledger.schema import packs as table
from optin.receipts import check

IDS = nth(11)
GRAINS = np.arange(11)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch, request):
    """Have a handful of people be so many that they are packed, in several blocks; people of an engine in larger ones."""
    monkeypatch.setattr(packs, "PACKED_FROM", 1)
    sizes = {"point": packs.SIZE, "kept": 1024}  # of a child that is killed, and of people in an engine
    size = next((size for name, size in sizes.items() if name in request.fixturenames), 4)
    monkeypatch.setattr(packs, "SIZE", size)
    monkeypatch.setattr(packs, "FEW", 2)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def lived(request, tmp_path_factory):
    """A ledger of two campaigns in packs, which is damaged for a moment only."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("lived") / "ledger.sqlite")
    else:
        url = request.getfixturevalue("postgres").new_ledger()
    with Ledger.open(url) as ledger:
        with small_packs():
            lives(ledger)
        yield ledger
        with small_packs():  # blocks are as large as they were written, or packs would seem to be missing
            assert ledger.verify().ok


@contextlib.contextmanager
def small_packs():
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("PACKED_FROM", 1), ("SIZE", 4), ("FEW", 2)):
            patch.setattr(packs, name, size)
        yield


numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 300), st.just(2**62))


@given(st.integers(0, 40).flatmap(lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), max_size=4)))
def test_what_is_packed_comes_back(columns):
    body = pack([np.array(column, dtype=np.int64) for column in columns])
    assert [column.tolist() for column in unpack(body)] == columns
    assert [Pack(body).cells(row) for row in range(Pack(body).count)] == [
        list(row) for row in zip(*columns, strict=True)
    ]


@given(st.binary(max_size=60))
def test_bytes_that_are_no_pack_are_refused_or_read(body):
    try:
        found = unpack(body)
    except ValueError:
        return
    assert len({len(column) for column in found}) <= 1


def lives(ledger):
    """Two campaigns over the same people, the second in another order with someone new: one declines, some are absent."""
    announce(ledger, "a", ids=IDS, grains=GRAINS, allowances=50)
    announce(ledger, "b", ids=[*IDS[::-1], "new"], grains=7, allowances=60, raise_limits=True)
    ledger.let_go(terms("b"), ["p3"])
    first = copy_of(release(ledger, "a", ids=IDS, grains=GRAINS, joined=np.arange(11) % 3 > 0))
    second = copy_of(release(ledger, "b", ids=[*IDS, "new"], grains=7, joined=np.arange(12) != 3))
    return first, second


def seen(ledger):
    """Everything that can be asked about people."""
    everyone, balances = [*IDS, "new"], []
    each_balance(ledger, None, lambda block: balances.extend(zip(*block, strict=True)))
    with ledger.engine.connect() as connection:
        own = {
            person: [(h.campaign, h.promised, h.spent, h.returned) for h in holdings(connection, person)]
            for person in everyone
        }
        nothing, back = promised_nothing(connection, "a", 1), given_back(connection, "b", 1)
    return {
        "left": ledger.remaining(everyone).tolist(),
        "left of one": [ledger.remaining([person]).tolist() for person in everyone],
        "besides": ledger.remaining(everyone, besides=terms("b")).tolist(),
        "balances": sorted(balances),
        "holdings": own,
        "nothing": nothing,
        "back": back,
        "spent": spent(ledger),
        "promises": ledger.promises(terms("b")),
        "charges": charges_of(ledger, terms("a")),
        "held": promises_held(ledger, terms("a")),
        "standing": ledger.standing(terms("b")).tolist(),
        "receipts": [(r.promised, r.spent, r.index, r.remaining) for r in ledger.receipts(IDS, campaign="b", round=1)],
        "acts": [(act.kind, act.people) for act in ledger.acts()],
    }


def test_packs_and_rows_say_the_same_of_everyone(ledger, tmp_path, monkeypatch):
    lives(ledger)
    assert counts(ledger)["promises"] == counts(ledger)["charges"] == 0 < len(every_pack(ledger))
    monkeypatch.setattr(packs, "PACKED_FROM", 10**9)
    with Ledger.open(str(tmp_path / "rows.sqlite")) as rows:
        lives(rows)
        assert not every_pack(rows)
        assert seen(ledger) == seen(rows)


def test_rows_and_packs_live_in_one_ledger(ledger, monkeypatch):
    monkeypatch.setattr(packs, "PACKED_FROM", 5)
    announce(ledger, "few", ids=IDS[:3], grains=5, allowances=20)
    announce(ledger, "many", ids=IDS, grains=5, allowances=20)
    announce(ledger, "few more", ids=IDS[8:], grains=5, allowances=30, raise_limits=True)
    assert ledger.remaining([IDS[0], IDS[5], IDS[9]]).tolist() == [10, 15, 20]
    with pytest.raises(BudgetSpent):
        announce(ledger, "too much", ids=IDS[:3], grains=11)
    for name, who in (("few", IDS[:3]), ("many", IDS), ("few more", IDS[8:])):
        release(ledger, name, ids=who, grains=5)
    assert ledger.verify([ledger.receipt(person) for person in IDS]).ok
    assert ledger.receipt(IDS[9]).campaign == "few more"
    assert ledger.receipt(IDS[1], campaign="few").spent == 5


def test_every_receipt_of_a_packed_release_proves_itself(ledger):
    first, second = lives(ledger)
    copies = [(ledger.receipts(IDS, campaign=name, round=1), one) for name, one in (("a", first), ("b", second))]
    for receipts, one in copies:
        assert all(check(receipt, one.announcement, one) for receipt in receipts)
        assert ledger.verify([one, *receipts]).ok
    with pytest.raises(BadInput):
        ledger.receipts(["new"], campaign="a", round=1)


def test_asking_again_changes_nothing_and_other_people_are_refused(ledger):
    lives(ledger)
    before = counts(ledger)
    again = announce(ledger, "b", ids=[*IDS, "new"], grains=7, allowances=60)
    assert again.number == 5
    assert copy_of(release(ledger, "a", ids=IDS, grains=GRAINS, joined=np.arange(11) % 3 > 0)).joined_people == 7
    assert counts(ledger) == before
    with pytest.raises(PromiseBroken):
        announce(ledger, "b", ids=[*IDS, "new"], grains=6, allowances=60)
    with pytest.raises(PromiseBroken):
        release(ledger, "a", ids=[*IDS[:-1], "eve"], grains=GRAINS)


def test_people_of_an_engine_are_packed_as_people_in_memory_are(tmp_path, kept, held):  # noqa: F811
    found = {}
    for name, people in (("engine", kept), ("memory", held)):
        with Ledger.open(str(tmp_path / f"{name}.sqlite")) as ledger:
            plan = campaign.plan(people, bounds=(0, 1), ledger=ledger)
            offer = campaign.announce(plan, people, ledger=ledger, campaign="census")
            answers, joined = ("value", "joined") if name == "engine" else (VALUES, JOINED)
            release_ = campaign.release(offer, people, answers, ledger=ledger, joined=joined)
            assert ledger.verify([release_]).ok
            packed = [(row.act, row.part, row.block, row.body) for row in every_pack(ledger) if row.part != "tree"]
            found[name] = (packed, spent(ledger), release_.joined_people, counts(ledger))
    assert found["engine"] == found["memory"]
    assert found["engine"][3]["promises"] == 0


def every_pack(ledger):
    with ledger.engine.connect() as connection:
        return connection.execute(select(table)).all()


def where(row):
    return f"WHERE act = {row.act} AND part = '{row.part}' AND block = {row.block}"


def literal(ledger, body):
    return f"X'{body.hex()}'" if ledger.engine.dialect.name == "sqlite" else f"'\\x{body.hex()}'::bytea"


@pytest.mark.parametrize("bytes_changed", [6, pytest.param(120, marks=pytest.mark.slow)])
def test_a_pack_changed_in_any_byte_is_found(lived, bytes_changed):
    rows = every_pack(lived)
    places = [(row, at) for row in rows for at in range(len(row.body))]
    for row, at in places[:: max(1, len(places) // bytes_changed)]:
        body = bytearray(row.body)
        body[at] ^= 1
        with as_if(lived, f"UPDATE packs SET body = {literal(lived, bytes(body))} {where(row)}", forged=False) as link:
            assert found(link), (row.act, row.part, row.block, at)


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_pack_taken_away_added_or_bounded_otherwise_is_found(lived, step):
    changes = (
        "DELETE FROM packs",
        "UPDATE packs SET least = least - 1",
        "UPDATE packs SET most = most + 1",
        "UPDATE packs SET block = block + 9",
        "UPDATE packs SET act = 6",
    )
    for number, row in enumerate(every_pack(lived)[::step]):
        with as_if(lived, f"{changes[number % len(changes)]} {where(row)}", forged=False) as link:
            assert found(link), (number, row.act, row.part, row.block)


def found(link):
    from optin.ledger.verification import verify

    return verify(link).problems


def repacked(ledger, act, block, change, part="rows"):
    """Write a pack with another content, as someone with full rights and our code can."""
    row = next(row for row in every_pack(ledger) if (row.act, row.part, row.block) == (act, part, block))
    columns = unpack(row.body)
    change(columns)
    body = literal(ledger, pack(columns))
    return f"UPDATE packs SET body = {body}, least = {columns[0].min()}, most = {columns[0].max()} {where(row)}"


def put(column, row, number):
    def change(columns):
        columns[column][row] = number

    return change


@pytest.mark.parametrize(
    ("act", "change", "words"),
    [
        (2, put(0, 1, 1), "twice"),
        (2, put(1, 1, 99), "more than their allowance"),
        (2, put(2, 1, 5), "whether they were cut"),
        (1, put(1, 1, 0), "more than their allowance"),
        (8, put(1, 1, 0), "differ from the promise"),
        (8, put(0, 0, 0), "neither charged nor let go"),
        (8, put(0, 1, 3), "both charged and let go"),
    ],
)
def test_rules_find_what_a_forger_hashed_again(lived, act, change, words):
    with as_if(lived, repacked(lived, act, 0, change)) as link:
        assert any(words in problem for problem in found(link)), found(link)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO promises (offer, position, person, grains, bounded) VALUES (2, 99, 1, 1, (1 = 0))",
        "INSERT INTO charges (offer, position, act, grains) VALUES (2, 99, 8, 1)",
        "INSERT INTO allowances (person, act, grains) VALUES (2, 1, 1000)",
        "INSERT INTO people (person, id, act) VALUES (50, 'eve', 1)",
        "UPDATE people SET act = 3 WHERE person = 1",
        "UPDATE people SET id = 'eve' WHERE person = 2",
        "DELETE FROM people WHERE person = 2",
        "INSERT INTO returns (offer, position, act) VALUES (2, 99, 6)",
        "INSERT INTO packs SELECT 99, part, block, least, most, body FROM packs WHERE act = 1",
    ],
)
def test_rows_smuggled_in_beside_packs_are_found(lived, statement):
    with as_if(lived, statement, forged=False) as link:
        assert found(link)


def test_a_receipt_is_not_written_from_changed_packs(ledger):
    first, _ = lives(ledger)
    damage(ledger, repacked(ledger, 8, 0, put(1, 0, 3)))
    with pytest.raises(PromiseBroken, match="changed"):
        ledger.receipts(["p1"], campaign="a", round=1)
    assert first.joined_people == 7


def test_a_release_over_edited_packs_is_refused(ledger):
    announce(ledger, ids=IDS, grains=GRAINS, allowances=50)
    damage(ledger, repacked(ledger, 2, 1, put(1, 1, 1)))
    with pytest.raises(PromiseBroken, match="holds"):
        release(ledger, ids=IDS, grains=GRAINS)


def test_a_trigger_that_changes_people_on_their_way_in_is_noticed(ledger):
    if ledger.engine.dialect.name == "sqlite":
        made = ["CREATE TRIGGER sly AFTER INSERT ON people BEGIN UPDATE people SET id = 'eve' WHERE person = 2; END"]
        made.insert(0, "DROP TRIGGER people_refuses_update")
    else:
        made = [
            "CREATE FUNCTION sly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id = NEW.id || 'x'; RETURN NEW; END $$",
            "CREATE TRIGGER sly BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION sly()",
        ]
    with ledger.engine.connect() as connection, connection.begin():
        for statement in made:
            connection.execute(text(statement))
    with pytest.raises((PromiseBroken, BadInput)):
        announce(ledger, ids=IDS)
    assert counts(ledger)["people"] == 0


def test_one_person_among_many_blocks_is_found_in_few_looks(ledger, monkeypatch):
    gaps = np.unique(np.random.default_rng(3).integers(0, 4000, 900) ** 2)
    with ledger.engine.connect() as connection:  # never committed
        packs.write_packs(connection, 7, packs.ROWS, [gaps, np.arange(len(gaps))])
        looks, ask = [], packs.fetched_rows
        monkeypatch.setattr(packs, "fetched_rows", lambda *asked: looks.append(asked) or ask(*asked))
        for place, number in enumerate(gaps.tolist()):
            looks.clear()
            assert packs.row_with(connection, 7, packs.ROWS, number) == (place, [number, place])
            assert len(looks) <= 2 + 2 * (len(gaps) // packs.SIZE).bit_length()
        others = sorted({0, 1, 5, 10**8} - set(gaps.tolist()))
        assert [packs.row_with(connection, 7, packs.ROWS, number) for number in others] == [None] * len(others)


def test_numbers_in_packs_cost_few_bytes():
    grains = np.random.default_rng(3).integers(0, 2**33, 2**15)
    body = pack([np.arange(2**15) + 77, grains, np.zeros(2**15, dtype=np.int64)])
    assert len(body) < 5.01 * 2**15
