"""The pages in a real browser: the whole life of a campaign, with every page looked at, on both databases."""

import pytest
from browser import PHONE, Album, Watch, chromium, follow, press
from web_steps import PASSWORD, OpenHouse, answering, registered

from optin.web.service.accounts import first_analyst_secret

NASTY = "\"><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} &amp; 'quiet' nights"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def house(open_lodge):
    return open_lodge


@pytest.fixture
def watch(browser, house):
    return watching(browser, house)


def watching(browser, house):
    return Watch(browser, house.origin)


def fill_draft(page, *, public=True):
    page.get_by_label("Title", exact=True).fill("Hours of sleep")
    page.get_by_label("Question", exact=True).fill('How many hours did you sleep? <b onclick="alert(3)">')
    page.get_by_label("Why it is asked").fill(NASTY)
    page.get_by_label("Smallest", exact=True).fill("0")
    page.get_by_label("Largest", exact=True).fill("12")
    page.get_by_label("Unit (optional)").fill('"><i>hours</i>')
    page.get_by_label("Anyone may sign up").set_checked(public)
    page.get_by_label("Limit and answer in one visit").uncheck()


def set_up_analyst(page, house):
    page.goto(f"{house.origin}/setup#{first_analyst_secret(house.service)}")
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(page, "Create the account")


def invite(page, count):
    page.get_by_text("Links without a list").click()
    page.get_by_label("How many").fill(str(count))
    press(page, "Make links")
    return page.get_by_label("Links", exact=True).input_value().splitlines()


def come_in(page, link):
    """Open an invitation, as someone new, and keep the key."""
    page.goto(link)
    press(page, "Open my invitation")
    press(page, "Make my account")
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    follow(page, "I kept it, go on")


def choose(page, name):
    page.get_by_role("radio", name=f"{name} factor").check()
    page.get_by_role("button", name="Choose this").click()
    page.get_by_text("Your choice is kept.").wait_for()


def crowd_of(house, links, campaign, steps):
    """Everyone else, through the client."""
    crowd = []
    for at, link in enumerate(links):
        person = house.client()
        person.enter(link.partition("#")[2])
        person.register(campaign, steps[at % len(steps)])
        crowd.append(person)
    return crowd


class NoAlbum:
    """For the database on which the same pages need not be looked at again."""

    faults = ()

    def look(self, page, name):
        pass


def live_a_campaign(house, watch, album):
    """Run a campaign from the one-time link to the receipt; two people and the analyst use the browser."""
    analyst, ann, bob = watch.visitor(), watch.visitor(size=PHONE), watch.visitor(size=PHONE)
    set_up_analyst(analyst, house)
    follow(analyst, "Start the first one")
    album.look(analyst, "ways to begin")
    follow(analyst, "One number")
    fill_draft(analyst)
    analyst.get_by_label("If this many people come").fill("5000")
    with analyst.expect_response("**/a/preview*"):
        analyst.get_by_label("and they are").select_option("mostly open")
    analyst.locator("#preview").get_by_text("will be within about").wait_for()
    album.look(analyst, "draft")
    press(analyst, "Keep as a draft")
    address = analyst.url
    campaign = address.rpartition("/")[2]
    press(analyst, "Open registration")
    links = invite(analyst, 22)
    album.look(analyst, "invitations")

    come_in(ann, links[0])
    album.look(ann, "limit")
    ann.get_by_role("radio", name="Some factor").check()
    assert "at most a factor 1.23" in ann.locator(".meaning:visible").inner_text()
    choose(ann, "Some")
    bob.goto(house.origin)
    album.look(bob, "start")
    follow(bob, "Hours of sleep")
    album.look(bob, "stranger")
    follow(bob, "Take part")
    album.look(bob, "sign-up")
    press(bob, "Make my account")
    album.look(bob, "key")
    follow(bob, "I kept it, go on")
    choose(bob, "Much")
    crowd = crowd_of(house, links[1:], campaign, (3, 4, 5, 5, 6))

    analyst.goto(address)
    album.look(analyst, "registration")
    press(analyst, "Close registration")
    follow(analyst, "Look at the plan first")
    album.look(analyst, "plan")
    with analyst.expect_response("**/what-if*"):
        analyst.get_by_label("so many decline").fill("30")
    assert all(analyst.evaluate("[...document.images].map(i => (i.loading = 'eager', i.alt.length > 40))"))
    analyst.goto(address)
    analyst.get_by_role("button", name="Announce", exact=True).click()
    analyst.get_by_role("button", name="Open answers").wait_for()
    album.look(analyst, "announced")
    press(analyst, "Open answers")

    ann.goto(f"{house.origin}/c/{campaign}")
    deal = ann.locator(".deal").inner_text()
    album.look(ann, "deal")
    ann.get_by_label("How many hours").fill("7.5")
    press(ann, "Join with this answer")
    bob.goto(f"{house.origin}/c/{campaign}")
    bob.get_by_label("How many hours").fill("4")
    press(bob, "Join with this answer")
    album.look(bob, "joined")
    press(bob, "Decline")
    album.look(bob, "declined")
    for at, person in enumerate(crowd):
        person.join(campaign, 6.0 + at % 3)

    analyst.goto(address)
    assert tiles(analyst) == {"joined": "20 or more", "declined": "fewer than 10", "registered": "20 or more"}
    press(analyst, "Close answers")
    analyst.get_by_role("button", name="Publish", exact=True).click()
    analyst.get_by_role("link", name="The public page").wait_for()
    album.look(analyst, "released")
    follow(analyst, "The public page")
    album.look(analyst, "result")
    assert analyst.locator("main b, main i, main script").count() == 0
    ann.goto(f"{house.origin}/c/{campaign}")
    assert ann.locator("main b, main i, main script").count() == 0
    follow(ann, "My receipt")
    album.look(ann, "receipt")
    return campaign, ann, bob, deal, links


