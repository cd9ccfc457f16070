"""What reports and the command line say of a release with decliners and a declared gap: its own numbers, all of the error."""

import csv
import html
import json
import math
import re
from decimal import Decimal

import numpy as np
import pytest
from cli_steps import optin_ok, people_csv
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin import figures
from optin.figures.accuracy import turnout_lines
from optin.participation import without
from optin.questions.kinds import Reading
from optin.releasing.useless import expected_half
from optin.report import Source, render, write_report
from optin.report.images import told
from optin.report.plan_sections import plan_sections
from optin.report.release_sections import sd_words
from optin.web.pages.drafting import preview_words
from optin.web.pages.wording import result_words
from optin.web.service import preview
from optin.web.service.drafts import Draft
from optin.wording.numbers import ends, percent, plus_minus, short, steady

LIMITS = np.r_[np.full(60, 0.1), np.full(170, 0.5), np.full(170, 1.0)]
AWAY = np.arange(400) % 25 >= 4  # 16 % decline, whoever they are


def campaign(limits=LIMITS, joined=AWAY, **question):
    """Plan, and draw with some away; the people, the plan and the release."""
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=(0, 5), data_sd=1.0, **question)
    offer = plan.announce(people, campaign="c")
    return people, plan, optin.release(offer, people, np.full(len(limits), 4.0), joined=joined)


def page_words(**source):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", render(Source(**source)))))


@pytest.fixture(scope="module")
def gapped():
    people, plan, release = campaign(max_gap=0.5)
    assert release.tilt > 2 * plan.tilt
    return people, plan, release, optin.describe(people)


@pytest.fixture(scope="module")
def gapped_page(gapped):
    _, plan, release, description = gapped
    return page_words(plan=plan, description=description, release=release)


# --- a release's own numbers


def test_a_report_of_a_release_states_its_own_tilt_and_bias_and_calls_planned_ones_planned(gapped, gapped_page):
    _, plan, release, _ = gapped
    section = gapped_page[gapped_page.index("Whose values count") : gapped_page.index("Where the error comes from")]
    assert f" tilt {percent(release.tilt)} " in section
    assert f"largest bias at that gap {short(release.bias_bound)} " in section
    assert f"a tenth of the range {short(release.tilt * 0.5)} " in section
    assert f"tilt, as planned {percent(plan.tilt)} " in section
    assert f"largest bias, as planned {short(plan.bias_bound)}" in section


def test_a_report_of_a_plan_states_the_plans_tilt_and_bias(gapped):
    _, plan, _, description = gapped
    words = page_words(plan=plan, description=description)
    assert f" tilt {percent(plan.tilt)} " in words
    assert "as planned" not in words[: words.index("The plan in numbers")]


# --- what decliners cost where a gap is declared


@pytest.mark.parametrize("who", range(3))
def test_what_absence_is_foreseen_to_cost_is_what_a_release_then_states(who):
    """Anyone, the strictest, the most willing: bias bounds agree to rounding, standard errors too."""
    order = [AWAY, np.arange(400) >= 64, np.arange(400) < 336][who]
    _, best, _ = campaign(joined=order, max_gap=0.5)
    people, plan, release = campaign(joined=order, max_gap=0.5, eta=best.eta)  # at a given noise nothing is rounded
    foreseen = without(plan, people, share=0.16)[who]
    assert foreseen.bias_bound == pytest.approx(release.bias_bound, rel=0.02 if who == 0 else 1e-6)
    assert foreseen.worst_case_error == pytest.approx(math.hypot(release.standard_error, release.bias_bound), rel=0.02)
    drawn = turnout_lines(plan, optin.describe(people), np.array([0.16]))
    assert drawn[("random", "strictest", "generous")[who]][0] == pytest.approx(foreseen.worst_case_error, rel=0.01)


def test_the_turnout_of_a_report_counts_the_bias_that_a_release_counts(gapped, gapped_page):
    _, plan, release, description = gapped
    worst = math.hypot(release.standard_error, release.bias_bound)
    section = gapped_page[gapped_page.index("If people stay away") :]
    assert "Error with bias left, promises unchanged" in section
    assert f"error with its bias {steady(worst)}." in section
    assert "shaded band" not in section
    turnout = next(s for s in plan_sections(plan, description, release) if s.name == "turnout")
    assert f"its error with the largest bias is {short(worst)}." in told(turnout.draw)


def test_without_a_gap_the_turnout_is_of_standard_errors_within_a_band():
    people, plan, release = campaign()
    section = page_words(plan=plan, description=optin.describe(people), release=release)
    section = section[section.index("If people stay away") :]
    assert "Standard error left, promises unchanged" in section
    assert "in the shaded band" in section
    assert "error with its bias" not in section


