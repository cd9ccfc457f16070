"""Slips of the hand on one visit: a key pressed too early, an option chosen by mistake, another link, a tab left open."""

import pytest
from browser import PHONE, WIDE, Watch, chromium, press
from test_web_visit_pages import MOST_SCREENS, MOST_WORDS, Counted, asking, begin, fill, link, sent
from web_steps import PASSWORD, OpenHouse, exact_counts, with_ada

import optin

ANOTHER = optin.Sheet([optin.YesNo("late", text="Were you late?")], title="Another sheet")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visit-slips")
    with with_ada(f"sqlite:///{folder / 'web.sqlite'}", folder, kind=OpenHouse) as made:
        yield made


@pytest.fixture
def watch(browser, house):
    return Watch(browser, house.origin)


def test_the_enter_key_goes_on_to_the_next_field_and_sends_nothing(house, watch):
    campaign = asking(house)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, campaign))
    fill(page)
    page.get_by_label("How many hours").press("Enter")
    assert page.evaluate("document.activeElement.name") == "a1"
    page.get_by_role("group", name="shift").get_by_label("early").press("Enter")
    assert page.get_by_role("button", name="Send", exact=True).is_visible()
    assert exact_counts(house.service, campaign).registered == 0
    sent(page)
    assert exact_counts(house.service, campaign).joined == 1
    assert watch.faults == []


def test_without_scripts_the_enter_key_sends_the_answers_along_with_the_limit(house, watch):
    """A form's first button is what Enter presses: it was the one that keeps a limit and leaves the answers behind."""
    campaign = asking(house)
    page = watch.visitor(size=PHONE, java_script_enabled=False)
    page.goto(f"{house.origin}/i")
    page.get_by_label("Invitation code").fill(link(house, campaign))
    press(page, "Come in")
    press(page, "Begin")
    fill(page)
    page.get_by_label("How many hours").fill("38")
    with page.expect_navigation():
        page.get_by_label("How many hours").press("Enter")
    page.get_by_role("heading", name="Sent").wait_for()
    assert exact_counts(house.service, campaign).joined == 1


def test_what_was_chosen_by_mistake_is_let_go_again_and_the_question_is_left_out(house, watch):
    campaign = asking(house)
    page = watch.visitor(size=PHONE)
    begin(page, link(house, campaign))
    none = page.get_by_role("group", name="Did you skip a break?").get_by_role("radio", name="Leave out")
    assert none.count() == 0, "nothing is chosen yet"
    fill(page)
    none.click()
    assert page.locator("input[name=a1]:checked").input_value() == ""
    assert none.count() == 0
    sent(page)
    assert "You answered 4 of 5 questions and left out 1." in page.inner_text("main")
    assert watch.faults == []