def tiles(page):
    return {
        tile.locator("dt").inner_text(): tile.locator("dd").inner_text() for tile in page.locator(".tiles > div").all()
    }


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_campaign_lives_from_the_one_time_link_to_a_checked_receipt(browser, database, request, tmp_path):
    url = f"sqlite:///{tmp_path / 'web.sqlite'}"
    if database == "postgresql":
        url = request.getfixturevalue("postgres").new_schema()
    with OpenHouse(url, tmp_path) as house:
        watch = watching(browser, house)
        album = Album(tmp_path) if database == "sqlite" else NoAlbum()
        campaign, ann, bob, deal, links = live_a_campaign(house, watch, album)
        assert "1/" in deal
        assert "at most a factor 1.23" in deal.replace("\n", " ")
        assert "the charge is among those sealed with the release" in ann.locator("main").text_content()
        bob.goto(f"{house.origin}/c/{campaign}")
        assert "You took no part" in bob.inner_text("main")
        ann.goto(f"{house.origin}/me")
        assert "is right at most 55 times in 100 instead of 50" in ann.inner_text("main")
        assert watch.faults == []
        assert list(album.faults) == []
        secrets = [link.partition("#")[2] for link in links]
        assert not any(secret in address.partition("#")[0] for secret in secrets for address in watch.addresses)
        assert campaign in house.client().published(campaign).announcement.campaign


FOCUS = """() => { const e = document.activeElement, s = getComputedStyle(e), row = e.closest(".rung");
  const lined = t => t && getComputedStyle(t).outlineStyle !== "none";
  return [(e.labels?.[0] ?? e).innerText.trim() || e.getAttribute("aria-label") || e.id, lined(e) || lined(row)]; }"""


def tab_to(page, name):
    """Move with the Tab key alone to what bears this name; everything on the way must show where the focus is."""
    for _ in range(60):
        page.keyboard.press("Tab")
        found, visible = page.evaluate(FOCUS)
        assert visible or found == "main", f"the focus cannot be seen on {found}"
        if found.startswith(name):
            return
    raise AssertionError(f"the keyboard does not reach {name}")


def enter_key(page):
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_a_person_needs_nothing_but_a_keyboard(house, watch):
    analyst, crowd = house.analyst(), house.people(20)
    campaign = registered(analyst, crowd, quorum_people=20)
    page = watch.visitor()
    page.goto(house.origin)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS)[0] == "Skip to the content"
    tab_to(page, "Invitation code")
    page.keyboard.type(analyst.invite(campaign, 1)[0])
    enter_key(page)
    tab_to(page, "Make my account")
    enter_key(page)
    tab_to(page, "I kept it")
    enter_key(page)
    tab_to(page, "Next to nothing")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert "at most a factor 1.23" in page.locator(".meaning:visible").inner_text()
    enter_key(page)
    assert page.get_by_role("heading", name="You chose: Some").is_visible()
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    page.reload()
    tab_to(page, "How many hours")
    page.keyboard.type("13")
    page.evaluate("document.querySelector('form[action$=join]').noValidate = true")
    watch.expected = ("422",)
    enter_key(page)
    assert page.evaluate("document.activeElement.id") == "alert"
    tab_to(page, "How many hours")
    page.keyboard.type("7")
    enter_key(page)
    assert page.get_by_role("heading", name="You joined").is_visible()
    tab_to(page, "Decline")
    enter_key(page)
    assert page.get_by_role("heading", name="You declined").is_visible()
    assert watch.faults == []


