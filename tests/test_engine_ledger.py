"""A ledger for people who stay in an engine: staged in batches, taken in by one transaction, the same acts as from memory."""

import hashlib
import json
import os
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forks import fork
from ledger_steps import counts, drawn_from, offer_of, spent

import optin
from optin import campaign
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.grains.batches import Batch
from optin.ledger import Ledger, Terms
from optin.ledger.charging import Given
from optin.ledger.staging_area import waiting
from optin.ledger.streamed_hashes import Grove, digest_of_blocks
from optin.receipts import MerkleTree, charge_salts, leaves_of

N = 3_000
RNG = np.random.default_rng(11)
LIMITS = np.concatenate([RNG.lognormal(-1.0, 1.0, N - 4), [0.0, np.inf, 2.0**-33, 2.0**31]])
VALUES = RNG.normal(0.5, 0.4, N)
JOINED = RNG.random(N) < 0.8
IDS = [f"p{number:05}" for number in range(N)]


@pytest.fixture
def files(tmp_path):
    """People in three files, one of them empty."""
    table = pa.table({"id": IDS, "limit": LIMITS, "value": VALUES, "joined": JOINED})
    for part, rows in enumerate((table.slice(0, 1000), table.slice(1000), table.slice(0, 0))):
        pq.write_table(rows, tmp_path / f"{part}.parquet")
    return tmp_path


@pytest.fixture
def kept(files):
    return optin.read(f"{files}/*.parquet", limits="limit", engine="duckdb")


@pytest.fixture
def held():
    """The same people in memory."""
    return optin.PrivacyConstrained(LIMITS, ids=IDS)


def announced(people, ledger, name="census", **more):
    plan = campaign.plan(people, bounds=(0, 1), ledger=ledger, **more)
    return campaign.announce(plan, people, ledger=ledger, campaign=name, **more)


def charges(ledger):
    """What everyone paid, by id."""
    return {name: grains for name, grains in spent(ledger).items() if grains}


def paid(offer, joined):
    grains = offer.grains(optin.PrivacyConstrained(LIMITS, ids=IDS)) * joined
    return {name: int(grain) for name, grain in zip(IDS, grains, strict=True) if grain}


def test_a_campaign_in_an_engine_writes_what_the_same_campaign_in_memory_writes(ledger, kept, held):
    offer = announced(kept, ledger)
    release = campaign.release(offer, kept, "value", joined="joined", ledger=ledger)
    assert charges(ledger) == paid(offer, JOINED)
    assert counts(ledger) == {
        "acts": 4,
        "people": N,
        "allowances": N,
        "promises": N,
        "returns": N - JOINED.sum(),
        "charges": JOINED.sum(),
    }
    assert ledger.verify(against=[release]).ok
    again = campaign.release(offer, held, VALUES, joined=JOINED, ledger=ledger)
    assert again == release
    assert campaign.release(offer, kept, "value", joined="joined", ledger=ledger) == release


def test_what_was_announced_from_memory_is_released_from_an_engine(ledger, kept, held):
    plan = optin.plan(held, bounds=(0, 1))
    offer = campaign.announce(plan, held, ledger=ledger, campaign="census")
    assert campaign.announce(plan, kept, ledger=ledger, campaign="census") == offer
    release = campaign.release(offer, kept, "value", ledger=ledger)
    assert release.joined_people == N
    receipt = ledger.receipt("p00007")
    assert optin.check(receipt, offer, release)


def test_those_who_declined_are_left_out_where_nobody_says_who_joined(ledger, kept):
    offer = announced(kept, ledger)
    campaign.answer(offer, {"p00003": False, "p01234": False}, ledger=ledger)
    release = campaign.release(offer, kept, "value", ledger=ledger)
    assert release.joined_people == N - 2
    assert not {"p00003", "p01234"} & set(charges(ledger))


def test_someone_who_declined_cannot_be_released(ledger, kept):
    offer = announced(kept, ledger)
    first = IDS[int(np.argmax(JOINED))]
    campaign.answer(offer, {first: False}, ledger=ledger)
    with pytest.raises(PromiseBroken, match=f"id {first} declined"):
        campaign.release(offer, kept, "value", joined="joined", ledger=ledger)
    assert counts(ledger)["charges"] == 0


