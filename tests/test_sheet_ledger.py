"""Several questions in the ledger: what is split, what is charged, what goes back, and that all of it is sealed (E20, E28)."""

import hashlib
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_steps import as_if, counts, damage
from sqlalchemy import text

from optin.announcement import Announcement
from optin.announcement.exact import exact_variance
from optin.announcement.numbers import ExactSums, PublicNumbers
from optin.announcement.terms import Terms as AnnouncedTerms
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.grains.batches import Batch
from optin.grains.splitting import all_of, part, promised, spent
from optin.kernel.rounding import nearest
from optin.ledger import Ledger, Terms, bulk_reads
from optin.ledger.charging import Given
from optin.ledger.holds import Holding
from optin.ledger.sharing import Sharing
from optin.ledger.splits import Split
from optin.ledger.staging_area import waiting
from optin.ledger.streamed_hashes import digest_of_blocks
from optin.ledger.verification import verify
from optin.questions import Sheet, YesNo
from optin.questions.sheet import MOST_QUESTIONS
from optin.receipts import SHEETS, VERSION, Receipt, charge_salts, check, leaves_of
from optin.releasing.answered import Answered
from optin.releasing.record import Release, Versions

OLD = Path(__file__).parent / "fixtures" / "version-1"
SHARES = (699051, 249525, 100000)
ALL = all_of(SHARES)
WHO = ("ann", "bob", "cy", "dot", "eve")
CAPPED = np.array([2**31, 2**32 + 7, 3, 2**33, 0])
PROMISED = promised(CAPPED, SHARES)
ANSWERED = np.array([0b111, 0b101, 0b111, 0b000, 0b010])


def exact(numbers):
    numbers = [int(each) for each in numbers]
    return ExactSums(sum(numbers), sum(each * each for each in numbers))


def offer_of(capped=CAPPED, shares=SHARES, campaign="c"):
    """The announcement that splits exactly these amounts."""
    sheet = Sheet([YesNo(f"question {k}") for k in range(len(shares))])
    sums = tuple(exact(part(capped, share)) for share in shares)
    variances = tuple(nearest(exact_variance(question, each)) for question, each in zip(sheet, sums, strict=True))
    return Announcement.undivided(
        AnnouncedTerms(campaign, 1, "privacy-constrained", sheet),
        PublicNumbers(
            people=len(capped),
            cap=max(capped) * 2.0**-32,
            noiseless=False,
            tilt=0.0,
            variances=variances,
            shares=shares,
        ),
        sums,
    )


def terms_of(offer):
    return Terms(offer.campaign, 1, offer.fingerprint)


def release_of(offer, capped, answered, number, released=ALL):
    """What a draw says over people who were charged for what they answered and is released."""
    found = []
    for k, share in enumerate(offer.shares):
        gave = (np.asarray(answered) >> k) & 1 == 1
        people = int(gave.sum())
        cells = (0,) * len(offer.sheet.questions[k].cells)
        kept = Answered(people, 0.0, exact(part(capped, share)[gave]), cells)
        found.append(kept if released >> k & 1 else Answered(people, dropped="people"))
    versions = Versions(optin="test", opendp="none", mechanism="none")
    return Release(offer, len(capped), tuple(found), versions).charged_at(number)


def drawn_from(*given):
    drawn = release_of(*given)
    return drawn.to_sealed_json(), drawn.drawn_fingerprint


def announce(ledger, offer=None, *, ids=WHO, capped=CAPPED, allowances=2**34, **more):
    offer = offer or offer_of(capped)
    entry = ledger.announce(
        terms_of(offer),
        body=offer.to_sealed_json(),
        ids=list(ids),
        grains=promised(capped, offer.shares),
        capped=capped,
        allowances=np.full(len(ids), allowances),
        **more,
    )
    return offer, entry


def release(ledger, offer, *, ids=WHO, capped=CAPPED, answered=ANSWERED, joined=None, released=None, draw=None):
    kept = ALL if released is None else released

    def draws(mask, number):
        return drawn_from(offer, capped[mask], answered[mask], number, kept)

    entry = ledger.release(
        terms_of(offer),
        ids=list(ids),
        grains=promised(capped, offer.shares),
        capped=capped,
        answered=answered,
        joined=joined,
        released=released,
        draw=draw or draws,
    )
    return Release.from_sealed(entry.body, entry.head)


