"""Markers planted in a value, a limit, an id and secrets appear nowhere; what was sealed stays sealed for ever."""

import contextlib
import hashlib
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys

import httpx
import pytest
from cli_steps import optin
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import text
from web_steps import KEY, PASSWORD, OpenHouse, Outpost, answering, registered

from optin.client import Client
from optin.errors import BadInput, OptinError, PromiseBroken
from optin.web.app import create_app
from optin.web.service.keys import Keyring
from optin.web.settings import WebSettings, environment_key, key_folder

VALUE = 7.319024681
PEOPLE = 12
NAME = "a" * 8 + "NAME-MARKER-x9q"


def ciphertexts(service):
    query = text("SELECT person, value FROM web_answers WHERE value IS NOT NULL")
    return service.read(lambda link: [(row.person, bytes(row.value)) for row in link.execute(query)])


@pytest.fixture
def post(url, tmp_path):
    outpost = Outpost(url, tmp_path).start()
    yield outpost
    outpost.stop()


def refused(client, method, path, **more):
    """Ask for something that cannot be given; return everything that came back."""
    headers = {"Origin": client._origin, "X-CSRF-Token": client._csrf, "Cookie": f"__Host-optin={client._cookie}"}
    with httpx.Client(trust_env=False, verify=False) as stranger:
        answer = stranger.request(method, client._origin + path, headers=headers, **more)
    assert answer.status_code >= 400
    return f"{answer.headers} {answer.text}"


def failures(analyst, person, campaign):
    """What the service says to requests that carry a marker and cannot be served."""
    answer = f"/api/me/campaigns/{campaign}/answer"
    yield refused(person, "PUT", answer, json={"join": True, "value": 1e6 * VALUE})
    yield refused(person, "PUT", answer, json={"join": True, "value": str(VALUE)})
    yield refused(person, "PUT", answer, json={"join": False, "value": VALUE})
    yield refused(person, "PUT", answer, json={"join": True, "value": VALUE, str(VALUE): VALUE})
    yield refused(person, "PUT", answer, content=f'{{"join": true, "value": {VALUE}'.encode())
    yield refused(
        person, "POST", f"/c/{campaign}/join", data={"value": f"{VALUE}x", "round": "1", "csrf": person._csrf}
    )
    yield refused(person, "GET", f"/c/{VALUE}")
    yield refused(person, "GET", f"/api/me/campaigns/{VALUE}?value={VALUE}")
    yield refused(analyst, "POST", "/api/session", json={"name": NAME, "password": f"{VALUE}"})
    yield refused(analyst, "POST", "/api/campaigns", json={"title": f"{VALUE}", "lower": 1})


def test_no_marker_appears_in_any_log_or_error(post, request):
    analyst, crowd = post.analyst(), [Client(post.origin) for _ in range(PEOPLE)]
    entries = [person.sign_up() for person in crowd]
    keys, accounts = [entry.key for entry in entries], [entry.account for entry in entries]
    invitations = analyst.invite(analyst.draft(title="t", question="q", bounds=(0, 1)).id, 3)
    campaign = answering(analyst, crowd)
    for person in crowd:
        person.join(campaign, VALUE)
    told = "\n".join(failures(analyst, crowd[0], campaign))
    analyst.take(campaign, "close")
    analyst.take(campaign, "release")
    service = post.service()
    sealed = [value.hex() for _, value in ciphertexts(service)]
    log = (post.folder / "log").read_text()
    if service.ledger.engine.dialect.name == "postgresql":
        told += request.getfixturevalue("postgres").log.read_text()
    for client in [analyst, *crowd]:
        client.close()
    service.ledger.close()
    cookies = [client._cookie for client in [analyst, *crowd]]
    markers = [str(VALUE)[:8], "7319024", NAME, PASSWORD, KEY, *keys, *invitations, *cookies, *sealed]
    assert '"route": "/api/me/campaigns/{campaign}/answer"' in log
    assert [marker for marker in markers if marker in told + log] == []
    assert [name for name in (campaign, *accounts) if name in log] == []


