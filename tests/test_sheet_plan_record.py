"""The record of a planned sheet: what it prints, what it writes and reads back, and what it refuses to say."""

import json

import numpy as np
import pytest

import optin
from optin import BadInput, LinearBenefit, Plan, PrivacyConstrained, QuasiLinear

PEOPLE = PrivacyConstrained(np.repeat([0.1, 0.5, 1.0], [340, 430, 230]))
SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=9, unit="hours"),
        optin.YesNo("break", max_gap=0.1, importance=2),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.MultipleChoice("reasons", options=("pay", "boss", "way", "other"), at_most=2),
    ],
    title="Shifts",
)
ONE_NUMBER = ("bounds", "width", "eta", "question")
ONE_QUESTION = (
    *("variance", "standard_error", "noise_scale", "noise_variance", "max_gap", "bias_bound", "worst_case_mse"),
    "target",
)


def case(name):
    if name == "costs":
        return optin.plan(
            QuasiLinear(np.full(300, 0.5), benefit=LinearBenefit(3, 1)), [optin.YesNo("a"), optin.YesNo("b")]
        )
    wishes = {"hours": 0.9, "shift": 0.05}
    plain = [SHEET["hours"], SHEET["shift"]]
    return {
        "sheet": lambda: optin.plan(PEOPLE, SHEET),
        "choice": lambda: optin.plan(PEOPLE, SHEET["shift"]),
        "wished": lambda: optin.plan(PEOPLE, plain, wished_errors=wishes, target_error={"hours": 0.1}),
        "score": lambda: optin.plan(PEOPLE, optin.Score("s", items=3, each=(0, 2)), target_error=0.01),
    }[name]()


@pytest.fixture(params=["sheet", "choice", "wished", "score", "costs"])
def plan(request):
    return case(request.param)


def test_a_plan_of_any_sheet_survives_a_round_trip(plan):
    read = Plan.from_json(plan.to_json())
    assert read == plan
    assert json.loads(read.to_json()) == json.loads(plan.to_json())
    assert json.loads(plan.to_json())["format"] == "optin.plan/2"
    for mine, theirs in zip(plan.questions, read.questions, strict=True):
        assert (mine.half_width(), mine.target, mine.wished_error) == (
            theirs.half_width(),
            theirs.target,
            theirs.wished_error,
        )
    assert read.integer_shares == plan.integer_shares


def test_the_size_of_a_plan_does_not_depend_on_the_number_of_people():
    sizes = {len(optin.plan(PrivacyConstrained(np.ones(n)), SHEET).to_json()) // 300 for n in (10, 1000, 100_000)}
    assert len(sizes) <= 2


def test_numbers_by_name_have_a_list_of_questions():
    plan = case("sheet")
    found = plan.flat()
    assert json.loads(json.dumps(found)) == found
    assert (found["people"], found["cap"], found["effective_people"]) == (1000, plan.cap, plan.effective_people)
    assert [row["name"] for row in found["questions"]] == ["hours", "break", "shift", "reasons"]
    for row in found["questions"]:
        question = plan[row["name"]]
        assert (row["epsilon_share"], row["standard_error"], row["half_width"], row["kind"]) == (
            question.epsilon_share,
            question.standard_error,
            question.half_width(),
            question.question.kind,
        )
    assert "questions" not in optin.plan(PEOPLE, bounds=(0, 1)).flat(), "one number keeps its keys"


def test_a_sheet_prints_a_table_of_its_questions():
    plan = case("sheet")
    text = repr(plan)
    assert "question  epsilon share  standard error  95 % interval  as accurate as" in text
    for question in plan.questions:
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{question.name} "))
        assert question.question.spread_words(question.standard_error) in line
        assert question.question.plus_minus(question.half_width()) in line
        assert "±" in line
        assert "people" in line
    assert "exact answers of" in text
    assert 'Plan of "hours"' in repr(plan["hours"])


def test_names_are_text_in_a_notebook():
    plan = optin.plan(PEOPLE, [optin.YesNo("<b>bold</b>"), optin.YesNo("plain")], target_error={"<b>bold</b>": 0.01})
    assert "<b>" not in plan._repr_html_()
    assert "&lt;b&gt;bold" in plan._repr_html_()
    assert "95 % interval" in plan._repr_html_()


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_what_only_a_number_has_is_refused_for_other_sheets_by_the_way_to_ask(name):
    with pytest.raises(BadInput, match=r'4 questions: ask by name, as in plan\["hours"\]'):
        getattr(case("sheet"), name)
    with pytest.raises(BadInput, match=r'a choice: ask by name, as in plan\["shift"\]'):
        getattr(case("choice"), name)
    getattr(case("score"), name)


@pytest.mark.parametrize("name", ONE_QUESTION)
def test_what_only_one_question_has_is_refused_for_several(name):
    with pytest.raises(BadInput, match=r'plan\["hours"\]'):
        getattr(case("sheet"), name)
    getattr(case("choice"), name)


def test_a_question_that_was_not_asked_is_a_key_error():
    with pytest.raises(KeyError):
        case("sheet")["age"]


def test_half_widths_hold_at_other_levels_and_turnouts():
    plan = case("sheet")
    for question in plan.questions:
        halves = [question.half_width(level) for level in (0.8, 0.95, 0.99)]
        assert halves == sorted(halves)
        assert question.half_width(turnout=0.5) > question.half_width()
        with pytest.raises(BadInput, match="level"):
            question.half_width(95)


CHANGES = {
    "a share is missing": lambda record: record["designs"][0]["shares"].pop(),
    "a variance is missing": lambda record: record["designs"][0]["variances"].pop(),
    "shares add up to more": lambda record: record["designs"][0].update(shares=[0.5, 0.5, 0.5, 0.5]),
    "a share is 0": lambda record: record["designs"][0].update(shares=[0.5, 0.5, 0.0, 0.0]),
    "a share is below 0": lambda record: record["designs"][0].update(shares=[1.5, 0.5, -0.5, -0.5]),
    "a variance is below 0": lambda record: record["designs"][0].update(variances=[1.0, 1.0, 1.0, -1.0]),
    "two designs": lambda record: record["designs"].append(record["designs"][0]),
    "a wish too few": lambda record: record["wish"].update(errors=[1.0]),
    "a target too many": lambda record: record["wish"].update(targets=[None] * 5),
    "a wish of 0": lambda record: record["wish"].update(errors=[0.0] * 4),
    "a rate of noise": lambda record: record["wish"].update(eta=1.0),
    "an sd of 0": lambda record: record["sheet"]["questions"][0].update(data_variance=0.0),
    "a target that is none": lambda record: record["wish"].update(targets=[3, None, None, None]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_plan_that_contradicts_itself_is_refused_when_it_is_read(change):
    record = json.loads(case("sheet").to_json())
    change(record)
    with pytest.raises(BadInput):
        Plan.from_json(json.dumps(record))


def test_the_campaign_plans_sheets_too():
    wishes = {"hours": 0.9, "shift": 0.05}
    plain = [SHEET["hours"], SHEET["shift"]]
    assert optin.campaign.plan(PEOPLE, plain, wished_errors=wishes).designs == case("wished").designs
