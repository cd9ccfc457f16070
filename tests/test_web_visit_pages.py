"""One visit in a real browser: on a phone and a wide screen, light and dark, by keyboard, without scripts, and read aloud."""

import re
from dataclasses import dataclass

import pytest
from browser import PHONE, WIDE, Album, Watch, chromium, follow, press
from test_web_one_visit import FIVE, counted, stored
from web_steps import PASSWORD, OpenHouse, exact_counts, with_ada

from optin.web.schema import accounts

MOST_WORDS, MOST_SCREENS = 220, 4
FORBIDDEN = re.compile(r"\bepsilon\b|\bkey\b|\bfactor\b|\bodds\b|\btrace\b|locked away", re.I)
WORDS = """() => { for (const told of document.querySelectorAll("output.echo")) told.textContent = "";  // their own words
  return document.querySelector("main").innerText; }"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visit-pages")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder, kind=OpenHouse) as made:
        yield made


@pytest.fixture
def watch(browser, house):
    return Watch(browser, house.origin)


def asking(house, sheet=FIVE, **more):
    house.ada.sign_in("ada", PASSWORD)
    campaign = house.ada.draft(sheet, **{"quorum_people": 10, "sealed": True, "window_hours": 48.0, **more}).id
    house.ada.take(campaign, "open")
    return campaign


def link(house, campaign, group=None):
    return f"{house.origin}/i#{house.ada.invite(campaign, 1, group=group)[0]}"


def begin(page, address):
    page.goto(address)
    page.get_by_role("button", name="Begin", exact=True).click()
    page.get_by_role("button", name="Send", exact=True).wait_for()


def fill(page, at=0, *, limit="63 in 100", known=False):
    page.get_by_label("How many hours").fill(f"{30 + at},5")
    page.get_by_role("group", name="Did you skip a break?").get_by_label("yes" if at % 2 else "no").check()
    page.get_by_role("group", name="shift").get_by_label(("early", "late", "night")[at % 3]).check()
    for place in range(3):
        page.get_by_role("group", name="burden").get_by_role("textbox").nth(place).fill(str((at + place) % 5))
    page.get_by_role("group", name="reasons").get_by_label("staff").check()
    page.get_by_role("radio", name=limit).check()
    if not known:
        page.get_by_role("group", name="Have you answered").get_by_label("No").check()


def sent(page):
    press(page, "Send")
    page.get_by_role("heading", name="Sent").wait_for()


@dataclass
class Counted:
    """The words that are shown until the button is pressed, details folded, and on how many screens."""

    texts: list

    def look(self, page):
        self.texts.append(page.evaluate(WORDS))

    @property
    def words(self):
        return sum(len(re.findall(r"[\w'-]+", text)) for text in self.texts)


@pytest.mark.parametrize("automatic", [False, True])
def test_from_link_to_sent_are_few_screens_and_few_words_and_none_of_ours(house, watch, automatic):
    page, counted = watch.visitor(size=PHONE), Counted([])
    page.goto(link(house, asking(house, answer_by="2026-10-14", automatic=automatic), "ICU"))
    page.get_by_role("button", name="Begin", exact=True).wait_for()
    counted.look(page)
    assert all(
        words in counted.texts[0] for words in ("The staff council", "To plan the rota", "minutes", "14 October 2026")
    )
    page.get_by_role("button", name="Begin", exact=True).click()
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.locator("input:checked").count() == 0, "nothing is chosen for anybody"
    send, decline = (page.get_by_role("button", name=name, exact=True).bounding_box() for name in ("Send", "Decline"))
    assert (send["width"], send["height"]) == (decline["width"], decline["height"])
    fill(page)
    counted.look(page)  # with the line below the picture of what was chosen
    assert 1 + -(-(send["y"] + send["height"]) // PHONE["height"]) <= MOST_SCREENS, (
        "screens of a phone, one after another"
    )
    sent(page)
    assert len(counted.texts) + 1 <= MOST_SCREENS
    assert counted.words <= MOST_WORDS
    assert FORBIDDEN.findall(" ".join(counted.texts)) == []
    assert watch.faults == []


def test_the_picture_changes_with_the_choice_and_the_check_question_explains_kindly(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    for right in ("55", "89"):
        page.get_by_role("radio", name=f"{right} in 100").check()
        shown = page.locator(".meaning:visible")
        assert shown.count() == 1
        assert shown.locator("circle.ink-mark").count() == int(right) - 50
    page.get_by_text("Check yourself").click()
    page.get_by_role("group", name="You take part").get_by_label("Yes").check()
    assert page.locator(".quiz .notice:visible").inner_text().startswith("Not quite")
    assert watch.faults == []


def test_what_was_typed_survives_a_locked_phone_and_nothing_stays_after_sending(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    fill(page)
    assert page.locator("output.echo").inner_text() == "= 30.5 hours"
    page.reload()
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.get_by_label("How many hours").input_value() == "30,5"
    assert page.get_by_role("radio", name="63 in 100").is_checked()
    assert page.get_by_role("group", name="burden").get_by_role("textbox").nth(2).input_value() == "2"
    sent(page)
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0


def test_on_a_shared_device_nothing_is_stored_in_the_browser(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    page.get_by_label("Shared device").check()
    fill(page)
    sent(page)
    assert page.context.cookies() == []
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    assert page.get_by_role("img", name="QR code of your recovery link").is_visible()


def test_a_person_needs_nothing_but_a_keyboard_for_one_visit(house, watch):
    page = watch.visitor(size=PHONE)
    page.goto(link(house, asking(house)))
    page.get_by_role("button", name="Begin", exact=True).wait_for()
    reach(page, "Begin")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send", exact=True).wait_for()
    reach(page, "How many hours")
    page.keyboard.type("38")
    for option in ("yes", "early", "staff"):
        reach(page, option)
        page.keyboard.press("Space")
    reach(page, "52 in 100")
    page.keyboard.press("ArrowDown")
    reach(page, "No")
    page.keyboard.press("Space")
    reach(page, "Send")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", name="Sent").is_visible()
    assert watch.faults == []


NAMED = """() => { const at = document.activeElement;
  return at.innerText || (at.labels && at.labels[0] && at.labels[0].innerText) || ""; }"""


def reach(page, name):
    """Move with the Tab key alone to what bears this name; everything on the way must show where the focus is."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(NAMED).strip().startswith(name):
            return
    raise AssertionError(f"the keyboard does not reach {name}")