def test_a_request_that_fails_unexpectedly_shows_where_and_never_what(tmp_path, capfd):
    """A trace would quote the value: the log names files and lines, the answer names nothing."""
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        analyst, crowd = house.analyst(), house.people(PEOPLE)
        campaign = answering(analyst, crowd)
        shutil.rmtree(tmp_path / "keys")
        with pytest.raises(OptinError, match="key of this round is missing") as caught:
            crowd[0].join(campaign, VALUE)
        assert str(VALUE) not in str(caught.value) + "".join(capfd.readouterr())


def test_after_release_the_database_its_log_and_a_backup_decrypt_nothing(url, tmp_path, request):
    with OpenHouse(url, tmp_path) as house:
        analyst, crowd = house.analyst(), house.people(PEOPLE)
        campaign = answering(analyst, crowd)
        for person in crowd:
            person.join(campaign, VALUE)
        before = ciphertexts(house.service)
        ring, (wrapped,) = house.service.keys, [path.read_bytes() for path in (tmp_path / "keys").glob("*-1.key")]
        assert ring.unseal(before[0][1], campaign=campaign, round=1, person=before[0][0]) == (VALUE,)
        backup = backed_up(url, tmp_path, request)
        analyst.take(campaign, "close")
        analyst.take(campaign, "release")
        assert ciphertexts(house.service) == []
        kept = backed_up(url, tmp_path, request)
        left = [path.name for path in (tmp_path / "keys").iterdir()]
        assert left == ["log.key"], "it signs the log, and decrypts nothing"
        fresh = Keyring(tmp_path / "keys", b"k" * 32)
        with pytest.raises(OptinError):
            fresh.unseal(before[0][1], campaign=campaign, round=1, person=before[0][0])
    assert before[0][1] in backup, "the backup holds the ciphertext, in one form or another"
    assert wrapped not in backup + kept, "a wrapped key was never in the database"
    for blob in (backup, kept):
        assert opened_by_brute_force(blob[-20_000:], campaign, *before[0]) == []


def backed_up(url, folder, request):
    """Every byte that an operator could have copied: the database, its log, and a backup or dump of it."""
    if url.startswith("sqlite"):
        place = folder / "ledger.sqlite"
        copy = sqlite3.connect(folder / "copy.sqlite")
        with sqlite3.connect(place) as source:
            source.backup(copy)
        source.close()
        copy.close()
        files = [place, *folder.glob("ledger.sqlite-*"), folder / "copy.sqlite"]
        return b"".join(path.read_bytes() for path in files if path.exists())
    server = request.getfixturevalue("postgres")
    server.execute("CHECKPOINT")
    wanted = [path for part in ("base", "pg_wal") for path in (server.folder / "data" / part).rglob("*")]
    return b"".join(path.read_bytes() for path in wanted if path.is_file())


def opened_by_brute_force(blob, campaign, person, sealed):
    """Take every 32 bytes of what was copied as the round's key, and every 60 as that key wrapped by the environment's."""
    about, name = f"optin answer 1:{campaign}:{person}:1".encode(), f"{campaign}-1.key".encode()
    outer = AESGCM(hashlib.sha256(b"optin wrap 1" + b"k" * 32).digest())
    found = [
        key for key in (b"k" * 32, hashlib.sha256(b"optin pepper 1" + b"k" * 32).digest()) if opens(key, sealed, about)
    ]
    for at in range(min(len(blob), 20_000)):
        with contextlib.suppress(InvalidTag, ValueError):
            found.append(outer.decrypt(blob[at : at + 12], blob[at + 12 : at + 60], name))
        if opens(blob[at : at + 32], sealed, about):
            found.append(at)
    return found


def opens(key, sealed, about):
    with contextlib.suppress(InvalidTag, ValueError):
        AESGCM(key).decrypt(sealed[:12], sealed[12:], about)
        return True
    return False


def test_the_search_for_keys_would_have_found_one(tmp_path):
    ring = Keyring(tmp_path, b"k" * 32)
    ring.ensure("a" * 32, 1)
    sealed = ring.seal([VALUE], campaign="a" * 32, round=1, person="p")
    blob = b"x" * 1000 + next(tmp_path.iterdir()).read_bytes() + b"y" * 100
    assert len(opened_by_brute_force(blob, "a" * 32, "p", sealed)) == 1