def test_a_person_and_an_analyst_get_along_without_scripts(house, watch):
    helper, crowd = house.analyst(), house.people(19)
    analyst, person = watch.visitor(java_script_enabled=False), watch.visitor(size=PHONE, java_script_enabled=False)
    analyst.goto(f"{house.origin}/a")
    analyst.get_by_label("Name", exact=True).fill("ada")
    analyst.get_by_label("Password", exact=True).fill(PASSWORD)
    press(analyst, "Log in")
    follow(analyst, "Start the first one")
    follow(analyst, "One number")
    assert "will be within about" in analyst.inner_text("#preview")
    fill_draft(analyst)
    press(analyst, "Keep as a draft")
    campaign = analyst.url.rpartition("/")[2]
    press(analyst, "Open registration")
    person.goto(f"{house.origin}/i")
    person.get_by_label("Invitation code").fill(f"{house.origin}/i#{helper.invite(campaign, 1)[0]}")
    press(person, "Come in")
    press(person, "Make my account")
    follow(person, "I kept it, go on")
    choose(person, "A trace")
    for someone in crowd:
        someone.register(campaign, 4)
    press(analyst, "Close registration")
    analyst.goto(f"{analyst.url}/plan?decline=20&gap=1&sd=2", wait_until="domcontentloaded")
    assert "95 times out of 100" in analyst.inner_text("#answer")
    for step in ("announce", "open-answers"):
        helper.take(campaign, step)
    person.reload()
    person.get_by_label("How many hours").fill("8")
    press(person, "Join with this answer")
    assert person.get_by_role("heading", name="You joined").is_visible()
    assert watch.faults == []


def test_the_quieter_pages_have_no_serious_fault_either(house, watch, tmp_path):
    helper, crowd, album = house.analyst(), house.people(12), Album(tmp_path)
    dear = answering(
        helper,
        house.people(12),
        steps=[1] * 12,
        model="quasi-linear",
        benefit_base=40.0,
        benefit_slope=1.0,
        title="What it costs",
    )
    few = registered(helper, crowd[:3], title="Too few")
    helper.take(few, "close-registration")
    sealed = registered(helper, [], sealed=True, title="Sealed")
    costs = registered(helper, [], model="quasi-linear", title="Costs")
    page = watch.visitor()
    for name in ("about", "login", "setup", "i", f"r/{dear}"):
        page.goto(f"{house.origin}/{name}")
        album.look(page, name.partition("/")[0])
    watch.expected = ("404", "403", "422")
    page.goto(f"{house.origin}/nowhere")
    album.look(page, "nowhere")
    page.goto(f"{house.origin}/login")
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_label("Password", exact=True).fill("not the password")
    press(page, "Log in")
    album.look(page, "wrong-password")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(page, "Log in")
    album.look(page, "desk")
    page.get_by_text("Invite a colleague").click()
    press(page, "Make a link")
    assert "/setup#" in page.get_by_label("One-time link").input_value()
    page.goto(f"{house.origin}/a/c/{few}/plan")
    assert "fewer than ten people" in page.inner_text("main").lower()

    person = watch.visitor(size=PHONE)
    person.goto(f"{house.origin}/sign-up")
    press(person, "Make my account")
    for name, place in (("me", "me"), ("leave", "me/leave"), ("costs", f"c/{costs}"), ("sealed", f"c/{sealed}")):
        person.goto(f"{house.origin}/{place}")
        album.look(person, name)
    invited = helper.draft(title="By invitation", question="How long?", bounds=(0, 1)).id
    helper.take(invited, "open")
    person.goto(f"{house.origin}/i#{helper.invite(invited, 1)[0]}")
    album.look(person, "linked")
    press(person, "Open my invitation")
    person.wait_for_url(f"**/c/{invited}")  # who has an account keeps it: no second key
    stranger = watch.visitor(size=PHONE)
    stranger.goto(f"{house.origin}/i#{helper.invite(invited, 1)[0]}")
    press(stranger, "Open my invitation")
    album.look(stranger, "invited")
    person.goto(f"{house.origin}/c/{sealed}")
    follow(person, "Begin")
    album.look(person, "one visit of one number")
    person.get_by_role("radio", name="55 in 100").check()
    person.get_by_label("How many hours").fill("7")
    press(person, "Send")
    follow(person, "See where it stands")
    assert person.get_by_role("heading", name="Your answers are in").is_visible()
    person.goto(f"{house.origin}/me/leave")
    person.get_by_label("Yes, delete").check()
    press(person, "Leave")
    album.look(person, "left")
    assert watch.faults == []
    assert album.faults == []
