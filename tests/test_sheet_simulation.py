"""Simulated campaigns over a sheet: the production path but for its noise, measured against what was computed.

Seeds are fixed, so that a test that passed stays green; the counts say how often a fresh seed would fail.
"""

import ast
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_steps import optin as run
from sheet_laws import DECLARED, SHEET, SKEWED, SKEWED_TRUTH, columns, offered

import optin
from optin.baselines.answer_laws import laws_of
from optin.releasing import noise
from optin.releasing.sealed import exact_records
from optin.simulation import sheets
from optin.simulation.sheets import SheetRuns, truths

SRC = Path(optin.__file__).parent
TWO = [optin.YesNo("a"), optin.Number("b", bounds=(0, 10), sd=2)]


def rng(seed=1):
    return np.random.default_rng(seed)


def simulated(sheet=SHEET, *, seed=1, people=200, campaigns=150, population="levels", **more):
    return optin.simulate(population, sheet, generator=rng(seed), campaigns=campaigns, people=people, **more)


@pytest.fixture(scope="module")
def skewed():
    """One run that several laws look at."""
    limits = np.random.default_rng(2).lognormal(0.5, 0.8, 300)
    return simulated(population=optin.PrivacyConstrained(limits), answers=SKEWED_TRUTH, skipping=0.1, campaigns=120)


def test_every_figure_of_every_question_is_there(skewed):
    agents = optin.PrivacyConstrained(np.ones(40))
    offer = optin.plan(agents, SHEET).announce(agents, campaign="c")
    release = optin.release(offer, agents, columns(DECLARED, 40, rng()))
    rows = [(row[0], row[1]) for row in release.table()]
    assert [(figure.question, figure.answer) for figure in skewed.figures] == rows
    assert list(skewed.frame().index) == rows
    assert list(skewed.question_frame().index) == [question.name for question in SHEET]


def test_every_interval_holds_as_often_as_it_says(skewed):
    """31 figures: a share below this has a chance of 1 in 100,000 each if the level is true."""
    floor = 0.95 - 0.01 - 4.3 * math.sqrt(0.95 * 0.05 / 120)
    assert {(f.question, f.answer): f.coverage for f in skewed.figures if f.coverage < floor} == {}


def test_every_figure_is_unbiased_but_those_that_are_read_off_by_a_root_or_a_bin(skewed):
    """28 comparisons at four standard errors: 1 of 500 fresh seeds would fail."""
    for figure in skewed.figures:
        if figure.answer not in ("sd", "median"):
            assert abs(figure.bias) < 4 * figure.bias_error, (figure.question, figure.answer)


@pytest.mark.slow
@pytest.mark.parametrize("answers", [None, SKEWED_TRUTH], ids=["as declared", "skewed"])
def test_measured_errors_are_the_computed_ones_where_everyone_answers(answers):
    """Seven comparisons at four standard errors: 1 of 2,000 fresh seeds would fail."""
    found = simulated(answers=answers, seed=3, campaigns=200)
    for outcome in found.outcomes:
        assert abs(outcome.mse - outcome.computed) < 4 * outcome.mse_error, outcome.question
    if answers is None:
        for question in found.plan.questions:
            assert found[question.name].computed == pytest.approx(question.variance, rel=1e-9)