def batches(**columns):
    """The same people as they leave an engine."""
    given = {"grains": PROMISED, "capped": CAPPED} | columns
    return [
        Batch(WHO[start : start + 2], **{name: column[start : start + 2].tolist() for name, column in given.items()})
        for start in range(0, len(WHO), 2)
    ]


def rows(ledger, query):
    with ledger.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def charges(ledger):
    return rows(ledger, "SELECT position, grains, answered FROM charges ORDER BY position")


# --- holds and charges ----------------------------------------------------------------------------------------------


def test_a_promise_is_the_sum_of_its_parts_and_says_what_was_split(ledger):
    announce(ledger)
    stored = rows(ledger, "SELECT grains, capped FROM promises ORDER BY position")
    assert stored == list(zip(PROMISED.tolist(), CAPPED.tolist(), strict=True))
    assert ledger.remaining(WHO).tolist() == (2**34 - PROMISED).tolist()
    assert ledger.verify().ok


def test_each_is_charged_for_what_they_answered_and_the_rest_goes_back(ledger):
    offer, _ = announce(ledger)
    release(ledger, offer)
    due = spent(CAPPED, SHARES, ANSWERED)
    assert charges(ledger) == list(zip(range(5), due.tolist(), ANSWERED.tolist(), strict=True))
    assert ledger.remaining(WHO).tolist() == (2**34 - due).tolist()
    assert ledger.verify().ok


def test_what_went_back_can_be_promised_again_and_not_before(ledger):
    offer, _ = announce(ledger, allowances=2**33)
    again = offer_of(CAPPED, campaign="again")
    with pytest.raises(BudgetSpent, match="2 of 5"):
        announce(ledger, again, allowances=2**33)
    release(ledger, offer)
    announce(ledger, again, allowances=2**33)
    assert ledger.remaining(["dot"]).tolist() == [2**33 - PROMISED[3]]
    assert ledger.verify().ok


def test_a_dropped_question_is_charged_to_nobody(ledger):
    offer, _ = announce(ledger)
    told = release(ledger, offer, released=0b110)
    assert told.sealed.question_sums[0] is None
    marks = ANSWERED & 0b110
    assert charges(ledger) == list(zip(range(5), spent(CAPPED, SHARES, marks).tolist(), marks.tolist(), strict=True))
    assert ledger.verify([]).ok


def test_those_who_stayed_away_or_declined_get_all_of_it_back(ledger):
    offer, _ = announce(ledger)
    ledger.let_go(terms_of(offer), ["bob"])
    release(ledger, offer, joined=np.array([True, False, True, True, False]))
    assert [position for position, *_ in charges(ledger)] == [0, 2, 3]
    assert ledger.remaining(["bob", "eve"]).tolist() == [2**34, 2**34]
    assert ledger.verify().ok


def test_a_release_without_a_question_is_refused(ledger):
    offer, _ = announce(ledger)
    for released in (0, ALL + 1, -1):
        with pytest.raises(PromiseBroken, match="no question is left"):
            release(ledger, offer, released=released)
    assert counts(ledger)["charges"] == 0


@pytest.mark.parametrize("released", [ALL, 0b101])
def test_people_in_memory_and_people_in_batches_are_written_alike(ledger, released):
    offer, _ = announce(ledger)
    mask = np.array([True, True, False, True, True])
    release(ledger, offer, joined=mask, released=released)
    by_hand, offer = charges(ledger), offer_of(campaign="batches")
    totals = np.full(5, 2**35)
    with waiting(batches(totals=totals)) as people:
        ledger.hold(people, Holding(terms_of(offer), offer.to_json(), raise_limits=True))
    with waiting(batches(joined=mask.astype(int), answered=ANSWERED)) as people:
        drawn = Given(
            lambda _, number: drawn_from(offer, CAPPED[mask], ANSWERED[mask], number, released), questions=released
        )
        ledger.charge(terms_of(offer), people, drawn)
    query = "SELECT c.position, c.grains, c.answered FROM charges c JOIN acts t ON t.number = c.act"
    assert rows(ledger, f"{query} WHERE t.campaign = 'batches' ORDER BY c.position") == by_hand
    assert ledger.verify().ok


