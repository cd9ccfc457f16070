"""Kinds of question: levels that move by at most 2^20, answers as they come, proportions and what is read off them."""

import itertools
import math
from fractions import Fraction

import ibis
import numpy as np
import pyarrow as pa
import pytest

import optin
from optin.formats.strict_json import Fields
from optin.questions.cells import LEVEL, Chosen
from optin.questions.coding import MOST_OPTIONS
from optin.questions.counted import Counted

GRAINS = 1 << 31
KINDS = [
    optin.YesNo("break"),
    optin.Choice("pet", options=("cat", "dog")),
    *(optin.Choice("shift", options=tuple(map(str, range(count)))) for count in (3, 4, MOST_OPTIONS)),
    optin.Scale("mood", options=("bad", "fair", "good")),
    optin.Histogram("age", edges=(16, 25, 35, 45)),
    optin.Histogram("old", edges=(0, 65, 120)),
    *(
        optin.MultipleChoice("reasons", options=tuple(map(str, range(count))), at_most=most)
        for count, most in ((3, 2), (4, 2), (5, 3), (6, 6), (7, 2))
    ),
]
OTHERS = [
    optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many?"),
    optin.Score("phq9", items=9, each=(0, 3), importance=2.0, max_gap=1.0),
]


def codes_of(question):
    if isinstance(question, optin.MultipleChoice):
        places = range(len(question.options))
        chosen = itertools.chain(*(itertools.combinations(places, count) for count in range(question.at_most + 1)))
        return np.array([float(sum(1 << place for place in places)) for places in chosen])
    return np.arange(len(question.cells) if len(question.cells) > 1 else 2, dtype=float)


def farthest(cells, codes):
    """The most that all levels of a question move together when one answer is replaced by another."""
    levels = np.stack([cell.levels(codes) for cell in cells])
    return max(np.abs(levels - levels[:, [place]]).sum(axis=0).max() for place in range(len(codes)))


@pytest.mark.parametrize("question", KINDS, ids=lambda question: f"{question.kind}-{len(question.cells)}")
def test_all_levels_of_two_answers_differ_by_at_most_one_whole_range(question):
    codes = codes_of(question)
    assert LEVEL - 2 * len(question.cells) < farthest(question.cells, codes) <= LEVEL
    levels = np.stack([cell.levels(codes) for cell in question.cells])
    assert (levels == np.floor(levels)).all()
    assert levels.min() >= 0


def test_one_level_too_high_is_seen():
    question = optin.Choice("shift", options=("early", "late", "night"))
    first, *others = question.cells
    assert farthest((Chosen(first.place, first.level + 1), *others), codes_of(question)) > LEVEL


@pytest.mark.parametrize("question", KINDS, ids=lambda question: f"{question.kind}-{len(question.cells)}")
def test_an_engine_gives_the_same_levels(question):
    codes = codes_of(question)[:40]
    table = ibis.memtable(pa.table({"code": codes}))
    columns = {f"c{place}": cell.expression(table.code) for place, cell in enumerate(question.cells[:5])}
    found = ibis.duckdb.connect().to_pyarrow(table.select("code", **columns)).to_pydict()
    order = [found["code"].index(code) for code in codes]
    for place, cell in enumerate(question.cells[:5]):
        assert [found[f"c{place}"][row] for row in order] == cell.levels(codes).tolist()


@pytest.mark.parametrize("question", [*KINDS, *OTHERS], ids=lambda question: question.kind)
def test_a_sheet_reads_back_as_it_was_written(question):
    sheet = optin.Sheet([question], title="T", purpose="P", asked_by="A")
    assert optin.Sheet.from_fields(Fields(sheet.to_record(), "sheet")) == sheet


def test_the_prices_are_those_of_the_table():
    worst = [optin.YesNo("a"), optin.Number("b", bounds=(0, 1)), optin.Choice("c", options="xy" and ("x", "y"))]
    assert [question.price for question in worst] == [8.0, 8.0, 8.0]
    assert optin.Number("n", bounds=(0, 4), sd=1).price == 32.0
    assert optin.Choice("c", options=tuple("abcde")).price == pytest.approx(40.0)
    assert optin.Histogram("h", edges=tuple(range(8))).price == pytest.approx(56.0)
    assert optin.MultipleChoice("m", options=tuple("abcde"), at_most=2).price == pytest.approx(8 * 2 * 25 / 3)
    assert optin.MultipleChoice("m", options=tuple("abcde"), at_most=3).price == pytest.approx(8 * 25)


