"""The report of a sheet says every result and why others are missing; records print what a person wants to know."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import optin
from optin.figures.means import mean_words
from optin.questions.counted import Counted
from optin.report import Source, render, write_report
from optin.report.privacy import privacy_sheet
from optin.wording.numbers import largest
from optin.wording.telling import MOST_ROWS, Telling

HOSTILE = '<img src=x onerror="alert(1)">&amp;'
QUESTIONS = (
    optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work last week?"),
    optin.YesNo("break", text=f"Did you skip a break? {HOSTILE}"),
    optin.Choice("shift", options=("early", "late", "night", HOSTILE)),
    optin.Scale("mood", options=("very bad", "bad", "fair", "good", "very good"), max_gap=0.05),
    optin.Score("phq9", items=9, each=(0, 3)),
    optin.Histogram("age", edges=(16, 25, 35, 45, 55, 65, 80), unit="years"),
    optin.MultipleChoice("reasons", options=("pay", "hours", "boss", "way"), at_most=2),
    optin.Choice("rare", options=tuple(f"option {k}" for k in range(20)), max_error=0.001),
)
COUNT = 900
SKIPPED = 250
rng = np.random.default_rng(4)
LIMITS = rng.choice([0.5, 2.0, 6.0], COUNT)


def answers(skipped=0):
    columns = {
        "hours": rng.normal(38, 9, COUNT).tolist(),
        "break": (rng.random(COUNT) < 0.3).tolist(),
        "shift": rng.choice(QUESTIONS[2].options, COUNT).tolist(),
        "mood": rng.choice(QUESTIONS[3].options, COUNT).tolist(),
        "phq9": rng.binomial(27, 0.2, COUNT).astype(float).tolist(),
        "age": rng.normal(42, 12, COUNT).tolist(),
        "reasons": ["pay;boss", "", "way"] * (COUNT // 3),
        "rare": ["option 3"] * COUNT,
    }
    columns["mood"][:skipped] = [None] * skipped
    return columns


class Reader(HTMLParser):
    """What a page shows, loads and says; every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.images, self.texts, self.loads = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        self.loads += [found[name] for name in ("src", "srcset", "href", "action") if name in found]
        self.loads += [name for name in found if name.startswith("on")]
        self.images += [found["alt"]] if tag == "img" else []
        self.open += [] if tag in ("img", "meta", "source") else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def people():
    return optin.PrivacyConstrained(LIMITS)


@pytest.fixture(scope="module")
def plan(people):
    sheet = optin.Sheet(QUESTIONS, title=f"A pulse survey {HOSTILE}", purpose="To learn.", asked_by="the council")
    return optin.plan(people, sheet)


@pytest.fixture(scope="module")
def release(people, plan):
    joined = np.arange(COUNT) < COUNT - 100
    return optin.release(plan.announce(people, campaign="pulse"), people, answers(SKIPPED), joined=joined)


