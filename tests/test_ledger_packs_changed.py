"""Packs in bad hands and at odd edges: whatever was changed is found, and whoever asks is told so and no more."""

import numpy as np
import pytest
import test_sheet_ledger as sheets
from forks import fork
from ledger_steps import announce, as_if, copy_of, counts, damage, drawn_from, nth, offer_of, release, spent, terms
from sqlalchemy import text
from test_groups_ledger import (
    test_groups_are_announced_and_released_by_one_act_each_and_charges_add_up,  # noqa: F401 - run here on packs
)
from test_ledger_packs import (
    GRAINS,
    IDS,
    every_pack,
    few_are_many,  # noqa: F401 - a fixture
    found,
    literal,
    lives,
    put,
    repacked,
    where,
)

from optin.errors import OptinError, PromiseBroken
from optin.ledger import Ledger, Terms, packs
from optin.ledger.bulk_reads import charges_of, each_balance, each_change
from optin.ledger.charging import Given
from optin.ledger.holdings import holdings
from optin.ledger.staging_area import waiting
from optin.receipts import check

ODD = [
    "a\nb",
    "a\tb",
    "a\\b",
    "\\N",
    "\\.",
    "None",
    "NULL",
    "a\rb",
    "é",
    "e\u0301",
    "\u202eabc",
    "\ufeff",
    " ",
    "x" * 500,
]
ODD += ["😀", "a,b", "'; --", "\x1f", "%s", ":id", "0", "00"]


@pytest.mark.parametrize("dense", [1, 8])
def test_ids_of_odd_letters_go_in_and_come_out(ledger, monkeypatch, dense):
    monkeypatch.setattr(packs, "_DENSE", dense)
    grains, mixed = np.arange(len(ODD)), np.random.default_rng(2).permutation(len(ODD))
    announce(ledger, "a", ids=ODD, grains=grains, allowances=200)
    announce(ledger, "b", ids=[ODD[at] for at in mixed[::3]], grains=1)
    one = copy_of(release(ledger, "a", ids=[ODD[at] for at in mixed], grains=grains[mixed]))
    receipts = ledger.receipts(ODD, campaign="a", round=1)
    assert [receipt.spent for receipt in receipts] == grains.tolist()
    assert all(check(receipt, one.announcement, one) for receipt in receipts)
    assert ledger.verify([one, *receipts]).ok
    assert ledger.promises(terms("a")) == dict(zip(ODD, grains.tolist(), strict=True))


def test_people_move_between_rows_and_packs_from_round_to_round(ledger, monkeypatch):
    monkeypatch.setattr(packs, "PACKED_FROM", 8)
    left = dict.fromkeys([*IDS, "new"], 40)
    rounds = [
        ([*IDS, "new"], 1, "cancel"),
        (IDS[:5], 7, "release"),
        (IDS, 6, "release"),
        (IDS[3:9], 5, "cancel"),
        ([*IDS[::-1], "new"], 4, "release"),
    ]
    for number, (who, grains, end) in enumerate([*rounds, (IDS[:2], 23, "release")]):
        announce(ledger, str(number), ids=who, grains=grains, allowances=40)
        ledger.let_go(terms(str(number)), who[:1])
        if end == "cancel":
            ledger.cancel(terms(str(number)))
            continue
        release(ledger, str(number), ids=who, grains=grains, joined=np.arange(len(who)) > 0)
        left |= {person: left[person] - grains for person in who[1:]}
        assert ledger.remaining(list(left)).tolist() == list(left.values())
    assert left["p1"] == 0
    announce(ledger, "raised", ids=["p1", "p2"], grains=2, allowances=42, raise_limits=True)
    with pytest.raises(OptinError, match="does not cover"):
        announce(ledger, "too much", ids=[*IDS, "new"], grains=3, allowances=40)
    assert ledger.remaining(["p1", "p2"]).tolist() == [0, left["p2"]]
    assert ledger.verify([ledger.receipt(person) for person in left]).ok


@pytest.mark.parametrize("batched", [False, True])
def test_a_sheet_in_packs_charges_what_was_answered_and_is_released(ledger, batched):
    offer, _ = sheets.announce(ledger)
    ledger.let_go(sheets.terms_of(offer), ["dot"])
    capped, answered, mask, released = sheets.CAPPED, sheets.ANSWERED, np.array([1, 1, 1, 0, 0]) == 1, 0b110
    if batched:
        draw = Given(
            lambda _, number: sheets.drawn_from(offer, capped[mask], answered[mask], number, released),
            questions=released,
        )
        with waiting(sheets.batches(joined=mask.astype(int), answered=answered)) as people:
            ledger.charge(sheets.terms_of(offer), people, draw)
    else:
        sheets.release(ledger, offer, joined=mask, released=released)
    due = np.where(mask, sheets.spent(capped, sheets.SHARES, answered & released), 0)
    receipts = ledger.receipts(sheets.WHO, campaign="c", round=1)
    assert [receipt.spent for receipt in receipts] == due.tolist()
    assert [receipt.answered for receipt in receipts] == [*(answered & released)[:3].tolist(), None, None]
    assert ledger.remaining(sheets.WHO).tolist() == (2**34 - due).tolist()
    assert [ledger.remaining([person])[0] for person in sheets.WHO] == (2**34 - due).tolist()
    assert counts(ledger)["charges"] == 0
    assert ledger.verify(receipts).ok


