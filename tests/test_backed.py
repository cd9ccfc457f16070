"""What docs claim is backed: every claiming sentence is listed, and every test and command that a list names is there."""

from __future__ import annotations

import re
from pathlib import Path

import claiming
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

import optin
from optin.planning.assumed import MIXES

ROOT = Path(__file__).parent.parent
TESTS = {path.name: path.read_text() for path in (ROOT / "tests").glob("test_*.py")}
NAMES = {name for text in TESTS.values() for name in re.findall(r"^def (test_\w+)", text, flags=re.M)}
LISTED = (ROOT / "docs/theory/backed.md").read_text().split("## Sentence by sentence\n")[1]
CLAIMING = [str(page.relative_to(ROOT)) for page in claiming.pages()]
EXAMPLES, PROOF = "computed by the examples of this page", "proved on this page"
BACKING = ("`", EXAMPLES, PROOF, "a definition", "assumed", "arithmetic", "an estimate", "an argument", "a reference")
PAGES = ["docs/theory/claims.md", "docs/theory/backed.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    for file in re.findall(r"`tests/(test_\w+\.py)", text):
        assert file in TESTS, file
    for beginning in re.findall(r"\b(test_(?!\w+\.py)\w+?)_…", text):
        assert any(name.startswith(beginning) for name in NAMES), beginning
    for name in re.findall(r"`(test_(?!\w+\.py)\w+)`", text):
        assert name in NAMES, name
    for script in re.findall(r"`python ([\w/]+\.py)", text):
        assert (ROOT / script).exists(), script
    for bench in re.findall(r"`python -m benchmarks (\w+)`", text):
        assert (ROOT / "benchmarks" / f"{bench}.py").exists(), bench


def test_every_claim_theorem_and_corollary_has_a_test_of_its_own():
    text = (ROOT / "docs/theory/claims.md").read_text()
    wanted = [f"test_claim_{number:02}" for number in range(1, 11)]
    wanted += [f"test_{kind}_{number}" for kind in ("theorem", "corollary") for number in (1, 2)]
    for beginning in wanted:
        assert f"`{beginning}_" in text, beginning
        assert any(name.startswith(beginning) for name in NAMES), beginning


def int_of(text):
    return int(text or 0)


def test_the_map_of_the_paper_has_all_its_definitions_and_programs():
    text = (ROOT / "docs/theory/claims.md").read_text()
    for number in range(1, 5):
        assert f"Definition {number}" in text
    assert "Assumption 1" in text
    ranges = re.findall(r"Programs? (\d+)(?:(?:, | and )(\d+)| to (\d+))?", text)
    found = [
        number for first, *rest in ranges for number in range(int(first), int(max([first, *rest], key=int_of)) + 1)
    ]
    assert sorted(found) == list(range(1, 13))
    assert text.count("| remark |") == 14
    assert text.count("| algorithm |") == 2


def listed(page):
    """Return the quoted beginnings of a page's sentences, each with what backs it."""
    found = re.search(rf"^### \[{re.escape(page)}\].*?(?=^### |\Z)", LISTED, flags=re.M | re.S)
    rows = re.findall(r"^\| (?!sentence|---)(.+?) \| (.+) \|$", found[0], flags=re.M) if found else []
    return [(quote, backing) for quotes, backing in rows for quote in quotes.split("<br>")]


def unlisted(page, text):
    """Return the claims of a text that the list of a page does not have."""
    quotes = tuple(quote for quote, _ in listed(page))
    return [said for said in claiming.claims(text) if not said.startswith(quotes)]


@pytest.mark.parametrize("page", CLAIMING)
def test_every_sentence_that_claims_a_number_or_an_optimum_is_listed_with_what_backs_it(page):
    assert unlisted(page, (ROOT / page).read_text()) == []


NEW = (
    "This makes optin the fastest of all.",
    "Intervals are then 37 % narrower.",
    "It takes at most 3 scans.",
    "The error was 0.0421 then.",
    "No mechanism can go below it.",
    "There the factor is 2.19.",
    "With 0.3, forty-nine people in a thousand would be taken.",
    "It was told to 7 digits.",
    "All intervals held at least as often as they say.",
    "| what | took |\n|---|---|\n| a plan | 0.37 s |",
)


@pytest.mark.parametrize("page", CLAIMING)
def test_a_new_claim_without_a_line_in_the_list_would_be_found(page):
    text = (ROOT / page).read_text()
    assert len(unlisted(page, "\n\n".join((text, *NEW)))) == len(unlisted(page, text)) + len(NEW)


@pytest.mark.parametrize(
    "sentence",
    ["People with limit 0.5 join.", "Use `max_gap=0.37`: it is the *least*.", "A 95 % interval.", "$x = 3.7 %$"],
)
def test_inputs_code_formulas_and_levels_are_no_claims(sentence):
    assert claiming.claims(sentence) == []


@pytest.mark.parametrize("page", CLAIMING)
def test_every_line_of_the_list_quotes_a_sentence_that_is_there_and_says_what_backs_it(page):
    text = (ROOT / page).read_text()
    said = claiming.claims(text)
    for quote, backing in listed(page):
        whole = quote in said
        assert whole or (len(quote) >= 15 and any(each.startswith(quote) for each in said)), quote
        assert any(word in backing for word in BACKING), backing
        assert EXAMPLES not in backing or ">>>" in text or "```console" in text, quote
        assert PROOF not in backing or page.startswith("docs/theory/"), quote


def test_the_list_names_no_page_that_is_not_searched():
    assert set(re.findall(r"^### \[(.+?)\]", LISTED, flags=re.M)) <= set(CLAIMING)


def test_the_shares_of_the_survey_are_those_that_pages_name():
    data = sm.datasets.fair.load_pandas().data
    assert len(data) == 6366
    assert round(100 * np.mean(data["affairs"] > 0), 1) == 32.2
    assert round(100 * np.mean(data["rate_marriage"] == 5), 1) == 42.2
    assert round(data["yrs_married"].mean(), 2) == 9.01


def test_of_those_who_guard_their_answers_naive_releases_say_too_little_and_guarded_ones_do_not():
    """The people of how-to/real-data.md: what releases say on average, their ±, and the gap at which ± breaks down."""
    affair = (sm.datasets.fair.load_pandas().data["affairs"] > 0).to_numpy()
    cautious = np.random.default_rng(5).random(len(affair)) < np.where(affair, 0.8, 0.2)
    people = optin.PrivacyConstrained(np.where(cautious, 0.1, 1.0))
    naive, guarded = (optin.plan(people, optin.YesNo("affair", max_gap=gap)) for gap in (0.0, 0.6))
    assert [round(100 * float(plan.weights(people) @ affair), 1) for plan in (naive, guarded)] == [28.8, 32.2]
    assert round(naive.tilt, 3) == 0.063
    assert round(guarded.tilt, 3) == 0.0
    assert [np.ceil(1e4 * plan["affair"].half_width()) / 100 for plan in (naive, guarded)] == [1.31, 1.33]
    assert 0.5 < affair[cautious].mean() - affair[~cautious].mean() < 0.6
    assert round((0.302 - 0.278) / 2 / naive.tilt, 2) == 0.19


def test_the_plain_quantile_misses_rare_answers_as_often_as_the_page_says():
    """Among 40 people who say yes with chance 0.003: nobody is within the quantile, one is not."""
    half = stats.norm.ppf(0.975) * np.sqrt(0.003 * 0.997 / 40)
    counts = np.arange(41)
    held = stats.binom.pmf(counts, 40, 0.003)[np.abs(counts / 40 - 0.003) <= half].sum()
    assert round(100 * held) == 89


def test_an_error_as_large_as_the_half_width_halves_coverage_and_half_of_it_leaves_83_to_88_in_100():
    """Where people are all of the error, and where noise is."""
    for law, known in ((stats.norm, [50, 83]), (stats.laplace, [50, 88])):
        half = law.ppf(0.975)
        held = [law.cdf(half - half * part) - law.cdf(-half - half * part) for part in (1.0, 0.5)]
        assert [round(100 * each) for each in held] == known


def test_one_person_without_a_limit_among_a_hundred_can_decide_much_of_a_sheet():
    limits = [limit for limit, many in MIXES["mixed"] for _ in range(many)]
    people = optin.PrivacyConstrained([*limits, np.inf])
    plan = optin.plan(people, [optin.Choice(f"q{at}", options=tuple("abcde")) for at in range(6)])
    assert len(limits) == 100
    assert 30 < plan.cap < 31
    assert 0.38 < plan.weights(people).max() < 0.4
