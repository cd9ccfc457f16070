"""Whoever is being let in while their password is changed, or their account revoked, does not come in by the old one."""

import pytest
from test_web_roles import post
from web_steps import PASSWORD, House

from optin.web.service import accounts
from optin.web.service.resets import choose_password, reset_link

NEW = "another horse battery"


@pytest.fixture
def house(url, tmp_path):
    with House(url, tmp_path) as opened:
        opened.ada, opened.eve = opened.analyst("ada"), opened.analyst("eve")
        yield opened


@pytest.mark.parametrize("how", ["reset", "revoke"])
def test_a_password_that_is_changed_while_it_is_hashed_lets_nobody_in(house, monkeypatch, how):
    hashing = accounts.matches_behind_others

    def meanwhile(password, known):
        right = hashing(password, known)
        if how == "reset":
            choose_password(house.service, reset_link(house.service, "eve"), NEW)
        else:
            assert post(house, house.ada, "/admin/analyst", name="eve", action="revoke").status_code == 303
        return right

    with monkeypatch.context() as patched:
        patched.setattr(accounts, "matches_behind_others", meanwhile)
        late = house.ask("POST", "/login", data={"name": "eve", "password": PASSWORD})
    assert late.status_code == 403, "the old password is right no more"
    assert "__Host-optin=" not in late.headers.get("set-cookie", "")
    again = house.ask("POST", "/login", data={"name": "eve", "password": NEW})
    assert again.status_code == (303 if how == "reset" else 403)


def test_a_blank_that_a_phone_put_behind_a_name_keeps_nobody_out(house):
    assert house.ask("POST", "/login", data={"name": "eve ", "password": PASSWORD}).status_code == 303
    assert post(house, house.ada, "/admin/reset", name=" eve ").status_code == 200
    assert post(house, house.ada, "/admin/analyst", name="eve ", action="revoke").status_code == 303
