"""Whoever runs a service can look how it stands, copy it while it serves, put the copy elsewhere, and let an analyst in again."""

import json
import os
import re
import stat
import threading
import zipfile
from pathlib import Path

import pytest
from web_steps import DRAFT, KEY, PASSWORD, House, answering, released

from optin.cli import main
from optin.errors import OptinError
from optin.ledger import Ledger

NEW = "another horse battery"


def run(capsys, *arguments):
    """Run a command; return its exit code, what it printed and what it noted."""
    try:
        main([str(each) for each in arguments])
    except SystemExit as leaving:
        code = leaving.code or 0
    else:
        code = 0
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture(autouse=True)
def own_key(monkeypatch):
    monkeypatch.setenv("OPTIN_WEB_KEY", KEY)


@pytest.fixture
def where(request, tmp_path):
    """Where a second service of the same kind of database can be: its ledger and its folder of keys."""

    def elsewhere(url):
        if url.startswith("postgresql"):
            server = request.getfixturevalue("postgres")
            schema = re.search(r"search_path%3D(\w+)", url)[1]
            return server.url(server.new_database(), schema=schema)
        return str(tmp_path / "other machine" / "web.sqlite")

    (tmp_path / "other machine").mkdir()
    return elsewhere


def test_a_copy_made_while_people_answer_is_a_ledger_that_verifies_on_other_paths(url, tmp_path, capsys, where):
    with House(url, tmp_path) as house:
        ada, people = house.analyst(), house.people(30)
        done = released(ada, people[:12])
        going = answering(ada, people)
        stop, sent = threading.Event(), []

        def keep_answering():
            for person in people:
                if stop.is_set():
                    return
                person.join(going, 5.0)
                sent.append(person)

        busy = threading.Thread(target=keep_answering)
        busy.start()
        code, out, err = run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")
        stop.set()
        busy.join()
        assert code == 0, err
        acts = len(house.service.ledger.acts())
    assert stat.S_IMODE((tmp_path / "b.zip").stat().st_mode) == 0o600
    assert "keys are not in it" in err
    place = where(url)
    command = ("web", "restore", tmp_path / "b.zip", "--ledger", place, "--keys", tmp_path / "keys", "--json")
    code, out, err = run(capsys, *command)
    assert code == 0, err
    found = json.loads(out)
    assert found["manifest"]["head"]["acts"] == acts
    assert found["keys"] == {"wrapping": True, "unreadable_rounds": 0, "signs_log": True}
    assert found["key_is_same"] is True
    with House(place, tmp_path) as moved:
        again = moved.client()
        again.sign_in("ada", PASSWORD)
        assert {each.id for each in again.campaigns()} == {done, going}
        assert again.campaign(done).release is not None
        people[0]._http = moved.client()._http
        with pytest.raises(OptinError):
            people[0].me()  # everyone was signed out