@pytest.mark.parametrize("turnout", [0.84, 0.5])
def test_a_half_width_at_a_turnout_allows_for_the_bias_of_those_who_are_gone(turnout):
    joined = np.arange(400) % 50 < 50 * turnout
    _, plan, release = campaign(joined=joined, max_gap=0.5)
    offer, half = release.announcement, expected_half(release, release.sheet.alone)  # whatever was drawn
    for foreseen in (plan.half_width(turnout=turnout), offer.half_width(turnout=turnout)):
        assert half * 0.99 <= foreseen <= half * 1.2


# --- the command line


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "limit", "answer", "joined"])
        rows.writerows([f"p{i}", limit, 4, int(AWAY[i])] for i, limit in enumerate(LIMITS))
    return path


def drawn(table, *question):
    folder = table.parent
    said = optin_ok(
        *("plan", table, "--limits", "limit", "--bounds", 0, 5, "--sd", 1, "--without", "16%", *question),
        *("-o", folder / "plan.json"),
    )
    optin_ok("announce", folder / "plan.json", table, "--ledger", folder / "l.sqlite", "-o", folder / "offer.json")
    release = optin_ok(
        *("release", folder / "offer.json", table, "--values", "answer", "--joined", "joined", "--no-ledger"),
        *("-o", folder / "release.json"),
    )
    return said.out, release.out, optin.Release.from_json((folder / "release.json").read_text())


def test_the_command_line_names_what_an_interval_allows_for_and_what_it_leaves_out(table):
    said, released, release = drawn(table, "--max-gap", 0.5)
    assert re.search(r"which allows for +The interval allows for averages", released)
    assert "leaves out" not in released
    assert "the mean of values counted between 0 and 5" in released
    assert f"{plus_minus(release.half_width())}, before" in released
    declined = said[said.index("If they decline") :]
    assert re.search(r"who +people +standard error +largest bias +error with it", declined)
    plan = json.loads((table.parent / "plan.json").read_text())
    plan = optin.Plan.from_json(json.dumps(plan))
    anyone = without(plan, optin.PrivacyConstrained(LIMITS), share=0.16)[0]
    assert re.search(rf"anyone +64 +\S+ +{anyone.bias_bound:.4g} +{anyone.worst_case_error:.4g}", declined)
    assert "people without the gap, of" in said


def test_the_command_line_leaves_out_what_no_gap_was_declared_for(table):
    said, released, _ = drawn(table)
    assert re.search(r"which leaves out +The ± counts no error", released)
    assert "largest bias" not in said[said.index("If they decline") :]
    assert "without the gap" not in said


def test_the_command_line_says_that_an_interval_holds_where_everyone_counts_alike(table):
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "limit", "answer", "joined"])
        rows.writerows([f"p{i}", 0.5, 4, 1] for i in range(40))
    assert re.search(r"which holds +Everyone counts alike", drawn(table)[1])


# --- of which values a mean is one


def test_a_report_of_a_release_says_between_what_values_were_counted(gapped):
    release = gapped[2]
    page = render(Source(release=release))
    headline = re.search(r"<h1>(.*?)</h1>", page)[1]
    assert headline.endswith(", of values counted between 0 and 5")
    assert "The mean of values counted between 0 and 5 is estimated at" in page
    assert result_words(release).counted == "counted between 0 and 5"


def test_a_spread_of_which_noise_left_nothing_is_said_in_a_sentence_of_its_own():
    for lost, words in (
        (False, "is estimated at 0.60 (95 % interval 0.00 to 1.20), published"),
        (True, "is too noisy to say"),
    ):
        (said,) = sd_words([Reading("sd", 0.6, 0.0, 1.2, lost=lost)])
        assert words in said
        assert "estimated at too" not in said


# --- as good as so many people


def test_how_many_people_a_plan_is_worth_counts_a_declared_gap_or_says_that_it_does_not(gapped):
    _, plan, _, description = gapped
    assert plan.worst_case_people == pytest.approx(plan.data_variance / plan.worst_case_mse)
    assert plan.worst_case_people < plan.effective_people
    ours, worst = f"{plan.effective_people:,.0f}", f"{plan.worst_case_people:,.0f}"
    words = page_words(plan=plan, description=description)
    assert f"{worst} people would give an exact mean as accurate as this, with its largest bias" in words
    said = f"the exact mean of {ours} people without the gap, of {worst} people with its largest bias"
    assert f"as accurate as {said}" in words
    assert said in repr(plan)
    draft = Draft(title="t", question="q", unit="", lower=0.0, upper=5.0, data_sd=1.0, max_gap=0.5)
    found = preview.accuracy(draft, [0, 0, 0, 50, 50, 50, 50, 50, 0, 0])
    assert preview_words(found, max_gap=0.5)["besides_gap"] == ", without the gap"
    assert preview_words(found, max_gap=0.0)["besides_gap"] == ""