def test_newcomers_are_numbered_without_gaps(ledger, monkeypatch):
    for threshold in (1, 99):
        monkeypatch.setattr(packs, "PACKED_FROM", threshold)
        for turn in range(3):
            announce(ledger, f"{threshold} {turn}", ids=[*IDS, f"{threshold} {turn}"], grains=1, allowances=99)
    with ledger.engine.connect() as connection:
        assert connection.scalar(text("SELECT MAX(person) FROM people")) == len(IDS) + 6
    assert ledger.verify().ok


def test_gaps_that_an_older_optin_left_are_no_fault(ledger):
    """Whoever was new got the number of their position: a round of many people with one newcomer left a wide gap."""
    announce(ledger, "a", ids=IDS, grains=1)
    announce(ledger, "b", ids=[*IDS, "new"], grains=1)
    moved = repacked(ledger, 3, 0, put(0, 0, 23)), repacked(ledger, 4, 2, put(0, 3, 23))
    with as_if(ledger, "UPDATE people SET person = 23 WHERE person = 12", *moved, forged=False) as link:
        assert not found(link)


def test_packs_that_changed_places_or_were_doubled_are_found(ledger):
    lives(ledger)
    rows = every_pack(ledger)
    for one in rows[:: max(1, len(rows) // 4)]:
        other = next(row for row in rows if row.part == one.part and row.body != one.body and row is not one)
        swap = [
            f"UPDATE packs SET body = {literal(ledger, b.body)}, least = {b.least}, most = {b.most} {where(a)}"
            for a, b in ((one, other), (other, one))
        ]
        with as_if(ledger, *swap, forged=False) as link:
            assert found(link), (one.act, one.part, one.block)
        extra = f"INSERT INTO packs SELECT act, part, block + 99, least, most, body FROM packs {where(one)}"
        with as_if(ledger, extra, forged=False) as link:
            assert found(link), (one.act, one.part, one.block)


@pytest.mark.parametrize(("act", "column", "number"), [(2, 1, -5), (8, 1, -5), (2, 0, -1), (8, 0, -1), (1, 1, -5)])
def test_numbers_below_nothing_are_found(ledger, act, column, number):
    lives(ledger)
    with as_if(ledger, repacked(ledger, act, 0, put(column, 1, number)), forged=False) as link:
        assert found(link)


def asked(ledger):
    """Everything that may be asked of a ledger, each a job of its own."""
    some = IDS[:1] + IDS[4:8]
    return [
        lambda: ledger.remaining(some),
        lambda: ledger.remaining(some[:1]),
        lambda: ledger.receipt("p1"),
        lambda: ledger.receipts(some, campaign="b", round=1),
        lambda: ledger.promises(terms("a")),
        lambda: charges_of(ledger, terms("a")),
        lambda: each_balance(ledger, None, lambda _: None),
        lambda: each_change(ledger, terms("a"), lambda _: None),
        lambda: ledger.stands(terms("a"), some),
        lambda: ledger.bounded(terms("b")),
        lambda: holdings_of(ledger, "p5"),
        lambda: announce(ledger, "a", ids=IDS, grains=GRAINS, allowances=50),
        lambda: release(ledger, "a", ids=IDS, grains=GRAINS, joined=np.arange(11) % 3 > 0),
        lambda: release(ledger, "a", ids=IDS[::-1], grains=GRAINS[::-1], joined=np.arange(11)[::-1] % 3 > 0),
        lambda: ledger.remaining([*IDS, "new"]),
        lambda: announce(ledger, "too much", ids=[*IDS, "new"], grains=10**6),
    ]


def holdings_of(ledger, person):
    with ledger.engine.connect() as connection:
        return holdings(connection, person)


def broken_bodies(body):
    """What may lie where a pack was."""
    yield from (b"", body[:3], body[: len(body) // 2], body + b"\0", b"\xff" * len(body), body[::-1])


def expect_an_answer_or_our_words(ledger):
    """Any other failure than ours ends the test; ours names nobody."""
    said = []
    for job in asked(ledger):
        try:
            job()
        except OptinError as error:
            said.append(str(error))
    assert said
    assert not any(f"id {person}" in words for words in said for person in IDS)


def try_broken(ledger, step):
    lives(ledger)
    bodies = [(row, body) for row in every_pack(ledger) for body in (*broken_bodies(row.body), None)]
    for row, body in bodies[::step]:
        if body is None:
            damage(ledger, f"DELETE FROM packs {where(row)}")
        else:
            damage(ledger, f"UPDATE packs SET body = {literal(ledger, body)} {where(row)}")
        expect_an_answer_or_our_words(ledger)
        assert not ledger.verify().ok, (row.act, row.part, row.block, body)
        damage(ledger, f"DELETE FROM packs {where(row)}", _put_back(ledger, row))
    assert ledger.verify().ok


def _put_back(ledger, row):
    told = f"{row.act}, '{row.part}', {row.block}, {row.least}, {row.most}, {literal(ledger, row.body)}"
    return f"INSERT INTO packs (act, part, block, least, most, body) VALUES ({told})"


def test_whoever_asks_of_broken_packs_is_told_so(ledger):
    try_broken(ledger, 29)


@pytest.mark.slow
def test_whoever_asks_of_packs_broken_in_any_way_is_told_so(ledger):
    try_broken(ledger, 1)


@pytest.mark.parametrize(
    "change", ["DELETE FROM people WHERE person = 3", "UPDATE people SET id = 'x' WHERE person = 3"]
)
def test_a_receipt_whose_neighbour_was_changed_is_refused(ledger, change):
    lives(ledger)
    damage(ledger, change)
    with pytest.raises(PromiseBroken, match="changed"):
        ledger.receipts(["p1"], campaign="a", round=1)


def test_a_trigger_that_changes_packs_on_their_way_in_is_noticed(ledger):
    announce(ledger, "before", ids=IDS[:3], grains=1)
    made = ["CREATE TRIGGER sly AFTER INSERT ON packs BEGIN UPDATE packs SET most = most + 1 WHERE act = NEW.act; END"]
    made.insert(0, "DROP TRIGGER packs_refuses_update")
    if ledger.engine.dialect.name == "postgresql":
        made = [
            "CREATE FUNCTION sly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.most = NEW.most + 1; RETURN NEW; END $$",
            "CREATE TRIGGER sly BEFORE INSERT ON packs FOR EACH ROW EXECUTE FUNCTION sly()",
        ]
    with ledger.engine.connect() as connection, connection.begin():
        for statement in made:
            connection.execute(text(statement))
    with pytest.raises(PromiseBroken, match="other rows"):
        announce(ledger, ids=IDS)
    assert counts(ledger)["people"] == 3


def packing(job):
    """Have a child pack as this process does, which it does not know of."""

    def packed():
        from optin.ledger import packs

        packs.PACKED_FROM, packs.SIZE = 1, 4
        return job()

    return packed


def offered(url):
    offer = offer_of("c", GRAINS)
    named = Terms("c", 1, offer.fingerprint)
    about = {"body": offer.to_sealed_json(), "allowances": np.full(11, 50)}

    def announcing():
        with Ledger.open(url) as ledger:
            return ledger.announce(named, ids=IDS, grains=GRAINS, **about).head

    def releasing():
        with Ledger.open(url) as ledger:
            return ledger.release(named, ids=IDS, grains=GRAINS, draw=lambda _, n: drawn_from(offer, GRAINS, n)).body

    return packing(announcing), packing(releasing)


@pytest.mark.parametrize("moment", ["after lock", "after checks", "before commit"])
def test_an_announcement_killed_at_any_point_leaves_nothing(url, moment):
    Ledger.open(url).close()
    announcing, _ = offered(url)
    child = fork(announcing, die_at=moment)
    child.finish()
    assert child.was_killed
    with Ledger.open(url) as ledger:
        assert counts(ledger)["people"] == len(every_pack(ledger)) == 0
        fork(announcing).finish()
        assert ledger.verify().ok
        assert len(every_pack(ledger)) == 6


def test_two_processes_releasing_the_same_packed_round_draw_once(url):
    Ledger.open(url).close()
    announcing, releasing = offered(url)
    fork(announcing).finish()
    children = [fork(releasing), fork(releasing)]
    first, second = (child.finish() for child in children)
    assert first == second
    with Ledger.open(url) as ledger:
        assert sum(spent(ledger).values()) == GRAINS.sum()
        assert ledger.verify().ok


def test_so_many_people_that_they_are_packed_by_themselves(tmp_path, monkeypatch):
    monkeypatch.undo()
    count = packs.PACKED_FROM + 300
    ids, grains = nth(count), np.arange(count) * 7
    with Ledger.open(str(tmp_path / "many.sqlite")) as ledger:
        announce(ledger, ids=ids, grains=grains, allowances=2**40)
        one = copy_of(release(ledger, ids=ids, grains=grains, joined=np.arange(count) % 50 > 0))
        edges = [1, 255, 256, 261, 262, 1043, 1044, count // 2, packs.SIZE - 1, packs.SIZE, count - 1, 50]
        receipts = ledger.receipts([ids[at] for at in edges], campaign="c", round=1)
        assert [receipt.spent for receipt in receipts] == [*grains[edges[:-1]].tolist(), 0]
        assert all(check(receipt, one.announcement, one) for receipt in receipts)
        assert counts(ledger)["promises"] == counts(ledger)["charges"] == 0
        assert ledger.verify([one, *receipts]).ok