def test_answers_whose_keys_stayed_elsewhere_are_said_to_be_unreadable(tmp_path, capsys, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        ada, people = house.analyst(), house.people(12)
        campaign = answering(ada, people)
        people[0].join(campaign, 5.0)
        assert run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")[0] == 0
    code, _, err = run(
        capsys, "web", "restore", tmp_path / "b.zip", "--ledger", tmp_path / "new.sqlite", "--keys", tmp_path / "none"
    )
    assert code == 0
    assert "answers of 1 running round cannot be read here" in err
    assert "what was done after" in err


def test_another_key_is_told_from_the_one_a_backup_was_made_with(tmp_path, capsys, monkeypatch, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        house.analyst()
        run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")
    monkeypatch.setenv("OPTIN_WEB_KEY", "b2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")
    restored = ("web", "restore", tmp_path / "b.zip", "--keys", tmp_path / "k2", "--ledger")
    assert "is another than the one it was backed up with" in run(capsys, *restored, tmp_path / "n1.sqlite")[2]
    monkeypatch.delenv("OPTIN_WEB_KEY")
    code, _, err = run(capsys, *restored, tmp_path / "n2.sqlite")
    assert code == 0
    assert "the service's key is not here" in err
    assert not (tmp_path / "k2" / "environment.key").exists(), "a key was made up where one is missing"


def _sqlite(folder, migrated):
    path = folder / "web.sqlite"
    path.write_bytes(migrated)
    path.chmod(0o600)
    return str(path)


def _backup(tmp_path, capsys, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        released(house.analyst(), house.people(12))
    assert run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")[0] == 0
    return tmp_path / "b.zip"


def test_a_backup_is_put_over_nothing_and_restored_over_nothing(tmp_path, capsys, migrated):
    backup = _backup(tmp_path, capsys, migrated)
    before = (tmp_path / "web.sqlite").read_bytes()
    code, _, err = run(capsys, "web", "restore", backup, "--ledger", tmp_path / "web.sqlite")
    assert (code, "never put over another" in err) == (2, True)
    assert (tmp_path / "web.sqlite").read_bytes() == before
    code, _, err = run(capsys, "web", "backup", backup, "--ledger", tmp_path / "web.sqlite")
    assert (code, "exists" in err, "name a folder" in err) == (2, True, True)
    (tmp_path / "new.sqlite-wal").write_bytes(b"left over")
    assert run(capsys, "web", "restore", backup, "--ledger", tmp_path / "new.sqlite")[0] == 2


def test_a_name_that_ends_with_a_slash_is_a_folder_and_every_night_puts_a_file_into_it(tmp_path, capsys, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path):
        pass
    backup = ("web", "backup", f"{tmp_path}/every/backups/", "--ledger", url, "--keys", tmp_path / "keys", "--json")
    code, out, err = run(capsys, *backup)
    assert code == 0, err
    first = Path(json.loads(out)["file"])
    assert first.parent == tmp_path / "every" / "backups"
    first.rename(first.with_name("optin-20000101T000000Z.zip"))  # as if of another night
    code, out, err = run(capsys, *backup)
    assert code == 0, err
    assert Path(json.loads(out)["file"]).parent == first.parent
    (tmp_path / "a file").touch()
    code, _, err = run(capsys, "web", "backup", f"{tmp_path}/a file/", "--ledger", url, "--keys", tmp_path / "keys")
    assert (code, "a file: " in err) == (2, True)


@pytest.mark.parametrize("fault", ["cut", "flipped", "other", "manifest", "empty"])
def test_a_damaged_backup_is_refused_and_leaves_nothing(tmp_path, capsys, migrated, fault):
    backup = _backup(tmp_path, capsys, migrated)
    data = bytearray(backup.read_bytes())
    if fault == "cut":
        data = data[: len(data) // 2]
    elif fault == "flipped":
        data[len(data) // 2] ^= 0xFF
    elif fault == "other":
        data = bytearray(b"PK no zip")
    elif fault == "empty":
        data = bytearray()
    backup.write_bytes(data)
    if fault == "manifest":
        with zipfile.ZipFile(backup) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        record = json.loads(parts["backup.json"])
        record["head"]["acts"] += 1
        with zipfile.ZipFile(backup, "w") as archive:
            archive.writestr("backup.json", json.dumps(record))
            archive.writestr("database", parts["database"])
    code, _, err = run(capsys, "web", "restore", backup, "--ledger", tmp_path / "new.sqlite")
    assert code in (2, 4), err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".new", "new"))] == []


def test_a_backup_made_before_a_release_is_seen_against_it(tmp_path, capsys, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        ada, people = house.analyst(), house.people(12)
        campaign = answering(ada, people)
        run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")
        for person in people:
            person.join(campaign, 5.0)
        ada.take(campaign, "close")
        ada.take(campaign, "release")
        (tmp_path / "release.json").write_text(ada.campaign(campaign).release.to_json())
    code, _, err = run(
        capsys,
        "web",
        "restore",
        tmp_path / "b.zip",
        "--ledger",
        tmp_path / "n.sqlite",
        "--against",
        tmp_path / "release.json",
    )
    assert (code, "does not verify" in err) == (4, True)
    assert not (tmp_path / "n.sqlite").exists()


def test_status_counts_and_names_no_person_and_a_backup_makes_it_content(url, tmp_path, capsys):
    at = ("--ledger", url, "--keys", tmp_path / "keys")
    with House(url, tmp_path) as house:
        ada = house.analyst()
        released(ada, house.people(12))
        ada.draft(**DRAFT)
        code, out, err = run(capsys, "web", "status", *at)
        assert code == 0
        assert "10 or more" in out
        assert "1 draft, 1 released" in out
        assert "ada" in out
        assert "no backup younger than two days" in err
        run(capsys, "web", "backup", tmp_path, *at)
        code, out, err = run(capsys, "web", "status", *at, "--json")
        found = json.loads(out)
        assert found["to_do"] == []
        assert found["backed_up_at"] > 0
        assert found["checkpoints"] == 2
        assert found["acts"] == len(house.service.ledger.acts())


def test_status_and_backup_make_no_service_where_there_is_none(tmp_path, capsys):
    for command in (("status",), ("backup", tmp_path / "b.zip"), ("reset", "ada")):
        code, _, err = run(capsys, "web", *command, "--ledger", tmp_path / "none.sqlite")
        assert (code, "there is no service at" in err) == (2, True)
    assert os.listdir(tmp_path) == []


def test_a_reset_that_is_refused_makes_no_key(tmp_path, capsys, migrated, monkeypatch):
    monkeypatch.delenv("OPTIN_WEB_KEY")
    url, keys = _sqlite(tmp_path, migrated), tmp_path / "keys"
    code, _, err = run(capsys, "web", "reset", "ada", "--ledger", url, "--keys", keys)
    assert (code, "no analyst of this name" in err) == (2, True)
    assert not keys.exists(), "of a database that never served"


def test_a_reset_says_that_it_cannot_know_where_the_service_is_seen(tmp_path, capsys, migrated, monkeypatch):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        house.analyst()
    reset = ("web", "reset", "ada", "--ledger", url, "--keys", tmp_path / "keys")
    _, out, err = run(capsys, *reset)
    assert out.startswith("http://127.0.0.1:8000/new-password#")
    assert "--port or --origin" in err
    _, out, err = run(capsys, *reset, "--port", "8137")
    assert out.startswith("http://127.0.0.1:8137/new-password#")
    assert "--port or --origin" not in err
    monkeypatch.setenv("OPTIN_WEB_ORIGIN", "https://example.org")
    _, out, err = run(capsys, *reset)
    assert out.startswith("https://example.org/new-password#")
    assert "--port or --origin" not in err


def test_the_key_of_the_log_is_to_be_copied_wherever_keys_are_spoken_of(tmp_path, capsys, migrated):
    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        released(house.analyst(), house.people(12))
    at = ("--ledger", url, "--keys", tmp_path / "keys")
    assert "copies of the service's key and of log.key" in run(capsys, "web", "backup", tmp_path / "b.zip", *at)[2]
    (tmp_path / "keys" / "log.key").unlink()
    assert "put your copy of log.key" in run(capsys, "web", "status", *at)[2]
    moved = ("--ledger", tmp_path / "n.sqlite", "--keys", tmp_path / "keys")
    assert "put your copy of log.key" in run(capsys, "web", "restore", tmp_path / "b.zip", *moved)[2]


def test_a_link_to_a_new_password_works_once_within_a_day_and_ends_all_sessions(tmp_path, capsys, migrated):
    url, now = _sqlite(tmp_path, migrated), [1e9]
    with House(url, tmp_path, clock=lambda: now[0]) as house:
        ada = house.analyst()
        reset = ("web", "reset", "ada", "--ledger", url, "--keys", tmp_path / "keys")
        first, second = (run(capsys, *reset)[1].strip().rpartition("#")[2] for _ in range(2))

        def choose(secret, password=NEW):
            return house.ask("POST", "/new-password", data={"secret": secret, "password": password})

        import time

        now[0] = time.time()  # the command has the machine's clock
        assert choose(first).status_code == 403, "the link made before still works"
        assert choose(second, "short").status_code == 422
        page = choose(second)
        assert (page.status_code, page.headers["location"]) == (303, "/a")
        assert choose(second, PASSWORD).status_code == 403
        with pytest.raises(OptinError):
            ada.campaigns()
        with pytest.raises(OptinError):
            house.client().sign_in("ada", PASSWORD)
        house.client().sign_in("ada", NEW)
        third = run(capsys, *reset)[1].strip().rpartition("#")[2]
        now[0] += 86401
        assert choose(third, PASSWORD).status_code == 403
        code, _, err = run(capsys, "web", "reset", "eve", "--ledger", url, "--keys", tmp_path / "keys")
        assert (code, "no analyst of this name" in err) == (2, True)


def test_nothing_of_a_backup_can_be_read_as_an_answer(tmp_path, capsys, migrated):
    """Answers are under keys that are not in it: every byte of the database is searched for the number itself."""
    import struct

    url = _sqlite(tmp_path, migrated)
    with House(url, tmp_path) as house:
        ada, people = house.analyst(), house.people(12)
        campaign = answering(ada, people)
        people[0].join(campaign, 7.123456789)
        run(capsys, "web", "backup", tmp_path / "b.zip", "--ledger", url, "--keys", tmp_path / "keys")
        with zipfile.ZipFile(tmp_path / "b.zip") as archive:
            assert sorted(archive.namelist()) == ["backup.json", "database"]
            database = archive.read("database")
        for key in (tmp_path / "keys").glob("*.key"):
            assert key.read_bytes() not in database
        for order in "<>":
            assert struct.pack(f"{order}d", 7.123456789) not in database
        assert b"7.12345" not in database
        with Ledger.open(url) as ledger:
            assert ledger.verify().ok
