"""What an operator with full rights on the database, or with other code, does to a ledger: refused, or seen by verify."""

import sqlite3
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import changed_offer
from ledger_steps import (
    OFFERS,
    announce,
    as_if,
    copy_of,
    counts,
    damage,
    drawn_from,
    offer_of,
    release,
    terms,
)
from sqlalchemy import select, text

import optin
from optin.errors import BadInput, PromiseBroken
from optin.grains.batches import Batch
from optin.ledger import UNLIMITED, Ledger, Terms
from optin.ledger.charging import Given
from optin.ledger.fittings import changed_fittings
from optin.ledger.holds import Holding
from optin.ledger.schema import acts
from optin.ledger.staging_area import waiting
from optin.ledger.verification import verify
from optin.releasing import noise

IDS = ("ann", "bob", "cy")


def found(ledger, *against):
    return str(ledger.verify(against))


# --- at the door ---------------------------------------------------------------------------------------------------


def test_promises_that_are_not_the_announced_ones_are_refused_and_nothing_is_written(ledger):
    agents = optin.PrivacyConstrained([0.5] * 6 + [4.0] * 6)
    offer, before = optin.plan(agents, bounds=(0, 1)).announce(agents, campaign="cheap"), counts(ledger)
    given = {"ids": [f"p{k}" for k in range(12)], "allowances": np.full(12, 2**40)}
    booked = Terms("cheap", 1, offer.fingerprint)
    with pytest.raises(PromiseBroken, match="sums it announces are not those of its promises"):
        ledger.announce(booked, body=offer.to_sealed_json(), grains=np.ones(12, dtype=np.int64), **given)
    for other in (replace(booked, campaign="c"), replace(booked, round=2), replace(booked, fingerprint="f" * 64)):
        with pytest.raises(PromiseBroken, match="announces something else"):
            ledger.announce(other, body=offer.to_sealed_json(), grains=offer.grains(agents), **given)
    with pytest.raises(PromiseBroken, match="its text is no announcement"):
        ledger.announce(booked, body="{}", grains=offer.grains(agents), **given)
    assert counts(ledger) == before
    ledger.announce(booked, body=offer.to_sealed_json(), grains=offer.grains(agents), **given)


def test_a_promise_above_the_announced_cap_is_refused_even_if_the_sums_agree(ledger):
    offer = offer_of("c", np.array([1, 5, 6]))  # 1 + 5 + 6 = 2 + 3 + 7, and so do the squares
    given = {"ids": list(IDS), "grains": np.array([2, 3, 7]), "allowances": np.full(3, 9)}
    with pytest.raises(PromiseBroken, match="more than it announces to anybody"):
        ledger.announce(Terms("c", 1, offer.fingerprint), body=offer.to_sealed_json(), **given)


def test_an_exact_release_is_announced_as_one_or_not_at_all(ledger):
    offer = offer_of("c", np.full(3, 2**42), exact=True)
    given = {"ids": list(IDS), "grains": np.full(3, 2**42), "allowances": np.full(3, 2**43)}
    with pytest.raises(PromiseBroken, match="would be exact, without noise"):
        ledger.announce(Terms("c", 1, offer.fingerprint), body=offer.to_sealed_json(), **given)


def test_more_than_any_release_promises_is_refused(ledger):
    offer = offer_of("c", np.full(3, 5))
    given = {"ids": list(IDS), "grains": np.array([5, 2**42 + 1, 5]), "allowances": np.full(3, UNLIMITED)}
    with pytest.raises(BadInput, match="index 1"):
        ledger.announce(Terms("c", 1, offer.fingerprint), body=offer.to_sealed_json(), **given)