def test_the_keyboard_lets_go_of_what_it_chose_and_shows_where_it_is(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    shifts = page.get_by_role("group", name="shift")
    shifts.get_by_label("night").focus()
    for key in ("Space", "ArrowDown"):
        page.keyboard.press(key)
    none = shifts.get_by_role("radio", name="Leave out")
    assert none.is_checked()
    assert none.is_visible(), "what has the focus is seen"
    assert watch.faults == []


def test_another_link_in_the_same_tab_is_opened_though_a_form_stands_there(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    fill(page)
    page.goto(link(house, asking(house, ANOTHER)))
    page.get_by_role("heading", name="Another sheet").wait_for()
    assert page.get_by_role("button", name="Begin", exact=True).is_visible()
    assert page.locator("input:checked").count() == 0
    assert watch.faults == []


def test_a_second_link_that_was_opened_before_the_first_was_sent_is_begun_as_the_same_person(house, watch):
    campaigns = asking(house), asking(house, ANOTHER)
    page = watch.visitor(size=PHONE)
    other = page.context.new_page()
    other.goto(link(house, campaigns[1]))
    other.get_by_role("button", name="Begin", exact=True).wait_for()
    begin(page, link(house, campaigns[0]))
    fill(page)
    sent(page)
    other.get_by_role("button", name="Begin", exact=True).click()
    other.get_by_role("button", name="Send", exact=True).wait_for()
    assert "Have you answered here before?" not in other.inner_text("main")
    assert watch.faults == []


LONG = "Arbeitsunfähigkeitsbescheinigungsverfahrensverantwortliche"
ODD = optin.Sheet(
    [
        optin.Choice(
            "one", options=(LONG, "نعم (1)!", "\U0001f642" * 80, "word " * 500 + "end"), text="\u05d4\u05d0\u05dd? 1"
        ),
        optin.MultipleChoice("some", options=("x" * 300, "no"), at_most=2, text=LONG * 3),
    ],
    title="استبيان العمل!",
    purpose="W" * 500,
    asked_by="A" * 120,
)
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
ENDS = """(element) => {
  const letters = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode(), part = document.createRange();
  const left = (at) => { part.setStart(letters, at); part.setEnd(letters, at + 1); return part.getBoundingClientRect().left; };
  return [left(0), left(letters.length - 1)]; }"""


def test_a_word_that_fits_the_page_is_not_broken(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    heights = {option.bounding_box()["height"] for option in page.locator(".option span:visible").all()}
    assert len(heights) == 1, "each stands on one line"


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_long_words_stay_within_the_page_and_letters_from_right_to_left_end_on_the_left(house, watch, size):
    page = watch.visitor(size=size)
    page.goto(link(house, asking(house, ODD)))
    page.get_by_role("button", name="Begin", exact=True).wait_for()
    assert page.evaluate(WIDER) <= 0
    page.get_by_role("button", name="Begin", exact=True).click()
    page.get_by_role("button", name="Send", exact=True).wait_for()
    assert page.evaluate(WIDER) <= 0
    for place in ("h1", "legend", ".option:nth-child(2) span"):
        first, last = page.locator(place).first.evaluate(ENDS)
        assert last < first, place
    assert watch.faults == []


def test_figures_of_answers_with_long_names_are_seen_on_a_phone(house, watch):
    sheet = optin.Sheet([optin.Choice("one", options=(LONG, "no"), text=LONG)], title="Long")
    page, campaign = watch.visitor(size=PHONE), asking(house, sheet)
    begin(page, link(house, campaign))
    page.get_by_role("radio", name="no", exact=True).check()
    page.get_by_role("radio", name="89 in 100").check()
    page.get_by_role("group", name="Have you answered").get_by_label("No").check()
    sent(page)
    for secret in house.ada.invite(campaign, 9):
        person = house.client()
        person.enter(secret)
        person.register(campaign, 7, answers={"one": "no"})
    for step in ("close-registration", "announce"):
        house.ada.take(campaign, step)
    house.service.clock.now += 48 * 3600 + 1
    house.ada.sign_in("ada", PASSWORD)
    for step in ("close", "release"):
        house.ada.take(campaign, step)
    page.goto(f"{house.origin}/c/{campaign}")
    estimate = page.locator(".grouped td").first.bounding_box()
    assert 0 < estimate["x"] + estimate["width"] <= PHONE["width"]
    assert page.evaluate(WIDER) <= 0


def test_on_a_shared_device_people_are_told_to_close_the_window_since_reloading_shows_their_way_back(house, watch):
    page = watch.visitor(size=PHONE)
    begin(page, link(house, asking(house)))
    page.get_by_label("Shared device").check()
    fill(page)
    sent(page)
    page.reload()
    assert page.get_by_role("img", name="QR code of your recovery link").is_visible()
    assert "Then close this window" in page.inner_text("main")
    page.go_back()
    assert page.locator("input:checked, input[name=a0]").count() == 0
    assert page.context.cookies() == []


def test_in_german_too_the_button_is_within_four_screens_and_220_words(house, watch):
    page, counted = watch.visitor(size=PHONE, locale="de-DE"), Counted([])
    page.goto(link(house, asking(house, answer_by="2026-10-14", automatic=True), "ICU"))
    page.get_by_role("button", name="Beginnen", exact=True).wait_for()
    counted.look(page)
    page.get_by_role("button", name="Beginnen", exact=True).click()
    send = page.get_by_role("button", name="Absenden", exact=True)
    send.wait_for()
    box = send.bounding_box()
    assert 1 + -(-(box["y"] + box["height"]) // PHONE["height"]) <= MOST_SCREENS
    page.get_by_role("radio", name="63 von 100").check()  # with the line below the picture of what was chosen
    counted.look(page)
    assert counted.words <= MOST_WORDS
