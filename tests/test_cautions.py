"""Numbers that mislead are said to: in Python, on the command line, in reports and on pages; nothing is refused for them."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from changing import changed_plan
from cli_steps import optin as command
from cli_steps import optin_ok

import optin
from optin.errors import BadInput
from optin.planning.cautions import assumption, cautions
from optin.report import Source, render, write_report
from optin.web.pages.drafting import preview_words
from optin.web.pages.wording import result_words
from optin.web.service import preview
from optin.web.service.drafts import Draft
from optin.web.service.ladder import LIMITS
from optin.wording.numbers import at_most, plus_minus, short

SOURCE = Path(optin.__file__).parent


def planned(limits, **asked):
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, **{"bounds": (0, 1), **asked}), agents


def released(limits, values=0.5, **asked):
    plan, agents = planned(limits, **asked)
    return optin.release(plan.announce(agents), agents, np.full(len(limits), values))


# --- standard error against the bounds, sd 0, limits that look like percentages


@pytest.mark.parametrize(("error", "words"), [(0.51, "more than half of"), (1.01, "larger than the whole")])
def test_a_standard_error_above_half_of_the_range_is_said_to_be_worse_than_a_guess(error, words):
    (said,) = cautions(standard_error=error, half_width=2 * error, width=1.0, data_variance=0.25)
    assert words in said
    assert "a guess of the midpoint would be better" in said
    assert not cautions(standard_error=0.5, half_width=0.4, width=1.0, data_variance=0.25)


def test_plan_announcement_release_and_report_warn_of_the_same():
    plan, agents = planned(np.full(12, 0.05))
    offer = plan.announce(agents)
    release = optin.release(offer, agents, np.full(12, 0.5))
    assert plan.warnings() == offer.warnings() == release.warnings() != ()
    assert plan.warnings()[0] in render(Source(plan=plan)).replace("&#x27;", "'")
    assert release.warnings()[0] in render(Source(release=release))
    assert plan.warnings()[0] in repr(plan)
    assert plan.warnings()[0] in plan._repr_html_()
    assert result_words(release).warnings == release.warnings()


def test_an_accurate_plan_has_no_warnings():
    plan, agents = planned(np.full(500, 0.5))
    assert plan.warnings(optin.describe(agents)) == plan.announce(agents).warnings() == ()
    assert "warning" not in repr(plan)


def test_a_declared_spread_of_nothing_is_said_as_errors_treat_it():
    """Standard errors count the noise alone; intervals still allow for something, and are too narrow all the same."""
    plan, _ = planned(np.full(500, 0.5), data_sd=0)
    (said,) = plan.warnings()
    assert "standard deviation of 0" in said
    assert "standard errors then count the noise alone" in said
    assert plan.variance == pytest.approx(plan.noise_constant / plan.eta**2)
    assert plan.half_width() > np.log(20) / plan.eta
    assert "everyone has the same value" not in said


@pytest.mark.parametrize(("half", "said"), [(0.44, False), (0.46, True), (3.0, True)])
def test_an_interval_about_as_wide_as_the_bounds_is_said_to_tell_nothing(half, said):
    found = cautions(standard_error=0.2, half_width=half, width=1.0, data_variance=0.25)
    assert any("about as wide as the range of values" in sentence for sentence in found) is said
    assert len(cautions(standard_error=0.6, half_width=half, width=1.0, data_variance=0.25)) == 1


def test_limits_above_ten_are_seen_by_a_plan_itself_and_not_written():
    plan, _ = planned(np.r_[np.full(400, 0.5), np.full(20, 50.0), math.inf])
    assert any("percentage" in sentence for sentence in plan.warnings())
    assert "percentage" in repr(plan)
    again = optin.Plan.from_json(plan.to_json())
    assert again == plan
    assert "high_limits" not in plan.to_json()
    assert not any("percentage" in sentence for sentence in again.warnings())
    assert not planned(np.r_[np.full(400, 0.5), math.inf])[0].high_limits


@pytest.mark.parametrize(("limit", "said"), [(50.0, True), (10.5, True), (9.9, False), (math.inf, False)])
def test_limits_above_ten_are_asked_whether_they_are_percentages(limit, said):
    plan, agents = planned(np.r_[np.full(40, 0.5), np.full(20, limit)])
    assert any("percentage" in sentence for sentence in plan.warnings(optin.describe(agents))) is said


def test_no_warning_depends_on_a_value():
    low, high = (released(np.full(12, 0.05), values=value) for value in (0.0, 1.0))
    assert low.warnings() == high.warnings()
    assert low.assumption() == high.assumption()


# --- on the command line: on standard error, in --json, and never a refusal


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"p{at:02},{limit},{at % 3}" for at, limit in enumerate([30, 50, 80] * 10)]
    path.write_text("\n".join(["id,limit,answer", *rows]) + "\n")
    return path


def test_commands_warn_on_standard_error_and_in_json_and_go_on(table, tmp_path):
    plan, offer, drawn, ledger = (
        tmp_path / name for name in ("plan.json", "offer.json", "drawn.json", "ledger.sqlite")
    )
    asked = ("plan", table, "--limits", "limit", "--bounds", 0, 2, "--sd", 0, "-o", plan)
    first = optin_ok(*asked)
    assert first.err.count("warning: ") == 2
    assert re.search(r"95 % interval +± 0\.\d+ around the mean of people like these", first.out)
    assert "is this a percentage?" in first.err
    assert "standard deviation of 0" in first.err
    assert optin_ok(*asked, "--json").json["warnings"] == re.findall("warning: (.*)", first.err)
    assert "warning" not in first.out
    second = optin_ok("announce", plan, table, "--ledger", ledger, "-o", offer, "--json")
    assert second.err.count("warning: ") == len(second.json["warnings"]) == 2
    assert second.err.count("(as said before)") == 2
    assert "is this a percentage?" in second.json["warnings"][0] + second.json["warnings"][1]
    third = optin_ok("release", offer, table, "--values", "answer", "--ledger", ledger, "-o", drawn, "--json")
    assert len(third.json["warnings"]) == third.err.count("warning: ") > 0
    assert max(len(line) for line in second.err.splitlines() if line.startswith("warning: ")) < 130
    assert "warnings" not in drawn.read_text() + offer.read_text() + plan.read_text()


@pytest.mark.parametrize("named", [(), ("--limits", "limit")])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_limits_used_as_values_are_said_by_their_name(table, tmp_path, named, engine):
    plan, offer, drawn, ledger = (
        tmp_path / name for name in ("plan.json", "offer.json", "drawn.json", "ledger.sqlite")
    )
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 100, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", ledger, "-o", offer)
    asked = ("--ledger", ledger, "-o", drawn, "--engine", engine, *named)
    said = optin_ok("release", offer, table, "--values", "limit", *asked).err
    assert '"limit" is used as limits and as values' in said
    again = optin_ok("release", offer, table, "--values", "answer", *asked).err
    assert "as limits and as values" not in again


def test_people_without_limits_are_neither_pooled_nor_tight(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["id,limit", *(f"p{at},inf" for at in range(20))]) + "\n")
    shown = optin_ok("plan", path, "--limits", "limit", "--bounds", 0, 1).out
    assert "100 %)" in shown
    assert not re.search("pooled|tight|free privacy", shown)
    found = optin_ok("plan", path, "--limits", "limit", "--bounds", 0, 1, "--json").json["explanation"]
    assert (found["tight"], found["free_privacy"], found["no_limit"]) == (0, 0, 20)


def test_a_report_of_people_without_limits_states_no_cap():
    plan, agents = planned(np.full(20, math.inf))
    page = render(Source(plan=plan, description=optin.describe(agents)))
    assert "1e+09" not in page
    assert "no cap" in page


# --- ± is half of a 95 % interval


def test_a_draft_and_the_plan_of_the_same_people_state_the_same_half_width():
    """25 people, hours from 0 to 80, sd 8: the draft said ± 13.3 and the plan ± 66.8."""
    counts = [0, 0, 0, 5, 5, 5, 5, 5, 0, 0]
    draft = Draft(title="t", question="q", unit="hours", lower=0.0, upper=80.0, data_sd=8.0)
    found = preview.accuracy(draft, counts)
    agents = optin.PrivacyConstrained(np.repeat([step.amount for step in LIMITS], counts))
    plan = optin.plan(agents, bounds=(0, 80), data_sd=8)
    assert found.half_width == plan.half_width() == pytest.approx(plan.announce(agents).half_width(), rel=1e-6)
    words = preview_words(found, max_gap=0.0)
    assert words["half_width"] == at_most(plan.half_width())
    assert words["standard_error"] == short(plan.standard_error)


@pytest.mark.parametrize("turnout", [0.5, 0.9])
def test_a_half_width_at_a_turnout_is_that_of_so_many_people(turnout):
    limits = np.r_[np.full(200, 0.2), np.full(200, 0.8)]
    plan, agents = planned(limits, data_sd=0.2)
    some = np.arange(400) % 10 < 10 * turnout
    drawn = optin.release(plan.announce(agents), agents, np.full(400, 0.5), joined=some)
    assert plan.half_width(turnout=turnout) == pytest.approx(drawn.only.declared_half_width(), rel=1e-3)


def test_a_report_of_a_release_states_half_of_its_interval_before_it_is_cut():
    release = released(np.full(12, 0.05))
    assert f"±\N{NO-BREAK SPACE}{at_most(release.half_width(0.95))}" in render(Source(release=release))
    assert result_words(release).half_width == at_most(release.half_width(0.95))


def test_no_page_or_command_puts_plus_minus_before_a_standard_error():
    found = [
        f"{path.name}: {line.strip()[:120]}"
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in (".py", ".html")
        for line in path.read_text().splitlines()
        if re.search(r"±[^.;<]{0,20}(standard_error|mse_error|bias_error)", line) or '"±"' in line
    ]
    half_widths = (
        SOURCE / "cli" / "across_groups.py",
        SOURCE / "cli" / "question_table.py",
        SOURCE / "cli" / "sheets.py",
        SOURCE / "cli" / "streams.py",
        SOURCE / "report" / "group_page.py",
    )  # columns of half-widths; how ± is spelled
    lines = [(path.name, line.strip()) for path in half_widths for line in path.read_text().splitlines()]
    assert found == [f"{name}: {line[:120]}" for name, line in lines if '"±"' in line]


# --- what an interval takes for granted


def test_a_release_says_at_what_difference_an_error_it_leaves_out_is_as_large_as_its_plus_minus():
    release = released(np.r_[np.full(300, 0.1), np.full(100, 1.0)])
    gap = release.half_width(0.95) / release.tilt
    assert release.breakdown_gap == gap
    said = re.search(r"lie ([\d.]+) apart, that error alone can be as large as the ±", release.assumption())[1]
    assert float(said) <= gap < float(said) * 1.1
    assert release.assumption() in render(Source(release=release))
    assert "--max-gap" in render(Source(release=release))
    assert result_words(release).assumption.startswith(release.assumption())


def test_an_interval_that_allows_for_a_gap_says_so_and_equal_weights_need_none():
    limits = np.r_[np.full(300, 0.1), np.full(100, 1.0)]
    assert "up to 0.2" in released(limits, max_gap=0.2).assumption("x")
    assert "Everyone counts alike" in released(np.full(40, 0.5)).assumption("x")
    assert math.isinf(released(np.full(40, 0.5)).breakdown_gap)


@pytest.mark.parametrize(("gap", "share"), [(3.0, "34 %"), (1.25, "80 %"), (1e9, "1 %")])
def test_the_largest_difference_within_the_bounds_is_said_as_a_share_of_the_plus_minus(gap, share):
    said = assumption(gap, width=1.0, max_gap=0.0, tilt=0.2)
    assert f"lie 1 apart, the most within these bounds, that error alone can be {share} of the ±" in said


@pytest.mark.parametrize("gap", [0.01, 0.37, 1.0, 3.0])
def test_no_interval_is_said_to_hold_where_averages_of_cautious_and_open_people_differ(gap):
    """Coverage falls with the difference from 0 on: 84 % at half of the breakdown gap, 46 % at it."""
    said = assumption(gap, width=1.0, max_gap=0.0, tilt=0.2, guard="X")
    assert "holds" not in said
    assert "always" not in said
    assert said.startswith("The ± counts no error from cautious and open people having different averages")
    assert said.endswith("X makes weights more even, and the interval wide enough for a stated difference.")


def test_an_interval_wider_than_planned_says_that_decliners_made_it_so():
    limits = np.r_[np.full(300, 0.4), np.full(100, 1.0)]
    plan, agents = planned(limits, max_gap=0.2)
    offer = plan.announce(agents)
    everyone = optin.release(offer, agents, np.full(400, 0.5))
    some = optin.release(offer, agents, np.full(400, 0.5), joined=np.arange(400) % 2 == 0)
    assert "declined" not in everyone.assumption()
    assert some.bias_bound > 3 * plan.bias_bound
    added, was = (f"{bias:.3g}" for bias in (some.bias_bound, offer.bias_bound))
    assert f"{added} of the ±, where {was} was planned, because those who declined" in some.assumption()
    assert some.assumption() in render(Source(release=some))


def test_the_breakdown_gap_is_where_the_largest_bias_is_the_half_width():
    """A tied relation between limits and values within the gap moves the mean by at most tilt times the gap (E15)."""
    release = released(np.r_[np.full(300, 0.1), np.full(100, 1.0)])
    assert release.breakdown_gap * release.tilt == pytest.approx(release.half_width(0.95))


def test_the_release_command_prints_the_assumption_and_what_max_gap_does(table, tmp_path):
    plan, offer = tmp_path / "plan.json", tmp_path / "offer.json"
    table.write_text(table.read_text().replace(",30,", ",0.3,").replace(",50,", ",1.5,").replace(",80,", ",1.5,"))
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 2, "--sd", 0.2, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", tmp_path / "ledger.sqlite", "-o", offer)
    drawn = optin_ok("release", offer, table, "--values", "answer", "--no-ledger", "-o", tmp_path / "drawn.json")
    assert "The ± counts no error from cautious and open people having different averages: if these lie" in drawn.out
    half = optin.Release.from_json((tmp_path / "drawn.json").read_text()).half_width()
    assert f"{plus_minus(half)}, before" in drawn.out
    assert "optin plan --max-gap makes weights more even" in drawn.out


# --- a release and the plan it came from


@pytest.mark.parametrize("other", [{"eta": 20.0}, {"data_sd": 0.1}, {"max_gap": 0.2}, {"bounds": (0, 2)}])
def test_a_report_refuses_another_plan_of_the_same_people(tmp_path, other):
    limits = np.r_[np.full(60, 0.1), np.full(40, 1.0)]
    plan, agents = planned(limits)
    release = optin.release(plan.announce(agents), agents, np.full(100, 0.5))
    (tmp_path / "release.json").write_text(release.to_json())
    (tmp_path / "own.json").write_text(plan.to_json())
    (tmp_path / "other.json").write_text(planned(limits, **other)[0].to_json())
    with pytest.raises(BadInput, match="another plan"):
        write_report(tmp_path / "release.json", tmp_path / "out.html", plan=tmp_path / "other.json")
    outcome = command(
        "report", tmp_path / "release.json", "--plan", tmp_path / "other.json", "-o", tmp_path / "out.html"
    )
    assert outcome.code == 2


@pytest.mark.parametrize("field", ["cap", "eta", "weight_squares", "max_gap", "data_variance", "people"])
def test_a_plan_that_differs_in_one_number_is_another_plan(field):
    from optin.announcement.origin import differs_from_plan

    plan, agents = planned(np.r_[np.full(60, 0.1), np.full(40, 1.0)])
    offer = plan.announce(agents)
    assert differs_from_plan(offer, plan) is None
    more = getattr(plan, field) + 1 if field in ("people", "max_gap") else getattr(plan, field) * 1.001
    assert differs_from_plan(offer, changed_plan(plan, **{field: more})) is not None


@pytest.mark.parametrize("costs", [[1.0, 0.25, 1 / 9, 1 / 9], [2.0, 0.3, 0.1, 0.07]])
@pytest.mark.parametrize("slack", [0.0, 0.2])
def test_people_who_weigh_costs_know_their_own_plan_too(costs, slack):
    from optin.announcement.origin import differs_from_plan

    agents = optin.QuasiLinear(np.repeat(costs, 10), benefit=optin.LinearBenefit(2.0, 12.0))
    plan = optin.plan(agents, bounds=(0, 1), slack=slack)
    assert differs_from_plan(plan.announce(agents), plan) is None
    dearer = optin.plan(
        optin.QuasiLinear(np.repeat(costs, 10) * 1.5, benefit=agents.benefit), bounds=(0, 1), slack=slack
    )
    assert differs_from_plan(plan.announce(agents), dearer) is not None


# --- best, among what


ROOT = SOURCE.parent.parent
HEADLINES = ["README.md", "pyproject.toml", "CITATION.cff", "src/optin/__init__.py", "src/optin/cli/app.py"]


@pytest.mark.parametrize("page", [*HEADLINES, "docs/reference/README.md", "docs/theory/privacy-constrained.md"])
def test_the_most_accurate_mean_says_in_the_same_sentence_among_what(page):
    text = " ".join((ROOT / page).read_text().split())
    said = re.findall(r"[^.?|]*most accurate (?:\w+ )*mean[^.?|]*[.?|]", text)
    assert said
    assert [sentence for sentence in said if "Laplace noise" not in sentence] == []


@pytest.mark.parametrize("folder", ["docs", "docs/theory", "docs/gallery", "docs/how-to"])
def test_pages_that_call_a_design_the_best_say_among_what_or_their_contents_do(folder):
    """A page may leave it to the contents page of its folder, which says it for all."""
    contents = ROOT / folder / "README.md"
    told = contents.exists() and "Laplace noise" in contents.read_text()
    claims = re.compile(r"best (design|plan)|optimal design|most accurate (design|mean)", re.IGNORECASE)
    pages = [page for page in sorted((ROOT / folder).glob("*.md")) if claims.search(page.read_text())]
    assert pages
    assert told or [page.name for page in pages if "Laplace noise" not in page.read_text()] == []