def test_one_visit_needs_no_scripts(house, watch):
    campaign = asking(house)
    page = watch.visitor(size=PHONE, java_script_enabled=False)
    page.goto(f"{house.origin}/i")
    page.get_by_label("Invitation code").fill(link(house, campaign))
    press(page, "Come in")
    press(page, "Begin")
    fill(page)
    press(page, "Send")
    assert "We read 30,5 as 30.5 hours" in page.inner_text("main")
    sent(page)
    assert exact_counts(house.service, campaign).joined == 1
    assert watch.faults == []


def test_a_screen_reader_hears_questions_options_and_what_they_belong_to(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    heard = page.locator("main").aria_snapshot()
    for line in (
        'heading "Breaks on the ward" [level=1]',
        'textbox "How many hours did you work last week?"',
        'group "Did you skip a break?"',
        'radio "yes"',
        'checkbox "staff"',
        'group "Your limit"',
        'radio "63 in 100 suggested"',
        'group "Have you answered here before?"',
        'button "Send"',
        'button "Decline"',
    ):
        assert line in heard, line


def test_a_scanner_that_runs_scripts_and_never_clicks_uses_nothing_up(house, watch):
    address, before = link(house, asking(house)), stored(house)
    scanner = watch.visitor(size=PHONE)
    scanner.goto(address)
    scanner.get_by_role("button", name="Begin", exact=True).wait_for()
    scanner.context.close()
    assert stored(house) == before
    page = watch.visitor(size=PHONE)
    begin(page, address)
    fill(page)
    sent(page)
    assert watch.faults == []


def test_another_link_in_the_same_tab_shows_nothing_that_was_typed_with_the_first(house, watch):
    campaign = asking(house)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, campaign))
    fill(page)
    key = page.locator("input[name=key]").input_value()
    page.goto(f"{house.origin}/about")
    begin(page, link(house, campaign))
    assert page.get_by_label("How many hours").input_value() == ""
    assert page.locator("input:checked").count() == 0
    assert page.locator("input[name=key]").input_value() != key
    assert watch.faults == []


def test_what_was_sent_before_the_phone_slept_is_sent_again_as_the_same_person(house, watch):
    campaign = asking(house)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, campaign))
    fill(page)
    page.route("**/i/send", _lost_on_its_way)
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("chrome-error://**")
    page.unroute("**/i/send")
    assert exact_counts(house.service, campaign).joined == 1
    page.goto(f"{house.origin}/i")
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.get_by_label("How many hours").input_value() == "30,5"
    sent(page)
    assert exact_counts(house.service, campaign).joined == 1


def _lost_on_its_way(route):
    """The server takes it; nobody hears back."""
    route.fetch()
    route.abort()