def test_people_in_another_order_are_charged_what_they_answered(ledger):
    offer, _ = announce(ledger)
    turned = slice(None, None, -1)
    release(ledger, offer, ids=WHO[turned], capped=CAPPED[turned], answered=ANSWERED[turned])
    assert [mark for *_, mark in charges(ledger)] == ANSWERED.tolist()
    assert ledger.verify().ok


def test_asked_again_nothing_is_charged_or_drawn(ledger):
    offer, first = announce(ledger)
    assert announce(ledger)[1].number == first.number
    told = release(ledger, offer)
    assert release(ledger, offer, draw=lambda *_: pytest.fail("drawn twice")) == told
    assert counts(ledger)["charges"] == 5


def test_a_limit_edited_below_a_grain_of_its_parts_is_noticed(ledger):
    """Other amounts can have the same parts; what was split is compared too."""
    edited = CAPPED.copy()
    edited[2] = 4
    assert (promised(edited, SHARES) == PROMISED).all()
    offer, _ = announce(ledger)
    with pytest.raises(PromiseBroken, match=r"limit of .*index 2"):
        release(ledger, offer, capped=edited)
    joining = batches(capped=edited, joined=np.ones(5, dtype=int), answered=ANSWERED)
    with waiting(joining) as people, pytest.raises(PromiseBroken, match="limit of id cy"):
        ledger.charge(terms_of(offer), people, Given(pytest.fail))
    with pytest.raises(PromiseBroken, match="announced before, differently"):
        announce(ledger, offer, capped=edited)


def test_what_is_split_or_answered_must_be_said(ledger):
    offer = offer_of()
    columns = {"ids": list(WHO), "grains": PROMISED}
    with pytest.raises(BadInput, match="several questions"):
        ledger.announce(terms_of(offer), body=offer.to_sealed_json(), allowances=CAPPED, **columns)
    announce(ledger)
    for given_ in ({}, {"capped": CAPPED}, {"answered": ANSWERED}):
        with pytest.raises(BadInput, match="several questions"):
            ledger.release(terms_of(offer), draw=pytest.fail, **columns, **given_)
    with (
        waiting(batches(joined=np.ones(5, dtype=int))) as people,
        pytest.raises(BadInput, match="several"),
    ):
        ledger.charge(terms_of(offer), people, Given(pytest.fail))


def test_promises_that_do_not_follow_from_the_shares_are_refused(ledger):
    offer, grains = offer_of(), PROMISED.copy()
    grains[:2] += (1, -1)
    with pytest.raises(PromiseBroken, match="do not follow from its shares"):
        ledger.announce(
            terms_of(offer),
            body=offer.to_sealed_json(),
            ids=list(WHO),
            grains=grains,
            capped=CAPPED,
            allowances=CAPPED + 1,
        )


def with_first(release, **changes):
    first, *others = release.answered
    return replace(release, answered=(replace(first, **changes), *others))


