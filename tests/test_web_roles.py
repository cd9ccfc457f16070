"""Owners, colleagues and readers do what their role allows; administrators let analysts in and out, and read nothing."""

import re
import threading

import pytest
from test_web_total_races import waiting
from web_steps import DRAFT, PASSWORD, House, answering, released

from optin.errors import OptinError
from optin.web.service import administration


@pytest.fixture(scope="module")
def house(tmp_path_factory, migrated):
    folder = tmp_path_factory.mktemp("roles")
    path = folder / "web.sqlite"
    path.write_bytes(migrated)
    path.chmod(0o600)
    with House(str(path), folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def ada(house):
    return house.analyst("ada")


@pytest.fixture(scope="module")
def others(house, ada):
    return {name: house.analyst(name) for name in ("bea", "cy", "dot")}


def post(house, who, path, **form):
    return house.ask("POST", path, cookie=who._cookie, data={"csrf": who._csrf, **form})


def get(house, who, path):
    return house.ask("GET", path, cookie=who._cookie)


def give(house, who, campaign, name, role):
    return post(house, who, f"/a/c/{campaign}/colleagues", name=name, role=role)


@pytest.fixture
def shared(house, ada, others):
    """A campaign that takes answers, with bea as a colleague and cy as a reader; dot has no role in it."""
    campaign = answering(ada, house.people(12))
    assert give(house, ada, campaign, "bea", "colleague").status_code == 303
    assert give(house, ada, campaign, "cy", "reader").status_code == 303
    return campaign


def test_a_reader_sees_the_campaign_and_changes_nothing(house, ada, others, shared):
    reader = others["cy"]
    assert shared in {each.id for each in reader.campaigns()}
    assert reader.campaign(shared).state == "answers"
    for page in ("", "/plan", "/colleagues"):
        assert get(house, reader, f"/a/c/{shared}{page}").status_code == 200, page
    assert "<button" not in get(house, reader, f"/a/c/{shared}").text.split("<main", 1)[-1].split("</main", 1)[0], (
        "a button that would be refused"
    )
    with pytest.raises(OptinError, match="your role in this campaign is reader"):
        reader.take(shared, "close")
    for path, form in ((f"/a/c/{shared}/step", {"step": "close", "round": "1"}), (f"/a/c/{shared}/colleagues", {})):
        assert post(house, reader, path, name="dot", role="reader", **form).status_code == 403, path
    assert get(house, reader, f"/a/c/{shared}/list").status_code in (403, 404), "a list names people"
    assert ada.campaign(shared).state == "answers"
    assert {each.id for each in others["dot"].campaigns()} == set()


def test_a_colleague_takes_steps_and_gives_no_roles(house, ada, others, shared):
    colleague = others["bea"]
    assert give(house, colleague, shared, "dot", "reader").status_code == 403
    colleague.take(shared, "close")
    assert ada.campaign(shared).state == "closed"


def test_whoever_has_no_role_finds_nothing_and_a_role_taken_back_is_gone_at_once(house, ada, others, shared):
    outsider = others["dot"]
    unknown = get(house, outsider, f"/a/c/{'0' * 32}")
    for page in ("", "/plan", "/colleagues"):
        seen = get(house, outsider, f"/a/c/{shared}{page}")
        assert (seen.status_code, seen.text) == (404, unknown.text), page
    assert give(house, outsider, shared, "dot", "owner").status_code == 404
    assert give(house, ada, shared, "bea", "none").status_code == 303
    with pytest.raises(OptinError):
        others["bea"].campaign(shared)


def test_an_owner_cannot_be_unmade_by_those_they_made_owners(house, ada, others, shared):
    assert give(house, ada, shared, "bea", "owner").status_code == 303
    assert give(house, others["bea"], shared, "ada", "none").status_code == 422
    assert give(house, others["bea"], shared, "ada", "reader").status_code == 422
    assert give(house, others["bea"], shared, "dot", "reader").status_code == 303
    assert give(house, ada, shared, "nobody", "reader").status_code == 422
    assert give(house, ada, shared, "dot", "king").status_code == 422


def test_a_result_by_invitation_is_shown_to_its_readers(house, ada, others):
    campaign = released(ada, house.people(12))
    house.service.change(_by_invitation(campaign))
    assert get(house, others["cy"], f"/r/{campaign}").status_code == 404
    give(house, ada, campaign, "cy", "reader")
    assert get(house, others["cy"], f"/r/{campaign}").status_code == 200


def _by_invitation(campaign):
    from sqlalchemy import update

    from optin.web.schema import campaigns

    return lambda link: link.execute(update(campaigns).where(campaigns.c.id == campaign).values(public=False))


ADMIN = [("GET", "/admin"), *(("POST", f"/admin/{way}") for way in ("invite", "reset", "analyst"))]


@pytest.mark.parametrize(("method", "path"), ADMIN)
def test_to_others_the_administrator_s_pages_do_not_exist(house, ada, others, method, path):
    for who in (others["bea"], house.person()):
        form = {"csrf": who._csrf, "name": "ada", "action": "revoke"} if method == "POST" else None
        assert house.ask(method, path, cookie=who._cookie, data=form).status_code == 404
    assert house.ask(method, path).status_code == 303
    assert ada.campaigns() is not None


def test_an_administrator_sees_how_the_service_stands_and_neither_people_nor_answers(house, ada, others):
    rival = others["dot"]
    title = "Only for those invited"
    campaign = answering(rival, house.people(12), title=title)
    page = get(house, ada, "/admin")
    assert page.status_code == 200
    for words in (title, "dot", "Last backup", "never", "runs the service", "Signed checkpoints"):
        assert words in page.text, words
    assert campaign not in page.text
    for path in (f"/a/c/{campaign}", f"/a/c/{campaign}/plan", f"/r/{campaign}/../../a/c/{campaign}"):
        assert get(house, ada, path).status_code == 404
    assert "Run this service" in get(house, ada, "/a").text
    assert "Run this service" not in get(house, rival, "/a").text


def test_a_revoked_analyst_is_out_at_once_and_their_campaigns_go_on(house, ada):
    eve = house.analyst("eve")
    campaign = eve.draft(**DRAFT).id
    assert post(house, ada, "/admin/analyst", name="eve", action="revoke").status_code == 303
    with pytest.raises(OptinError):
        eve.campaigns()
    with pytest.raises(OptinError):
        house.client().sign_in("eve", PASSWORD)
    assert post(house, ada, "/admin/reset", name="eve").status_code == 422
    ada.take(campaign, "open")
    assert ada.campaign(campaign).state == "registration"
    assert post(house, ada, "/admin/analyst", name="ada", action="revoke").status_code == 422


def act(house, who, action, name):
    return post(house, who, "/admin/analyst", name=name, action=action).status_code


def test_a_campaign_always_has_an_owner_who_can_come_in(house, ada):
    ben, cleo, dora = (house.analyst(name) for name in ("ben", "cleo", "dora"))
    begun, shared = ben.draft(**DRAFT).id, ben.draft(**DRAFT).id
    give(house, ben, shared, "dora", "owner")
    assert [act(house, ada, "appoint", "cleo"), act(house, cleo, "revoke", "ben")] == [303, 303]
    for role in ("none", "reader", "colleague"):
        assert give(house, cleo, begun, "cleo", role).status_code == 422, "nobody would own it any more"
    assert give(house, cleo, shared, "cleo", "none").status_code == 303, "another owner is left"
    assert act(house, ada, "revoke", "cleo") == 303
    assert get(house, ada, f"/a/c/{begun}").status_code == 200, "whoever revokes the last owner becomes one"
    assert get(house, ada, f"/a/c/{shared}").status_code == 404, "where another owner is left, nobody does"
    assert get(house, dora, f"/a/c/{shared}").status_code == 200


def test_whoever_was_revoked_comes_in_by_no_link_they_made_before(house, ada):
    gil, hal = house.analyst("gil"), house.analyst("hal")
    invited, others = gil.invite_analyst(), hal.invite_analyst()
    assert act(house, ada, "revoke", "gil") == 303
    with pytest.raises(OptinError, match="used before"):
        house.client().become_analyst(invited, "gil again", PASSWORD)
    house.client().become_analyst(others, "ida", PASSWORD)


@pytest.mark.parametrize("action", ["revoke", "dismiss"])
def test_a_former_administrator_keeps_no_link_to_another_s_password(house, ada, action):
    name, victim = f"former {action}", f"victim of {action}"
    former, _ = house.analyst(name), house.analyst(victim)
    act(house, ada, "appoint", name)
    kept = re.search(r"/new-password#([\w-]+)", post(house, former, "/admin/reset", name=victim).text)[1]
    assert act(house, ada, action, name) == 303
    form = {"secret": kept, "password": "another horse battery"}
    assert house.ask("POST", "/new-password", data=form).status_code == 403


def test_of_two_administrators_who_dismiss_each_other_at_once_one_stays(url, tmp_path, monkeypatch):
    with House(url, tmp_path) as house:
        rut, zoe = house.analyst("rut"), house.analyst("zoe")
        assert act(house, rut, "appoint", "zoe") == 303
        look, threads, told = administration._expect_another, [], []

        def look_and_let_the_other_begin(link, account):
            look(link, account)
            if not threads:
                threads.append(threading.Thread(target=lambda: told.append(act(house, zoe, "dismiss", "rut"))))
                threads[0].start()
                while threads[0].is_alive() and not waiting(house.service):
                    threads[0].join(0.01)

        monkeypatch.setattr(administration, "_expect_another", look_and_let_the_other_begin)
        assert act(house, rut, "dismiss", "zoe") == 303
        threads[0].join()
        assert told == [404]
        assert get(house, rut, "/admin").status_code == 200


def test_a_service_keeps_one_administrator_and_a_dismissed_one_is_an_analyst_only(house, ada, others):
    assert post(house, ada, "/admin/analyst", name="ada", action="dismiss").status_code == 422
    assert post(house, ada, "/admin/analyst", name="bea", action="appoint").status_code == 303
    assert get(house, others["bea"], "/admin").status_code == 200
    assert post(house, ada, "/admin/analyst", name="bea", action="dismiss").status_code == 303
    assert get(house, others["bea"], "/admin").status_code == 404


def test_an_administrator_s_links_let_in_once(house, ada):
    invited = re.search(r"/setup#([\w-]+)", post(house, ada, "/admin/invite").text)[1]
    new = house.client()
    new.become_analyst(invited, "fay", PASSWORD)
    found = re.search(r"/new-password#([\w-]+)", post(house, ada, "/admin/reset", name="fay").text)[1]
    form = {"secret": found, "password": "another horse battery"}
    assert [house.ask("POST", "/new-password", data=form).status_code for _ in range(2)] == [303, 403]
