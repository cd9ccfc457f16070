"""An analyst with nothing but the pages makes, runs and publishes two campaigns in Chromium, and tries every mistake."""

import contextlib
import re
import time
from datetime import UTC, datetime

import pytest
from browser import PHONE, Album, Watch, chromium, follow, press
from playwright.sync_api import Error
from sqlalchemy import update
from test_web_lists import Clock
from web_steps import KEY, PASSWORD, OpenHouse, new_secret

from optin.web.schema import sessions
from optin.web.service.accounts import first_analyst_secret
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.jobs import work_once

HOUR = 3600.0


class Desk:
    """An analyst's browser: every page is reloaded once and must say the same, and is looked at."""

    def __init__(self, house, watch, album):
        self.house, self.album, self.page = house, album, watch.visitor()
        self.number = 0

    def press(self, name):
        press(self.page, name)
        self.look(name)

    def begin(self, name):
        """Begin work that takes a while, and reload while it goes on."""
        press(self.page, name)
        self.again()

    def again(self):
        """Load the page again; it does so by itself when work is done, and then the browser keeps one of the two."""
        with contextlib.suppress(Error):
            self.page.goto(self.page.url)

    def look(self, name):
        """Reload, see the same, look at it, and keep a picture."""
        before = self.told()
        self.page.reload()
        assert self.told() == before, f"a reload after {name} changes what is seen"
        self.number += 1
        self.page.screenshot(
            path=self.album.folder / f"{self.number:02}-{re.sub(r'[^a-z]+', '-', name.lower())}.png", full_page=True
        )

    def told(self):
        return re.sub(r"\d\d:\d\d:\d\d", "", self.page.locator("main").inner_text())

    def done(self, words):
        """Wait until the work under way has led somewhere."""
        for _ in range(600):
            if words in self.told():
                return
            work_once(self.house.service)
            time.sleep(0.05)
            self.again()
        raise AssertionError((words, self.told()))


@pytest.fixture
def house(tmp_path):
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=Clock()) as made:
        yield made


def later(house, moment):
    """Move the clock; everyone stays signed in."""
    house.service.clock.now = moment
    here = {"expires_at": moment + 1e7, "rotated_at": moment}
    house.service.change(lambda link: link.execute(update(sessions).values(here)))


def day(moment):
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def answered(house, secret, *, do="send"):
    """Someone answers in one visit; return their cookie."""
    given = {"secret": secret, "key": new_secret(), "round": "1", "step": "6", "before": "no", "do": do}
    page = house.ask("POST", "/i/answer", data={"secret": secret}).text
    boxes = re.findall(r'<input type="radio" name="(a\d+)" value="([^"]+)"', page)
    typed = dict.fromkeys(re.findall(r'<input id="(a\d+)"', page), "38")
    response = house.ask("POST", "/i/send", data={**given, **dict(boxes), **typed, "echoed": "yes"})
    assert response.status_code == 200, re.sub(r"<[^>]+>", " ", response.text)[:900]
    found = re.search(r"__Host-optin=([^;]+);", response.headers.get("set-cookie", ""))
    return found and found[1]


def of_person(house, cookie, path):
    """Someone presses a button of their own page."""
    page = house.ask("GET", path.rsplit("/", 1)[0], cookie=cookie).text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    return house.ask("POST", path, cookie=cookie, data={"csrf": csrf})


@pytest.mark.slow
def test_two_campaigns_are_made_run_and_published_with_every_mistake_tried(house, tmp_path):
    album = Album(tmp_path / "pictures")
    album.folder.mkdir()
    with chromium() as browser:
        watch = Watch(browser, house.origin, expected=("status of 4",))
        desk = Desk(house, watch, album)
        _become_analyst(desk)
        first = _first_campaign(desk, watch)
        _second_campaign(desk, first)
    assert (watch.faults, album.faults) == ([], [])


def _become_analyst(desk):
    desk.page.goto(f"{desk.house.origin}/setup#{first_analyst_secret(desk.house.service)}")
    desk.page.get_by_label("Name").fill("ada")
    desk.page.get_by_label("Password").fill(PASSWORD)
    with desk.page.expect_navigation():
        desk.page.locator("main form button").click()
    follow(desk.page, "Start the first one")
    desk.look("start")


