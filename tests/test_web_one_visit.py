"""One visit: a link is looked at, answered and sent; nothing is used up, kept or bound before that, and nothing is lost after."""

import html
import re

import pytest
from sqlalchemy import func, select
from test_web_sheets import ANSWERS, SHEET, answer_of
from web_steps import PASSWORD, exact_counts, finish_jobs, with_ada

import optin
from optin.errors import PromiseBroken
from optin.web.pages.stages import date
from optin.web.pages.visit import choices
from optin.web.schema import accounts, answers, events, invitations, registrations
from optin.web.service.core import hashed, new_secret
from optin.web.service.overdue import cancel_overdue
from optin.web.service.sessions import erase_sessions
from optin.wording.guesses import FIRST_CHOICES, SUGGESTED, right_in_100
from optin.wording.limit_steps import LIMIT_STEPS

FIVE = optin.Sheet(
    [SHEET["hours"], SHEET["break"], SHEET["shift"], SHEET["burden"], SHEET["reasons"]],
    title="Breaks on the ward",
    purpose="To plan the rota.",
    asked_by="The staff council",
)
TYPED = {"a0": "38.5", "a1": "yes", "a2": "night", "a3": ["1", "2", "4"], "a4": ["staff", "phone"]}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder) as made:
        yield made


@pytest.fixture(autouse=True)
def signed_in(house):
    """Tests move the clock, and whatever looks at it in between ends the analyst's session."""
    house.ada.sign_in("ada", PASSWORD)


def asking(house, sheet=FIVE, **more):
    campaign = house.ada.draft(sheet, **{"quorum_people": 10, "sealed": True, "window_hours": 48.0, **more}).id
    house.ada.take(campaign, "open")
    return campaign


def form(secret, **more):
    return {
        "secret": secret,
        "key": new_secret(),
        "round": "1",
        "step": "5",
        "before": "no",
        "do": "send",
        **TYPED,
        **more,
    }


def cookie_of(response):
    found = re.search(r"__Host-optin=([^;]+);", response.headers.get("set-cookie", ""))
    return found and found[1]


def csrf_of(response):
    return re.search(r'name="csrf" value="([^"]+)"', response.text)[1]


def counted(house, table):
    return house.service.read(lambda link: link.scalar(select(func.count()).select_from(table)))


def stored(house):
    tables = (accounts, registrations, answers)
    used = select(func.count()).select_from(invitations).where(invitations.c.used_at.is_not(None))
    return *(counted(house, table) for table in tables), house.service.read(lambda link: link.scalar(used))


def test_looking_at_a_link_in_every_way_uses_nothing_up(house):
    secret = house.ada.invite(asking(house), 1)[0]
    before = stored(house)
    for method in ("GET", "HEAD"):
        for path in ("/i", f"/i#{secret}", f"/i?{secret}", f"/back#{secret}"):
            looked = house.ask(method, path)
            assert (looked.status_code, bool(looked.text)) == (200, method == "GET"), (
                "a scanner finds that it leads somewhere"
            )
    for path, headers in (("/i", {}), ("/i/look", {}), ("/i/answer", {}), ("/i/answer", {"X-Part": "yes"})):
        shown = house.ask("POST", path, data={"secret": secret}, headers=headers)
        assert (shown.status_code, cookie_of(shown)) == (200, None)
        assert "Breaks on the ward" in shown.text
    house.ask("POST", "/back", data={"secret": secret})
    house.ask("POST", "/i/send", data=form(secret, do="decline"))
    assert stored(house) == before
    assert house.ask("POST", "/i/send", data=form(secret)).status_code == 200


def test_a_script_that_looks_at_a_link_to_two_steps_uses_nothing_up_even_for_who_is_here(house):
    secret = house.ada.invite(asking(house, sealed=False, window_hours=0.0), 1)[0]
    person, before = house.person(), stored(house)
    shown = house.ask("POST", "/i/look", cookie=person._cookie, data={"secret": secret, "csrf": person._csrf})
    assert (shown.status_code, shown.text) == (204, "")
    assert stored(house) == before


