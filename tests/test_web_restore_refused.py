"""What is not good is restored nowhere: a refused backup leaves a place as empty as it was, in either kind of database."""

import json
import os

import psycopg
import pytest
from sqlalchemy import make_url
from test_web_operating import own_key, run, where  # noqa: F401 - fixtures
from web_steps import House, answering

from optin.formats.atomic import AtomicWrite
from optin.web.operating import restoring


def _backed_up(url, folder, capsys):
    """A service, its backup, and the release that was published after it."""
    with House(url, folder) as house:
        ada, people = house.analyst(), house.people(12)
        campaign = answering(ada, people)
        code, _, err = run(capsys, "web", "backup", folder / "b.zip", "--ledger", url, "--keys", folder / "keys")
        assert code == 0, err
        for person in people:
            person.join(campaign, 5.0)
        ada.take(campaign, "close")
        ada.take(campaign, "release")
        (folder / "release.json").write_text(ada.campaign(campaign).release.to_json())
    return folder / "b.zip"


def _things(url):
    """Tables, functions and schemas of a PostgreSQL database, that are no part of every database."""
    own = "nspname NOT LIKE 'pg_%' AND nspname <> 'information_schema'"
    asked = (
        f"SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {own}",
        f"SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {own}",
        f"SELECT array_agg(nspname) FROM pg_namespace WHERE {own}",
    )
    place = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(place) as link:
        return [link.execute(each).fetchone()[0] for each in asked]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("schema", ["as it was", "public"])
def test_a_backup_that_does_not_verify_leaves_postgresql_as_empty_as_it_was(
    url,
    tmp_path,
    capsys,
    where,  # noqa: F811
    request,
    schema,
):
    server = request.getfixturevalue("postgres")
    if schema == "public":
        url = server.url(server.new_database())
    backup = _backed_up(url, tmp_path, capsys)
    place = server.url(server.new_database()) if schema == "public" else where(url)
    command = ("web", "restore", backup, "--ledger", place, "--keys", tmp_path / "keys")
    before = _things(place)
    code, _, err = run(capsys, *command, "--against", tmp_path / "release.json")
    assert (code, "does not verify" in err) == (4, True)
    assert _things(place) == before, "nobody can serve from it, and nobody's session is in it"
    code, out, err = run(capsys, *command, "--json")
    assert code == 0, f"{err}: and a good one can be restored there"
    assert json.loads(out)["key_is_same"] is True


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_service_that_was_started_while_a_backup_was_verified_keeps_its_database(url, tmp_path, capsys, monkeypatch):
    backup, place = _backed_up(url, tmp_path, capsys), tmp_path / "new.sqlite"
    verify = restoring._expect_good

    def started_meanwhile(*given):
        verify(*given)
        place.write_bytes(b"what a service made")

    monkeypatch.setattr(restoring, "_expect_good", started_meanwhile)
    code, _, err = run(capsys, "web", "restore", backup, "--ledger", place, "--keys", tmp_path / "keys")
    assert (code, "never put over another" in err) == (2, True)
    assert place.read_bytes() == b"what a service made"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_backup_that_cannot_be_unpacked_is_said_to_be_damaged(url, tmp_path, capsys):
    backup = _backed_up(url, tmp_path, capsys)
    data = bytearray(backup.read_bytes())
    at = data.index(b"database", data.index(b"backup.json")) + len("database")
    data[at] ^= 0b110  # the kind of the first block: none that zlib knows
    backup.write_bytes(data)
    code, _, err = run(capsys, "web", "restore", backup, "--ledger", tmp_path / "new.sqlite")
    assert (code, "this backup is damaged" in err) == (2, True), err


def test_what_is_put_in_place_is_on_disk_before(tmp_path, monkeypatch):
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), sync(file)))
    with AtomicWrite(tmp_path / "b.zip", private=True) as file:
        file.write_by(lambda draft: draft.write_bytes(b"made by somebody else"))
    assert (tmp_path / "b.zip").stat().st_ino in synced
