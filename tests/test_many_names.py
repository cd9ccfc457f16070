"""Ids by the thousand lie side by side as bytes: what is asked of them is what would be asked of a list."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_steps import announce, release, terms
from sqlalchemy import text

import optin
from optin import campaign
from optin.campaign.checking import terms_of
from optin.database.connection import read
from optin.errors import BadInput
from optin.formats.names import Names
from optin.ledger import packs
from optin.ledger.people_numbers import persons_of
from optin.ledger.roster import as_names

texts = st.lists(st.one_of(st.text(max_size=6), st.sampled_from(["", "0", "00", "1", "ä", "a\nb", "\\N", "x" * 400])))


@given(texts, st.randoms())
def test_names_are_the_list_they_were_made_of(names, random):
    found = Names.of(names)
    assert list(found) == names
    assert [found[at] for at in range(len(names))] == names
    assert found.encoded() == [name.encode() for name in names]
    cut = sorted(random.choices(range(len(names) + 1), k=2))
    assert list(found[slice(*cut)]) == names[slice(*cut)]
    assert list(found[::-1]) == names[::-1]
    some = random.choices(range(len(names)), k=5) if names else []
    assert list(found.take(np.array(some, dtype=np.int64))) == [names[at] for at in some]
    marks = np.array([random.random() < 0.5 for _ in names], dtype=np.bool_)
    assert list(found[slice(*cut)].kept(marks[slice(*cut)])) == [
        name for name, mark in zip(names[slice(*cut)], marks[slice(*cut)], strict=True) if mark
    ]
    assert list(Names.joined([found, found[1:], found[:0]])) == names + names[1:]


@given(texts, texts)
def test_names_and_their_keys_are_the_same_where_the_texts_are(ones, others):
    count = min(len(ones), len(others))
    first, second = Names.of(ones[:count]), Names.of(others[:count])
    same = [a == b for a, b in zip(ones, others, strict=False)]
    assert first.same(second).tolist() == same
    assert (first.keys() == second.keys()).tolist() == same
    assert (first == second) == all(same)


ODD = [
    "1",
    "01",
    "1.0",
    "1e0",
    "ä",
    "a\u0308",
    "tab\there",
    "new\nline",
    "back\\slash",
    "\\N",
    "None",
    "NULL",
    "'",
    '"',
]
ODD += ["x" * 500, "ü" * 500, " ", " 1", "ok\r", "\u2028", "🙂", *(f"p{k}" for k in range(20))]


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(packs, "PACKED_FROM", 1)
    monkeypatch.setattr(packs, "SIZE", 8)
    monkeypatch.setattr(packs, "FEW", 2)


def test_odd_ids_keep_their_numbers_whoever_comes_in_whatever_order(ledger, few_are_many):
    grains = np.arange(len(ODD))
    announce(ledger, "a", ids=ODD, grains=grains, allowances=200)
    mixed = np.random.default_rng(3).permutation(len(ODD) + 1)
    everyone, given = [*ODD, "new"], np.append(grains, 5)
    announce(ledger, "b", ids=[everyone[at] for at in mixed], grains=given[mixed], allowances=200)
    numbers = read(ledger.engine, lambda link: persons_of(link, [*everyone[::-1], "stranger"]))
    by_key = "SELECT person FROM people WHERE id = :id"
    with ledger.engine.connect() as link:
        assert numbers[:-1].tolist() == [link.scalar(text(by_key), {"id": name}) for name in everyone[::-1]]
    assert numbers[-1] == 0
    assert ledger.promises(terms("b")) == {everyone[at]: int(given[at]) for at in mixed}
    for name, ids, amounts in (("a", ODD[::-1], grains[::-1]), ("b", everyone, given)):
        release(ledger, name, ids=ids, grains=amounts)
    assert ledger.verify(ledger.receipts(everyone, campaign="b", round=1)).ok


@pytest.mark.parametrize("name", ["", "x" * 501, "x" * 10_000, "null\0byte"])
def test_ids_that_no_ledger_can_keep_are_refused_by_their_place(name):
    with pytest.raises(BadInput, match="ids must be non-empty texts of at most 500 characters"):
        as_names(Names.of(["a", name, "b"]))


def test_odd_ids_of_an_engine_reach_the_ledger_byte_for_byte(ledger, few_are_many, tmp_path):
    limits = 0.1 + np.arange(len(ODD)) / 10
    pq.write_table(pa.table({"id": ODD, "limit": limits, "value": limits / 5}), tmp_path / "people.parquet")
    people = optin.read(str(tmp_path / "people.parquet"), limits="limit", engine="duckdb")
    for name in ("a", "b"):
        plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, raise_limits=True, allowances=9.0)
        offer = campaign.announce(
            plan, people, ledger=ledger, campaign=name, raise_limits=True, allowances=9.0, min_people=1
        )
        campaign.release(offer, people, "value", ledger=ledger)
        held = optin.PrivacyConstrained(limits, ids=ODD)
        assert ledger.promises(terms_of(offer)) == dict(zip(ODD, offer.grains(held).tolist(), strict=True))
    assert ledger.verify().ok


def test_to_put_names_into_another_order_takes_little_more_than_they_are():
    names = Names.of([f"person-{number:07}" for number in range(400_000)])
    order, marks = np.arange(len(names))[::-1], np.arange(len(names)) % 10 > 0
    for pick in (lambda: names.take(order), lambda: names.kept(marks), lambda: Names.joined([names, names])):
        tracemalloc.start()
        found = pick()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.5 * (len(found.array) + 8 * len(found)) + 2**24


def test_rows_leave_duckdb_in_the_order_of_their_file(tmp_path):
    ids = [f"p{number:06}" for number in range(200_000)]
    pq.write_table(
        pa.table({"id": ids, "limit": np.full(len(ids), 0.5)}), tmp_path / "people.parquet", row_group_size=2048
    )
    people = optin.read(str(tmp_path / "people.parquet"), limits="limit", engine="duckdb")
    rows = people.rows
    for _ in range(3):
        walk = rows.session.batches(rows.table.select(id=rows.ids()), about="people", size=5000)
        assert [name for batch in walk for name in batch.column("id").to_pylist()] == ids
