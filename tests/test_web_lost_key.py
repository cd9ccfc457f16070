"""The key that wraps all others is made once; one that is lost or changed stops the service before harm is done."""

import pytest
from cli_steps import optin
from web_steps import KEY, House, answering, registered

from optin.errors import BadInput
from optin.web.app import open_service
from optin.web.service import accounts
from optin.web.service.core import Service
from optin.web.service.keys import Keyring
from optin.web.service.starting import expect_own_keys
from optin.web.settings import WebSettings

OTHER = "b" * 43 + "="


def test_a_lost_key_is_not_replaced_where_people_have_accounts(tmp_path):
    settings = WebSettings(ledger=str(tmp_path / "web.sqlite"))
    service, notice = open_service(settings)
    service.ledger.close()
    path = tmp_path / "web.sqlite.keys" / "environment.key"
    assert "Keep a copy" in notice
    path.unlink()
    service, notice = open_service(settings)  # nobody was here: nothing was sealed, and a first start makes a key
    assert notice
    accounts.sign_up(service, address="here")
    service.ledger.close()
    kept = path.read_text()
    for gone in (path.unlink, lambda: path.parent.rmdir()):
        gone()
        with pytest.raises(BadInput, match=r"environment.key is missing.*backup.md"):
            open_service(settings)
        assert not path.exists()
    path.parent.mkdir()
    path.write_text(kept)
    service, notice = open_service(settings)
    assert notice is None
    service.ledger.close()
    path.unlink()
    open_service(WebSettings(ledger=settings.ledger, key=KEY))[0].ledger.close()  # another place to keep it


def test_serve_says_what_is_missing_and_leaves_with_2(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        house.person()
    done = optin("serve", "--ledger", str(tmp_path / "web.sqlite"), "--keys", str(tmp_path / "gone"), "--port", "9")
    assert (done.code, "environment.key is missing" in done.err) == (2, True)


def test_another_key_is_refused_while_a_round_of_the_first_one_runs(url, tmp_path):
    settings = {"ledger": url, "keys": tmp_path / "keys"}
    with House(url, tmp_path) as house:
        analyst, crowd = house.analyst(), house.people(12)
        campaign = answering(analyst, crowd)
        with pytest.raises(BadInput, match=r"wrapped by another key.*backup.md"):
            open_service(WebSettings(**settings, key=OTHER))
        open_service(WebSettings(**settings, key=KEY))[0].ledger.close()
        analyst.take(campaign, "cancel")
        registered(analyst, [])
        open_service(WebSettings(**settings, key=OTHER))[0].ledger.close()  # nothing is sealed any more


def test_a_key_half_destroyed_by_a_crash_does_not_keep_the_service_from_starting(lodge, tmp_path):
    campaign = answering(lodge.analyst(), lodge.people(12))
    lodge.clients[0].take(campaign, "cancel")
    (tmp_path / "keys" / f"{campaign}-1.key").write_bytes(b"random bytes over the old ones")
    other = Service(lodge.service.ledger, Keyring(tmp_path / "keys", b"k" * 32))
    expect_own_keys(other)