def test_sending_ties_the_link_to_this_device_and_offers_a_way_back(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    sent = house.ask("POST", "/i/send", data=form(secret))
    assert sent.status_code == 200
    assert house.ask("GET", f"/c/{campaign}", cookie=cookie_of(sent)).status_code == 200
    for path in ("/i", "/i/send"):
        elsewhere = house.ask("POST", path, data=form(secret))
        assert elsewhere.status_code == 403
        assert "recovery link" in elsewhere.text
    key = re.search(r"/back#([\w-]{43})", sent.text)[1]
    back = house.ask("POST", "/back", data={"secret": f"{house.origin}/back#{key}"})
    assert back.headers["location"] == "/me?done=back"
    assert "Breaks on the ward" in house.ask("GET", "/me", cookie=cookie_of(back)).text
    kept = house.ask("POST", "/back/file", data={"key": key})
    assert kept.text.endswith(f"{house.origin}/back#{key}\n")
    assert "attachment" in kept.headers["content-disposition"]
    assert house.ask("POST", "/back/file", data={"key": "<script>"}).status_code == 404


def test_a_new_recovery_link_ends_the_one_before(house):
    secret = house.ada.invite(asking(house), 1)[0]
    given = form(secret)
    cookie = cookie_of(house.ask("POST", "/i/send", data=given))
    csrf = re.search(r'name="csrf" value="([^"]+)"', house.ask("GET", "/me", cookie=cookie).text)[1]
    made = house.ask("POST", "/me/recovery", cookie=cookie, data={"csrf": csrf})
    key = re.search(r"/back#([\w-]{43})", made.text)[1]
    assert house.ask("POST", "/back", data={"secret": given["key"]}).status_code == 403
    assert house.ask("POST", "/back", data={"secret": key}).status_code == 303


def test_an_answer_that_was_lost_on_its_way_can_be_sent_again_and_counts_once(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    given = form(secret)
    first, second = (house.ask("POST", "/i/send", data=given) for _ in range(2))
    assert first.status_code == second.status_code == 200
    found = exact_counts(house.service, campaign)
    assert (found.registered, found.joined) == (1, 1)
    assert house.ask("POST", "/i/send", data=given | {"key": "weak"}).status_code == 422


def test_on_a_shared_device_nothing_is_stored(house):
    secret = house.ada.invite(asking(house), 1)[0]
    sent = house.ask("POST", "/i/send", data=form(secret, shared="yes"))
    assert sent.status_code == 200
    assert "set-cookie" not in sent.headers
    assert "<svg" in sent.text
    assert "/back#" not in re.sub(r"<svg.*?</svg>", "", sent.text, flags=re.S)


def test_who_has_answered_before_keeps_one_total_over_both_campaigns(house):
    one, two = asking(house), asking(house)
    given = form(house.ada.invite(one, 1)[0])
    cookie = cookie_of(house.ask("POST", "/i/send", data=given))
    before = counted(house, accounts)
    link = f"{house.origin}/back#{given['key']}"
    again = house.ask("POST", "/i/send", data=form(house.ada.invite(two, 1)[0], before="yes", back=link))
    assert again.status_code == 200
    third = asking(house)
    csrf = re.search(r'name="csrf" value="([^"]+)"', house.ask("GET", "/me", cookie=cookie).text)[1]
    here = form(house.ada.invite(third, 1)[0], csrf=csrf)
    assert house.ask("POST", "/i/send", cookie=cookie, data=here).status_code == 200
    assert counted(house, accounts) == before
    page = house.ask("GET", "/me", cookie=cookie).text
    assert all(f"/c/{campaign}" in page for campaign in (one, two, third))
    secret = house.ada.invite(two, 1)[0]
    for wrong in ({"before": "yes"}, {"before": "yes", "back": "k" * 43}):
        refused = house.ask("POST", "/i/send", data=form(secret, **wrong))
        assert refused.status_code in (403, 422)
    assert house.ask("POST", "/i/send", data=form(secret)).status_code == 200


@pytest.mark.parametrize(
    ("typed", "status", "words"),
    [
        ({"a0": "38,5"}, 200, "Is this right?"),
        ({"a0": "81"}, 422, "from 0 to 80"),
        ({"a0": "many"}, 422, "must be a number"),
        ({"a3": ["1", "", "4"]}, 422, "is missing"),
        ({"a3": ["1", "2", "9"]}, 422, "from 0 to 4"),
        ({"a4": ["staff", "noise", "phone"]}, 422, "not one of those"),
        ({"a2": "noon"}, 422, "not one of those"),
        ({"step": ""}, 422, "Choose how much"),
        (dict.fromkeys(TYPED, ""), 422, "Nothing is answered yet"),
    ],
)
def test_what_cannot_be_taken_comes_back_with_everything_else_that_was_typed(house, typed, status, words):
    secret = house.ada.invite(asking(house), 1)[0]
    before = stored(house)
    shown = house.ask("POST", "/i/send", data=form(secret, **typed))
    assert (shown.status_code, stored(house)) == (status, before)
    assert words in shown.text
    if "a0" in typed and status == 422 and "a1" not in typed:
        assert "“How many hours did you work last week?”: " in shown.text, "with which question"
    if "a1" not in typed:
        assert re.search(r'name="a1" value="yes" checked', shown.text)
    assert cookie_of(shown) is None


def test_a_decimal_comma_is_told_back_and_then_taken(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    shown = house.ask("POST", "/i/send", data=form(secret, a0="38,5"))
    assert "38,5 as 38.5 hours" in shown.text
    echoed = re.search(r'name="echoed" value="([^"]*)"', shown.text)[1]
    assert house.ask("POST", "/i/send", data=form(secret, a0="38.5", echoed=echoed)).status_code == 200
    row = house.service.read(lambda link: link.execute(select(answers).where(answers.c.campaign == campaign)).one())
    opened = house.service.keys.unseal(row.value, campaign=campaign, round=1, person=row.person)
    assert opened == (38.5, 0.0, 2.0, 7.0, 5.0)


def test_the_last_day_is_kept(house):
    campaign = asking(house, answer_by="2026-09-21")  # the clock stands on that day
    one, late = house.ada.invite(campaign, 2)
    assert house.ask("POST", "/i/send", data=form(one)).status_code == 200
    house.service.clock.now += 86400
    erase_sessions(house.service)  # as the service does by itself every few seconds
    refused = house.ask("POST", "/i/send", data=form(late))
    house.service.clock.now -= 86400
    assert refused.status_code == 409
    assert "21 September 2026, is over" in refused.text


def test_a_campaign_open_to_everyone_is_answered_in_one_visit_too(house):
    campaign = asking(house, public=True)
    assert "Begin" in house.ask("GET", f"/c/{campaign}").text
    assert house.ask("GET", f"/c/{campaign}/answer").status_code == 200
    given = {key: value for key, value in form("").items() if key != "secret"}
    sent = house.ask("POST", f"/c/{campaign}/answer", data=given)
    assert cookie_of(sent)
    assert exact_counts(house.service, campaign).joined == 1


def test_limits_are_five_with_a_suggestion_that_nobody_sets_and_rounded_up():
    assert len(FIRST_CHOICES) == 5
    assert SUGGESTED in FIRST_CHOICES
    assert [choice.index for choice in choices(range(10)) if choice.suggested] == [SUGGESTED]
    for step in LIMIT_STEPS:
        odds = 2.718281828459045**step.epsilon
        assert 100 * odds / (1 + odds) <= right_in_100(step.epsilon) < 100 * odds / (1 + odds) + 1.0001


def test_a_link_opened_again_on_its_own_device_leads_to_what_was_sent(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    cookie = cookie_of(house.ask("POST", "/i/send", data=form(secret)))
    csrf = csrf_of(house.ask("GET", "/me", cookie=cookie))
    for path in ("/i", "/i/look"):
        again = house.ask("POST", path, cookie=cookie, data={"secret": secret, "csrf": csrf})
        assert again.status_code == 200
        assert "You have sent your answers" in again.text
        assert f'href="/c/{campaign}"' in again.text
    stranger = house.ask("POST", "/i/look", data={"secret": secret})
    assert (stranger.status_code, stranger.text) == (204, "")


def test_a_link_opened_again_after_taking_back_or_withdrawing_says_so(house):
    campaign = asking(house)
    secrets = house.ada.invite(campaign, 12)
    cookies = [cookie_of(house.ask("POST", "/i/send", data=form(secret))) for secret in secrets]

    def post(at, path, **given):
        csrf = csrf_of(house.ask("GET", "/me", cookie=cookies[at]))
        return house.ask("POST", path, cookie=cookies[at], data={"csrf": csrf, **given})

    def opened(at):
        return post(at, "/i/look", secret=secrets[at]).text

    def taken_back(at, way):
        assert post(at, f"/c/{campaign}/{way}").status_code == 303

    taken_back(0, "withdraw")
    assert "Nothing of yours is here now" in opened(0)
    assert "You have sent your answers" not in opened(0)
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    taken_back(1, "decline")
    assert "You withdrew" in opened(1)
    assert "You have sent your answers" not in opened(1)
    assert "You have sent your answers" in opened(2)
    house.ada.take(campaign, "cancel")
    assert "Nothing of yours is here now" in opened(2)


def test_declining_after_sending_takes_back_what_was_sent(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    cookie = cookie_of(house.ask("POST", "/i/send", data=form(secret)))
    page = house.ask("GET", f"/c/{campaign}/answer", cookie=cookie)
    assert "Take it back" in page.text
    given = form("", do="decline", csrf=csrf_of(page))
    declined = house.ask("POST", f"/c/{campaign}/answer", cookie=cookie, data=given)
    assert "What you had sent is deleted" in declined.text
    assert (exact_counts(house.service, campaign).registered, exact_counts(house.service, campaign).joined) == (0, 0)


def test_another_persons_link_on_this_device_overwrites_nothing_and_is_not_used_up(house):
    campaign = asking(house)
    mine, others = house.ada.invite(campaign, 2)
    first = house.ask("POST", "/i/send", data=form(mine))
    before = house.service.read(lambda link: link.execute(select(answers).where(answers.c.campaign == campaign)).all())
    looked = house.ask("POST", "/i", cookie=cookie_of(first), data={"secret": others, "csrf": csrf_of(first)})
    assert "answered from this device by another link" in looked.text, "nobody fills in a form in vain"
    given = form(others, csrf=csrf_of(first), a0="12")
    refused = house.ask("POST", "/i/send", cookie=cookie_of(first), data=given)
    assert (refused.status_code, "sign out first" in refused.text) == (403, True)
    assert 'value="12"' in refused.text, "what was typed stays"
    after = house.service.read(lambda link: link.execute(select(answers).where(answers.c.campaign == campaign)).all())
    assert after == before
    assert house.ask("POST", "/i/send", data=form(others)).status_code == 200
    assert exact_counts(house.service, campaign).joined == 2


def test_whatever_is_answered_or_left_out_what_is_stored_has_one_length(house):
    campaign = asking(house)
    sheets = (
        TYPED,
        {"a1": "no"},
        {"a4": ["staff"]},
        {"a0": "0", "a3": ["0", "0", "0"]},
        {"a2": "early", "a0": "79.5"},
    )
    for typed, secret in zip(sheets, house.ada.invite(campaign, len(sheets)), strict=True):
        given = {name: value for name, value in form(secret).items() if name not in TYPED} | typed
        assert house.ask("POST", "/i/send", data=given).status_code == 200
    query = select(answers.c.value).where(answers.c.campaign == campaign)
    lengths = house.service.read(lambda link: [len(value) for value in link.scalars(query)])
    assert (len(lengths), len(set(lengths))) == (len(sheets), 1)


def test_no_account_is_made_for_who_does_not_say_whether_they_have_one(house):
    secret = house.ada.invite(asking(house), 1)[0]
    before = stored(house)
    refused = house.ask("POST", "/i/send", data=form(secret, before=""))
    assert (refused.status_code, stored(house)) == (422, before)
    assert "answered here before" in refused.text


def test_while_it_is_planned_sealed_answers_are_not_said_to_wait_for_a_yes(house):
    campaign = asking(house)
    secrets = house.ada.invite(campaign, 11)
    cookie, *_ = [cookie_of(house.ask("POST", "/i/send", data=form(secret))) for secret in secrets]
    house.ada.take(campaign, "close-registration")
    page = house.ask("GET", f"/c/{campaign}", cookie=cookie).text
    assert "unless you withdraw, for which you have 48 hours" in page
    assert "before you say yes" not in page


# --- after the announcement -----------------------------------------------------------------------------------------


@pytest.fixture
def announced(house):
    """A campaign of fourteen people, announced just now."""
    campaign = asking(house)
    crowd = []
    for at, secret in enumerate(house.ada.invite(campaign, 14)):
        person = house.client()
        person.enter(secret)
        names = [question.name for question in FIVE]
        given = {name: answer for name, answer in answer_of(at).items() if name in names}
        person.register(campaign, 5, answers=given)
        crowd.append(person)
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    return campaign, crowd


def test_after_the_announcement_people_have_the_stated_time_to_change_or_withdraw(house, announced):
    campaign, crowd = announced
    found = house.ada.campaign(campaign)
    assert (found.state, "close" in found.steps) == ("answers", False)
    assert "48 hours" in found.announcement.terms.conditions.mode
    with pytest.raises(PromiseBroken, match="not over yet"):
        house.ada.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="registration is closed"):
        crowd[0].register(campaign, 7, answers={"break": True})
    crowd[0].join(campaign, {"hours": 70.0})
    crowd[1].decline(campaign)
    page = house.ask("GET", f"/c/{campaign}", cookie=crowd[2]._cookie).text
    assert re.search(r"is right 50 times in 100 if you decline, and at most 6[0-9] in 100", page)
    assert "Your limit can no longer be changed" in page
    assert re.search(r"by \d+ \w+ 20\d\d at the latest, those who run this server could still read them", page)
    assert "Withdraw" in page
    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)  # an analyst's session is shorter than that
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    release = house.ada.campaign(campaign).release
    assert release.joined_people == 13
    assert release.question_people[1] == 12  # who changed left all others out
    assert crowd[1].me().spent == 0.0


def test_answers_are_changed_on_the_page_and_the_ones_before_are_gone(house, announced):
    campaign, crowd = announced
    person = crowd[3]
    data = {"csrf": person._csrf, "round": "1", **TYPED, "a0": "12"}
    changed = house.ask("POST", f"/c/{campaign}/join", cookie=person._cookie, data=data)
    assert changed.headers["location"] == f"/c/{campaign}?done=changed"
    where = (answers.c.campaign == campaign, answers.c.person == person.me().account)
    row = house.service.read(lambda link: link.execute(select(answers).where(*where)).one())
    opened = house.service.keys.unseal(row.value, campaign=campaign, round=1, person=row.person)
    assert opened[0] == 12.0
    wrong = house.ask("POST", f"/c/{campaign}/join", cookie=person._cookie, data={**data, "a0": "99"})
    assert wrong.status_code == 422
    assert 'value="99"' in wrong.text


def test_who_wants_to_see_the_deal_first_keeps_a_limit_and_answers_in_the_window(house):
    campaign = asking(house)
    secrets = house.ada.invite(campaign, 12)
    later = house.ask("POST", "/i/send", data=form(secrets[0], do="later"))
    assert "You answer when you see your deal" in later.text
    for secret in secrets[1:]:
        house.ask("POST", "/i/send", data=form(secret))
    assert (exact_counts(house.service, campaign).registered, exact_counts(house.service, campaign).joined) == (12, 11)
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    cookie = cookie_of(later)
    page = house.ask("GET", f"/c/{campaign}", cookie=cookie).text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    joined = house.ask("POST", f"/c/{campaign}/join", cookie=cookie, data={"csrf": csrf, "round": "1", **TYPED})
    assert joined.headers["location"].endswith("?done=joined")
    assert exact_counts(house.service, campaign).joined == 12


def test_no_answer_limit_or_key_is_in_an_address_or_in_the_log(house, caplog):
    caplog.set_level(0)
    campaign = asking(house)
    given = form(house.ada.invite(campaign, 1)[0], a0="37.125")
    sent = house.ask("POST", "/i/send", data=given | {"echoed": "yes"})
    assert "37.125" not in caplog.text
    assert given["key"] not in caplog.text
    assert given["secret"] not in caplog.text
    assert given["key"] not in str(sent.url)
    assert ANSWERS["shift"] not in caplog.text


def test_before_anyone_sends_the_page_says_until_when_it_is_open_and_answers_can_be_read(house):
    campaign = asking(house)
    secret = house.ada.invite(campaign, 1)[0]
    looked = house.ask("POST", "/i/look", data={"secret": secret}, headers={"X-Part": "yes"}).text
    shown = house.ask("POST", "/i/answer", data={"secret": secret}).text
    service, at = house.service, house.service.clock.now
    latest = date(at + service.days_to_announce * 86400)
    readable = date(at + (service.days_to_announce + service.days_to_answer + service.days_to_publish) * 86400)
    assert f"until {latest} at the latest" in looked
    assert f"could still read them until {readable}." in shown
    assert f"{readable} at the latest" in house.ask("POST", "/i/send", data=form(secret)).text
    house.ada.take(campaign, "cancel")


def test_sealed_answers_that_nobody_announces_are_destroyed_by_the_day_that_was_told(house):
    campaign = asking(house)
    sent = house.ask("POST", "/i/send", data=form(house.ada.invite(campaign, 1)[0]))
    house.ada.take(campaign, "close-registration")
    shown = house.ask("GET", f"/c/{campaign}", cookie=cookie_of(sent)).text
    assert "the campaign is cancelled and your answers are destroyed" in shown
    house.service.clock.now += house.service.days_to_announce * 86400 - 60
    house.ada.sign_in("ada", PASSWORD)
    cancel_overdue(house.service)
    assert house.ada.campaign(campaign).state == "planning"
    house.service.clock.now += 61
    with pytest.raises(PromiseBroken, match="its time to be announced is over"):
        house.ada.take(campaign, "announce")
    cancel_overdue(house.service)
    finish_jobs(house.service)
    assert house.ada.campaign(campaign).state == "cancelled"
    assert campaign not in [name for name, _ in house.service.keys.stored_rounds()]


def test_no_last_day_lies_beyond_the_time_that_sealed_answers_wait(house):
    far = house.ada.draft(FIVE, quorum_people=10, sealed=True, answer_by="2099-01-01").id
    with pytest.raises(PromiseBroken, match="within 90 days of opening"):
        house.ada.take(far, "open")


def test_a_sealed_round_from_before_this_rule_begins_its_time_when_it_is_found(house):
    campaign = asking(house)
    mine = (events.c.campaign == campaign, events.c.kind == "due")
    house.service.change(lambda link: link.execute(events.delete().where(*mine)))
    house.service.clock.now += 400 * 86400
    for _ in range(2):
        cancel_overdue(house.service)
    house.ada.sign_in("ada", PASSWORD)
    assert house.ada.campaign(campaign).state == "registration"
    assert house.service.read(lambda link: link.scalar(select(func.count()).select_from(events).where(*mine))) == 1
    house.ada.take(campaign, "cancel")


def test_the_back_button_after_sending_leads_to_a_form_that_changes_what_was_sent(house):
    campaign = asking(house)
    first = form(house.ada.invite(campaign, 1)[0])
    cookie, before = cookie_of(house.ask("POST", "/i/send", data=first)), stored(house)
    again = house.ask("POST", "/i/send", cookie=cookie, data={**first, "a0": "12", "csrf": ""})
    assert (again.status_code, stored(house)) == (200, before)
    assert "<h1>Sent</h1>" in again.text
    back = house.ask("POST", "/i/send", cookie=cookie, data={**first, "do": "decline", "csrf": ""})
    assert "What you had sent is deleted" in back.text


def test_two_tabs_of_two_campaigns_opened_before_anything_was_sent_make_one_person(house):
    one, two = (form(house.ada.invite(asking(house), 1)[0]) for _ in range(2))
    cookie, persons = cookie_of(house.ask("POST", "/i/send", data=one)), counted(house, accounts)
    shown = house.ask("POST", "/i/send", cookie=cookie, data={**two, "csrf": ""})
    assert shown.status_code == 403
    assert "Nothing was sent" in shown.text
    assert 'value="38.5"' in shown.text, "what was typed is still there"
    assert house.ask("POST", "/i/send", cookie=cookie, data={**two, "csrf": csrf_of(shown)}).status_code == 200
    assert counted(house, accounts) == persons


def test_a_form_without_its_token_does_nothing_in_the_name_of_whoever_is_there(house):
    campaign = asking(house)
    mine, theirs = (form(secret) for secret in house.ada.invite(campaign, 2))
    cookie = cookie_of(house.ask("POST", "/i/send", data=mine))
    house.ask("POST", "/i/send", data=theirs)
    before = stored(house)
    for data in (
        {**mine, "key": theirs["key"]},
        {**mine, "key": new_secret(), "do": "decline"},
        {**theirs, "csrf": "x"},
    ):
        assert house.ask("POST", "/i/send", cookie=cookie, data=data).status_code == 403
    assert stored(house) == before


def test_whatever_an_option_is_made_of_it_is_the_one_that_counts(house):
    """Numbers, markup, formulas, signs of several letters, letters from right to left, blanks at the ends, 10 KB."""
    odd = ("1", " 7 ", "7", "3.5", "01", "1e3", "nan", "-", "a\u2003", "x  y", "<b>b</b>", "a & b", "{{7*7}}", '"q"')
    odd += ("=1+1", "%s", "👩‍👩‍👧 x", "\U0001f642", "e\u0301", "نعم", "\u202eabc", "ä" * 5000)
    sheet = optin.Sheet([optin.Choice("one", options=odd)], title="Odd")
    campaign = asking(house, sheet)
    secrets = house.ada.invite(campaign, len(odd))
    page = house.ask("POST", "/i/answer", data={"secret": secrets[0]}).text
    shown = [html.unescape(value) for value in re.findall(r'name="a0" value="([^"]*)"', page)]
    assert tuple(shown) == (*odd, ""), "and last what leaves the question out"
    for option, secret in zip(odd, secrets, strict=True):
        given = {name: text for name, text in form(secret).items() if name not in TYPED}
        sent = house.ask("POST", "/i/send", data=given | {"a0": option})
        assert "<h1>Sent</h1>" in sent.text, option[:20]
    tied = select(invitations.c.secret, answers).join(answers, answers.c.person == invitations.c.account)
    rows = house.service.read(lambda link: link.execute(tied.where(invitations.c.campaign == campaign)).all())
    kept = {
        row.secret: house.service.keys.unseal(row.value, campaign=campaign, round=1, person=row.person) for row in rows
    }
    assert [kept[hashed(secret)][0] for secret in secrets] == list(range(len(odd)))
    assert len({len(row.value) for row in rows}) == 1
