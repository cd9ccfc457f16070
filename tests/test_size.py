"""How large a study must be: what a sheet would give, without anyone asked."""

import json
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
from typer.testing import CliRunner

import optin
from optin.cli.app import app
from optin.kernel.combining import Combination, Part
from optin.kernel.halfwidth import heaviest_weight
from optin.kernel.passes import ArrayLimits
from optin.kernel.sharing import Demand, share_out
from optin.planning.assumed import MIXES

FIVE = [
    optin.YesNo("a"),
    optin.YesNo("b"),
    optin.YesNo("c"),
    optin.MultipleChoice("reasons", options=tuple("12345"), at_most=3),
    optin.Number("hours", bounds=(0, 80), sd=9),
]


@pytest.mark.parametrize(("limit", "effective"), [(0.28, 0.9), (1.0, 10.6)])
def test_five_questions_to_120_people_are_dear(limit, effective):
    found = optin.size(FIVE, people=120, limits=limit)
    assert [round(question.effective_people, 1) for question in found.questions] == [effective] * 5
    assert {question.verdict for question in found.questions} == {"useless"}


@pytest.mark.parametrize("importance", [1.0, 3.0])
def test_a_few_people_stand_for_any_number_of_them(importance):
    sheet = [optin.YesNo("a", importance=importance), optin.Choice("b", options=("x", "y", "z"))]
    limits = np.repeat([limit for limit, _ in MIXES["mixed"]], [34 * 7, 43 * 7, 23 * 7])
    demand = Demand(tuple(q.price for q in sheet), tuple(q.importance for q in sheet), (0.0, 0.0))
    exact = share_out(ArrayLimits(limits), demand)
    found = optin.size(sheet, people=700, limits="mixed")
    assert [q.epsilon_share for q in found.questions] == pytest.approx(exact.shares)
    assert min(
        q.effective_people / q_.importance for q, q_ in zip(found.questions, sheet, strict=True)
    ) == pytest.approx(1 / exact.theta)


def test_one_number_is_what_its_plan_says():
    limits = np.repeat([limit for limit, _ in MIXES["mixed"]], [340, 430, 230])
    plan = optin.plan(optin.PrivacyConstrained(limits), bounds=(0, 80), data_sd=9)
    found = optin.size(optin.Number("hours", bounds=(0, 80), sd=9), people=1000)["hours"]
    assert found.effective_people == pytest.approx(plan.effective_people)
    assert found.half_width == pytest.approx(plan.half_width())
    assert (found.epsilon_share, found.effective_without) == (1.0, None)


@pytest.mark.parametrize("max_gap", [0.0, 0.5, 2.0, 20.0])
@pytest.mark.parametrize("open_people", [0, 3])
def test_a_gap_counts_as_it_does_in_a_plan(max_gap, open_people):
    few = np.r_[np.repeat([0.1, 0.5, 1.0], [34, 43, 23]), np.full(open_people, np.inf)]
    question = optin.Number("hours", bounds=(0, 80), sd=9, max_gap=max_gap)
    plan = optin.plan(optin.PrivacyConstrained(np.tile(few, 10)), question)
    found = optin.size(question, people=10 * len(few), limits=few)["hours"]
    assert found.half_width == pytest.approx(plan.half_width())
    assert found.effective_people == pytest.approx(plan.effective_people)


def test_as_many_people_as_needed_are_good_and_one_fewer_is_not():
    needed = optin.size(FIVE, people=100).questions[0].people_needed
    assert optin.size(FIVE, people=needed).questions[0].verdict == "good"
    assert optin.size(FIVE, people=needed - 1).questions[0].verdict == "poor"
    in_groups = optin.size(FIVE, people=100, groups=4).questions[0].people_needed
    assert in_groups == 4 * needed


def test_dropping_a_question_gains_what_it_says():
    found = optin.size(FIVE, people=500)
    rest = optin.size(FIVE[:-1], people=500)
    assert found["hours"].effective_without == pytest.approx(rest["a"].effective_people)
    assert found["hours"].effective_without > found["hours"].effective_people