def test_a_value_moved_to_another_person_round_or_campaign_does_not_open(tmp_path):
    ring, home, away = Keyring(tmp_path, b"k" * 32), "a" * 32, "b" * 32
    for place in ((home, 1), (home, 2), (away, 1)):
        ring.ensure(*place)
    sealed = ring.seal([VALUE], campaign=home, round=1, person="p")
    assert ring.unseal(sealed, campaign=home, round=1, person="p") == (VALUE,)
    for campaign, number, person in ((home, 1, "q"), (home, 2, "p"), (away, 1, "p")):
        with pytest.raises(OptinError, match="does not open"):
            ring.unseal(sealed, campaign=campaign, round=number, person=person)
    with pytest.raises(OptinError, match="another environment's key"):
        Keyring(tmp_path, b"j" * 32).unseal(sealed, campaign=home, round=1, person="p")


def test_every_ciphertext_is_different_and_of_one_length(tmp_path):
    ring = Keyring(tmp_path, b"k" * 32)
    ring.ensure("a" * 32, 1)
    sealed = {ring.seal([value], campaign="a" * 32, round=1, person="p") for value in (1.0, 1.0, 1e-300, 12345.678)}
    assert (len(sealed), {len(one) for one in sealed}) == (4, {36})


def test_keys_are_made_once_readable_by_their_owner_alone(tmp_path):
    rings = [Keyring(tmp_path / "keys", b"k" * 32) for _ in range(2)]
    for ring in rings:
        ring.ensure("a" * 32, 1)
    sealed = rings[0].seal([1.0], campaign="a" * 32, round=1, person="p")
    assert rings[1].unseal(sealed, campaign="a" * 32, round=1, person="p") == (1.0,)
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "keys").iterdir()} == {0o600}


def test_without_a_key_only_sqlite_on_loopback_starts_and_says_so(tmp_path):
    at_home = WebSettings(ledger=str(tmp_path / "web.sqlite"))
    key, notice = environment_key(at_home)
    path = key_folder(at_home) / "environment.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in notice
    assert environment_key(at_home) == (key, None)
    for settings in (
        WebSettings(ledger=str(tmp_path / "web.sqlite"), host="0.0.0.0", origin="https://example.org"),
        WebSettings(ledger="postgresql://optin@/ledger", keys=tmp_path),
    ):
        with pytest.raises(BadInput, match="OPTIN_WEB_KEY"):
            environment_key(settings)
    with pytest.raises(BadInput, match="OPTIN_WEB_KEYS"):
        key_folder(WebSettings(ledger="postgresql://optin@/ledger"))
    with pytest.raises(BadInput, match="OPTIN_WEB_ORIGIN"):
        create_app(WebSettings(ledger=str(tmp_path / "web.sqlite"), host="0.0.0.0", key=KEY))
    for wrong in ("short", "!" * 44):
        with pytest.raises(BadInput, match="32 bytes"):
            environment_key(WebSettings(key=wrong))


