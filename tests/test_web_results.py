"""Results to be passed on: CSV, pictures by question and group, who asked, when and with which quorum, a newsletter's draft."""

import csv
import html
import io
import itertools
import re
import time
from types import SimpleNamespace

import pytest
from browser import PHONE, Watch, chromium
from language_walk import words_of
from web_steps import House, OpenHouse, released

import optin
from optin.web.pages.figure_rows import result_rows
from optin.web.pages.newsletters import newsletter
from optin.web.service import published
from optin.web.service.records import Visitor
from optin.wording.limit_steps import HIGHEST_STEP

HOURS = optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work?")
TWO = optin.Sheet(
    [optin.Choice("shift", options=("=1+1", "@late"), text="Which shift?"), HOURS],
    title="Two things",
    purpose="The rota.",
    asked_by="The works council",
)
PERSONAL = ("limit", "epsilon", "grain", "weight", "promise")


class Clock:
    """A clock of its own day, which never says the same twice: jobs are told apart by when they were left."""

    def __init__(self):
        self.ticks = itertools.count()

    def __call__(self):
        return 1_800_000_000.0 + 0.001 * next(self.ticks)


@pytest.fixture
def house(lodge_url, tmp_path):
    with House(lodge_url, tmp_path, clock=Clock()) as opened:
        yield opened


def answered(house, analyst, sheet=TWO, groups=(None,), **more):
    """A campaign that ran to its end in one visit, 12 people in each group; return it and its people."""
    campaign = analyst.draft(sheet, sealed=True, quorum_people=10, **more).id
    analyst.take(campaign, "open")
    people = []
    for group in groups:
        for at, secret in enumerate(analyst.invite(campaign, 12, group=group)):
            people.append(house.client())
            people[-1].enter(secret)
            answers = {"shift": ("=1+1", "@late")[at % 2], "hours": 30.0 + at + 10 * (group == "-ER")}
            people[-1].register(campaign, 7, answers={name: answers[name] for name in [each.name for each in sheet]})
    for step in ("close-registration", "announce", "close", "release"):
        analyst.take(campaign, step)
    return campaign, people


def rows_of(house, campaign, who):
    answer = house.ask("GET", f"/r/{campaign}/results.csv", cookie=who._cookie)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="results.csv"'
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def facts(page):
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))


def test_every_figure_comes_as_csv_as_it_was_published_and_no_cell_is_a_formula(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst)
    rows, release = rows_of(house, campaign, people[0]), people[0].published(campaign).release
    assert list(rows[0]) == ["group", "question", "answer", "unit", "estimate", "low", "high", "note"]
    told = [row[2:] for row in release.table(0.95).rows]
    assert [(float(row["low"]), float(row["high"])) for row in rows] == [row[1:] for row in told]
    for row, (estimate, *_) in zip(rows, told, strict=True):  # the numbers of release.json, to the last digit
        assert float(row["estimate"]) == estimate if row["estimate"] else (row["answer"], estimate) == ("sd", 0.0)
    assert {row["answer"] for row in rows if row["question"] == "shift"} == {"'=1+1", "'@late"}
    assert {row["unit"] for row in rows} == {"proportion", "hours"}
    text = house.ask("GET", f"/r/{campaign}/results.csv", cookie=people[0]._cookie).text
    assert not any(word in text for word in PERSONAL)
    assert not re.search(r"(^|,)[=+@\t]", text, re.MULTILINE)


def test_groups_stand_first_in_each_row(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst, groups=("ICU", "-ER"))
    rows = rows_of(house, campaign, analyst)
    first = 2 * len(answered_rows(people[0].published(campaign).release.groups["ICU"]))
    assert {row["group"] for row in rows[:first]} == {"ICU", "'-ER"}


def answered_rows(release):
    return release.table(0.95).rows


FEELING = optin.Sheet(
    [optin.Scale("week", options=("awful", "bad", "fair", "good"), text="How was it?")], title="A week"
)


def scaled(house, analyst):
    """A scale by group, of so few people under such limits that noise is all that is left."""
    campaign = analyst.draft(FEELING, sealed=True, quorum_people=10).id
    analyst.take(campaign, "open")
    people = []
    for secret in (*analyst.invite(campaign, 12, group="ICU"), *analyst.invite(campaign, 12, group="-ER")):
        people.append(house.client())
        people[-1].enter(secret)
        people[-1].register(campaign, 1, answers={"week": "good"})
    for step in ("close-registration", "announce", "close", "release"):
        analyst.take(campaign, step)
    return campaign, people