def test_a_second_round_is_planned_and_promised_with_what_remains(ledger, kept, held):
    first = announced(kept, ledger)
    campaign.release(first, kept, "value", ledger=ledger)
    second = announced(kept, ledger, "second")
    lowered = campaign.within_allowance(held, ledger, besides=None)
    assert second.sealed.total_grains < first.sealed.total_grains
    assert len(lowered) == N
    release = campaign.release(second, kept, "value", ledger=ledger)
    assert release.joined_people == N
    assert ledger.verify(against=[release]).ok


def test_engine_and_memory_lower_limits_to_the_same_floats(ledger, kept, held):
    announced(held, ledger)
    rows = campaign.within_allowance(kept, ledger)
    query = rows.rows.table.select(id=rows.rows.ids(), limit=rows.expression).order_by("id")
    found = rows.rows.session.fetch(query, about="the people")["limit"].to_numpy()
    np.testing.assert_array_equal(found, campaign.within_allowance(held, ledger).limits)


@pytest.mark.parametrize("known", [False, True], ids=["nobody known", "everybody known"])
def test_totals_in_a_column_lower_limits_to_the_same_floats_as_in_memory(ledger, files, held, known):
    totals = np.where(np.arange(N) % 3 == 0, LIMITS / 3, np.where(np.arange(N) % 3 == 1, 2 * LIMITS, np.inf))
    pq.write_table(pa.table({"id": IDS, "limit": LIMITS, "total": totals}), files / "totals.pq")
    kept = optin.read(str(files / "totals.pq"), limits="limit")
    if known:
        announced(kept, ledger, allowances="total")
    rows = campaign.within_allowance(kept, ledger, allowances="total")
    query = rows.rows.table.select(id=rows.rows.ids(), limit=rows.expression).order_by("id")
    found = rows.rows.session.fetch(query, about="the people")["limit"].to_numpy()
    np.testing.assert_array_equal(found, campaign.within_allowance(held, ledger, allowances=totals).limits)


@pytest.mark.parametrize(("total", "words"), [(None, "total is missing"), (-1.0, "total is negative")])
def test_a_total_that_cannot_be_used_is_named_by_id_and_nothing_is_held(ledger, files, total, words):
    totals = [total if name == "p00004" else 1.0 for name in IDS]
    pq.write_table(pa.table({"id": IDS, "limit": LIMITS, "total": totals}), files / "totals.pq")
    people = optin.read(str(files / "totals.pq"), limits="limit")
    plan = optin.plan(people, bounds=(0, 1))
    with pytest.raises(BadInput, match=f"id p00004: {words}"):
        campaign.announce(plan, people, ledger=ledger, allowances="total")
    with pytest.raises(BadInput, match="no column totals; did you mean total"):
        campaign.announce(plan, people, ledger=ledger, allowances="totals")
    assert counts(ledger) == dict.fromkeys(counts(ledger), 0)


def test_an_allowance_that_does_not_cover_is_refused_by_id_and_nothing_is_held(ledger, files):
    pq.write_table(pa.table({"id": IDS, "cost": 0.01 + RNG.random(N), "value": VALUES}), files / "costs.pq")
    people = optin.read(str(files / "costs.pq"), costs="cost", benefit=optin.LinearBenefit(base=1.0, slope=1.0))
    plan = optin.plan(people, bounds=(0, 1))
    with pytest.raises(BudgetSpent, match="first id p00000"):
        campaign.announce(plan, people, ledger=ledger, allowances=2.0**-32)
    assert counts(ledger) == dict.fromkeys(counts(ledger), 0)
    offer = campaign.announce(plan, people, ledger=ledger)
    assert campaign.release(offer, people, "value", ledger=ledger).joined_people == N


