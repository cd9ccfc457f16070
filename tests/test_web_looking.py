"""Whoever looks at a service, copies it or lets someone in changes nothing else: no table, no folder, no rights."""

import os
import sqlite3
import stat

import pytest
from test_web_operating import own_key, run  # noqa: F401 - a fixture
from web_steps import House

from optin.database import connection
from optin.web.operating import copies


def _served(folder, migrated):
    path = folder / "web.sqlite"
    path.write_bytes(migrated)
    path.chmod(0o600)
    with House(f"sqlite:///{path}", folder) as house:
        house.analyst()
    return path


def _version(path):
    with sqlite3.connect(path) as link:
        return link.execute("SELECT version_num FROM alembic_version").fetchone()[0]


@pytest.mark.parametrize("command", [("status",), ("backup", "b.zip"), ("reset", "ada")], ids=lambda each: each[0])
def test_tables_of_an_older_version_are_not_changed_under_the_process_that_serves_them(
    tmp_path, capsys, migrated, monkeypatch, command
):
    path = _served(tmp_path, migrated)
    before = _version(path)
    monkeypatch.chdir(tmp_path)
    for module in (connection, copies):
        monkeypatch.setattr(module, "REVISION", "9999")  # this program is a newer one
    code, _, err = run(capsys, "web", *command, "--ledger", path, "--keys", tmp_path / "keys")
    assert (code, "of another version of optin" in err) == (2, True), err
    assert _version(path) == before
    assert not (tmp_path / "b.zip").exists()


def test_a_database_in_which_no_service_was_is_left_as_it_is(tmp_path, capsys):
    path = tmp_path / "empty.sqlite"
    path.touch(0o600)
    code, _, err = run(capsys, "web", "status", "--ledger", path)
    assert (code, "there is no service in this database" in err) == (2, True)
    with sqlite3.connect(path) as link:
        assert link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def test_looking_makes_no_folder_of_keys_and_takes_no_rights_from_one(tmp_path, capsys, migrated):
    path = _served(tmp_path, migrated)
    assert run(capsys, "web", "status", "--ledger", path, "--keys", tmp_path / "none")[0] == 0
    assert not (tmp_path / "none").exists()
    (tmp_path / "everyone's").mkdir()
    os.chmod(tmp_path / "everyone's", 0o755)
    assert run(capsys, "web", "status", "--ledger", path, "--keys", tmp_path / "everyone's")[0] == 0
    assert stat.S_IMODE((tmp_path / "everyone's").stat().st_mode) == 0o755