def test_the_file_of_results_holds_the_whole_the_differences_and_what_the_page_says_of_noise(house):
    analyst = house.analyst()
    campaign, people = scaled(house, analyst)
    rows = rows_of(house, campaign, analyst)
    release = people[0].published(campaign).release
    whole = [row for row in rows if row["group"] == "all groups together"]
    assert [float(row["estimate"]) for row in whole] == [each.estimate for each in release.total("week").readings(0.95)]
    apart = [row for row in rows if row["group"].endswith(" less ICU")]
    assert [float(row["estimate"]) for row in apart] == [row[3] for row in release.differences("week")]
    assert all("(Bonferroni)" in row["note"] for row in apart)
    own = [row for row in rows if row["group"] == "ICU"]
    assert all("says nothing: mostly noise" in row["note"] for row in own), "at the most careful limits all is noise"
    for row in rows:
        beyond = not float(row["low"]) <= float(row["estimate"]) <= float(row["high"])
        assert ("beyond the possible, by noise" in row["note"]) == beyond
    german = house.ask("GET", f"/r/{campaign}/results.csv", cookie=analyst._cookie, headers={"Accept-Language": "de"})
    assert list(csv.DictReader(io.StringIO(german.content.decode("utf-8-sig")))) == rows


def test_what_groups_say_together_stands_in_the_page_s_language_and_dots_are_told_of_beside_a_picture_alone(house):
    analyst = house.analyst()
    campaign, people = scaled(house, analyst)
    page = house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie, headers={"Accept-Language": "de"}).text
    assert "mittlere Stufe" in page
    assert "die oberen zwei" in page
    assert not re.search(r"\bpoints\b|mean score|top two", words_of(page))
    assert "gefüllter Punkt" not in page, "differences of several figures are a table"
    campaign, people = answered(house, analyst, optin.Sheet([HOURS], title="Hours"), groups=("ICU", "-ER"))
    page = house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie, headers={"Accept-Language": "de"}).text
    assert "gefüllter Punkt" in page


def test_what_noise_left_nothing_of_has_no_estimate_and_what_was_dropped_has_its_reason():
    class Part:
        counted = SimpleNamespace(reach=1e6, weight_squares=1e-6, heaviest=1e-6, bias=0.0)

        def __init__(self):
            self.sheet, self.grouped = optin.Sheet([HOURS, optin.YesNo("break")]), False
            self.withheld, self.dropped = {"ER": "nobody joined"}, {"break": "too few people answered it"}

        def __getitem__(self, name):
            return self

        def readings(self, level):
            return [
                optin.questions.kinds.Reading("mean", -3.5, -4.0, 5.0),
                optin.questions.kinds.Reading("spread", 0.0, 0.0, 1.2, lost=True),
            ]

    assert list(result_rows(Part())) == [
        ("", "hours", "mean", "hours", -3.5, -4.0, 5.0, ""),
        ("", "hours", "spread", "hours", "", 0.0, 1.2, "too noisy to say"),
        ("", "break", "", "", "", "", "", "not published: too few people answered it"),
        ("ER", "", "", "", "", "", "", "not published: nobody joined"),
    ]


def test_the_page_has_a_picture_for_each_question_and_says_who_asked_when_and_with_which_quorum(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst)
    page = house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie).text
    found = facts(page)
    assert found["Asked by"] == "The works council"
    assert found["Published on"] == "15 January 2027"
    assert found["Published only with"] == "10 people or more, in each group and for each question"
    drawn = re.findall(rf'src="(/r/{campaign}/pictures/part-\d+-light.png)" alt="(.+?)"', page)
    assert [place for place, _ in drawn] == [f"/r/{campaign}/pictures/part-{at}-light.png" for at in range(2)]
    assert len({words for _, words in drawn}) == 2
    for place, _ in drawn:
        for each in (place, place.replace("light", "dark")):
            assert house.ask("GET", each, cookie=people[0]._cookie).content.startswith(b"\x89PNG\r\n")
    for wrong in ("part-2-light", "part-x-light", "part--1-light", "part-0-pink", "part-00-light", "result-light"):
        assert house.ask("GET", f"/r/{campaign}/pictures/{wrong}.png", cookie=people[0]._cookie).status_code == 404
    for file in ("results.csv", "release.json", "announcement.json"):
        assert f'href="/r/{campaign}/{file}"' in page


def test_groups_are_drawn_beside_each_other_with_the_whole_and_their_differences(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst, optin.Sheet([HOURS], title="Hours"), groups=("ICU", "-ER"))
    page = house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie).text
    assert "All together: hours" in page
    assert "Differences: hours" in page
    drawn = re.findall(rf'src="(/r/{campaign}/pictures/part-\d+-light.png)"', page)
    assert len(drawn) == 2
    for place in drawn:
        assert house.ask("GET", place, cookie=people[0]._cookie).content.startswith(b"\x89PNG\r\n")
    assert house.ask("GET", f"/r/{campaign}/pictures/part-1-light.png", cookie=people[0]._cookie).status_code == 404, (
        "the whole is a table"
    )


def test_one_number_keeps_its_page_and_has_its_csv(house):
    analyst = house.analyst()
    campaign = released(analyst, house.people(12))
    (row,) = (each for each in rows_of(house, campaign, analyst) if each["answer"] == "mean")
    assert float(row["estimate"]) == analyst.published(campaign).release.estimate
    page = house.ask("GET", f"/r/{campaign}").text
    assert "pictures/part-" not in page
    assert facts(page)["Published only with"] == "10 people or more"
    assert facts(page)["Asked by"] == "nobody is named"


