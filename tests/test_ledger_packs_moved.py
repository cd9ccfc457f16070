"""Packs of a ledger on SQLite that an earlier optin wrote into their keys are moved beside them, and nothing else changes."""

import contextlib
import sqlite3

import numpy as np
import pytest
from ledger_steps import announce, nth, release, terms

from optin.database.migrations import scripts
from optin.errors import LedgerUnavailable
from optin.ledger import Ledger, packs

IDS = nth(11)
GRAINS = np.arange(11) + 1
AS_IT_WAS = (
    "DROP TRIGGER packs_refuses_replace",
    "DROP TRIGGER packs_refuses_update",
    "DROP TRIGGER packs_refuses_delete",
    "ALTER TABLE packs RENAME TO newer",
    """CREATE TABLE packs (act BIGINT NOT NULL, part VARCHAR(8) NOT NULL, block BIGINT NOT NULL, least BIGINT NOT NULL,
        most BIGINT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (act, part, block)) WITHOUT ROWID""",
    "INSERT INTO packs SELECT * FROM newer",
    "DROP TABLE newer",
    """CREATE TRIGGER packs_refuses_replace BEFORE INSERT ON packs WHEN EXISTS
        (SELECT 1 FROM packs WHERE act = NEW.act AND part = NEW.part AND block = NEW.block)
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    *(
        f"""CREATE TRIGGER packs_refuses_{verb} BEFORE {verb} ON packs
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
        for verb in ("update", "delete")
    ),
    "UPDATE alembic_version SET version_num = '0012'",
)
PACKS = "SELECT act, part, block, least, most, body FROM packs ORDER BY act, part, block"


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    for name, size in (("PACKED_FROM", 1), ("SIZE", 4), ("FEW", 2)):
        monkeypatch.setattr(packs, name, size)


@pytest.fixture
def path(tmp_path):
    """A ledger that holds packs, written just now."""
    place = str(tmp_path / "ledger.sqlite")
    with Ledger.open(place) as ledger:
        announce(ledger, "c", ids=IDS, grains=GRAINS, allowances=50)
        ledger.let_go(terms(), ["p3"])
        release(ledger, ids=IDS, grains=GRAINS)
        announce(ledger, "d", ids=IDS[::-1], grains=GRAINS, allowances=50)
    return place


def asked(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as plain:
        return [plain.execute(statement).fetchall() for statement in statements][-1]


def said(path):
    with Ledger.open(path) as ledger:
        assert ledger.verify().ok, ledger.verify()
        return ledger.receipts(IDS, campaign="c", round=1), ledger.promises(terms("d")), ledger.acts()


def test_packs_of_an_earlier_ledger_are_moved_as_they_are(path):
    before, held = said(path), asked(path, PACKS)
    asked(path, *AS_IT_WAS)
    assert said(path) == before
    assert asked(path, PACKS) == held
    assert asked(path, "SELECT version_num FROM alembic_version") == [(scripts().get_current_head(),)]
    assert not asked(path, "SELECT name FROM sqlite_master WHERE name LIKE '%packs_by_key%'")


def test_a_move_that_is_cut_off_leaves_the_ledger_as_it_was(path, monkeypatch):
    before, held = said(path), asked(path, PACKS)
    asked(path, *AS_IT_WAS)
    made = asked(path, "SELECT name, sql FROM sqlite_master ORDER BY name")
    folder = scripts()
    moving = folder.get_revision("0013").module

    def cut_off(_):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(moving, "refuse_changes_to", cut_off)
        patch.setattr("optin.database.migrations.scripts", lambda: folder)
        with pytest.raises(LedgerUnavailable, match="nothing was written"):
            Ledger.open(path)
    assert asked(path, "SELECT name, sql FROM sqlite_master ORDER BY name") == made
    assert asked(path, PACKS) == held
    assert said(path) == before


@pytest.mark.parametrize("moved", [False, True])
def test_no_pack_is_replaced_changed_or_deleted_by_its_key_or_its_row_number(path, moved):
    if moved:
        asked(path, *AS_IT_WAS)
        said(path)
    held = asked(path, PACKS)
    for damage in (
        "REPLACE INTO packs SELECT act, part, block, 0, 0, x'00' FROM packs LIMIT 1",
        "REPLACE INTO packs (rowid, act, part, block, least, most, body) SELECT 1, 99, 'rows', 0, 0, 0, x'00'",
        "UPDATE OR REPLACE packs SET rowid = rowid + 1",
        "UPDATE packs SET body = x'00'",
        "DELETE FROM packs",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            asked(path, damage)
    assert asked(path, PACKS) == held