def test_options_are_matched_byte_for_byte_and_missing_answers_are_none():
    shift = optin.Choice("shift", options=("early", "late", "n\u00e9ant"))
    found = shift.coded(["late", None, "early", math.nan, "n\u00e9ant"])
    assert found[[0, 2, 4]].tolist() == [1.0, 0.0, 2.0]
    assert np.isnan(found[[1, 3]]).all()


@pytest.mark.parametrize("answer", ["Late", "late ", "ne\u0301ant", 1, True, b"late", "secret-text"])
def test_an_unknown_option_is_refused_by_row_and_never_repeated(answer):
    shift = optin.Choice("shift", options=("early", "late", "n\u00e9ant"))
    with pytest.raises(optin.BadInput, match=r"shift\[1\] is none of the options") as caught:
        shift.coded(["early", answer])
    assert "secret" not in str(caught.value)


def test_yes_and_no_come_as_booleans_numbers_or_words():
    same = [[True, False], [1, 0], [1.0, 0.0], ["yes", "No"], ["true", "FALSE"], np.array([True, False]), ["1", "0"]]
    assert [optin.YesNo("a").coded(answers).tolist() for answers in same] == [[0.0, 1.0]] * len(same)
    with pytest.raises(optin.BadInput, match=r"a\[0\] is not an answer"):
        optin.YesNo("a").coded([2])


def test_choosing_nothing_is_an_answer_and_leaving_it_out_is_none():
    reasons = optin.MultipleChoice("reasons", options=("pay", "hours", "boss"), at_most=2)
    found = reasons.coded([["pay", "boss"], [], "hours; pay", "", None])
    assert found[:4].tolist() == [5.0, 0.0, 3.0, 0.0]
    assert np.isnan(found[4])
    for wrong in (["pay", "hours", "boss"], "pay;sun", 7):
        with pytest.raises(optin.BadInput, match=r"reasons\[0\] is not a selection"):
            reasons.coded([wrong])


def test_numbers_fall_into_their_bins_and_beyond_them_into_the_last():
    age = optin.Histogram("age", edges=(16, 25, 35, 45))
    found = age.coded([3, 16, 24.9, 25, 34, 45, 99, None])
    assert found[:7].tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert np.isnan(found[7])