def test_an_id_that_stands_twice_is_refused_by_the_ledgers_key(ledger, files):
    pq.write_table(pa.table({"id": ["p00005"], "limit": [1.0], "value": [0.0], "joined": [True]}), files / "2.parquet")
    twice = optin.read(f"{files}/*.parquet", limits="limit", engine="duckdb", check_ids=False)
    with pytest.raises(BadInput, match="id p00005 stands in more than one row"):
        announced(twice, ledger)
    assert counts(ledger) == dict.fromkeys(counts(ledger), 0)


def test_other_people_and_edited_limits_are_refused(ledger, kept, files):
    offer = announced(kept, ledger)
    other = pa.table({"id": ["q" + name for name in IDS], "limit": LIMITS, "value": VALUES})
    pq.write_table(other, files / "other.pq")
    with pytest.raises(PromiseBroken, match="not the people of the announcement"):
        campaign.release(offer, optin.read(str(files / "other.pq"), limits="limit"), "value", ledger=ledger)
    swapped = LIMITS.copy()
    low, high = np.argsort(swapped)[[5, -5]]
    swapped[[low, high]] = swapped[[high, low]]
    pq.write_table(pa.table({"id": IDS, "limit": swapped, "value": VALUES}), files / "swapped.pq")
    with pytest.raises(PromiseBroken, match=r"the limit of id p.* is not the one announced"):
        campaign.release(offer, optin.read(str(files / "swapped.pq"), limits="limit"), "value", ledger=ledger)
    assert counts(ledger)["charges"] == 0


@pytest.mark.parametrize("step", ["announce", "release"])
def test_a_file_changed_while_it_is_read_is_noticed_before_the_commit(ledger, kept, files, step):
    from optin.database.crash_points import LISTENERS

    offer = announced(kept, ledger) if step == "release" else None
    before = counts(ledger)

    def touch(point):
        if point == "after checks":
            os.utime(files / "0.parquet", ns=(1, 1))

    LISTENERS.append(touch)
    try:
        with pytest.raises(PromiseBroken, match="was changed while this ran"):
            announced(kept, ledger) if offer is None else campaign.release(offer, kept, "value", ledger=ledger)
    finally:
        LISTENERS.remove(touch)
    assert counts(ledger) == before


def test_someone_who_declines_while_the_engine_adds_up_stops_the_release(ledger, kept, url):
    from optin.database.crash_points import LISTENERS

    offer = announced(kept, ledger)

    def decline(point):
        if point == "after staging":
            LISTENERS.remove(decline)
            with Ledger.open(url) as another:
                campaign.answer(offer, {"p00003": False}, ledger=another)

    LISTENERS.append(decline)
    with pytest.raises(PromiseBroken):
        campaign.release(offer, kept, "value", ledger=ledger)
    assert counts(ledger)["charges"] == 0
    assert campaign.release(offer, kept, "value", ledger=ledger).joined_people == N - 1


def offered(url):
    """Announce from memory, and say how a release of the same people, staged in batches, is done in a child."""
    grains = np.arange(N) + 1
    offer = offer_of("census", grains)
    terms = Terms("census", 1, offer.fingerprint)
    with Ledger.open(url) as ledger:
        ledger.announce(terms, body=offer.to_sealed_json(), ids=IDS, grains=grains, allowances=grains)
    batches = [
        Batch(IDS[at : at + 500], grains[at : at + 500].tolist(), joined=JOINED[at : at + 500].astype(int).tolist())
        for at in range(0, N, 500)
    ]

    def job():
        with Ledger.open(url) as ledger, waiting(batches) as rows:
            drawn = Given(lambda _, number: drawn_from(offer, grains[JOINED], number))
            return ledger.charge(terms, rows, drawn).body

    return job


@pytest.mark.parametrize("point", ["after staging", "after lock", "after checks", "after charges", "before commit"])
def test_a_release_killed_at_any_point_leaves_nothing_and_the_next_one_is_whole(url, point):
    job = offered(url)
    child = fork(job, die_at=point)
    child.finish()
    assert child.was_killed
    with Ledger.open(url) as ledger:
        assert len(spent(ledger)) == counts(ledger)["returns"] == 0
        assert ledger.verify().ok
    assert json.loads(fork(job).finish())["public"]["joined_people"] == JOINED.sum()
    with Ledger.open(url) as ledger:
        assert len(spent(ledger)) == JOINED.sum()