LIES = {
    "the sums it was drawn with": lambda number: drawn_from(OFFERS["c"], np.array([5, 5]), number),
    "another announcement": lambda number: drawn_from(offer_of("c", np.full(3, 6)), np.full(3, 5), number),
    "names another place": lambda number: drawn_from(OFFERS["c"], np.full(3, 5), number + 1),
    "or another fingerprint": lambda number: (drawn_from(OFFERS["c"], np.full(3, 5), number)[0], "f" * 64),
    "its text is no release": lambda number: ("{}", "f" * 64),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_release_that_differs_from_its_charges_is_refused_and_nothing_is_written(ledger, lie):
    announce(ledger)
    before = counts(ledger)
    with pytest.raises(PromiseBroken, match=lie):
        release(ledger, draw=lambda mask, number: LIES[lie](number))
    assert counts(ledger) == before
    assert release(ledger)


def test_one_grain_charged_and_many_released_is_refused(ledger):
    """The public interface alone: everyone is charged one grain, and a release of 7.7e10 grains is handed in."""
    announce(ledger, grains=1)
    much = np.full(3, 77_000_000_000 // 3)
    with pytest.raises(PromiseBroken, match="cannot be released"):
        release(ledger, grains=1, draw=lambda mask, number: drawn_from(offer_of("c", much), much, number))
    forged = changed_offer(OFFERS["c"], total_grains=int(much.sum()))
    with pytest.raises(PromiseBroken, match="cannot be released"):
        release(ledger, grains=1, draw=lambda mask, number: drawn_from(forged, much, number))
    assert counts(ledger)["charges"] == 0


def test_rows_that_come_in_batches_meet_the_same_door(url):
    batch = [Batch(list(IDS), [5, 5, 5], totals=[8, 8, 8])]
    joining = [Batch(list(IDS), [5, 5, 5], joined=[1, 1, 1])]
    offer, other = offer_of("c", np.full(3, 5)), offer_of("c", np.array([4, 5, 6]))
    booked = Terms("c", 1, offer.fingerprint)

    def drawing(grains):
        return Given(lambda _, number: drawn_from(offer, np.array(grains), number))

    with Ledger.open(url) as ledger:
        with (
            waiting(batch) as rows,
            pytest.raises(PromiseBroken, match="announces something else"),
        ):
            ledger.hold(rows, Holding(booked, other.to_json()))
        assert counts(ledger)["acts"] == 0
        with waiting(batch) as rows:
            ledger.hold(rows, Holding(booked, offer.to_json()))
        with (
            waiting(joining) as rows,
            pytest.raises(PromiseBroken, match="the sums it was drawn with"),
        ):
            ledger.charge(booked, rows, drawing([5, 5]))
        assert counts(ledger)["charges"] == 0
        with waiting(joining) as rows:
            ledger.charge(booked, rows, drawing([5, 5, 5]))
        assert ledger.verify().ok


# --- acts that cannot follow each other, and rows that break a rule, with every hash made again ----------------------


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def stood(request, tmp_path_factory):
    """A ledger that is damaged for a moment only: one campaign released after one person declined, another waiting."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("stood") / "ledger.sqlite")
    else:
        url = request.getfixturevalue("postgres").new_schema()
    with Ledger.open(url) as ledger:
        announce(ledger)
        ledger.let_go(terms(), ["bob"])
        release(ledger)
        announce(ledger, "waiting", grains=1)
        yield ledger
        assert ledger.verify().ok


def seen(ledger, *statements, forged=True):
    with as_if(ledger, *statements, forged=forged) as connection:
        return str(verify(connection))


def again(ledger, number):
    """Write an act once more at the end of the chain."""
    with ledger.engine.connect() as connection:
        row = connection.execute(select(acts).where(acts.c.number == number)).one()._asdict()
        last = connection.scalar(text("SELECT MAX(number) FROM acts"))
    values = ["NULL" if value is None else f"'{value}'" for value in {**row, "number": last + 1}.values()]
    return f"INSERT INTO acts VALUES ({', '.join(values)})"


def test_forging_alone_changes_nothing_that_verify_complains_about(stood):
    assert "every hash agrees" in seen(stood)


def test_a_stored_release_whose_sums_differ_from_its_charges_is_found(stood):
    body, fingerprint = drawn_from(OFFERS["c"], np.full(3, 5), 4)
    words = seen(stood, f"UPDATE acts SET body = '{body}', result = '{fingerprint}' WHERE number = 4")
    assert (
        "act 4 (release) does not agree with itself: the sums it was drawn with are not those of its charges" in words
    )


def test_a_stored_announcement_whose_sums_differ_from_its_promises_is_found(stood):
    words = seen(stood, "UPDATE promises SET grains = 2 WHERE offer = 5")
    assert "act 5 (announce) does not agree with itself: the sums it announces" in words


def test_two_releases_of_one_offer_are_found(stood):
    words = seen(stood, "DROP INDEX one_closing", again(stood, 4))
    assert "act 6 (release) comes after act 4 closed its round" in words


def test_two_announcements_of_one_round_are_found(stood):
    words = seen(stood, "DROP INDEX one_offer", again(stood, 2))
    assert "act 6 announces the campaign and round that act 2 announced" in words


ODD_ACTS = {
    "act 3 (return) points to the announcement of another campaign or round, act 1": [
        "UPDATE acts SET kind = 'announce' WHERE number = 1",
        "UPDATE acts SET offer = 1 WHERE number = 3",
    ],
    "act 3 (return) belongs to no announcement before it": ["UPDATE acts SET offer = 5 WHERE number = 3"],
    "act 4 (release) belongs to no announcement before it": ["UPDATE acts SET offer = 3 WHERE number = 4"],
    "act 3 (return) points to the announcement of another": ["UPDATE acts SET round = 7 WHERE number = 3"],
    "act 4 (release) points to the announcement of another": ["UPDATE acts SET campaign = 'd' WHERE number = 4"],
    "act 3 is of a kind that no optin writes": ["UPDATE acts SET kind = 'gift' WHERE number = 3"],
    "what no act of its kind does: result": ["UPDATE acts SET result = 'x' WHERE number = 3"],
    "what no act of its kind does: campaign": ["UPDATE acts SET campaign = 'c' WHERE number = 1"],
    "act 5 (return) comes after act 4": [
        "DELETE FROM acts WHERE number = 5",
        "UPDATE acts SET number = 5 WHERE number = 3",
    ],
    "its text releases another announcement": ["UPDATE acts SET fingerprint = 'x' WHERE number IN (2, 3, 4)"],
    "act 2 (announce) does not agree with itself: its text is no announcement": ["UPDATE acts SET body = '{}'"],
    "act 4 (release) does not agree with itself: its text is no release": ["UPDATE acts SET body = '{}'"],
}


@pytest.mark.parametrize("words", ODD_ACTS)
def test_an_act_that_cannot_stand_where_it_does_is_found(stood, words):
    assert words in seen(stood, *ODD_ACTS[words])


BROKEN = {
    "a negative promise": ("amount that nobody can be promised", ["UPDATE promises SET grains = -5"]),
    "a negative charge": ("amount that nobody can be charged", ["UPDATE charges SET grains = -5"]),
    "a charge above the promise": ("differ from the promise", ["UPDATE charges SET grains = 6 WHERE position = 0"]),
    "a promise above the allowance": ("more than their allowance was then", ["UPDATE allowances SET grains = 4"]),
    "an allowance below nothing": ("below nothing", ["UPDATE allowances SET grains = -1"]),
    "an allowance above everything": ("above everything", [f"UPDATE allowances SET grains = {UNLIMITED + 1}"]),
    "a decline undone after the release": ("neither charged nor let go", ["DELETE FROM returns"]),
    "a charge taken back": ("neither charged nor let go", ["DELETE FROM charges WHERE position = 0"]),
    "a decline that was charged": ("both charged and let go", ["INSERT INTO charges VALUES (2, 1, 4, 5, NULL)"]),
    "a promise that grew in all tables": (
        "does not agree with itself",
        ["UPDATE promises SET grains = 8 WHERE offer = 2", "UPDATE charges SET grains = 8"],
    ),
    "a second first allowance": (
        "first allowances were given to people who had one",
        ["UPDATE people SET act = 9 WHERE person = 1"],
    ),
    "numbers too large to add up": (
        "amount that nobody can be promised",
        [f"UPDATE promises SET grains = {2**63 - 1}", f"UPDATE charges SET grains = {2**63 - 1}"],
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_rule_is_found_whatever_the_hashes_say(stood, what):
    words, statements = BROKEN[what]
    assert words in seen(stood, *statements)


def test_an_allowance_raised_after_the_promise_does_not_cover_it(ledger):
    announce(ledger, "one", grains=5, allowances=8)
    announce(ledger, "two", grains=1, allowances=20, raise_limits=True)
    words = seen(ledger, "UPDATE allowances SET grains = 4 WHERE act = 1")
    assert "3 times people were promised more than their allowance was then" in words


def test_an_exact_release_over_people_with_a_finite_allowance_is_found(ledger):
    announce(ledger, grains=2**42, allowances=UNLIMITED, exact=True)
    assert ledger.verify().ok
    words = seen(ledger, f"UPDATE allowances SET grains = {2**43} WHERE person = 1")
    assert "1 people with a finite allowance are in act 2, whose release is exact" in words


# --- what nothing inside the ledger can show --------------------------------------------------------------------------

OUT_OF_REACH = {
    "a cut tail": [
        "DELETE FROM charges",
        "DELETE FROM promises WHERE offer = 5",
        "DELETE FROM acts WHERE number IN (4, 5)",
    ],
    "a decline undone before the release": [
        *("DELETE FROM charges", "DELETE FROM returns", "DELETE FROM promises WHERE offer = 5"),
        "DELETE FROM acts WHERE number IN (3, 4, 5)",
    ],
    "a raised allowance": ["UPDATE allowances SET grains = 99"],
    "another time": ["UPDATE acts SET at = '2020-01-01T00:00:00+00:00'"],
    "another id": ["UPDATE people SET id = 'eve' WHERE person = 1"],
}


@pytest.mark.parametrize("what", OUT_OF_REACH)
def test_a_ledger_rewritten_as_a_whole_is_seen_against_an_outside_copy_alone(stood, what):
    receipt = stood.receipt("ann", campaign="c", round=1)
    with as_if(stood, *OUT_OF_REACH[what]) as connection:
        assert verify(connection).ok
        assert not verify(connection, [receipt]).ok


def test_two_heads_give_two_fingerprints_and_are_told_apart_by_their_place(ledger):
    """What was drawn is sealed before its place has a hash; the fingerprint that is published covers both."""
    announce(ledger)
    mine = copy_of(release(ledger))
    theirs = mine.charged_at(mine.ledger_number, "ab" * 32)
    assert mine.drawn_fingerprint == theirs.drawn_fingerprint
    assert mine.fingerprint != theirs.fingerprint
    assert ledger.verify([mine, mine]).ok
    assert f"act {mine.ledger_number} is not the one known outside" in found(ledger, theirs)
    assert f"different hashes for act {mine.ledger_number}: someone was shown another ledger" in found(
        ledger, mine, theirs
    )
    assert "someone was shown another ledger" in found(ledger, ledger.receipt("ann"), theirs)


# --- the database around the rows -------------------------------------------------------------------------------------

GENEROUS = {
    "sqlite": [
        f"""CREATE TRIGGER generous BEFORE INSERT ON allowances WHEN NEW.grains < {UNLIMITED} BEGIN
            INSERT INTO allowances VALUES (NEW.person, NEW.act, {UNLIMITED}); SELECT RAISE(IGNORE); END"""
    ],
    "postgresql": [
        f"""CREATE FUNCTION give() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN NEW.grains := {UNLIMITED}; RETURN NEW; END $$""",
        "CREATE TRIGGER generous BEFORE INSERT ON allowances FOR EACH ROW EXECUTE FUNCTION give()",
    ],
}


def alter(ledger, *statements):
    """Change the database itself."""
    with ledger.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_a_trigger_that_makes_allowances_unlimited_is_found_and_stopped(ledger):
    alter(ledger, *GENEROUS[ledger.engine.dialect.name])
    with pytest.raises(PromiseBroken, match="wrote other allowances than it was asked to"):
        announce(ledger)
    assert counts(ledger)["acts"] == 0
    assert "generous is not optin's" in found(ledger)


def altered(ledger, *statements):
    """Say what verify finds in a database that is changed for a moment."""
    with as_if(ledger, *statements, forged=False) as connection:
        return " ".join(changed_fittings(connection))


@pytest.mark.parametrize("index", ["one_offer", "one_closing", "one_id", "one_promise", "allowances_of_act"])
def test_a_dropped_index_is_found(stood, index):
    assert f"index {index} is missing" in seen(stood, f"DROP INDEX {index}", forged=False)


WEAKENED = {
    "one_id": "CREATE INDEX one_id ON people (id)",
    "one_promise": "CREATE UNIQUE INDEX one_promise ON promises (person, offer, position)",
    "one_offer": "CREATE UNIQUE INDEX one_offer ON acts (campaign, round) WHERE kind = 'release'",
    "one_closing": "CREATE UNIQUE INDEX one_closing ON acts (offer) WHERE kind IN ('release')",
    "allowances_of_act": "CREATE UNIQUE INDEX allowances_of_act ON promises (person, offer)",
}


def test_an_index_that_looks_for_words_in_capitals_is_found(stood):
    blind = "CREATE UNIQUE INDEX one_closing ON acts (offer) WHERE kind IN ('RELEASE', 'CANCEL')"
    assert "index one_closing is not as optin made it" in altered(stood, "DROP INDEX one_closing", blind)


@pytest.mark.parametrize("index", WEAKENED)
def test_an_index_that_no_longer_keeps_rows_apart_is_found_under_its_old_name(stood, index):
    assert f"index {index} is not as optin made it" in altered(stood, f"DROP INDEX {index}", WEAKENED[index])


def test_a_view_beside_the_tables_is_found(stood):
    assert "view peek is not optin's" in altered(stood, "CREATE VIEW peek AS SELECT id FROM people")


def test_a_table_of_the_operators_own_beside_the_ledger_is_no_fault(stood):
    assert altered(stood, "CREATE TABLE notes (words TEXT)") == ""


IN_POSTGRESQL = {
    "table promises is not as": "ALTER TABLE promises ENABLE ROW LEVEL SECURITY",
    "table returns is not as": "ALTER TABLE returns SET UNLOGGED",
    "policy none is not optin's": "CREATE POLICY none ON promises USING (false)",
    "rule charges.lost is not optin's": "CREATE RULE lost AS ON INSERT TO charges DO INSTEAD NOTHING",
    "table that inherits more": "CREATE TABLE more () INHERITS (allowances)",
    "index returns_pkey is missing": "ALTER TABLE returns DROP CONSTRAINT returns_pkey",
    "constraint charges.charges_pkey is missing": "ALTER TABLE charges DROP CONSTRAINT charges_pkey",
    "constraint people.few is not optin's": "ALTER TABLE people ADD CONSTRAINT few CHECK (person < 99) NOT VALID",
    "column promises.grains is not as": "ALTER TABLE promises ALTER grains TYPE integer",
    "column people.id is not as": 'ALTER TABLE people ALTER id TYPE text COLLATE "C"',
    "column acts.hash is not as": "ALTER TABLE acts ALTER hash DROP NOT NULL",
    "column charges.note is not optin's": "ALTER TABLE charges ADD note text",
    "function refuse_change is not as": """CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RETURN NEW; END $$""",
    "function sum is not optin's": """CREATE FUNCTION sum(a text, b text) RETURNS text LANGUAGE sql
        AS $$ SELECT a || b $$""",
    "operator = is not optin's": """CREATE FUNCTION always(varchar, varchar) RETURNS boolean LANGUAGE sql
        AS $$ SELECT true $$; CREATE OPERATOR = (FUNCTION = always, LEFTARG = varchar, RIGHTARG = varchar)""",
    "trigger charges.charges_refuses_change is not as": "ALTER TABLE charges DISABLE TRIGGER charges_refuses_change",
    "trigger web_accounts.more is not optin's": """CREATE TRIGGER more BEFORE UPDATE ON web_accounts
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
}


@pytest.mark.parametrize("words", IN_POSTGRESQL)
def test_a_postgresql_database_that_was_altered_is_found(in_postgresql, words):
    assert words in altered(in_postgresql, IN_POSTGRESQL[words])


@pytest.fixture(scope="module")
def in_postgresql(postgres):
    with Ledger.open(postgres.new_schema()) as ledger:
        yield ledger


def test_tables_that_stand_before_ours_in_the_search_path_are_found(postgres):
    url = postgres.new_schema()
    home = url.rpartition("%3D")[2]
    with Ledger.open(url) as ledger:
        announce(ledger)
    postgres.execute(f"CREATE SCHEMA before_{home}")
    postgres.execute(f"CREATE TABLE before_{home}.returns AS SELECT offer, position, 1 AS act FROM {home}.promises")
    with Ledger.open(url.replace(f"%3D{home}", f"%3Dbefore_{home},{home}")) as ledger:
        assert ledger.remaining(["ann"]).tolist() == [8]
        assert "table returns is not as optin made it" in found(ledger)


def test_a_user_for_whom_triggers_are_off_is_found(postgres):
    url = postgres.new_schema().replace("-csearch_path", "-csession_replication_role%3Dreplica%20-csearch_path")
    with Ledger.open(url) as ledger:
        assert "for this user triggers are switched off" in found(ledger)


IN_SQLITE = {
    "table people is not as": ("people", "id TEXT NOT NULL", "id TEXT COLLATE NOCASE NOT NULL"),
    "table charges is not as": ("charges", "PRIMARY KEY (offer, position)", "PRIMARY KEY (offer, position, act)"),
    "index one_closing is not as": ("one_closing", "UNIQUE INDEX", "INDEX"),
}


@pytest.mark.parametrize("words", IN_SQLITE)
def test_an_sqlite_file_that_states_other_tables_is_found(tmp_path, words):
    name, before, after = IN_SQLITE[words]
    path = tmp_path / "ledger.sqlite"
    Ledger.open(str(path)).close()
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA writable_schema = ON")
    changed = plain.execute("UPDATE sqlite_master SET sql = REPLACE(sql, ?, ?) WHERE name = ?", [before, after, name])
    assert changed.rowcount == 1
    plain.commit()
    plain.close()
    with Ledger.open(str(path)) as ledger, ledger.engine.connect() as connection:
        assert words in " ".join(changed_fittings(connection))


@pytest.mark.parametrize("questions", [1, 2])
@pytest.mark.parametrize("place", ["memory", "duckdb"])
def test_promises_that_were_cut_and_then_swapped_are_refused_before_the_draw(tmp_path, monkeypatch, questions, place):
    """What two people were cut to, only the ledger knows: neither limits nor sums tell that it was swapped."""
    ids, limits = [f"p{at:02}" for at in range(40)], np.full(40, 4.0)
    held = optin.PrivacyConstrained(limits, ids=ids)
    sheet = optin.Sheet([optin.YesNo("late"), optin.YesNo("tired")][:questions])
    answers = {question.name: [1, 0] * 20 for question in sheet}
    pq.write_table(pa.table({"id": ids, "limit": limits} | answers), tmp_path / "people.parquet")
    kept = optin.read(str(tmp_path / "people.parquet"), limits="limit", engine="duckdb")
    given = (held, answers) if place == "memory" else (kept, None)
    with Ledger.open(str(tmp_path / "book.sqlite")) as book:
        totals = np.linspace(0.5, 3.0, 40)
        offer = optin.campaign.announce(optin.plan(held, sheet=sheet), held, ledger=book, allowances=totals)
        swapped = "CASE person WHEN 4 THEN -5 WHEN 5 THEN -4 ELSE person END"
        damage(book, f"UPDATE promises SET person = {swapped}", "UPDATE promises SET person = ABS(person)")
        assert "rows of act 2 (announce) were changed" in found(book)
        with monkeypatch.context() as patch:
            patch.setattr(noise, "draw", lambda size: pytest.fail("nothing may be drawn"))
            with pytest.raises(PromiseBroken, match="holds do not match its announcement"):
                optin.campaign.release(offer, given[0], given[1], ledger=book)
        damage(book, f"UPDATE promises SET person = {swapped}", "UPDATE promises SET person = ABS(person)")
        assert optin.campaign.release(offer, given[0], given[1], ledger=book).charged
