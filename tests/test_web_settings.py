"""What a service is told by its environment is taken as it was meant, or refused in words before anyone is served."""

import base64
import os
import re
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import select
from test_web_operating import run
from web_steps import KEY, PASSWORD, House, Outpost, free_port

from optin.errors import BadInput
from optin.web.alone import alone
from optin.web.app import mailer_of, open_service
from optin.web.schema import delays
from optin.web.service.accounts import sign_in
from optin.web.service.failures import Refused
from optin.web.settings import WebSettings, environment_key, own_origins


def served(capsys, monkeypatch, folder, **variables):
    """Start the service with these variables, where nobody can be served; return how it ended and what it said."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("OPTIN_WEB_KEY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"OPTIN_WEB_{name}", str(value))
    code, _, err = run(capsys, "serve", "--ledger", folder / "web.sqlite", "--port", free_port())
    return code, err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LOG_LEVEL", "loud", "OPTIN_WEB_LOG_LEVEL"),
        ("THREADS", "0", "OPTIN_WEB_THREADS"),
        ("THREADS", "-20", "OPTIN_WEB_THREADS"),
        ("MOST_BODY_BYTES", "-1", "OPTIN_WEB_MOST_BODY_BYTES"),
        ("HEADER_SECONDS", "inf", "OPTIN_WEB_HEADER_SECONDS"),
        ("BODY_SECONDS", "inf", "OPTIN_WEB_BODY_SECONDS"),
        ("ANSWER_SECONDS", "nan", "OPTIN_WEB_ANSWER_SECONDS"),
        ("KEYS", "", "OPTIN_WEB_KEYS"),
        ("LOGO", "", "OPTIN_WEB_LOGO"),
        ("WITNESSES", "nowhere", "OPTIN_WEB_WITNESSES: the list of witnesses cannot be read"),
        ("LANGUGE", "de", "OPTIN_WEB_LANGUGE sets nothing: is OPTIN_WEB_LANGUAGE meant?"),
        ("ORIGIN", "https://x.example:port", "OPTIN_WEB_ORIGIN must be"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named_before_anything_is_made(
    tmp_path, capsys, monkeypatch, name, value, said
):
    code, err = served(capsys, monkeypatch, tmp_path, **{name: value})
    assert (code, said in err) == (2, True), err
    assert os.listdir(tmp_path) == []


def test_log_levels_are_taken_in_whatever_case(monkeypatch):
    monkeypatch.setenv("OPTIN_WEB_LOG_LEVEL", "WARNING")
    assert WebSettings().log_level == "warning"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://survey.example:443", "https://survey.example"),
        ("https://Survey.example:8443/", "https://survey.example:8443"),
        ("https://umfrage-köln.example", "https://xn--umfrage-kln-zfb.example"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_origin_is_compared_as_browsers_send_it(tmp_path, written, sent):
    settings = {"origin": written}
    assert own_origins(WebSettings(**settings)) == {sent}
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, settings=settings) as house:
        host = {"Host": sent.partition("//")[2], "Origin": sent}
        assert house.ask("GET", "/about", headers=host).status_code == 200
        assert house.ask("POST", "/language", headers=host, data={"language": "de"}).status_code == 303


def test_a_name_that_python_and_browsers_write_differently_is_to_be_written_in_ascii():
    with pytest.raises(BadInput, match="ASCII form"):
        own_origins(WebSettings(origin="https://straße.example"))


def test_links_lead_to_an_address_in_brackets_where_it_is_one_of_ipv6(tmp_path, capsys, monkeypatch):
    settings = WebSettings(host="::1", port=8123, smtp_host="h", smtp_from="a@example.org")
    assert mailer_of(settings).origin == settings.seen_at == "http://[::1]:8123"


def test_a_folder_of_keys_that_cannot_be_one_is_said_to_be(tmp_path):
    (tmp_path / "keys").write_text("a file")
    with pytest.raises(BadInput, match=re.escape("environment.key cannot be used")):
        open_service(WebSettings(ledger=str(tmp_path / "web.sqlite"), keys=tmp_path / "keys"))


def test_a_key_is_made_whole_or_not_at_all(tmp_path, monkeypatch):
    settings = WebSettings(ledger=str(tmp_path / "web.sqlite"), keys=tmp_path / "keys")

    def full(handle):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match="No space left"):
            environment_key(settings)
    assert os.listdir(tmp_path / "keys") == [], "half a key would be taken for a wrong one"
    key, notice = environment_key(settings)
    assert notice is not None
    assert environment_key(settings) == (key, None)
    assert (tmp_path / "keys" / "environment.key").stat().st_mode & 0o777 == 0o600


def test_of_two_who_make_the_key_at_once_both_use_one(tmp_path, monkeypatch):
    settings = WebSettings(ledger=str(tmp_path / "web.sqlite"), keys=tmp_path / "keys")
    theirs = base64.b64decode(KEY)

    def faster():
        (tmp_path / "keys").mkdir()
        (tmp_path / "keys" / "environment.key").write_text(KEY)
        return False

    assert environment_key(settings, served_before=faster) == (theirs, None)


@pytest.fixture
def own_folder():
    with tempfile.TemporaryDirectory(prefix="optin-alone-") as folder:
        yield Path(folder)


def test_a_sqlite_file_that_is_served_is_refused_to_a_second_process_and_free_when_the_first_is_killed(
    own_folder, capsys, monkeypatch
):
    """Each of two would send every mail: to forty people on a list they sent eighty."""
    first = Outpost(f"sqlite:///{own_folder / 'web.sqlite'}", own_folder).start()
    try:
        code, err = served(capsys, monkeypatch, own_folder, KEYS=own_folder / "keys", KEY=KEY)
        assert (code, "is served by another process" in err) == (2, True), err
        status = ("web", "status", "--ledger", own_folder / "web.sqlite", "--keys", own_folder / "keys")
        assert run(capsys, *status)[0] == 0, "whoever only looks is in nobody's way"
    finally:
        first.kill()
    with alone(WebSettings(ledger=str(own_folder / "web.sqlite"))):
        pass


def test_several_processes_may_serve_a_postgresql():
    settings = WebSettings(ledger="postgresql://optin@localhost/ledger")
    with alone(settings), alone(settings):
        pass


def test_a_port_that_a_web_server_in_front_adds_makes_no_other_place_of_an_address(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        for port in range(4711, 4716):
            with pytest.raises(Refused):
                sign_in(house.service, "nobody", PASSWORD, address=f"192.0.2.7:{port}")
        counts = house.service.read(lambda link: link.scalars(select(delays.c.failures)).all())
    assert counts == [5]