def test_a_release_killed_at_any_moment_leaves_all_or_nothing(url):
    job = offered(url)
    for moment in np.random.default_rng().uniform(0.0, 0.15, 5):
        fork(job).finish(kill_after=moment)
        with Ledger.open(url) as ledger:
            found = len(spent(ledger)), counts(ledger)["returns"]
            assert found in ((0, 0), (JOINED.sum(), N - JOINED.sum()))
            assert ledger.verify().ok


def test_a_missing_value_or_answer_is_named_by_id(ledger, files):
    value = [None if name == "p00009" else 0.5 for name in IDS]
    pq.write_table(
        pa.table({"id": IDS, "limit": LIMITS, "value": value, "joined": ["maybe", *["yes"] * (N - 1)]}), files / "x.pq"
    )
    people = optin.read(str(files / "x.pq"), limits="limit")
    offer = announced(people, ledger)
    with pytest.raises(BadInput, match=r"x.pq id p00009 joined but their value is missing"):
        campaign.release(offer, people, "value", ledger=ledger)
    with pytest.raises(BadInput, match=r"x.pq id p00000: joined is not an answer"):
        campaign.release(offer, people, "value", joined="joined", ledger=ledger)
    assert counts(ledger)["charges"] == 0


def digest_of_the_whole(salt, ids, grains):
    """The digest of rows, written out: counts first, then lengths, ids, and numbers in eight bytes each."""
    lengths = b"".join(len(person.encode()).to_bytes(4, "big") for person in ids)
    numbers = b"".join(int(each).to_bytes(8, "big", signed=True) for each in grains)
    header = f"optin rows 1:{salt}:{len(ids)}:True:1:".encode()
    return hashlib.sha256(header + lengths + "".join(ids).encode() + numbers).hexdigest()


@pytest.mark.parametrize("stretch", [8, 16])
@pytest.mark.parametrize("people", [0, 1, 7, 8, 9, 24, 31])
def test_trees_and_digests_in_blocks_are_those_of_the_whole(people, stretch):
    salt, ids, grains = "5a" * 32, [f"ä{k}" for k in range(people)], np.arange(people) * 3
    blocks = [[ids[at : at + 8], grains[at : at + 8].tolist()] for at in range(0, people, 8)]
    tree = MerkleTree(leaves_of(charge_salts(bytes.fromhex(salt), people, size=stretch), ids, grains))
    grove = Grove(salt, blocks, keep=range(people), size=8, stretch=stretch)
    assert (grove.count, grove.root) == (people, tree.root)
    assert [grove.path(at) for at in range(people)] == [tree.path(at) for at in range(people)]
    if people:
        assert digest_of_blocks(salt, blocks, named=True) == (people, digest_of_the_whole(salt, ids, grains))


def test_trees_and_digests_hold_one_block_however_many_there_are(monkeypatch):
    monkeypatch.setattr("optin.ledger.streamed_hashes.SHORT", 2**13)

    def peak(count):
        walk = [[[f"p{at}-{k}" for k in range(256)], list(range(256))] for at in range(2)] * (count // 2)
        tracemalloc.start()
        digest_of_blocks("5a" * 32, iter(walk), named=True)
        Grove("5a" * 32, iter(walk), size=256, stretch=2048)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(160) <= 1.5 * peak(20)


def test_people_who_wait_for_a_ledger_lie_in_no_file(tmp_path, kept, monkeypatch):
    import tempfile

    from optin.database.crash_points import LISTENERS

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    seen = []

    def look(point):
        if point in ("after staging", "after checks"):
            files = [file for file in (tmp_path / "scratch").rglob("*") if file.is_file()]
            seen.append([file for file in files if IDS[7].encode() in file.read_bytes()])

    LISTENERS.append(look)
    try:
        with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
            announced(kept, ledger)
    finally:
        LISTENERS.remove(look)
    assert seen == [[], []]