@pytest.mark.parametrize(
    "wrong",
    [{"people": 0}, {"people": 2.5}, {"people": True}, {"people": 10, "groups": 11}, {"people": 10, "limits": "brave"},
     {"people": 10, "limits": [-1.0]}, {"people": 10, "limits": [0.0]}, {"people": 10, "limits": ["x"]}],
)  # fmt: skip
def test_a_study_that_cannot_be_is_refused(wrong):
    with pytest.raises(optin.BadInput):
        optin.size(FIVE, **wrong)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.toml"
    path.write_text(run("sheet", "example").stdout)
    return path


def test_the_example_of_a_sheet_is_one(sheet):
    assert [question.kind for question in optin.Sheet.from_toml(sheet)] == ["number", "yes-no", "choice", "scale"]
    assert "rather not say" in sheet.read_text()
    shown = run("sheet", "check", sheet)
    assert shown.exit_code == 0
    assert "Did you skip a break?" in shown.stdout


def test_the_command_line_says_what_the_library_says(sheet):
    told = json.loads(run("size", sheet, "--people", 400, "--limits", "mixed", "--json").stdout)
    found = optin.size(optin.Sheet.from_toml(sheet), people=400)
    assert [each["half_width"] for each in told["questions"]] == [each.half_width for each in found.questions]
    assert "useless" in run("size", sheet, "--people", 30, "--limits", 0.1).stdout
    assert run("size", sheet, "--people", 30, "--limits", "brave").exit_code != 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "not TOML"),
        ("title = 'x'", r"\[\[question\]\]"),
        ("colour = 1\n[[question]]\nkind='yes-no'\nname='a'", "colour"),
        ("[[question]]\nkind='song'\nname='a'", "give its kind"),
        ("[[question]]\nkind='yes-no'\nname='a'\noptions=['x']", 'no "options"'),
        ("[[question]]\nkind='choice'\nname='a'", '"options" is missing'),
        ("[[question]]\nkind='yes-no'", '"name" is missing'),
        ("[[question]]\nkind='choice'\nname='a'\noptions=['x','x']", "twice"),
        ("[[question]]\nkind='number'\nname='a'\nbounds=[0,1]\nsd=3", "^question 1: sd must lie"),
        ("[[question]]\nkind='number'\nname='a'\nbounds=[1,0]", "^question 1: bounds must"),
        ("[[question]]\nkind='score'\nname='a'\nitems=9\neach=3", "^question 1: each must"),
        ("[[question]]\nkind='yes-no'\nname='a'\nimportance=0", "^question 1: importance must"),
    ],
)
def test_a_sheet_with_a_mistake_is_refused_with_what_to_do(tmp_path, text, words):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(optin.BadInput, match=words):
        optin.Sheet.from_toml(path)


