"""Sheets in memory: the integers of every question and cell, and what one person can move of them."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sheet_oracle import ODD_LIMITS, assert_same, bar_of, kinds, levels_of, random_case

import optin
from optin.errors import BadInput
from optin.grains.array_people import ArrayPeople
from optin.grains.arrays import GrainRule, everyone_capped, everyone_grains
from optin.grains.batches import Passed
from optin.grains.freezing import frozen
from optin.grains.splitting import least_capped, part, promised, spent
from optin.kernel.halves import cut
from optin.kernel.sharing import SHARES
from optin.questions.cells import LEVEL, Scaled, companions, scaled_cells


def rule_of(case):
    return GrainRule(case.limits.__getitem__, len(case.limits), case.cap, case.shares)


def codes_of(case):
    return ArrayPeople(optin.PrivacyConstrained(case.limits)).codes(case.columns, case.sheet)


def everything(case):
    rule, codes = rule_of(case), codes_of(case)
    bars = tuple(bar_of(case, k) for k in range(len(case.shares)))
    return (
        *rule.sums(joined=case.joined, codes=codes),
        rule.weighed(case.sheet.questions, codes, joined=case.joined, bars=bars),
        rule.sums_above(bars, case.joined, codes),
    )


@pytest.mark.parametrize("seed", range(40))
def test_every_sum_of_a_sheet_is_the_sum_of_exact_integers(seed):
    case = random_case(seed)
    assert_same(case, *everything(case))


@pytest.mark.parametrize("seed", range(100, 110))
def test_what_is_charged_is_what_was_answered(seed):
    case = random_case(seed)
    rule, codes = rule_of(case), codes_of(case)
    assert rule.answered(codes, case.joined).tolist() == case.marks()
    capped = np.array(case.capped)
    assert everyone_capped(rule).tolist() == case.capped
    assert everyone_grains(rule).tolist() == promised(capped, case.shares).tolist()
    for released in (None, 0, 1, 2):
        bits = (1 << len(case.shares)) - 1 if released is None else released
        expected = spent(capped, case.shares, np.array(case.marks()) & bits)
        assert rule.spent(case.joined, codes, released)().tolist() == expected.tolist()
    assert int(rule.spent(case.joined, codes)().sum()) == rule.sums(joined=case.joined, codes=codes)[1].grains


@pytest.mark.parametrize("seed", range(200, 206))
def test_the_order_of_the_people_never_changes_a_digit(seed):
    case = random_case(seed)
    order = np.random.default_rng(seed).permutation(len(case.limits))
    rule, codes = rule_of(case), codes_of(case)
    turned = GrainRule(case.limits[order].__getitem__, len(order), case.cap, case.shares)
    joined = None if case.joined is None else case.joined[order]
    shuffled = tuple(code[order] for code in codes)
    questions = case.sheet.questions
    assert turned.weighed(questions, shuffled, joined=joined) == rule.weighed(questions, codes, joined=case.joined)
    assert turned.sums(joined=joined, codes=shuffled) == rule.sums(joined=case.joined, codes=codes)


def test_sums_do_not_depend_on_how_people_are_cut_into_chunks_and_threads():
    case = random_case(7, people=1000, many=9)
    times = 2**21 // 1000 + 1
    rule, codes = rule_of(case), codes_of(case)
    once = rule.weighed(case.sheet.questions, codes, joined=case.joined)
    joined = None if case.joined is None else np.tile(case.joined, times)
    many = GrainRule(np.tile(case.limits, times).__getitem__, 1000 * times, case.cap, case.shares)
    found = many.weighed(case.sheet.questions, tuple(np.tile(code, times) for code in codes), joined=joined)
    for one, all_ in zip(once.questions, found.questions, strict=True):
        assert all_.cells == tuple(times * cell for cell in one.cells)
        assert (all_.grains, all_.squares, all_.people) == (times * one.grains, times * one.squares, times * one.people)


def test_promises_that_are_frozen_stay_what_they_were():
    case = random_case(11)
    limits = case.limits.copy()
    rule = GrainRule(limits.__getitem__, len(limits), case.cap, case.shares)
    before, (capped, held) = rule.sums(), frozen(rule)
    limits[:] = 1.0
    assert held.sums() == before
    assert (capped.tolist(), held.shares) == (case.capped, case.shares)


def test_what_goes_by_in_batches_is_what_was_added_up():
    case = random_case(12)
    rule, codes = rule_of(case), codes_of(case)
    bars = tuple(bar_of(case, k) for k in range(len(case.shares)))
    passed, marks = Passed(bars, case.shares), rule.answered(codes, case.joined).tolist()
    for rows in (slice(0, 50), slice(50, 51), slice(51, None)):
        joined = [int(one) for one in case.those[rows]]
        passed.note(case.capped[rows], joined, [3] * len(joined), marks[rows])
    those = rule.sums(joined=case.joined, codes=codes)[1]
    assert passed.those.questions == those.questions
    assert (passed.those.people, passed.those.promised) == (those.people, those.promised)
    assert passed.those.marks == 3 * those.people
    assert passed.above == rule.sums_above(bars, case.joined, codes)


def test_parts_of_halves_are_those_of_integers():
    rng = np.random.default_rng(1)
    capped = np.concatenate([[0, 1, 2**21 - 1, 2**21, 2**42 - 1, 2**42], rng.integers(0, 2**42, 5000)])
    for share in (1, 2, 3, 2**19, 699051, SHARES - 1, SHARES, *rng.integers(1, SHARES, 50).tolist()):
        found, parts = cut(capped.astype(float)).part(share), part(capped, share).tolist()
        assert (found.factor * found.upper.array.astype(np.int64) + found.lower.astype(np.int64)).tolist() == parts
        assert (found.total(), found.squares()) == (sum(parts), sum(each * each for each in parts))
        for bar in (0, 1, int(parts[17])):
            assert [each > bar for each in parts] == (capped >= least_capped(share, bar + 1)).tolist()


# What one person can move.


def replacements(question, rng):
    """Answers of all sorts, the extremes among them."""
    match question.kind:
        case "yes-no":
            return [True, False]
        case "choice" | "scale":
            return list(question.options)
        case "multiple-choice":
            sets = (itertools.combinations(question.options, size) for size in range(question.at_most + 1))
            return ["; ".join(chosen) for chosen in itertools.islice(itertools.chain(*sets), 0, None, 3)][:60]
    low, high = getattr(question, "bounds", (16, 45))
    return [-math.inf, low, high, math.inf, (low + high) / 2, *rng.uniform(low, high, 20).tolist()]


def moved(case, codes, person, question, k, answer):
    """How far all sums of a question move when one person answers something else."""
    changed = [code.copy() for code in codes]
    changed[k][person] = question.coded([answer])[0]
    rule = rule_of(case)
    before, after = (rule.weighed(case.sheet.questions, tuple(each)).questions[k].cells for each in (codes, changed))
    return sum(abs(one - other) for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize("seed", range(300, 306))
def test_a_replaced_answer_moves_all_sums_by_at_most_its_part_times_one_whole_range(seed):
    case, rng = random_case(seed, people=12), np.random.default_rng(seed)
    codes = [np.nan_to_num(code) for code in codes_of(case)]
    for person, capped in enumerate(case.capped):
        total = 0
        for k, question in enumerate(case.sheet):
            answers = [answer for answer in replacements(question, rng) if question.name != "items"]
            farthest = max((moved(case, codes, person, question, k, answer) for answer in answers[:8]), default=0)
            grains = capped * case.shares[k] >> 20
            assert farthest <= grains << 20
            total += farthest
        assert total <= sum(capped * share >> 20 for share in case.shares) << 20 <= capped << 20


@pytest.mark.parametrize("seed", range(3))
def test_any_two_answers_differ_by_at_most_one_whole_range_in_all_cells_together(seed):
    rng = np.random.default_rng(seed)
    for question in kinds(rng):
        levels = [np.array(levels_of(question, answer)) for answer in replacements(question, rng)]
        assert max(np.abs(one - other).sum() for one in levels for other in levels) <= LEVEL
        for column, cell in zip(np.transpose(levels), question.cells, strict=True):
            codes = question.coded(
                replacements(question, rng) if question.kind != "number" else _numbers(question, rng)
            )
            assert len(cell.levels(codes)) == len(codes)
            assert column.max() <= LEVEL


def _numbers(question, rng):
    return rng.uniform(*question.bounds, 10)


def farthest(sums, differences):
    """The most that two levels move together: of l + g and l - g, if one of them ever falls that is more than a range."""
    return max(sums.max() - sums.min(), differences.max() - differences.min())


def test_a_level_and_its_companion_move_by_at_most_one_whole_range_for_all_levels_there_are():
    level = np.arange(LEVEL + 1, dtype=float)
    companion = companions(level)
    assert companion.tolist() == [(each * (LEVEL - each)) >> 20 for each in range(LEVEL + 1)]
    assert (np.diff(level + companion) >= 0).all()
    assert (np.diff(level - companion) >= 0).all()
    assert farthest(level + companion, level - companion) == LEVEL


@pytest.mark.parametrize("at", [0, 2**18, 2**19, 2**20])
def test_one_level_too_high_is_seen(at):
    level = np.arange(LEVEL + 1, dtype=float)
    companion = companions(level)
    companion[at] += 1
    rises = (np.diff(level + companion) >= 0).all() and (np.diff(level - companion) >= 0).all()
    assert not rises or farthest(level + companion, level - companion) > LEVEL


def test_the_cells_of_a_number_are_its_level_and_its_companion():
    number, score = optin.Number("n", bounds=(-1, 3)), optin.Score("s", items=2, each=(0, 4))
    assert (number.cells, score.cells) == (scaled_cells((-1.0, 3.0)), scaled_cells((0.0, 8.0)))
    values = np.array([-7.0, -1.0, 0.0, 1.0, 3.0, math.inf])
    level = number.cells[0].levels(values)
    assert level.tolist() == [0, 0, 2**18, 2**19, 2**20, 2**20]
    assert Scaled((-1.0, 3.0), companion=True).levels(values).tolist() == companions(level).tolist()


# One question, and several.


def test_with_one_question_a_joiner_without_an_answer_is_refused_and_with_two_it_is_a_skip():
    number, limits = optin.Number("n", bounds=(0, 1)), np.ones(4)
    codes, joined = np.array([0.5, math.nan, 1.0, math.nan]), np.array([True, True, True, False])
    alone = GrainRule(limits.__getitem__, 4, 1.0)
    with pytest.raises(BadInput, match="index 1 joined but their value is missing"):
        alone.weighed((number,), (codes,), joined=joined)
    both = GrainRule(limits.__getitem__, 4, 1.0, (2**19, 2**19))
    found = both.weighed((number, number), (codes, np.zeros(4)), joined=joined)
    assert [question.people for question in found.questions] == [2, 3]
    assert found.people == 3


def test_one_question_of_any_kind_is_added_up_as_in_a_sheet():
    rng = np.random.default_rng(5)
    for question in kinds(rng):
        codes = np.nan_to_num(question.coded([[1.0, 2.0, 3.0]] if question.name == "items" else [None]))
        rule = GrainRule(np.array([3.7]).__getitem__, 1, 1024.0)
        (found,) = rule.weighed((question,), (codes,)).questions
        assert found.cells == tuple(int(cell.levels(codes)[0]) * found.grains for cell in question.cells)


def test_sums_of_nobody_and_of_a_question_that_nobody_answered_are_nothing():
    sheet, limits = (optin.YesNo("a"), optin.Choice("b", options=("x", "y", "z"))), np.array(ODD_LIMITS)
    rule = GrainRule(limits.__getitem__, len(limits), 1024.0, (2**19, 2**19))
    codes = (np.zeros(len(limits)), np.full(len(limits), math.nan))
    found = rule.weighed(sheet, codes)
    assert found.questions[1].cells == (0, 0, 0)
    assert (found.questions[1].people, found.questions[1].grains) == (0, 0)
    nobody = rule.weighed(sheet, codes, joined=np.zeros(len(limits), dtype=bool))
    assert (nobody.people, nobody.promised, nobody.grains) == (0, 0, 0)


def test_private_sums_are_never_shown():
    case = random_case(3)
    found = everything(case)[2]
    shown = repr(found) + str(found)
    assert not any(str(cell) in shown for question in found.questions for cell in question.cells if cell > 10**6)


# Answers as they come.

IDS = [f"p{at}" for at in range(4)]
SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80)),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Score("phq", items=2, each=(0, 3), column="mood"),
    ]
)
COLUMNS = {
    "hours": [40.0, None, 99.0, -1.0],
    "shift": ["late", "early", None, "night"],
    "mood_1": [1.0, 9.0, 0.0, None],
    "mood_2": [2.0, 1.0, 0.0, 1.0],
}
CODES = [[40.0, None, 99.0, -1.0], [1.0, 0.0, None, 2.0], [3.0, 4.0, 0.0, None]]
ORDER = [2, 0, 3, 1]


def told(codes):
    return [[None if math.isnan(each) else each for each in code] for code in codes]


def people(**given):
    return ArrayPeople(optin.PrivacyConstrained([1.0] * 4, **given))


def turned(columns):
    return {name: [column[at] for at in ORDER] for name, column in columns.items()}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_any_kind_are_the_same_answers(make):
    assert told(people().codes(make(COLUMNS), SHEET)) == CODES
    with_ids = make({"id": [IDS[at] for at in ORDER], **turned(COLUMNS)})
    assert told(people(ids=IDS).codes(with_ids, SHEET)) == CODES
    with pytest.raises(BadInput, match="is a table with ids, and these people have none"):
        people().codes(with_ids, SHEET)


def test_labels_put_answers_into_the_order_of_the_people():
    frame = pd.DataFrame(turned(COLUMNS), index=[IDS[at] for at in ORDER])
    assert told(people(index=pd.Index(IDS)).codes(frame, SHEET)) == CODES
    assert told(people(ids=IDS).codes(frame, SHEET)) == CODES
    with pytest.raises(BadInput, match="different indexes"):
        people().codes(frame, SHEET)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shift": ["late", "secret", None, "night"]}, r"^shift\[1\] is none of the options"),
        ({"hours": [1, "secret", 3, 4]}, r"^hours\[1\] is not a number"),
        ({"hours": np.array(["secret"] * 4)}, r"hours must hold numbers"),
        ({"mood_2": [1, 2, 3, "secret"]}, r"^mood_2\[3\] is not a number"),
        ({"shift": ["late"] * 5}, r"shift have shape \(5,\), but 4 people"),
        ({"hours": [1.0] * 3}, r"hours have shape \(3,\), but 4 people"),
    ],
)
def test_what_is_no_answer_is_refused_by_its_place_and_never_repeated(change, words):
    with pytest.raises(BadInput, match=words) as caught:
        people().codes(COLUMNS | change, SHEET)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_missing_column_is_named_with_the_nearest():
    with pytest.raises(BadInput, match="the table of answers has no column shift; did you mean shfit"):
        people().codes({"hours": COLUMNS["hours"], "shfit": COLUMNS["shift"]}, SHEET)
    with pytest.raises(BadInput, match="no column mood_2"):
        people().codes({name: column for name, column in COLUMNS.items() if name != "mood_2"}, SHEET)
    with pytest.raises(BadInput, match="no column mood;"):
        people().codes({"hours": COLUMNS["hours"], "shift": COLUMNS["shift"]}, SHEET)


def test_one_question_takes_a_plain_column_and_several_do_not():
    shift = optin.Sheet([SHEET["shift"]])
    for column in (
        COLUMNS["shift"],
        pd.Series(COLUMNS["shift"]),
        pl.Series(COLUMNS["shift"]),
        pa.array(COLUMNS["shift"]),
    ):
        assert told(people().codes(column, shift)) == CODES[1:2]
    assert told(people().codes({"shift": COLUMNS["shift"]}, shift)) == CODES[1:2]
    score = optin.Sheet([SHEET["phq"]])
    assert told(people().codes([[1, 2], [9, 1], [0, 0], [None, 1]], score)) == CODES[2:]
    assert told(people().codes(COLUMNS, score)) == CODES[2:]
    with pytest.raises(BadInput, match="a column for each question"):
        people().codes(COLUMNS["shift"], SHEET)


OPTIONS = ["late", "early", None, "night", "late"]


@pytest.mark.parametrize(
    "column",
    [
        OPTIONS,
        tuple(OPTIONS),
        np.array(OPTIONS, dtype=object),
        pd.Series(OPTIONS),
        pd.Series(OPTIONS, dtype="string"),
        pd.Series(OPTIONS, dtype="category"),
        pd.Categorical(OPTIONS),
        pl.Series(OPTIONS),
        pl.Series(OPTIONS, dtype=pl.Categorical),
        pa.array(OPTIONS),
        pa.array(OPTIONS).dictionary_encode(),
        pa.chunked_array([OPTIONS[:2], OPTIONS[2:]]),
        pa.array(OPTIONS, pa.large_string()),
        np.ma.array(["late", "early", "x", "night", "late"], mask=[0, 0, 1, 0, 0]),
        ["late", "early", " ", "night", np.str_("late")],
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_options_are_found_in_columns_of_every_kind(column):
    assert told([SHEET["shift"].coded(column)]) == [[1.0, 0.0, None, 2.0, 1.0]]


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None],
        pd.Series([True, False, None]),
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series([1.0, 0.0, math.nan]),
        pl.Series([True, False, None]),
        pa.array([1, 0, None]),
        ["Y", " no ", ""],
        np.ma.array([True, False, True], mask=[0, 0, 1]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_yes_and_no_are_found_in_columns_of_every_kind(column):
    assert told([optin.YesNo("a").coded(column)]) == [[0.0, 1.0, None]]


def test_sets_come_as_lists_or_as_text():
    reasons = optin.MultipleChoice("reasons", options=("pay", "hours", "boss"), at_most=2)
    lists = [["pay", "boss"], [], None, ["hours", "hours"]]
    for column in (lists, pd.Series(lists), pa.array(lists), pl.Series(lists)):
        assert told([reasons.coded(column)]) == [[5.0, 0.0, None, 2.0]]
    for column in (["pay;boss", ";", None, " hours ;hours"], pa.array(["boss; pay", "", None, "hours"])):
        assert told([reasons.coded(column)]) == [[5.0, 0.0, None, 2.0]]