def test_noise_of_a_wrong_scale_is_noticed(monkeypatch):
    right = sheets.simulated_noise
    monkeypatch.setattr(sheets, "simulated_noise", lambda *given: [z * 3 // 4 for z in right(*given)])
    found = simulated(TWO, seed=3, population=optin.PrivacyConstrained(np.full(40, 0.2)), campaigns=600)
    assert min((outcome.mse - outcome.computed) / outcome.mse_error for outcome in found.outcomes) < -4


def test_people_who_skip_or_stay_away_cost_accuracy():
    everyone, some = simulated(TWO), simulated(TWO, skipping=0.3, turnout=0.7)
    assert everyone.joined == 1.0
    assert some.joined == pytest.approx(0.7, abs=0.02)
    for name in ("a", "b"):
        assert some[name].mse > everyone[name].mse
        assert some[name].computed == everyone[name].computed


def test_turnout_can_rise_with_the_limit():
    found = simulated(TWO, turnout=(0.2, 0.8), campaigns=100)
    assert found.joined == pytest.approx(0.5, abs=0.05)


def test_the_same_seed_gives_the_same_figures():
    once, again, other = (simulated(TWO, seed=seed, campaigns=20) for seed in (5, 5, 6))
    assert [f.bias for f in once.figures] == [f.bias for f in again.figures] != [f.bias for f in other.figures]


@pytest.mark.parametrize("laws", [DECLARED, SKEWED], ids=["as declared", "skewed"])
def test_truths_are_what_endless_people_would_say(laws):
    for question, law in zip(SHEET, laws, strict=True):
        found = {each.answer: each.estimate for each in truths(question, law)}
        if question.kind in ("number", "score"):
            assert (found["mean"], found["sd"]) == pytest.approx((law.mean, law.sd), rel=1e-6)
        else:
            assert list(found.values())[: len(law.chances)] == pytest.approx(law.chances, abs=1e-9)
        if question.kind == "scale":
            assert found["mean score"] == pytest.approx(np.dot(range(1, 6), law.chances))


def test_but_for_its_noise_a_simulated_release_is_a_release(monkeypatch):
    offer, agents = offered(60)
    job = SheetRuns(SHEET, SKEWED, (1.0, 1.0), 0.0, 0.95)
    monkeypatch.setattr(sheets, "simulated_noise", lambda count, _: list(range(count)))
    monkeypatch.setattr(noise, "draw", lambda count=1: list(range(count)))
    ours = job._released(offer, offer.promises(agents), None, rng(9))
    theirs = optin.release(offer, agents, columns(SKEWED, 60, rng(9)))
    assert replace(ours, seal=theirs.seal) == theirs  # a salt is random
    assert exact_records(ours) == exact_records(theirs)


def test_a_question_that_would_be_dropped_has_no_figures_and_the_others_have():
    found = simulated([optin.YesNo("a", max_error=1e-6), optin.YesNo("b")], campaigns=5)
    assert (found["a"].released, found["b"].released) == (0.0, 1.0)
    assert found["a"].figures[0].coverage is None
    assert math.isinf(found["a"].mse)


def test_a_broken_promise_releases_nothing():
    crowd = optin.QuasiLinear(np.linspace(0.5, 3, 100), benefit=optin.LinearBenefit(base=20.0, slope=1.0))
    assert simulated(TWO, population=crowd, campaigns=10, turnout=0.5)["a"].released == 0.0
    assert simulated(TWO, population=crowd, campaigns=10)["a"].released == 1.0


def test_one_question_of_any_kind_is_a_sheet():
    found = simulated(optin.Choice("c", options=("x", "y", "z")), answers={"c": (0.5, 0.3, 0.2)}, campaigns=50)
    assert [round(f.truth, 9) for f in found.figures] == [0.5, 0.3, 0.2]
    assert min(f.coverage for f in found.figures) > 0.8


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"skipping": 1.0}, "below 1"),
        ({"skipping": "much"}, "below 1"),
        ({"answers": {"z": [1, 0]}}, "no such question"),
        ({"answers": {"a": [0.5, 0.6]}}, "add up to 1"),
        ({"answers": {"a": [1.0]}}, "2 chances"),
        ({"answers": {"a": np.array([0.5, 0.5])}}, "2 chances"),
        ({"answers": {"b": {"mean": 12}}}, "within its bounds"),
        ({"answers": {"b": {"mean": 1, "sd": 4}}}, "they allow"),
        ({"answers": {"b": {"mean": [1, 2, 3]}}}, "a mean and an sd"),
        ({"answers": {"b": [1, 2, 3]}}, "a mean and an sd"),
        ({"sd": 1.0}, "goes with one number"),
        ({"designs": ["local"]}, "goes with one number"),
        ({"bounds": (0, 2)}, "goes with one number"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(optin.BadInput, match=words):
        simulated(TWO, campaigns=1, **wrong)


def test_an_only_question_cannot_be_skipped_and_a_number_has_no_answers():
    with pytest.raises(optin.BadInput, match="no skipping"):
        simulated(optin.YesNo("a"), skipping=0.1)
    with pytest.raises(optin.BadInput, match="for a sheet"):
        optin.simulate("levels", generator=rng(), skipping=0.1)


def test_more_options_than_may_be_chosen_are_refused():
    question = optin.MultipleChoice("r", options=tuple("abcd"), at_most=2)
    with pytest.raises(optin.BadInput, match="at most 2"):
        laws_of(optin.Sheet(question), {"r": (0.9, 0.9, 0.9, 0.0)})
    (law,) = laws_of(optin.Sheet(question), {"r": (0.9, 0.8, 0.2, 0.1)})
    codes = law.codes(4000, rng()).astype(int)
    assert max(int(code).bit_count() for code in codes) == 2
    for place, chance in enumerate(law.chances):
        assert (codes >> place & 1).mean() == pytest.approx(chance, abs=0.03)


def test_noise_in_floats_reaches_the_integers_of_a_sheet_in_one_place():
    users = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and any(name.name == "simulated_noise" for name in node.names):
                users.add(str(path.relative_to(SRC)))
    assert users == {"simulation/sheets.py"}


def test_the_command_simulates_a_sheet(tmp_path):
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(
        '[[question]]\nkind = "yes-no"\nname = "a"\n\n'
        '[[question]]\nkind = "scale"\nname = "b"\noptions = ["bad", "fair", "good", "fine"]\n'
    )
    given = ("simulate", "--sheet", sheet, "--campaigns", 20, "--people", 100, "--skipping", 0.1)
    told = run(*given)
    assert "top two" in told.out
    assert "95 % held" in told.out
    record = run(*given, "--json").json
    assert [question["name"] for question in record["questions"]] == ["a", "b"]
    assert len(record["questions"][1]["figures"]) == 6
    assert "--sd goes with one number" in run(*given, "--sd", 1).err