def _first_campaign(desk, watch):
    page, house = desk.page, desk.house
    follow(page, "An empty sheet")
    page.locator("#title").fill("Hours and breaks")
    page.locator("#asked_by").fill("The council")
    page.locator("button[value=add-number]").click()
    page.locator("[name=q0-text]").wait_for()
    page.locator("[name=q0-text]").fill("How many hours did you work last week?")
    page.locator("[name=q0-name]").fill("hours")
    page.locator("[name=q0-unit]").fill("hours")
    page.locator("[name=q0-low]").fill("80")
    page.locator("[name=q0-high]").fill("0")
    press(page, "Keep as a draft")
    assert "the lower first" in desk.told(), "wrong bounds are refused in words"
    desk.album.look(page, "wrong-bounds")
    page.screenshot(path=desk.album.folder / "00-wrong-bounds.png", full_page=True)
    page.locator("[name=q0-low]").fill("0")
    page.locator("[name=q0-high]").fill("80000")
    page.locator("[name=q0-sd]").fill("9")
    page.locator("button[value=look]").nth(1).click()
    page.locator(".verdict").wait_for()
    assert "useless" in page.locator(".verdict").inner_text(), "bounds far too wide are called what they are"
    page.locator("[name=q0-high]").fill("80")
    page.locator("[name=q0-sd]").fill("9")
    press(page, "Keep as a draft")
    desk.look("draft")
    desk.album.look(page, "campaign")
    campaign = page.url.rsplit("/", 1)[1]
    address = page.url
    secrets = _invite(desk, campaign)
    page.goto(address)
    desk.press("Open registration")
    assert "fewer than 10 of 20 needed" in desk.told()
    desk.press("Close registration")  # at nobody
    assert "Too few for a result" in desk.told()
    desk.press("Open registration again")
    cookies = [answered(house, secret) for secret in secrets[:22]]
    page.goto(address)
    assert "20 or more" in desk.told()
    _two_at_once(desk, watch, address)
    desk.begin("Announce")
    desk.done("Close answers")
    for cookie in cookies[:5]:
        assert of_person(house, cookie, f"/c/{campaign}/decline").status_code in (200, 303)
    later(house, house.service.clock.now + 49 * HOUR)
    page.goto(address)
    assert "Too early to close" in desk.told()
    desk.press("Close answers")
    assert "Too few joined" in desk.told(), "a missed quorum leads back"
    desk.press("Open answers again")
    for cookie in cookies[:5]:
        person = house.ask("GET", f"/c/{campaign}", cookie=cookie).text
        csrf = re.search(r'name="csrf" value="([^"]+)"', person)[1]
        sent = house.ask(
            "POST", f"/c/{campaign}/join", cookie=cookie, data={"csrf": csrf, "a0": "40", "echoed": "yes", "round": "1"}
        )
        assert sent.status_code in (200, 303), sent.text
    page.goto(address)
    desk.press("Close answers")
    page.get_by_role("button", name="Publish", exact=True).wait_for()
    desk.begin("Publish")
    desk.done("answers are destroyed")
    desk.look("published")
    desk.album.look(page, "published")
    follow(page, "The page for those invited")
    desk.look("result")
    page.goto(address)
    return campaign


def _invite(desk, campaign):
    """Bring a list with doubles, twice; return the secrets of its links in their order."""
    page = desk.page
    follow(page, "The list of people")
    names = [f"p{at:02}@example.org" for at in range(25)]
    for _ in range(2):
        page.get_by_label("Addresses or ids, one on each line").fill("\n".join([*names, names[0], names[3].upper()]))
        press(page, "Keep the list")
    desk.look("list")
    assert "25 people on the list" in desk.told()
    rows = page.locator("tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == names, "a list stands in its order, and nobody twice"
    assert "(" not in page.locator("#text").input_value().splitlines()[-1], "no placeholder at the end"
    return [row.rsplit("#", 1)[1].strip() for row in rows]


def _two_at_once(desk, watch, address):
    """A colleague at the same desk has the page open too, and presses what was pressed already; a stranger sees nothing."""
    colleague = desk.page.context.new_page()
    colleague.goto(address)
    desk.press("Close registration")
    with colleague.expect_navigation():
        colleague.get_by_role("button", name="Close registration", exact=True).click()
    assert "Announce the plan" in colleague.locator("main").inner_text(), "pressed twice it is done once"
    colleague.close()
    other = watch.visitor()
    other.goto(f"{desk.house.origin}/setup#{desk.house.service and _colleagues_secret(desk)}")
    other.get_by_label("Name").fill("bea")
    other.get_by_label("Password").fill(PASSWORD)
    with other.expect_navigation():
        other.locator("main form button").click()
    assert other.goto(address).status == 404


def _colleagues_secret(desk):
    page = desk.page.context.new_page()
    page.goto(f"{desk.house.origin}/a")
    page.get_by_text("Invite a colleague").click()
    press(page, "Make a link")
    found = re.search(r"/setup#([\w-]+)", page.content())[1]
    page.close()
    return found


def _second_campaign(desk, first):
    """The same sheet again, by an open link, and by itself."""
    page, house = desk.page, desk.house
    assert "once more: about" in desk.told()
    follow(page, "Plan the year")
    desk.look("year")
    desk.album.look(page, "year")
    page.goto(f"{house.origin}/a/c/{first}")
    follow(page, "Ask the same again")
    page.get_by_label("By itself").check()
    press(page, "Keep as a draft")
    assert "needs a last day" in desk.told()
    last = day(house.service.clock.now + 5 * 24 * HOUR)
    page.locator("#answer_by").fill(last)
    page.locator("#open_link").fill("30")
    page.locator("#window_hours").fill("24")
    press(page, "Keep as a draft")
    desk.look("by-itself")
    address, campaign = page.url, page.url.rsplit("/", 1)[1]
    desk.press("Open registration")
    assert "by itself" in desk.told()
    desk.album.look(page, "open-link")
    secret = page.locator("#open_link").input_value().rsplit("#", 1)[1]
    phone = Watch(page.context.browser, house.origin).visitor(size=PHONE)
    phone.goto(f"{house.origin}/i#{secret}")
    phone.get_by_role("button", name="Begin").wait_for()
    phone.screenshot(path=desk.album.folder / "phone-open-link.png", full_page=True)
    for _ in range(15):
        answered(house, secret)
    later(house, last_moment(Draft(answer_by=last)))
    page.goto(address)
    desk.done("Too few for a result")
    desk.look("missed")
    extended = day(house.service.clock.now + 3 * 24 * HOUR)
    page.get_by_label("New last day").fill(extended)
    desk.press("Open again until that day")
    for _ in range(15):
        answered(house, secret)
    assert "made for 30 answers" in house.ask("POST", "/i", data={"secret": secret}).text
    later(house, last_moment(Draft(answer_by=extended)))
    page.goto(address)
    desk.done("Answers close and the result is published by itself")
    desk.look("announced-by-itself")
    later(house, house.service.clock.now + 24 * HOUR)
    desk.done("The next campaign")
    desk.look("published-by-itself")
    page.goto(f"{house.origin}/r/{campaign}")
    assert "at most 30 answers" in desk.told()
    desk.look("second-result")