@pytest.fixture(scope="module")
def files(people, plan, release, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheet")
    described = json.loads(plan.to_json()) | {"describe": optin.describe(people).as_dict()}
    (folder / "plan.json").write_text(json.dumps(described))
    (folder / "release.json").write_text(release.to_json())
    return folder


@pytest.fixture(scope="module")
def release_page(files):
    return write_report(files / "release.json", files / "release.html").read_text()


@pytest.fixture(scope="module")
def plan_page(files):
    return write_report(files / "plan.json", files / "plan.html").read_text()


@pytest.fixture(scope="module")
def both_page(files):
    return write_report(files / "release.json", files / "both.html", plan=files / "plan.json").read_text()


@pytest.mark.parametrize("name", ["release_page", "plan_page", "both_page"])
def test_a_page_of_a_sheet_is_whole_loads_nothing_and_takes_words_for_words(name, request):
    text = request.getfixturevalue(name)
    reader = Reader(text)
    assert reader.open == []
    assert all(load.startswith("data:image/png;base64,") for load in reader.loads)
    assert HOSTILE in reader.words
    assert "<img src=x" not in text
    assert "://" not in text


def test_the_headline_has_every_published_figure_and_every_question_that_was_dropped(release, release_page):
    words = Reader(release_page).words
    for name, result in release.results.items():
        for each in result.readings(0.95):
            estimate, interval = each.written(release.sheet[name].unit)
            assert f"{' '.join(each.answer.split())} {estimate} {interval}" in words
    assert list(release.dropped) == ["rare"]
    assert words.count(f"Not published: {release.dropped['rare']}. Nobody was charged for it.") == 2


def test_every_published_question_has_a_picture_and_says_who_answered(release, release_page):
    reader = Reader(release_page)
    assert len(reader.images) == len(QUESTIONS) - 1
    assert all(len(words) > 60 for words in reader.images)
    assert f"{COUNT - 100 - SKIPPED:,} of {COUNT - 100:,} people who joined answered “mood”." in reader.words
    for question in QUESTIONS[:3]:
        assert f"{COUNT - 100:,} of {COUNT - 100:,} people who joined answered “{question.name}”." in reader.words


def test_plus_minus_and_breakdown_gaps_of_proportions_are_in_points(release, release_page):
    words = Reader(release_page).words
    result = release["shift"]
    widest = 100 * max((high - low) / 2 for low, high in map(result.interval, result.options))
    said = float(re.search(r"± ([0-9.]+) points at most", words.partition("answered “shift”")[2])[1])
    assert widest <= said <= widest * 1.01 + 0.01
    gap = float(re.search(r"if these lie ([0-9.]+) points apart", words.partition("answered “shift”")[2])[1])
    assert gap == pytest.approx(100 * result.breakdown_gap, rel=0.06)
    assert "differ by up to 5 points" in words.partition("answered “mood”")[2]


def test_a_standard_error_never_carries_plus_minus(release_page):
    table = Reader(release_page).words
    assert re.search(r"standard error\b.{0,200}?[0-9] points", table, flags=re.S)
    assert not re.search(r"standard error[^.]{0,12}±", table)


def test_several_figures_and_skips_are_spoken_of(release_page):
    words = Reader(release_page).words
    assert "Which questions someone answered is not protected" in words
    assert "of twenty figures about one" in words
    assert "One limit covers the whole sheet" in words
    assert "different answers to all questions" in words


def test_one_question_has_the_privacy_sheet_it_had():
    assert "Several questions" not in privacy_sheet(
        optin.plan(optin.PrivacyConstrained([1.0, 2.0]), optin.YesNo("break"))
    )


def test_a_privacy_sheet_promises_nothing_only_where_no_group_has_noise():
    noisy, exact = (optin.plan(optin.PrivacyConstrained([limit] * 3), bounds=(0, 1)) for limit in (1.0, math.inf))
    assert "Nothing." in privacy_sheet(exact, exact)
    for offers in ((noisy, exact), (exact, noisy)):
        assert "each by their own limit" in privacy_sheet(*offers)


def test_a_plan_says_what_each_question_takes_and_gives(plan, plan_page):
    words = Reader(plan_page).words
    for question in plan.sheet:
        found = plan[question.name]
        assert f"{found.epsilon_share:.10g}" in words
    assert largest(plan.cap) in words
    assert "± by how many join" in words
    assert "verdict" in words


def test_release_and_plan_together_have_the_pictures_of_both(both_page, release_page, plan_page):
    together, drawn, planned = (len(Reader(page).images) for page in (both_page, release_page, plan_page))
    assert together == drawn + planned


def test_what_was_planned_is_called_so_beside_results(both_page, plan_page):
    both, alone = Reader(both_page).words, Reader(plan_page).words
    assert "Each question, as planned" in both
    assert "what came of it stands with the results" in both
    assert "as planned" not in alone.split("The plan in numbers")[0].split("What each question takes")[1]


def test_a_page_says_how_answers_beyond_the_bounds_count_and_whose_tilt_it_shows(release_page):
    words = Reader(release_page).words
    assert "Answers were counted between 0 and 80." in words
    assert "Answers were counted between 0 and 27." in words
    assert words.count("Whatever lies outside counts in the first or the last bin.") == 1
    assert "tilt, of the question that has most" in words


def test_numbers_under_seal_are_not_said_to_stand_in_the_public_file(release, release_page):
    assert release.seal is not None
    assert "noisy_total" not in release.to_json()
    assert "from release.json" not in release_page
    assert "under seal: the operator can open them to an auditor" in release_page
    assert release.seal.commitment in release_page


def test_a_spread_that_noise_left_nothing_of_is_not_written_as_zero():
    hours = QUESTIONS[0]
    level, mean = 2**20 * 2**40, 2**59
    low, high = (hours.result(Counted(900, 2**40, 2**71, 2**31, (mean, noisy))) for noisy in (level * 26 // 100, 0))
    assert low.sd == 0.0 < low.sd_interval(0.95).high
    exact = Counted(900, 2**40, 2**71, 2**31, (level, 0), noiseless=True)
    assert hours.result(exact).readings()[1].written("hours")[0] == "0.0 hours"
    assert [each.written("hours")[0] for each in low.readings()][1] == "too noisy to say"
    assert "standard deviation too noisy to say (95 %: 0.0" in "; ".join(mean_words(low, "hours"))
    assert high.readings()[1].written("hours")[0].endswith(" hours")


def test_a_result_that_says_next_to_nothing_is_called_so():
    people = optin.PrivacyConstrained([0.1] * 40)
    offer = optin.plan(people, [optin.YesNo("a"), optin.YesNo("b")]).announce(people, campaign="few")
    drawn = optin.release(offer, people, {"a": [True] * 40, "b": [False] * 40})
    words = Reader(render(Source(release=drawn))).words
    assert "“a” says next to nothing" in words
    assert "± 25 points is the most that is of use" in words


@pytest.mark.parametrize("question", QUESTIONS[1:7], ids=lambda question: question.name)
def test_a_sheet_of_one_question_of_any_kind_has_a_page(question, people):
    offer = optin.plan(people, [question]).announce(people, campaign="one")
    release = optin.release(offer, people, {question.name: answers()[question.name]})
    words = Reader(render(Source(release=release))).words
    assert "Privacy sheet" in words
    assert "Several questions" not in words


def test_a_sheet_without_noise_has_a_page():
    people = optin.PrivacyConstrained([np.inf] * 60)
    plan = optin.plan(people, list(QUESTIONS[1:3]))
    offer = plan.announce(people, campaign="open")
    columns = {name: column[:60] for name, column in answers().items()}
    drawn = optin.release(offer, people, {name: columns[name] for name in ("break", "shift")}, allow_no_noise=True)
    words = Reader(render(Source(plan=plan, description=optin.describe(people), release=drawn))).words
    assert "No noise was added" in words


def test_public_numbers_are_said_to_stand_in_the_public_file():
    people = optin.PrivacyConstrained([np.inf] * 30)
    offer = optin.announce(optin.plan(people, [QUESTIONS[1], QUESTIONS[0]]), people)
    found = optin.release(offer, people, {"break": [True] * 30, "hours": [38.0] * 30}, allow_no_noise=True)
    assert found.seal is None
    assert "noisy_total" in found.to_json()
    page = render(Source(release=found))
    assert "Anyone recomputes every figure from release.json, where the noisy integers stand" in page


def test_one_number_tells_its_spread_and_its_question():
    people = optin.PrivacyConstrained(LIMITS)
    offer = optin.plan(people, [QUESTIONS[0]]).announce(people, campaign="one")
    drawn = optin.release(offer, people, answers()["hours"])
    words = Reader(render(Source(release=drawn))).words
    low, high = drawn.only.sd_interval(0.95)
    assert "The standard deviation of the values is estimated at" in words
    assert QUESTIONS[0].text in words
    assert high > low


def test_a_release_prints_its_results_and_no_exact_sum(release):
    shown = repr(release)
    assert shown.startswith("Release pulse-1\n")
    assert f"{COUNT - 100} of {COUNT} people" in shown
    assert "no ledger stands behind it" in shown
    assert '"rare" not published' in shown
    private = [each.sums.total_grains for each in release.sealed.answered]
    private += [total for each in release.sealed.answered for total in each.noisy_totals]
    records = [release, release["shift"], release["hours"], *release.answered, release["age"].counted]
    text = " ".join(map(repr, records)) + release._repr_html_()
    assert not [number for number in private if number and str(number) in text]


def test_results_print_every_figure_with_its_interval(release):
    for name, result in release.results.items():
        shown = repr(result)
        assert f"Result of {result.counted.people} people" in shown
        for each in result.readings(0.95):
            assert each.written()[1] in shown, name


def test_an_offer_prints_what_it_takes_and_what_it_gives(plan, people):
    offer = plan.announce(people, campaign="pulse")
    shown = repr(offer)
    assert shown.startswith("Announcement pulse-1\n")
    assert len(shown.splitlines()) == 6 + len(QUESTIONS)
    assert str(offer.sealed.total_grains) not in shown + offer._repr_html_()
    assert all(question.name in shown for question in QUESTIONS)
    assert repr(offer["hours"]).startswith('Question "hours" of announcement pulse-1\n')


def test_a_deal_prints_what_each_question_takes(plan, people):
    deal = optin.explain(plan.announce(people, campaign="pulse"), limit=0.5)
    assert repr(deal).startswith("Deal\n")
    assert all(question.name in repr(deal) for question in QUESTIONS)
    assert "<table" in deal._repr_html_()


def test_notebooks_take_words_for_words(release, plan, people):
    offer = plan.announce(people, campaign="pulse")
    for record in (release, release["shift"], offer, plan):
        text = record._repr_html_()
        assert "<img" not in text
        assert Reader(text).open == []


def test_a_record_prints_a_page_of_rows_and_says_where_the_others_are():
    rows = tuple((f"option {k}", "1 %") for k in range(MOST_ROWS + 7))
    told = Telling("Release", (), ("answer", "estimate"), rows, numbers=1, more="release.table()")
    assert len(repr(told).splitlines()) == MOST_ROWS + 4
    assert "… 7 more: release.table()" in repr(told)
    assert "… 7 more: release.table()" in told.html()


def test_words_on_several_lines_are_printed_on_one():
    assert repr(Telling("A", (("asks", "one\ntwo\x1b[31m"),))) == "A\n  asks  one two [31m"
