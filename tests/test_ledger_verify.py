"""What was done can be looked at, and not undone: the chain, the triggers, and what verify finds, on both databases."""

import sqlite3
from dataclasses import replace

import pytest
from changing import changed_release
from ledger_steps import announce, copy_of, damage, logged, nth, release, terms
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from optin.database.metadata import metadata
from optin.ledger import UNLIMITED, Ledger, packs
from optin.ledger.schema import APPEND_ONLY


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_no_row_can_be_changed_or_deleted(ledger, table, monkeypatch):
    announce(ledger)
    monkeypatch.setattr(packs, "PACKED_FROM", 4)
    announce(ledger, "many", ids=nth(5))
    release(ledger, joined=[True, True, False])
    logged(ledger, rotated=True)
    with ledger.engine.connect() as connection:
        column = next(iter(metadata.tables[table].columns)).name
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(DatabaseError, match="append-only"):
                connection.execute(text(statement))
            connection.rollback()
    assert ledger.verify().ok


DAMAGES = {
    "a charge made smaller": "UPDATE charges SET grains = grains - 1 WHERE position = 0",
    "a charge moved to a person": "UPDATE promises SET person = 99 WHERE position = 0",
    "a promise made smaller": "UPDATE promises SET grains = 1 WHERE position = 1",
    "a promise marked as cut": "UPDATE promises SET bounded = (1 = 1) WHERE position = 1",
    "an allowance raised": "UPDATE allowances SET grains = 1000 WHERE person = 1",
    "an id renamed": "UPDATE people SET id = 'eve' WHERE person = 1",
    "a result changed": "UPDATE acts SET body = 'better' WHERE kind = 'release'",
    "a time changed": "UPDATE acts SET at = '2020' WHERE number = 2",
    "a hash changed": "UPDATE acts SET hash = 'x' WHERE number = 2",
    "a charge missing": "DELETE FROM charges WHERE position = 0",
    "a person missing": "DELETE FROM people WHERE person = 2",
    "a return missing": "DELETE FROM returns",
    "an act missing in the middle": "DELETE FROM acts WHERE number = 2",
    "the first act missing": "DELETE FROM acts WHERE number = 1",
    "a charge added": "INSERT INTO charges VALUES (2, 2, 4, 5, NULL)",
    "a charge of no release added": "INSERT INTO charges VALUES (2, 2, 77, 5, NULL)",
    "a return added": "INSERT INTO returns VALUES (2, 0, 3)",
    "a person added": "INSERT INTO people VALUES (50, 'eve', 1)",
    "an allowance added": "INSERT INTO allowances VALUES (1, 50, 99)",
    "a promise added": "INSERT INTO promises VALUES (50, 0, 1, 1, (1 = 0), NULL, NULL)",
    "a promise moved to a place nobody has": "UPDATE promises SET position = 9 WHERE position = 2",
    "a return of a hold nobody had": "INSERT INTO returns VALUES (2, 40, 3)",
    "a kind nobody knows": "UPDATE acts SET kind = 'x' WHERE number = 2",
    "a secret that is none": "UPDATE acts SET salt = 'zz' WHERE kind = 'release'",
    "the lock row missing": "DELETE FROM head_lock",
    "the lock row replaced": "UPDATE head_lock SET one = 2",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_verify_finds(ledger, what):
    announce(ledger)
    release(ledger, joined=[True, True, False])
    assert ledger.verify().ok
    damage(ledger, DAMAGES[what])
    assert not ledger.verify().ok


def test_a_cut_tail_is_seen_only_against_an_outside_copy(ledger):
    announce(ledger, "one", grains=1)
    kept = release(ledger, "one", grains=1)
    announce(ledger, "two", grains=1)
    lost = release(ledger, "two", grains=1)
    copies = [copy_of(entry) for entry in (kept, lost)]
    assert ledger.verify(copies).ok
    cut = f"WHERE act = {lost.number}"
    damage(ledger, f"DELETE FROM acts WHERE number = {lost.number}", f"DELETE FROM charges {cut}")
    unaware, halfway, aware = ledger.verify(), ledger.verify(copies[:1]), ledger.verify(copies)
    assert unaware.ok
    assert "a cut tail or a rewritten ledger cannot be seen" in str(unaware)
    assert halfway.ok
    assert f"cut off or rewritten after act {kept.number}" in str(halfway)
    assert not aware.ok
    assert "known outside, is missing" in str(aware)


def test_a_rewritten_chain_is_seen_against_an_outside_copy(ledger):
    announce(ledger)
    known = copy_of(release(ledger)).charged_at(3, "0" * 64)
    assert "rewritten" in str(ledger.verify([known]))


def test_each_act_hashes_the_one_before(ledger):
    announce(ledger)
    release(ledger)
    with ledger.engine.connect() as connection:
        rows = connection.execute(text("SELECT previous, hash FROM acts ORDER BY number")).all()
    assert [row.previous for row in rows] == ["0" * 64, *(row.hash for row in rows[:-1])]


def test_two_promises_that_changed_places_are_found(ledger):
    announce(ledger)
    swaps = [f"UPDATE promises SET position = {to} WHERE position = {at}" for at, to in ((0, 9), (1, 0), (9, 1))]
    damage(ledger, *swaps)
    assert "rows of act 2 (announce) were changed" in str(ledger.verify())


@pytest.mark.parametrize("column", ["kind", "body", "salt", "version", "at"])
def test_bytes_where_text_belongs_are_named_and_not_stumbled_over(tmp_path, column):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        announce(ledger)
        last = release(ledger)
        damage(ledger, f"UPDATE acts SET {column} = x'ff00' WHERE number = {last.number}")
        assert f"act {last.number}" in str(ledger.verify())
        assert not ledger.verify().ok


HALVES = {
    "allowances": ["UPDATE allowances SET grains = grains + 0.5"],
    "promises": ["UPDATE promises SET grains = grains + 0.5", "UPDATE charges SET grains = grains + 0.5"],
    "promises that were cut": ["UPDATE promises SET bounded = 'x'"],
    "promises that were cut, somewhat": ["UPDATE promises SET bounded = 0.5"],
    "returns": ["UPDATE returns SET position = 2.5"],
}


@pytest.mark.parametrize("what", HALVES)
def test_what_is_no_whole_number_is_found_and_not_rounded_away(tmp_path, what):
    """SQLite keeps 5.5 in a column of integers; read as 5 the hashes would still agree."""
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        announce(ledger)
        release(ledger, joined=[True, True, False])
        damage(ledger, *HALVES[what])
        assert not ledger.verify().ok


def test_an_index_that_hides_a_person_is_found(tmp_path):
    """Whoever is missing in the index of ids would be registered again, with a fresh allowance."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(str(path)) as ledger:
        announce(ledger)
    whole = _state_index(path, "CREATE INDEX one_id ON people (id) WHERE id <> 'bob'")
    with sqlite3.connect(path) as plain:
        plain.execute("REINDEX one_id")
    plain.close()
    _state_index(path, whole)
    with Ledger.open(str(path)) as ledger:
        assert ledger.remaining(["bob"]).tolist() == [UNLIMITED]
        assert "indexes disagree" in str(ledger.verify())


def _state_index(path, statement):
    """Change what the file says of its index, not the index; give what it said before."""
    with sqlite3.connect(path) as plain:
        plain.execute("PRAGMA writable_schema = ON")
        before = plain.execute("SELECT sql FROM sqlite_master WHERE name = 'one_id'").fetchone()[0]
        plain.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'one_id'", [statement])
    plain.close()
    return before


def test_missing_triggers_are_found(ledger):
    announce(ledger)
    drop = "charges_refuses_update" if ledger.engine.dialect.name == "sqlite" else "charges_refuses_change ON charges"
    with ledger.engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER {drop}"))
    assert "charges_refuses" in str(ledger.verify())


def test_a_trigger_that_lets_changes_pass_under_its_old_name_is_found(ledger):
    hollow = [
        "DROP TRIGGER charges_refuses_update",
        "CREATE TRIGGER charges_refuses_update BEFORE UPDATE ON charges BEGIN SELECT 1; END",
    ]
    if ledger.engine.dialect.name != "sqlite":
        hollow = [
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
        ]
    with ledger.engine.begin() as connection:
        for statement in hollow:
            connection.exec_driver_sql(statement)
    assert "charges_refuses" in str(ledger.verify())


def test_a_postgresql_trigger_with_a_condition_is_found(postgres):
    with Ledger.open(postgres.new_schema()) as ledger:
        with ledger.engine.begin() as connection:
            connection.execute(text("DROP TRIGGER acts_refuses_change ON acts"))
            connection.execute(
                text(
                    "CREATE TRIGGER acts_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON acts "
                    "FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION refuse_change()"
                )
            )
        assert "trigger acts.acts_refuses_change is not as optin made it" in str(ledger.verify())


def test_triggers_switched_off_are_found(postgres):
    with Ledger.open(postgres.new_schema()) as ledger:
        with ledger.engine.begin() as connection:
            connection.execute(text("ALTER TABLE promises DISABLE TRIGGER ALL"))
        assert "trigger promises.promises_refuses_change is not as optin made it" in str(ledger.verify())


REPLACED = {
    "charges": "SELECT offer, position, act, 0, NULL FROM charges",
    "returns": "SELECT offer, position, 99 FROM returns",
    "promises": "SELECT offer, position + 50, person, 0, bounded, NULL, NULL FROM promises",
    "allowances": "SELECT person, act, 1000 FROM allowances",
    "people": "SELECT person + 50, id, act FROM people",
    "acts": "SELECT * FROM acts",
    "head_lock": "SELECT one FROM head_lock",
    "checkpoints": "SELECT size, verifier, 'x' FROM checkpoints",
    "cosignatures": "SELECT size, verifier, 'x' FROM cosignatures",
    "successions": "SELECT number, 'x' FROM successions",
}


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_no_row_can_be_replaced_over_a_plain_connection(tmp_path, table):
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(str(path)) as ledger:
        announce(ledger)
        release(ledger, joined=[True, True, False])
        logged(ledger, rotated=True)
    plain = sqlite3.connect(path)
    before = plain.execute(f"SELECT * FROM {table}").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        plain.execute(f"REPLACE INTO {table} {REPLACED[table]}")
    assert plain.execute(f"SELECT * FROM {table}").fetchall() == before
    plain.close()


def test_a_release_copy_with_another_result_disagrees(ledger):
    announce(ledger)
    entry = release(ledger)
    assert ledger.verify([copy_of(entry)]).ok
    assert "says something else" in str(ledger.verify([changed_release(copy_of(entry), noisy_total=8)]))


def test_a_receipt_copy_edited_in_any_amount_disagrees(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["cy"])
    release(ledger)
    charged, away = ledger.receipt("ann"), ledger.receipt("cy")
    assert ledger.verify([charged, away]).ok
    nothing = {"index": None, "spent": 0, "salt": None, "path": ()}
    for edited in (
        replace(charged, promised=5000),
        replace(charged, **nothing),
        replace(charged, index=7),
        replace(charged, salt="zz"),
        replace(charged, path=("zz",)),
        replace(charged, id="bob"),
        replace(charged, at="yesterday"),
        replace(away, promised=5000),
        replace(away, id="nobody"),
        replace(away, id="bob"),
    ):
        assert not ledger.verify([edited]).ok