def test_serve_refuses_to_start_without_a_key_where_others_could_reach_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = optin("serve", "--host", "0.0.0.0", "--origin", "https://example.org")
    assert (done.code, "OPTIN_WEB_KEY" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("port", ["0", "70000"])
def test_serve_refuses_a_port_that_no_link_could_name(tmp_path, monkeypatch, port):
    monkeypatch.chdir(tmp_path)
    done = optin("serve", "--port", port)
    assert (done.code, "--port (or OPTIN_WEB_PORT)" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_serve_names_no_option_that_there_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPTIN_WEB_DAYS_TO_ANSWER", "-3")
    done = optin("serve")
    assert (done.code, "OPTIN_WEB_DAYS_TO_ANSWER: " in done.err, "--days" in done.err) == (2, True, False)


@pytest.mark.parametrize("fault", ["taken", "language"])
def test_serve_says_where_it_serves_only_once_it_does(tmp_path, fault):
    with socket.socket() as others:
        others.bind(("127.0.0.1", 0))
        others.listen()
        port = others.getsockname()[1]
        spoken = {"OPTIN_WEB_LANGUAGE": "xx"} if fault == "language" else {}
        command = [sys.executable, "-m", "optin", "serve", "--port", str(port)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, **spoken},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 2, done.stderr
    assert "serving" not in done.stderr
    assert "setup#" not in done.stderr
    assert ("OPTIN_WEB_LANGUAGE must be" if spoken else f"cannot listen on port {port}") in done.stderr


NASTY = ["'; DROP TABLE web_campaigns; --", '" OR 1=1 --', "<script>alert(1)</script>", "{{ 7*7 }}", "%s%n", "\\'"]


def test_words_of_sql_and_html_stay_words(url, tmp_path):
    with OpenHouse(url, tmp_path) as house:
        analyst, person = house.analyst(), house.person()
        for nasty in NASTY:
            words = dict.fromkeys(("title", "question", "purpose", "unit"), nasty)
            campaign = analyst.draft(**words, bounds=(0, 1), public=True).id
            analyst.take(campaign, "open")
            assert house.client().open_campaigns()[0].draft["title"] == nasty
            with pytest.raises(BadInput):
                house.client().sign_in(nasty, PASSWORD)
            with pytest.raises(BadInput):
                house.client().enter(nasty)
            for path in (f"/api/published/{nasty}", f"/api/me/campaigns/{nasty}", f"/c/{nasty}", f"/r/{nasty}"):
                assert house.ask("GET", path).status_code in (303, 401, 404)
            page = house.ask("GET", f"/c/{campaign}", cookie=person._cookie)
            assert page.status_code == 200
            assert "<script>alert" not in page.text
        assert len(analyst.campaigns()) == len(NASTY)


def test_characters_that_no_database_keeps_are_refused(tmp_path):
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        analyst = house.analyst()
        for nasty in ("a\x00b", "a\x1bb", "\u202eabc"):
            with pytest.raises(BadInput, match="cannot be shown"):
                analyst.draft(title=nasty, question="q", bounds=(0, 1))


def test_what_cancelling_and_a_new_round_leave_decrypts_nothing(tmp_path):
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        analyst, crowd = house.analyst(), house.people(PEOPLE)
        for step in ("cancel", "new-round"):
            campaign = registered(analyst, crowd)
            for way in ("close-registration", "announce", "open-answers"):
                analyst.take(campaign, way)
            crowd[0].join(campaign, VALUE)
            ((person, sealed),) = ciphertexts(house.service)
            analyst.take(campaign, step)
            with pytest.raises(OptinError):
                Keyring(tmp_path / "keys", b"k" * 32).unseal(sealed, campaign=campaign, round=1, person=person)
            assert ciphertexts(house.service) == []


def test_no_answer_is_opened_before_the_quorum_is_met(lodge, monkeypatch):
    analyst, crowd, keys, opened = lodge.analyst(), lodge.people(12), type(lodge.service.keys), []
    unseal = keys.unseal

    def noted(*given, **more):
        opened.append(more["person"])
        return unseal(*given, **more)

    monkeypatch.setattr(keys, "unseal", noted)
    campaign = answering(analyst, crowd, quorum_people=12)
    for person in crowd[:11]:
        person.join(campaign, 5.0)
    crowd[11].decline(campaign)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="the quorum is 12 people"):
        analyst.take(campaign, "release")
    assert opened == []
    analyst.take(campaign, "reopen-answers")
    crowd[11].join(campaign, 5.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    assert sorted(opened) == sorted(person.me().account for person in crowd)


def test_what_joins_letters_and_signs_is_kept_inside_words_and_is_no_title_alone(tmp_path):
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        analyst = house.analyst()
        for words in (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\U0001f469\u200d\u2695\ufe0f Pausen",
            "क्\u200dष",
        ):
            drafted = analyst.draft(title=f"\u200d{words}\u200c", question=words, bounds=(0, 1))
            assert (drafted.draft["title"], drafted.draft["question"]) == (words, words)
        with pytest.raises(BadInput, match="1 to 120 characters"):
            analyst.draft(title="\u200d\u200c", question="q", bounds=(0, 1))