def test_a_newsletter_states_interval_and_privacy_and_is_drafted_for_whoever_asks(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst)
    assert 'id="newsletter"' not in house.ask("GET", f"/r/{campaign}", cookie=people[0]._cookie).text
    page = house.ask("GET", f"/r/{campaign}", cookie=analyst._cookie).text
    draft = html.unescape(re.search(r'id="newsletter"[^>]*>(.*?)</textarea>', page, re.DOTALL)[1])
    assert "Send it to no one else." in page
    assert "The works council asked; 12 people registered, 12 took part. The rota." in draft
    release = analyst.published(campaign).release
    for question in release.sheet:
        assert question.text in draft
        for each in release[question.name].readings(0.95):
            estimate, ends = each.written(question.unit)
            assert f"- {each.answer}: {estimate} (range {ends})" in draft
    for sentence in ("in 95 of 100 cases, one figure at a time", "Noise was added so that nobody gives away more than"):
        assert sentence in draft
    assert "a bound, not secrecy" in draft


def test_a_newsletter_says_by_which_factor_where_a_cap_binds_and_names_groups(house):
    analyst = house.analyst()
    campaign, people = answered(house, analyst, optin.Sheet([HOURS], title="Hours"), groups=("ICU", "-ER"))
    mine = Visitor(
        house.service.read(lambda link: published.campaign_row(link, campaign)).owner,
        "analyst",
        None,
        session="",
        csrf="",
    )
    found = published.show(house.service, campaign, mine)
    draft = newsletter(found, found.release)
    assert '- "ICU", mean: ' in draft
    numbers = [row[4:7] for row in result_rows(found.release) if row[4] != ""]
    beyond = any(not low <= estimate <= high for estimate, low, high in numbers)
    pages = [house.ask("GET", f"/{where}/{campaign}", cookie=people[0]._cookie).text for where in "cr"]
    for shown in (draft, *pages):
        assert ("Noise can push an estimate beyond what is possible" in shown) == beyond
    assert ("on the odds of a guess about them" in draft) == (
        max(p.cap for p in found.announcement.parts) < HIGHEST_STEP
    )


def test_results_by_invitation_are_for_those_invited_in_every_form(house):
    analyst, other = house.analyst(), house.analyst("eve")
    campaign, people = answered(house, analyst)
    places = [f"/r/{campaign}", f"/r/{campaign}/results.csv", f"/r/{campaign}/pictures/part-0-light.png"]
    for who in (None, house.person(), other):
        for place in places:
            cookie = who and who._cookie
            seen = house.ask("GET", place, cookie=cookie)
            unknown = house.ask("GET", place.replace(campaign, "0" * 32), cookie=cookie)
            assert (seen.status_code, seen.text) == (404, unknown.text), place
    for who in (people[0], analyst):
        for place in places:
            assert house.ask("GET", place, cookie=who._cookie).status_code == 200, place


def test_before_the_result_there_is_no_file_and_an_open_one_is_for_everyone(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = analyst.draft(TWO, sealed=True, quorum_people=10, public=True).id
    analyst.take(campaign, "open")
    for at, person in enumerate(crowd):
        person.register(campaign, 7, answers={"shift": ("=1+1", "@late")[at % 2], "hours": 30.0 + at})
    places = [f"/r/{campaign}/results.csv", f"/r/{campaign}/pictures/part-0-light.png"]
    for step in ("close-registration", "announce", "close", "release"):
        for place in places:
            assert house.ask("GET", place, cookie=analyst._cookie).status_code == 404
        analyst.take(campaign, step)
    for who in (None, house.person(), house.analyst("eve")):
        for place in places:
            assert house.ask("GET", place, cookie=who and who._cookie).status_code == 200


def test_every_picture_of_a_result_is_there_to_be_printed_though_nobody_looked_at_it(tmp_path):
    """A browser prints what it has: of fourteen pictures that were fetched when they came into sight, seven were on paper."""
    sheet = optin.Sheet([optin.YesNo(f"b{at}", text="Did you skip a break?") for at in range(12)], title="Breaks")
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house, chromium() as browser:
        ada, crowd = house.analyst(), house.people(20)
        campaign = ada.draft(sheet, public=True, quorum_people=10).id
        ada.take(campaign, "open")
        for person in crowd:
            person.register(campaign, 5)
        for step in ("close-registration", "announce", "open-answers"):
            ada.take(campaign, step)
        for person in crowd:
            person.join(campaign, {question.name: True for question in sheet})
        ada.take(campaign, "close")
        ada.take(campaign, "release")
        watch = Watch(browser, house.origin)
        page = watch.visitor(size=PHONE)
        page.goto(f"{house.origin}/r/{campaign}")
        assert page.locator("figure img").count() == 12
        for _ in range(400):
            seen = page.evaluate("[...document.images].filter((each) => each.complete && each.naturalWidth).length")
            if seen == 12:
                break
            time.sleep(0.05)
        assert (seen, watch.faults) == (12, [])