def test_a_mistake_in_a_sheet_is_told_by_its_key_and_not_by_an_option(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[[question]]\nkind='number'\nname='a'\nbounds=[0,1]\nsd=3\n")
    told = run("sheet", "check", path)
    assert told.exit_code != 0
    assert "--sd" not in told.output + str(told.exception)


def test_a_number_without_sd_is_said_to_be_judged_by_the_worst_case(sheet, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[[question]]\nkind='number'\nname='steps'\nbounds=[0,50000]\nunit='steps'\n")
    assert "an sd of 25,000 steps" in run("size", path, "--people", 300).stdout
    assert "worst case" not in run("size", sheet, "--people", 300).stdout


def test_a_check_counts_importance_as_strict_limits_do(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[[question]]\nkind='yes-no'\nname='a'\n[[question]]\nkind='yes-no'\nname='b'\nimportance=4\n")
    found = optin.size(optin.Sheet.from_toml(path), people=100, limits=1e-4)
    assert [f"{each.epsilon_share:.0%}" for each in found.questions] == ["33%", "67%"]
    shown = run("sheet", "check", path).stdout
    assert "33 %" in shown
    assert "67 %" in shown


def test_a_unit_that_proportions_are_told_in_is_asked_to_be_named(tmp_path):
    path = tmp_path / "s.toml"
    for unit, asked in (("points", True), (" % ", True), ("points of the test", False), ("", False)):
        path.write_text(f"[[question]]\nkind='number'\nname='a'\nbounds=[0,9]\nunit='{unit}'\n")
        assert ("is also what proportions are told in" in run("sheet", "check", path).output) == asked


def test_a_sheet_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(optin.BadInput, match="cannot be read"):
        optin.Sheet.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize("gap", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("mix", MIXES)
def test_one_number_is_sized_as_it_would_be_planned_whatever_its_gap(mix, gap):
    limits = np.repeat([limit for limit, _ in MIXES[mix]], [4 * part for _, part in MIXES[mix]])
    plan = optin.plan(optin.PrivacyConstrained(limits), bounds=(0, 2), data_sd=0.4, max_gap=gap)
    found = optin.size(optin.Number("value", bounds=(0, 2), sd=0.4, max_gap=gap), people=400, limits=mix)["value"]
    assert found.half_width == pytest.approx(plan.half_width(), rel=1e-12)
    assert found.effective_people == pytest.approx(plan.effective_people, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("number", "bounds = {a = 1, b = 2}"),
        ("number", "bounds = [0, 1]\nsd = 0"),
        ("number", "bounds = [0, 1]\nsd = 1e-76"),
        ("number", "bounds = [0, 1]\nimportance = 5e-324"),
        ("yes-no", "importance = 1e300"),
        ("yes-no", "max_gap = 1e300"),
        ("choice", "options = 3"),
        ("score", f"items = 1{'0' * 400}\neach = [0, 3]"),
        ("score", "items = 1000\neach = [0, 1e149]"),
        ("score", "items = 2\neach = [0, 3]\nmax_gap = 7"),
        ("score", "items = 2\neach = [0, 3]\nsd = 0"),
    ],
)
def test_an_odd_question_in_a_file_is_refused_in_words(kind, wrong, tmp_path):
    path = tmp_path / "sheet.toml"
    path.write_text(f'[[question]]\nname = "a"\nkind = "{kind}"\n{wrong}\n')
    with pytest.raises(optin.BadInput):
        optin.size(optin.Sheet.from_toml(path), people=400)


@pytest.mark.parametrize("text", ['[[question]]\nname = "a"\nkind = ["number"]\n', "x = " + "[" * 9000])
def test_what_is_no_sheet_is_refused_in_words(text, tmp_path):
    path = tmp_path / "sheet.toml"
    path.write_text(text)
    with pytest.raises(optin.BadInput):
        optin.Sheet.from_toml(path)


@pytest.mark.parametrize("limits", [1e-300, 1e300, [np.nan], [-1.0, 1.0]])
def test_limits_that_nobody_has_are_refused(limits):
    with pytest.raises(optin.BadInput, match="limits must be"):
        optin.size(optin.YesNo("a"), people=400, limits=limits)


def test_questions_that_differ_in_words_alone_are_sized_once_and_as_each_by_itself(monkeypatch):
    questions = [
        optin.Choice("a", options=("x", "y", "z")),
        optin.Choice("b", options=("early", "late", "night"), text="When?", column="q17"),
        optin.Choice("c", options=("x", "y", "z"), importance=2),
        optin.MultipleChoice("d", options=("x", "y", "z"), at_most=2),
        optin.MultipleChoice("e", options=("x", "y", "z"), at_most=3),
        optin.Number("f", bounds=(0, 80), sd=9),
        optin.Number("g", bounds=(0, 80), sd=9, unit="hours"),
        optin.Number("h", bounds=(0, 160), sd=18),
    ]
    sizing = sys.modules["optin.planning.size"]
    solved, solve = [], sizing._sized
    monkeypatch.setattr(sizing, "_sized", lambda *given: solved.append(given) or solve(*given))
    found = optin.size(questions, people=500)
    assert [questions[given[2]].name for given in solved] == ["a", "c", "d", "e", "f", "h"]
    monkeypatch.setattr(sizing, "_asked_of", lambda question: question.name)
    each = optin.size(questions, people=500)
    assert [question.name for question in found.questions] == list("abcdefgh")
    for one, other in zip(found.questions, each.questions, strict=True):
        assert one.apart == other.apart
        assert asdict(replace(one, apart=None)) == pytest.approx(asdict(replace(other, apart=None)))


SHEET_OF_TWO = [optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9, max_gap=1)]


def test_every_size_of_a_group_has_the_verdict_that_so_many_people_have_alone():
    found = optin.size(SHEET_OF_TWO, people=2000, groups=[1500, 300, 100, 100])
    assert [(each.people, each.groups) for each in found.sizes] == [(1500, 1), (300, 1), (100, 2)]
    for each in found.sizes:
        alone = optin.size(SHEET_OF_TWO, people=each.people)
        assert each.half_widths == tuple(question.half_width for question in alone.questions)
        assert each.verdicts == tuple(question.verdict for question in alone.questions)
    smallest = optin.size(SHEET_OF_TWO, people=100)
    for question in found.questions:
        assert question.half_width == smallest[question.name].half_width
        assert question.people_needed == 20 * smallest[question.name].people_needed


def test_what_groups_give_together_is_what_their_plans_lead_to():
    """Against plans of the groups by themselves, added up by hand."""
    hours = optin.Number("hours", bounds=(0, 80), sd=9)
    few = np.repeat([limit for limit, _ in MIXES["mixed"]], [34, 43, 23])
    found = optin.size(hours, people=600, limits=few, groups=[300, 200, 100])["hours"]
    plans = {n: optin.plan(optin.PrivacyConstrained(np.tile(few, n // 100)), hours) for n in (100, 200, 300, 600)}

    def part(coefficient, plan):
        squares, scale = plan.weight_squares, plan.noise_scale
        heaviest = float(heaviest_weight(plan.people, squares, plan.pooled_weight))
        return Part(coefficient, squares, heaviest, (scale,), declared=81.0, width=80.0)

    whole = Combination(tuple(part(n / 600, plans[n]) for n in (300, 200, 100)))
    pair = Combination((part(1.0, plans[100]), part(-1.0, plans[200])))
    assert found.across.whole == pytest.approx(whole.half_width(0.05)[0], rel=1e-6)
    assert found.across.difference == pytest.approx(pair.half_width(0.05)[0], rel=1e-6)
    assert found.across.ungrouped == pytest.approx(plans[600].half_width(), rel=1e-6)
    assert found.across.ungrouped < found.across.whole < found.half_width < found.across.difference


def test_proportions_and_gaps_of_groups_add_up_too():
    found = optin.size(SHEET_OF_TWO, people=900, groups=3)
    for question in found.questions:
        assert question.across.whole < question.half_width < question.across.difference
    free = optin.size([SHEET_OF_TWO[0], optin.Number("hours", bounds=(0, 80), sd=9)], people=900, groups=3)
    assert found["hours"].across.difference > free["hours"].across.difference
    assert optin.size(SHEET_OF_TWO, people=900)["hours"].across is None


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([100, 100], "add up to 200, and people is 300"),
        ([300, 0], "each of groups must be a whole number"),
        ([150.5, 149.5], "each of groups must be a whole number"),
        (301, "more groups than people"),
        ("3", "groups must be a whole number"),
    ],
)
def test_groups_that_do_not_fit_the_people_are_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        optin.size(SHEET_OF_TWO, people=300, groups=groups)


def test_the_command_shows_every_size_and_what_groups_give_together(tmp_path):
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(CliRunner().invoke(app, ["sheet", "example"]).stdout)
    done = CliRunner().invoke(app, ["size", str(sheet), "--people", "1680", "--groups", "1200,400,80"])
    assert done.exit_code == 0, done.output
    for words in ("in 3 groups; the smallest has 80", "people in it", "1,200", "of a difference", "without groups"):
        assert words in done.output
    record = json.loads(
        CliRunner().invoke(app, ["size", str(sheet), "--people", "1200", "--groups", "3", "--json"]).stdout
    )
    assert record["questions"][0]["across"]["whole"] > record["questions"][0]["across"]["ungrouped"]
    with pytest.raises(ValueError, match="groups must be a number of groups"):
        CliRunner().invoke(app, ["size", str(sheet), "--people", "9", "--groups", "three"], catch_exceptions=False)


def test_half_an_interval_is_about_two_standard_errors_and_more_for_few_people():
    asked = [optin.YesNo("a"), optin.YesNo("b")]
    ratios = []
    for many in (10**5, 10**4, 400, 50):
        plan = optin.plan(optin.PrivacyConstrained([1.0] * many), asked)
        ratios.append(plan["a"].half_width() / plan["a"].standard_error)
    assert 1.96 < ratios[0] < 1.97
    assert ratios == sorted(ratios)
    assert ratios[-1] < 2.5