def test_items_are_added_up_before_anything_is_kept():
    score = optin.Score("phq9", items=3, each=(0, 3))
    assert score.coded([[0, 3, 3], [9, -1, 1]]).tolist() == [6.0, 4.0]
    assert score.coded([6, 4]).tolist() == [6.0, 4.0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: optin.Choice("a", options=("x", "x")), "twice"),
        (lambda: optin.Choice("a", options=("x", " ")), "not empty"),
        (lambda: optin.Choice("a", options=("x",)), "2 to 50"),
        (lambda: optin.Choice("a", options=tuple(map(str, range(51)))), "2 to 50"),
        (lambda: optin.Choice("a", options="xy"), "list of texts"),
        (lambda: optin.Histogram("a", edges=(0, 2, 2)), "rise"),
        (lambda: optin.Histogram("a", edges=(0, 2)), "bins"),
        (lambda: optin.Histogram("a", edges=(0, "x", 3)), "numbers"),
        (lambda: optin.Histogram("a", edges=tuple(range(34))), "bins"),
        (lambda: optin.Histogram("a", edges="123"), "numbers"),
        (lambda: optin.Histogram("a", edges=("1", "2", "3")), "numbers"),
        (lambda: optin.Number("a", bounds=("0", "1")), "two numbers"),
        (lambda: optin.Number("a", bounds=(0, 1), sd="0.1"), "must be a number"),
        (lambda: optin.Number("a", bounds=(0, 1), column=0), "column must be text"),
        (lambda: optin.YesNo("a", column=0), "column must be text"),
        (lambda: optin.YesNo("a", importance="2"), "must be a number"),
        (lambda: optin.Choice("a", options={"x": 1, "y": 2}), "list of texts"),
        (lambda: optin.Choice("a", options={"x", "y"}), "list of texts"),
        (lambda: optin.Scale("a", options=("low", "mean score")), 'called "mean score"'),
        (lambda: optin.Scale("a", options=("top two", "b", "c", "d")), 'called "top two"'),
        (lambda: optin.MultipleChoice("a", options=("x", "y"), at_most=0), "2 or more"),
        (lambda: optin.MultipleChoice("a", options=("x", "y"), at_most=3), "there are 2"),
        (lambda: optin.Score("a", items=0, each=(0, 3)), "whole number"),
        (lambda: optin.YesNo("a", importance=0), "importance"),
        (lambda: optin.YesNo("a", importance=-1), "importance"),
        (lambda: optin.YesNo("a", max_gap=-1), "max_gap"),
        (lambda: optin.YesNo(" a"), "name"),
        (lambda: optin.Sheet([optin.YesNo("a"), optin.YesNo("a")]), 'called "a"'),
        (lambda: optin.Sheet([]), "list of questions"),
        (lambda: optin.Choice("{a}", options=("{x}", "{x}")), "{x}"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(make, words):
    with pytest.raises(optin.BadInput, match=words):
        make()


def drawn(question, counts, rng, grains=GRAINS):
    """Noisy cells of people who chose the options so often, everyone with the same grains."""
    codes = np.arange(len(counts), dtype=float)
    totals = [int(np.dot(cell.levels(codes), counts)) * grains for cell in question.cells]
    people = int(sum(counts))
    noisy = tuple(total + round(rng.laplace(0, 2.0**52)) for total in totals)
    return question.result(Counted(people, people * grains, people * grains**2, grains, noisy))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_proportions_add_up_to_one_exactly_and_are_unbiased(count):
    rng = np.random.default_rng(23)
    question = optin.Choice("shift", options=tuple(map(str, range(count))))
    counts = np.arange(1, count + 1) * 20
    draws = [drawn(question, counts, rng) for _ in range(400)]
    assert all(sum(each.exact) == Fraction(1) for each in draws)
    means = np.mean([list(each.proportions.values()) for each in draws], axis=0)
    error = max(each.standard_error("0") for each in draws) / 20
    assert np.abs(means - counts / counts.sum()).max() < 6 * error


def test_what_is_read_off_a_scale_is_linear_in_its_cells():
    rng = np.random.default_rng(5)
    mood = drawn(optin.Scale("mood", options=("bad", "fair", "good")), (30, 50, 20), rng)
    parts = list(mood.proportions.values())
    assert mood.mean == pytest.approx(parts[0] + 2 * parts[1] + 3 * parts[2])
    assert mood.top(2) == pytest.approx(parts[1] + parts[2])
    low, high = mood.mean_interval()
    assert 1.0 <= low < mood.mean < high <= 3.0
    low, high = mood.top_interval(2)
    assert 0.0 <= low < mood.top(2) < high <= 1.0
    with pytest.raises(optin.BadInput, match="no option"):
        mood.interval("great")


def test_a_median_lies_in_its_interval():
    rng = np.random.default_rng(6)
    age = drawn(optin.Histogram("age", edges=(16, 25, 35, 45)), (100, 250, 150), rng)
    low, high = age.quantile_interval(0.5, 0.95)
    assert low <= age.median <= high
    assert 25 <= age.median <= 35


@pytest.mark.slow
@pytest.mark.parametrize("people", [50, 400, 5000])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_intervals_of_every_kind_cover(people, level):
    """600 campaigns each: a true level is missed by 5 standard errors with probability below 1e-6 a cell."""
    rng = np.random.default_rng(24)
    kinds = {
        optin.YesNo("a"): (0.03, 0.97),
        optin.Scale("b", options=("bad", "fair", "good", "fine")): (0.02, 0.5, 0.4, 0.08),
        optin.Histogram("c", edges=(0, 1, 2, 3, 4)): (0.4, 0.3, 0.2, 0.1),
    }
    floor = level - 0.01 - 5 * math.sqrt(level * (1 - level) / 600)
    for question, parts in kinds.items():
        covered = dict.fromkeys(("proportion", "mean", "median"), 0)
        for _ in range(600):
            found = drawn(question, rng.multinomial(people, parts), rng)
            low, high = found.interval(found.options[0], level)
            covered["proportion"] += low <= parts[0] <= high
            if isinstance(question, optin.Scale):
                low, high = found.mean_interval(level)
                covered["mean"] += low <= np.dot(found.scores, parts) <= high
            if isinstance(question, optin.Histogram):
                low, high = found.quantile_interval(0.5, level)
                covered["median"] += low <= 4 / 3 <= high
        also = {"scale": ["mean"], "histogram": ["median"]}.get(question.kind, [])
        assert min(covered[name] for name in ["proportion", *also]) / 600 >= floor


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_an_answer_that_is_missing_in_arrow_is_missing_whatever_its_text_is_stored_as(kind):
    reasons = optin.MultipleChoice("reasons", options=("pay", "boss"), at_most=2)
    column = pa.array(["pay", None, "", "boss", None], getattr(pa, kind)())
    for given, told in ((column, [1, math.nan, 0, 2, math.nan]), (column[1:4], [math.nan, 0, 2])):
        assert np.array_equal(reasons.coded(given), told, equal_nan=True)
        assert np.array_equal(reasons.coded(given.cast("string").dictionary_encode()), told, equal_nan=True)