LIES = {
    "fewer grains": lambda told: with_first(told, sums=exact(part(CAPPED[:3], SHARES[0]) - (1, 0, 0))),
    "more people": lambda told: with_first(told, people=4),
    "a question that was dropped": lambda told: with_first(
        told, tilt=0.0, sums=ExactSums(0, 0), noisy_totals=(), dropped="people"
    ),
    "other people joined": lambda told: replace(told, joined_people=4),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_draw_with_other_sums_than_are_charged_is_refused(ledger, lie):
    offer, _ = announce(ledger)

    def lies(mask, number):
        told = LIES[lie](release_of(offer, CAPPED, ANSWERED, number))
        return told.to_sealed_json(), told.drawn_fingerprint

    with pytest.raises(PromiseBroken, match=r"cannot be released: (the sums|it charges for a question)"):
        release(ledger, offer, draw=lies)
    assert counts(ledger)["charges"] == 0


def test_what_a_promise_was_cut_to_is_told_before_it_was_split(ledger):
    """Limits are lowered to it, so that the same parts come out."""
    offer, _ = announce(ledger, bounded=np.array([False, True, False, True, False]))
    cut = ledger.bounded(terms_of(offer))
    assert (cut.ids, cut.grains.tolist()) == (["bob", "dot"], [CAPPED[1], CAPPED[3]])
    changes = []
    bulk_reads.each_change(ledger, terms_of(offer), changes.append)
    assert sorted(zip(*changes[0], strict=True)) == [("bob", CAPPED[1], 0), ("dot", CAPPED[3], 0)]


# --- what is written, to the byte -----------------------------------------------------------------------------------


def eight(numbers):
    return b"".join(int(each).to_bytes(8, "big") for each in numbers)


def test_the_digest_of_promises_covers_what_is_split(ledger):
    _, entry = announce(ledger)
    ((salt, digest, version),) = rows(ledger, f"SELECT salt, rows, version FROM acts WHERE number = {entry.number}")
    encoded = [name.encode() for name in WHO]
    lengths = b"".join(len(name).to_bytes(4, "big") for name in encoded)
    head = f"optin rows 2:{salt}:5:True:3:".encode()
    columns = lengths + b"".join(encoded) + eight(PROMISED) + eight([0] * 5) + eight(CAPPED)
    assert (version, digest) == (SHEETS, hashlib.sha256(head + columns).hexdigest())


def test_a_leaf_covers_grains_the_questions_charged_and_what_was_split():
    salts = charge_salts(b"k" * 32, 2)
    leaves = leaves_of(salts, ["ann", "bob"], np.array([5, 6]), np.array([0b11, 0]), np.array([7, 8]))
    expected = [
        hashlib.sha256(b"\x02" + salts[:16] + eight([5, 0b11, 7]) + b"ann").digest(),
        hashlib.sha256(b"\x02" + salts[16:] + eight([6, 0, 8]) + b"bob").digest(),
    ]
    assert leaves == expected


def test_no_leaf_of_one_question_is_a_leaf_of_several():
    """Without its own first byte, a mark and an id could be read as a longer id."""
    salt, grains = charge_salts(b"k" * 32, 1), np.array([5])
    mark = np.array([int.from_bytes(b"12345678", "big")])
    assert leaves_of(salt, ["1234567812345678ann"], grains) != leaves_of(salt, ["ann"], grains, mark, mark)


def test_acts_that_write_no_parts_stay_in_version_1(ledger):
    offer, _ = announce(ledger)
    release(ledger, offer, joined=np.array([True] * 4 + [False]))
    found = dict(rows(ledger, "SELECT kind, version FROM acts"))
    assert found == {"register": VERSION, "announce": SHEETS, "absent": VERSION, "release": SHEETS}


def test_rows_of_two_versions_never_have_one_digest():
    walk = [[["ann"], [5], [1], [7]]]
    assert digest_of_blocks("s", walk, named=True) != digest_of_blocks("s", walk, named=True, version=SHEETS)


amounts = st.integers(0, 2**42) | st.sampled_from([0, 1, 2**42, 2**42 - 1, 2**32])
weights = st.lists(st.integers(1, 2**20), min_size=2, max_size=MOST_QUESTIONS)


@given(st.lists(st.tuples(amounts, st.integers(0, 2**60 - 1)), min_size=1, max_size=5), weights)
def test_the_database_computes_the_parts_that_memory_does(people, shares):
    capped, marks = np.array(people, dtype=np.int64).T
    sql = Split(Sharing((tuple(shares),))).spent_sql(capped="a", answered="m")
    link = sqlite3.connect(":memory:")
    found = [
        link.execute(f"SELECT {sql} FROM (SELECT {a} AS a, {m} AS m)").fetchone()[0]
        for a, m in zip(capped.tolist(), marks.tolist(), strict=True)
    ]
    assert found == spent(capped, tuple(shares), marks).tolist()


def test_sixty_questions_are_charged_to_the_last_bit(ledger):
    shares = (2**20 - 59 * 17476, *[17476] * 59)
    capped, marks = np.array([2**42, 2**42, 5]), np.array([2**60 - 1, 2**59, 1])
    offer, who = offer_of(capped, shares), ("a", "b", "c")
    announce(ledger, offer, ids=who, capped=capped, allowances=2**43)
    every = all_of(shares)
    release(ledger, offer, ids=who, capped=capped, answered=marks, released=every)
    assert [grains for _, grains, _ in charges(ledger)] == spent(capped, shares, marks).tolist()
    assert ledger.verify().ok


# --- verify ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def closed(ledger):
    """A sheet whose first question was dropped, released over all but one."""
    offer, _ = announce(ledger)
    told = release(ledger, offer, joined=np.array([True, True, True, True, False]), released=0b110)
    return ledger, offer, told


AT = "WHERE position = 1"
DAMAGES = {
    "what was split is other": f"UPDATE promises SET capped = capped + 1 {AT}",
    "what was split is gone": f"UPDATE promises SET capped = NULL {AT}",
    "a question more": f"UPDATE charges SET answered = answered + 2 {AT}",
    "the marks are gone": f"UPDATE charges SET answered = NULL {AT}",
    "a smaller charge": f"UPDATE charges SET grains = grains - 1 {AT}",
    "the whole promise": f"UPDATE charges SET grains = (SELECT MAX(grains) FROM promises {AT}) {AT}",
    "another version": "UPDATE acts SET version = 1 WHERE kind = 'release'",
    "a version nobody knows": "UPDATE acts SET version = 3 WHERE kind = 'release'",
}


@pytest.mark.parametrize("what", DAMAGES)
@pytest.mark.parametrize("forged", [False, True])
def test_verify_finds(closed, what, forged):
    ledger, _, _ = closed
    assert ledger.verify().ok
    with as_if(ledger, DAMAGES[what], forged=forged) as connection:
        assert not verify(connection).ok


FORGED = {
    "do not follow from its shares and the questions": f"UPDATE charges SET grains = grains - 1 {AT}",
    "charges for a question that it does not release": [
        f"UPDATE charges SET answered = 1, grains = {int(part(CAPPED, SHARES[0])[3])} WHERE position = 3"
    ],
    "the sums it was drawn with are not": "UPDATE charges SET answered = 0, grains = 0 WHERE position = 0",
    "it promises grains that do not follow": f"UPDATE promises SET grains = grains - 1 {AT}",
    "its version is not that of its sheet": "UPDATE acts SET version = 1 WHERE kind = 'announce'",
    "has a version this optin does not know": "UPDATE acts SET version = 2 WHERE kind = 'register'",
    "promises of one question are split, or": f"UPDATE promises SET capped = NULL {AT}",
    "charges for one question say which, or": f"UPDATE charges SET answered = NULL {AT}",
}


@pytest.mark.parametrize("words", FORGED)
def test_rows_that_do_not_follow_are_found_whatever_the_hashes_say(closed, words):
    statements = [FORGED[words]] if isinstance(FORGED[words], str) else FORGED[words]
    with as_if(closed[0], *statements) as connection:
        assert words in str(verify(connection))


def test_a_charge_below_the_promise_of_one_question_is_found(ledger):
    """Marks are no way around the rule that one question costs what it promised."""
    alone = offer_of(shares=(2**20,))
    columns = {"ids": list(WHO), "grains": CAPPED}
    ledger.announce(terms_of(alone), body=alone.to_json(), allowances=CAPPED, **columns)
    ledger.release(
        terms_of(alone), draw=lambda mask, number: drawn_from(alone, CAPPED, np.full(5, 1), number, 1), **columns
    )
    assert rows(ledger, "SELECT DISTINCT capped FROM promises") == [(None,)]
    assert set(rows(ledger, "SELECT DISTINCT version FROM acts")) == {(VERSION,)}
    assert ledger.verify().ok
    damage(ledger, f"UPDATE charges SET grains = 0, answered = 0 {AT}")
    assert "charges for one question say which" in str(ledger.verify())


def test_sums_are_added_up_over_many_blocks(ledger, monkeypatch):
    from optin.ledger import chain, streamed_hashes

    real = streamed_hashes.blocks
    monkeypatch.setattr(chain, "blocks", lambda *given: real(*given, size=2))
    monkeypatch.setattr(streamed_hashes, "PIECE", 2)
    announce(ledger)
    assert ledger.verify().ok


# --- receipts --------------------------------------------------------------------------------------------------------


def test_a_receipt_says_what_each_question_took(closed):
    ledger, offer, told = closed
    for at, person in enumerate(WHO[:4]):
        receipt = ledger.receipt(person)
        marks = int(ANSWERED[at]) & 0b110
        took = [int(part(CAPPED, share)[at]) * (marks >> k & 1) for k, share in enumerate(SHARES)]
        assert receipt.question_grains(offer.shares) == tuple(took)
        assert (receipt.spent, receipt.answered, receipt.capped) == (sum(took), marks, CAPPED[at])
        assert receipt.remaining == 2**34 - receipt.spent
        assert check(receipt, offer, told)
        assert Receipt.from_json(receipt.to_json()) == receipt
    assert ledger.verify([told, *(ledger.receipt(person) for person in WHO)]).ok


def test_what_was_all_answered_and_released_is_spent_whole(ledger):
    offer, _ = announce(ledger)
    told = release(ledger, offer)
    ann, bob, dot = (ledger.receipt(person) for person in ("ann", "bob", "dot"))
    assert ann.spent == ann.promised
    assert "what was promised was spent, and no more" in check(ann, offer, told)[-1]
    assert bob.spent < bob.promised
    assert "less was spent than promised" in check(bob, offer, told)[-1]
    assert (dot.spent, dot.answered) == (0, 0)
    assert "less was spent than promised" in check(dot, offer, told)[-1]


def test_who_stayed_away_has_no_marks(closed):
    ledger, offer, told = closed
    away = ledger.receipt("eve")
    assert (away.version, away.answered, away.index, away.capped) == (SHEETS, None, None, 0)
    assert any("cannot be proved" in line for line in check(away, offer, told))
    with pytest.raises(PromiseBroken, match="shares give"):
        check(replace(away, promised=1), offer, told)


FORGERIES = {
    "spent": (0, 1),
    "promised": (1, int(PROMISED[1]) + 1),
    "capped": (int(CAPPED[1]) + 1, int(CAPPED[1]) - 1, None, 2**40),
    "answered": (0, 0b010, 0b101, 0b1100, None, 2**62),
    "version": (1, 3),
    "id": ("bo",),
    "index": (0, None),
}


@pytest.mark.parametrize(("name", "forgery"), [(name, one) for name, some in FORGERIES.items() for one in some])
def test_a_receipt_changed_in_any_field_fails(closed, name, forgery):
    ledger, offer, told = closed
    forged = replace(ledger.receipt("bob"), **{name: forgery})
    with pytest.raises(PromiseBroken):
        check(forged, offer, told)
    assert not ledger.verify([forged]).ok


def test_a_charge_for_a_question_that_was_not_released_fails_even_if_it_adds_up(closed):
    ledger, offer, told = closed
    took = int(part(CAPPED, SHARES[0])[1])
    forged = replace(ledger.receipt("bob"), answered=0b101, spent=ledger.receipt("bob").spent + took)
    with pytest.raises(PromiseBroken, match="not released"):
        check(forged, offer, told)


def test_receipts_of_one_question_hold_no_marks(tmp_path):
    alone = offer_of(shares=(2**20,))
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        columns = {"ids": list(WHO), "grains": CAPPED}
        ledger.announce(terms_of(alone), body=alone.to_json(), allowances=CAPPED, **columns)
        ledger.release(
            terms_of(alone), draw=lambda mask, number: drawn_from(alone, CAPPED, np.full(5, 1), number, 1), **columns
        )
        receipt = ledger.receipt("bob")
    assert receipt.version == VERSION
    assert not {"capped", "answered"} & set(json.loads(receipt.to_json()))
    assert receipt.question_grains(alone.shares) == (receipt.spent,)
    for more in ({"capped": 5}, {"answered": 1}, {"capped": None, "answered": None}, {"version": 2}):
        with pytest.raises(BadInput, match="not an optin receipt"):
            Receipt.from_json(json.dumps(json.loads(receipt.to_json()) | more))


# --- older ledgers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_ledger_that_was_filled_before_there_were_sheets_takes_one(request, tmp_path, database):
    if database == "postgresql":
        url = request.getfixturevalue("postgres").restored(OLD / "ledger.sql")
    else:
        (tmp_path / "ledger.sqlite").write_bytes((OLD / "ledger.sqlite").read_bytes())
        (tmp_path / "ledger.sqlite").chmod(0o600)
        url = str(tmp_path / "ledger.sqlite")
    with Ledger.open(url) as ledger:
        before = ledger.acts()
        offer, _ = announce(ledger)
        told = release(ledger, offer)
        assert ledger.acts()[: len(before)] == before
        assert rows(ledger, "SELECT COUNT(*) FROM promises WHERE capped IS NULL") > [(0,)]
        assert ledger.verify([told, ledger.receipt("bob")]).ok
