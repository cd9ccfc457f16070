"""What asking questions as one score would gain is what `optin.size` says of the sheet in which they are one."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from typer.testing import CliRunner

import optin
from optin.cli.app import app
from optin.planning.merging import addable, merged_words

FIVE = ("never", "rarely", "sometimes", "often", "always")
OTHERS = [optin.YesNo("break"), optin.Choice("shift", options=("early", "late", "night"))]


def scales(*names, options=FIVE, **words):
    return [optin.Scale(name, options=options, **words) for name in names]


def numbers(*names, sd=9, **words):
    return [optin.Number(name, **{"bounds": (0, 80), "sd": sd} | words) for name in names]


def scores(*items, sd=None, **words):
    return [optin.Score(f"score {n}", items=count, **{"each": (0, 3)} | words, sd=sd) for n, count in enumerate(items)]


def sets_of(questions):
    return [each.questions for each in optin.size(questions, people=400).merging]


SETS = [
    (scales("a", "b", "c"), {"items": 3, "each": (1, 5), "sd": math.sqrt(3) * 2}, 6),
    (scales("a", "b", max_gap=0.05), {"items": 2, "each": (1, 5), "sd": math.sqrt(2) * 2, "max_gap": 2 * 6 * 0.05}, 4),
    (scales("a", "b", max_gap=0.9), {"items": 2, "each": (1, 5), "sd": math.sqrt(2) * 2, "max_gap": 2 * 4}, 4),
    (scales("a", "b", importance=2), {"items": 2, "each": (1, 5), "sd": math.sqrt(2) * 2, "importance": 2}, 4),
    (
        [*numbers("a", max_gap=1), *numbers("b", sd=12, max_gap=1)],
        {"items": 2, "each": (0, 80), "sd": 15, "max_gap": 2},
        21,
    ),
    (scores(9, 7, sd=5), {"items": 16, "each": (0, 3), "sd": math.sqrt(50)}, 10),
]


@pytest.mark.parametrize(("questions", "score", "most"), SETS, ids=range(len(SETS)))
@pytest.mark.parametrize(
    ("others", "limits"),
    [
        ([], 0.1),
        pytest.param(OTHERS[:1], "mixed", id="beside one"),
        pytest.param(OTHERS, "open", marks=pytest.mark.slow, id="beside two"),
    ],
)
def test_what_it_says_is_what_size_says_of_the_sheet_with_one_score(questions, score, most, others, limits):
    (found,) = optin.size([*questions, *others], people=400, limits=limits).merging
    merged = optin.size([*others, optin.Score("total", **score)], people=400, limits=limits)
    assert found.questions == tuple(question.name for question in questions)
    assert found.effective_people == pytest.approx(merged["total"].effective_people)
    assert found.half_width == pytest.approx(merged["total"].half_width)
    assert found.verdict == merged["total"].verdict
    assert found.effective_sheet == pytest.approx(min(each.effective_people for each in merged.questions))
    if others:
        assert found.effective_others == pytest.approx(min(each.effective_people for each in merged.questions[:-1]))
    together = optin.size([*others, optin.Score("total", **score | {"sd": most})], people=400, limits=limits)
    assert found.half_width_together == pytest.approx(together["total"].half_width)
    now = optin.size([*questions, *others], people=400, limits=limits)
    assert found.effective_now == min(each.effective_people for each in now.questions)


@pytest.mark.parametrize("questions", [each[0] for each in SETS], ids=range(len(SETS)))
def test_the_more_questions_go_together_the_better_is_their_score_and_without_a_gap_the_farther_off(questions):
    (found,) = optin.size([*questions, OTHERS[0]], people=400, limits=0.5).merging
    (sets,) = addable(questions)
    least, most = sets.unrelated.data_variance, sets.together.data_variance
    sized = [
        optin.size([OTHERS[0], replace(found.score, data_variance=each)], people=400, limits=0.5)[found.score.name]
        for each in np.linspace(least, most, 3)
    ]
    people, halves = ([getattr(each, name) for each in sized] for name in ("effective_people", "half_width"))
    order = [("useless", "poor", "good").index(each.verdict) for each in sized]
    assert people == sorted(people)
    assert order == sorted(order)
    assert (people[0], order[0]) == (pytest.approx(found.effective_people), min(order))
    if not found.score.max_gap:
        assert halves == sorted(halves)
        assert halves[-1] == pytest.approx(found.half_width_together)


@pytest.mark.parametrize("questions", [each[0] for each in SETS], ids=range(len(SETS)))
def test_one_score_is_more_accurate_than_its_questions_by_themselves(questions):
    (found,) = optin.size(questions, people=400).merging
    assert found.effective_sheet > found.effective_now


def test_the_score_that_is_found_can_be_asked():
    sheet = [*scales("a", "b", "c"), *OTHERS]
    (found,) = optin.size(sheet, people=400).merging
    merged = optin.size(optin.Sheet([*OTHERS, found.score]), people=400)[found.score.name]
    assert merged.effective_people == pytest.approx(found.effective_people)
    assert found.score.bounds == (3, 15)


def test_each_set_is_said_once_in_the_order_of_the_sheet():
    a, x, b = scales("a", "x", "b")
    m, n = numbers("m", "n")
    assert sets_of([a, m, x, *OTHERS, n, b, *scores(3, 4)]) == [
        ("a", "x", "b"),
        ("m", "n"),
        ("score 0", "score 1"),
    ]


@pytest.mark.parametrize(
    "questions",
    [
        scales("a"),
        [*scales("a"), *scales("b", options=FIVE[:4])],
        [*scales("a"), *scales("b", importance=2)],
        [*scales("a"), *scales("b", max_gap=0.1)],
        [*scales("a", unit="points"), *scales("b")],
        [optin.Choice(name, options=FIVE) for name in "ab"],
        [optin.YesNo("a"), optin.YesNo("b")],
        [*numbers("a"), *numbers("b", bounds=(0, 81))],
        [*numbers("a", unit="hours"), *numbers("b", unit="days")],
        [*scales("a"), *numbers("b", bounds=(1, 5), sd=1), *scores(1, each=(1, 5))],
        [*scores(2), *scores(3, each=(0, 4))],
        scores(600, 600),
        numbers("a", "b", bounds=(0, 9e149), sd=1e149),
    ],
)
def test_what_cannot_be_added_up_is_not(questions):
    questions = [*{question.name: question for question in questions}.values()]
    assert sets_of(questions) == []


def test_scales_of_other_words_and_as_many_options_are_added_up():
    assert sets_of([*scales("a"), *scales("b", options=("1", "2", "3", "4", "5"), text="And this?")]) == [("a", "b")]


@pytest.mark.parametrize("groups", [3, [900, 200, 100]])
def test_by_group_it_is_said_of_the_smallest(groups):
    questions = [*scales("a", "b", "c"), *OTHERS]
    smallest = 1200 // 3 if groups == 3 else 100
    found = optin.size(questions, people=1200, groups=groups).merging
    alone = optin.size(questions, people=smallest).merging
    assert [each.half_width for each in found] == pytest.approx([each.half_width for each in alone])
    assert [each.effective_people for each in found] == pytest.approx([each.effective_people for each in alone])


def test_the_command_says_it_in_a_sentence_and_in_json(tmp_path):
    sheet = tmp_path / "sheet.toml"
    scale = 'kind = "scale"\noptions = ["1", "2", "3", "4", "5"]\n'
    sheet.write_text("".join(f'[[question]]\nname = "{name}"\n{scale}' for name in ("mood", "calm", "sleep")))
    (found,) = optin.size(optin.Sheet.from_toml(sheet), people=400).merging
    shown = CliRunner().invoke(app, ["size", str(sheet), "--people", "400"]).stdout
    assert merged_words(found) in shown
    assert f"mood, calm and sleep would leave the sheet as accurate as {found.effective_people:.0f} people" in shown
    assert f"the score would be {found.verdict}" in shown
    told = json.loads(CliRunner().invoke(app, ["size", str(sheet), "--people", "400", "--json"]).stdout)["merging"]
    assert [(each["questions"], each["effective_people"]) for each in told] == [
        (["mood", "calm", "sleep"], found.effective_people)
    ]
    assert told[0]["score"]["items"] == 3


def test_a_sheet_without_such_questions_says_nothing_of_scores(tmp_path):
    sheet = tmp_path / "sheet.toml"
    sheet.write_text('[[question]]\nname = "a"\nkind = "yes-no"\n[[question]]\nname = "b"\nkind = "yes-no"\n')
    shown = CliRunner().invoke(app, ["size", str(sheet), "--people", "400"]).stdout
    assert "score" not in shown


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.2, 0.4, 1.0])
def test_means_of_an_item_lie_as_far_apart_as_gaps_of_its_options_let_them(count, gap):
    """Against a linear program: two distributions of options, each proportion at most a gap apart."""
    scale = optin.Scale("a", options=tuple(map(str, range(count))), max_gap=gap)
    apart, same = np.hstack([np.eye(count), -np.eye(count)]), np.kron(np.eye(2), np.ones(count))
    gain = np.r_[-np.arange(count), np.arange(count)]
    found = linprog(gain, np.vstack([apart, -apart]), np.full(2 * count, gap), same, [1, 1])
    assert -found.fun <= scale.as_items.max_gap + 1e-9
    if gap * (count // 2) <= 1:
        assert -found.fun == pytest.approx(scale.as_items.max_gap, abs=1e-9)