# --- one ±


@pytest.mark.parametrize("half", [0.14498, 0.145, 0.1, 3.0, 0.30000000000000004, 1234.5, 2.51e-7, 1.7e308, 0.0999501])
def test_a_plus_minus_is_never_narrower_than_its_interval_and_at_most_a_hundredth_wider(half):
    said = float(plus_minus(half).removeprefix("± ").replace(",", ""))
    assert half <= said <= half * 1.01 * (1 + 1e-12)


def test_plans_offers_releases_and_pages_write_one_plus_minus(gapped):
    _, plan, release, description = gapped
    said = plus_minus(release.half_width())
    assert said.replace(" ", "\N{NO-BREAK SPACE}") in render(Source(release=release))
    assert f"± {result_words(release).half_width}" == said
    assert plus_minus(plan.half_width()) in render(Source(plan=plan, description=description))
    assert plus_minus(plan.half_width()) in repr(plan)


# --- near the strictest limit, and people who give nothing


def test_the_dial_of_a_small_group_says_that_its_strictest_place_is_rounded_down(gapped_page):
    places = gapped_page[gapped_page.index("Three places on the dial") :]
    assert re.search(r"near the strictest +\S+ +[\d.]+ ", places)
    assert "rounded down so that it is nobody's own" in places


def limits_words(limits):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=(0, 5), data_sd=1.0)
    return plan, told(lambda ax, ink: figures.limits(ax, plan, optin.describe(people), ink=ink))


def test_people_with_limit_0_are_not_counted_among_those_who_give_all_they_allow():
    plan, words = limits_words(np.r_[np.zeros(30), LIMITS])
    tight = plan.people - plan.pooled_people - 30
    assert f"In the tail, {tight} people give all they allow (30 with limit 0); in the pool, " in words


def test_a_handful_with_limit_0_is_not_told_apart():
    plan, words = limits_words(np.r_[np.zeros(3), LIMITS])
    tail = plan.people - plan.pooled_people
    assert f"In the tail, {tail} people give all they allow (limit 0: fewer than 10 of them); in the pool, " in words


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e5))
@settings(max_examples=examples(200), deadline=None, derandomize=True)
def test_an_interval_as_written_holds_the_interval(low, half):
    high = low + 2 * half
    written = [Decimal(end.replace(",", "")) for end in ends((low, high), half)]
    assert written[0] <= Decimal(repr(low))
    assert Decimal(repr(high)) <= written[1]
    assert written[1] - written[0] <= Decimal(repr(2 * half)) + 2 * Decimal(10) ** (math.floor(math.log10(half)) - 1)


def test_a_report_and_the_terminal_write_the_same_interval_and_the_same_cap(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path, 300)
    told = optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", 0, 40, "--sd", 9, "-o", "plan.json").out
    planned = re.search(r"cap +([\d.]+):", told)[1]
    told = optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "-o", "a.json").out
    cap = re.search(r"cap +([\d.]+):", told)[1]
    assert 2 ** (-1 / 8) < float(cap) / float(planned) < 2 ** (1 / 8)
    assert f"planned as {planned}; the public step next to it" in told
    told = optin_ok(
        "release", "a.json", "people.csv", "--values", "units", "--joined", "joined", "--no-ledger", "-o", "r.json"
    ).out
    low, high = re.search(r"95 % in total +([\d.]+) to ([\d.]+):", told).groups()
    optin_ok("report", "r.json", "--plan", "plan.json", "-o", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert f"{low} to {high}" in page
    assert f"between {low} and {high}" in page
    assert re.findall(r"above the cap, ([\d.]+):", page) == [cap]
    release = optin.Release.from_json((tmp_path / "r.json").read_text())
    assert float(low) <= release.total_interval(0.95).low
    assert release.total_interval(0.95).high <= float(high)


def test_a_report_says_what_was_measured(tmp_path):
    people = optin.PrivacyConstrained([0.5] * 40)
    asked = optin.Number("hours", bounds=(0, 80), unit="hours", text="How long did you work?")
    plan = optin.plan(people, optin.Sheet([asked], title="Working hours in May"))
    (tmp_path / "plan.json").write_text(plan.to_json())
    page = write_report(tmp_path / "plan.json", tmp_path / "r.html").read_text()
    assert "About: Working hours in May" in page
    assert "How long did you work? (in hours)" in page