@pytest.mark.parametrize("trouble", ["gone", "busy"])
def test_a_connection_that_is_gone_for_a_moment_takes_nothing_of_what_was_typed(house, watch, trouble):
    watch.expected = ("Failed to load resource",)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    fill(page)
    page.route(
        "**/i/answer", lambda route: route.abort() if trouble == "gone" else route.fulfill(status=503, body="later")
    )
    page.reload()
    page.get_by_text("Nothing you typed is lost").wait_for()
    page.unroute("**/i/answer")
    page.get_by_role("button", name="Try again", exact=True).click()
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.get_by_label("How many hours").input_value() == "30,5"
    assert not page.get_by_text("Nothing you typed is lost").is_visible()
    sent(page)
    assert watch.faults == []


def test_no_two_limits_are_called_alike_and_one_behind_more_choices_is_seen_again(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    page.get_by_text("More choices").click()
    names = page.locator(".rung .number").all_inner_texts()
    assert (len(names), len(set(names))) == (10, 10)
    page.get_by_role("radio", name="50.3 in 100").check()
    assert "At most 0.3 more right." in page.locator(".meaning:visible").inner_text()
    page.reload()
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.get_by_role("radio", name="50.3 in 100").is_visible()
    assert page.get_by_role("radio", name="50.3 in 100").is_checked()
    assert watch.faults == []


def test_an_item_with_a_decimal_comma_is_told_back_though_another_number_was(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    fill(page)
    page.get_by_role("group", name="burden").get_by_role("textbox").nth(0).fill("1,0")
    press(page, "Send")
    assert "1,0 as 1" in page.get_by_role("alert").inner_text()
    sent(page)


def test_a_screen_reader_hears_what_was_sent_the_way_back_and_who_can_see(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    assert re.search(r"could still read them until \d+ \w+ \d{4}\.", page.locator("main").aria_snapshot())
    fill(page)
    sent(page)
    heard = page.locator("main").aria_snapshot()
    for line in (
        "status:",
        'heading "Sent" [level=1]',
        'img "QR code of your recovery link"',
        'button "Keep as a file"',
    ):
        assert line in heard, line


def reach_and_press(page, name):
    """Go to a button or link by the Tab key and press Enter; wait for the page it leads to."""
    reach(page, name)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def crowd_sent(house, campaign, count):
    """Others who sent, past the browser: a plan needs ten."""
    for secret in house.ada.invite(campaign, count):
        person = house.client()
        person.enter(secret)
        person.register(campaign, 5, answers={"hours": 38.0, "break": True})


def heard_in(page, *lines):
    """The accessibility tree of what is shown holds all of these, as a screen reader gets it."""
    heard = page.locator("main").aria_snapshot()
    for line in lines:
        assert line in heard, (line, heard)


def test_with_nothing_but_a_keyboard_and_ears_people_change_withdraw_come_back_and_read_what_they_gave(house, watch):
    campaign = asking(house)
    page, leaver = watch.visitor(size=PHONE), watch.visitor(size=PHONE)
    for each in (page, leaver):
        begin(each, link(house, campaign))
        fill(each)
        sent(each)
    recovery = page.locator("#recovery").input_value()
    crowd_sent(house, campaign, 11)
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)

    lost = watch.visitor(size=PHONE)
    lost.goto(recovery)
    heard_in(lost, 'heading "Come back" [level=1]', 'button "It is mine, open it"')
    reach_and_press(lost, "It is mine, open it")
    heard_in(lost, 'heading "My campaigns" [level=1]', "status:", 'link "Breaks on the ward"')
    reach_and_press(lost, "Breaks on the ward")
    heard_in(
        lost,
        'heading "Your deal" [level=2]',
        "is right 50 times in 100 if you decline",
        "Someone guessing",
        'heading "Change your answers, or withdraw" [level=2]',
        'button "Withdraw"',
    )
    reach(lost, "Answer anew")
    lost.keyboard.press("Enter")
    heard_in(lost, 'textbox "How many hours did you work last week?"', 'button "Change my answers"')
    reach(lost, "How many hours")
    lost.keyboard.type("41")
    reach_and_press(lost, "Change my answers")
    heard_in(lost, "alert:", "Shall the others be left out?", "and left out 4")
    reach_and_press(lost, "Change my answers")
    heard_in(lost, "status:", "Your answers were changed")

    leaver.goto(f"{house.origin}/c/{campaign}")
    reach_and_press(leaver, "Withdraw")
    heard_in(leaver, "status:", "You withdrew")
    leaver.goto(f"{house.origin}/me")
    reach_and_press(leaver, "Make a recovery link")
    heard_in(leaver, 'img "QR code of your recovery link"', 'button "Keep as a file"', 'button "Copy the link"')

    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    lost.goto(f"{house.origin}/c/{campaign}")
    heard_in(lost, 'heading "Your receipt, checked just now" [level=2]', "without you it would be 50", "table")
    reach_and_press(lost, "My receipt")
    heard_in(
        lost,
        'heading "Your receipt" [level=1]',
        'heading "Checked just now" [level=2]',
        "term: Promised to you",
        'link "receipt.json"',
    )
    lost.goto(f"{house.origin}/r/{campaign}")
    heard_in(
        lost,
        'heading "Breaks on the ward" [level=1]',
        'region "All results"',
        "table",
        'heading "Privacy sheet"',
        "img ",
    )
    assert watch.faults == []


def arrive(page, address, *, scripts):
    """Open a link and begin, with or without scripts."""
    if scripts:
        return begin(page, address)
    page.goto(address.partition("#")[0])
    page.get_by_label("Invitation code").fill(address)
    press(page, "Come in")
    return press(page, "Begin")


@pytest.mark.slow
def test_twenty_five_people_in_two_groups_answer_change_withdraw_lose_a_phone_and_come_again(house, watch, tmp_path):
    album, campaign = Album(tmp_path), asking(house)
    pages, keys = [], []
    for at in range(25):
        page = watch.visitor(size=PHONE if at % 2 else WIDE, java_script_enabled=at % 5 != 4)
        arrive(page, link(house, campaign, "ICU" if at < 13 else "ER"), scripts=at % 5 != 4)
        if at == 0:
            album.look(page, "form")
        fill(page, at, limit=("55 in 100", "63 in 100", "74 in 100")[at % 3])
        if at % 5 == 4:
            press(page, "Send")  # without scripts a decimal comma is told back on a page of its own
        sent(page)
        if at == 0:
            album.look(page, "sent")
        keys.append(page.locator("#recovery").input_value())
        pages.append(page)
    decliner = watch.visitor(size=PHONE)
    begin(decliner, link(house, campaign, "ER"))
    press(decliner, "Decline")
    album.look(decliner, "declined")
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    changer, leaver = pages[1], pages[2]
    changer.goto(f"{house.origin}/c/{campaign}")
    album.look(changer, "deal")
    changer.get_by_text("Answer anew").click()
    changer.get_by_label("How many hours").fill("40")
    press(changer, "Change my answers")
    changer.get_by_text("Shall the others be left out?").wait_for()
    album.look(changer, "left out")
    press(changer, "Change my answers")
    changer.get_by_text("Your answers were changed").wait_for()
    leaver.goto(f"{house.origin}/c/{campaign}")
    press(leaver, "Withdraw")
    album.look(leaver, "withdrawn")
    lost = watch.visitor(size=PHONE)
    lost.goto(keys[3])
    album.look(lost, "back")
    press(lost, "It is mine, open it")
    follow(lost, "Breaks on the ward")
    assert lost.get_by_role("heading", name="Your deal").is_visible()
    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    for page, name in ((changer, "released"), (leaver, "released-without")):
        page.goto(f"{house.origin}/c/{campaign}")
        album.look(page, name)
    follow(changer, "My receipt")
    album.look(changer, "receipt")
    assert changer.get_by_role("heading", name="Checked just now").is_visible()
    changer.goto(f"{house.origin}/r/{campaign}")
    album.look(changer, "result")
    second, persons = asking(house), counted(house, accounts)
    for at, page in enumerate(pages):
        arrive(page, link(house, second), scripts=at % 5 != 4)
        fill(page, at, known=True)
        if at % 5 == 4:
            press(page, "Send")
        sent(page)
    assert exact_counts(house.service, second).registered == 25
    assert counted(house, accounts) == persons, "the same people, and nobody twice"
    changer.goto(f"{house.origin}/me")
    album.look(changer, "me")
    assert changer.get_by_role("link", name="Breaks on the ward").count() == 2
    house.ada.take(second, "cancel")
    changer.goto(f"{house.origin}/c/{second}")
    album.look(changer, "cancelled")
    assert "Your answers were destroyed" in changer.inner_text("main")
    assert album.faults == []
    assert watch.faults == []


@pytest.mark.slow
def test_a_missed_quorum_and_a_new_round_say_what_became_of_my_answers(house, watch, tmp_path):
    album, campaign = Album(tmp_path), asking(house, quorum_people=12)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, campaign))
    fill(page)
    sent(page)
    for secret in house.ada.invite(campaign, 10):
        person = house.client()
        person.enter(secret)
        person.register(campaign, 5, answers={"break": True})
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)
    house.ada.take(campaign, "close")
    page.goto(f"{house.origin}/c/{campaign}")
    album.look(page, "closed")
    house.ada.take(campaign, "new-round")
    page.goto(f"{house.origin}/c/{campaign}")
    album.look(page, "new-round")
    assert "the answers given in it are destroyed" in page.inner_text("main")
    follow(page, "Begin")
    fill(page, known=True)
    sent(page)
    assert exact_counts(house.service, campaign).joined == 1
    assert album.faults == []
    assert watch.faults == []
