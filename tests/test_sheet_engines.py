"""Sheets in engines: the same integers as in memory, to the last digit, and the same verdicts on what is an answer."""

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sheet_oracle import Asked, assert_same, bar_of, kinds, random_case

import optin
from optin.errors import BadInput
from optin.grains.array_people import ArrayPeople
from optin.grains.batches import Passed
from optin.grains.people import people_of

ENGINES = ["duckdb", pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))]


@dataclass(frozen=True)
class Offer:
    """What the grains of people follow from, and nothing else of an announcement."""

    cap: float
    shares: tuple
    people: int = 0
    total_grains: int = 0
    surplus = promised_variance = None
    data_variance = 0.25
    grouped = False

    @property
    def noiseless(self):
        return math.isinf(self.cap)


def stored(case, joined="joined"):
    people = len(case.limits)
    columns = {"id": [f"p{at:04}" for at in range(people)], "limit": case.limits, joined: case.those}
    return pa.table(columns | case.columns)


def opened(path, engine):
    return people_of(optin.read(str(path), limits="limit", engine=engine))


def everything(people, case, joined):
    promises, codes = people.promises(Offer(case.cap, case.shares)), people.codes(None, case.sheet)
    bars = tuple(bar_of(case, k) for k in range(len(case.shares)))
    return (
        *promises.sums(joined=joined, codes=codes),
        promises.weighed(case.sheet.questions, codes, joined=joined, bars=bars),
        promises.sums_above(bars, joined, codes),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_every_sum_of_a_sheet_is_the_sum_of_exact_integers(tmp_path, engine):
    for seed in range(10) if engine == "duckdb" else (0, 5):
        case = random_case(seed, many=9 if engine != "duckdb" else None)
        path = tmp_path / f"{seed}.parquet"
        pq.write_table(stored(case), path)
        assert_same(case, *everything(opened(path, engine), case, None if case.joined is None else "joined"))


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_are_the_same_where_those_at_the_cap_are_only_counted(tmp_path, monkeypatch, engine):
    monkeypatch.setattr("optin.engine.agents.EngineConstrained.mostly_above", lambda *_: True)
    for seed in (10, 11, 12, 19) if engine == "duckdb" else (3,):
        case = random_case(seed, many=9 if engine != "duckdb" or seed > 18 else None)
        path = tmp_path / f"{seed}.parquet"
        pq.write_table(stored(case), path)
        people, joined = opened(path, engine), None if case.joined is None else "joined"
        assert_same(case, *everything(people, case, joined))
        joining = people.joining(Offer(case.cap, case.shares), joined, people.codes(None, case.sheet))
        joining.arriving(_Rows(), passed := Passed((0,) * len(case.shares), case.shares))
        weighed = joining.promises.weighed(case.sheet.questions, joining.codes, joined=joining.who)
        assert passed.those.marks == weighed.marks


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sheet_in_csv_gives_the_same_integers(tmp_path, engine):
    case = random_case(21, many=9)
    numbers = {name: column for name, column in case.columns.items() if name not in ("reasons",)}
    sheet = optin.Sheet([question for question in case.sheet if question.name != "reasons"])
    case = Asked(sheet, (*case.shares[:7], sum(case.shares[7:])), case.cap, case.limits, numbers, case.joined)
    pa.csv.write_csv(stored(case), tmp_path / "people.csv")
    assert_same(case, *everything(opened(tmp_path / "people.csv", engine), case, "joined"))


@pytest.mark.parametrize("engine", ENGINES)
def test_each_sum_of_a_sheet_is_one_query_and_so_are_the_rows(tmp_path, engine):
    case = random_case(4, many=9)
    pq.write_table(stored(case), tmp_path / "people.parquet")
    people = opened(tmp_path / "people.parquet", engine)
    session, before = people.agents.rows.session, people.agents.rows.session.sent
    everything(people, case, "joined")
    assert session.sent == before + 3
    held = ArrayPeople(optin.PrivacyConstrained(case.limits, ids=[f"p{at:04}" for at in range(len(case.limits))]))
    offer, codes = Offer(case.cap, case.shares), held.codes(case.columns, case.sheet)
    joining = people.joining(offer, "joined", people.codes(None, case.sheet))
    bars = tuple(bar_of(case, k) for k in range(len(case.shares)))
    passed, found = Passed(bars, case.shares), _Rows()
    joining.arriving(found, passed)
    (expected,) = _Rows().at_once(held.joining(offer, np.array(case.those), codes).batch)
    assert sorted(found.rows) == sorted(expected)
    weighed = joining.promises.weighed(case.sheet.questions, joining.codes, joined=joining.who)
    assert passed.those.marks == weighed.marks != 0
    assert [question.squares for question in passed.those.questions] == [each.squares for each in weighed.questions]
    assert passed.above == held.promises(offer).sums_above(bars, np.array(case.those), codes)
    path = tmp_path / "grains.parquet"
    people.write_grains(offer, "joined", path, codes=people.codes(None, case.sheet), released=0b101)
    grains = pq.read_table(path).sort_by("id")["grains"].to_pylist()
    assert grains == held.promises(offer).spent(np.array(case.those), codes, 0b101)().tolist()


class _Rows:
    """A ledger that only writes down who comes."""

    def __init__(self):
        self.rows = []

    def at_once(self, batch):
        columns = (batch.ids, batch.grains, batch.joined, batch.capped, batch.answered)
        return [[tuple(map(_plain, row)) for row in zip(*columns, strict=True)]]

    def in_batches(self, batches):
        for batch in batches:
            self.rows += self.at_once(batch)[0]


def _plain(each):
    return each if isinstance(each, str) else int(each)


def test_marks_change_with_what_was_answered(tmp_path):
    case = random_case(8, many=4)
    pq.write_table(stored(case), tmp_path / "people.parquet")
    people = opened(tmp_path / "people.parquet", "duckdb")
    joining = people.joining(Offer(case.cap, case.shares), "joined", people.codes(None, case.sheet))
    codes = joining.codes
    other = (codes[1], codes[0], *codes[2:])
    questions = case.sheet.questions
    swapped = (questions[1], questions[0], *questions[2:])
    weighed = joining.promises.weighed
    assert weighed(questions, codes, joined="joined").marks != weighed(swapped, other, joined="joined").marks


# What is an answer.

SHIFT = optin.Choice("shift", options=("early", "late", "it's"))
REASONS = optin.MultipleChoice("reasons", options=("pay", "long hours", "boss", "v", "f"), at_most=2)
AGE = optin.Histogram("age", edges=(16, 25, 35, 45))
HOURS = optin.Number("hours", bounds=(0, 80))
SKIPPED = optin.YesNo("skipped")
ENTRIES = [
    (SHIFT, ["early", "late", "it's", "Late", "late ", " ", "", None, "early\\", "its"]),
    (REASONS, ["pay", "pay;boss", " pay ; boss ", "pay;pay", ";", "", ";;pay", "boss;pay;v", "pay,boss", None, "v;f"]),
    (REASONS, ["pay;sun", "long  hours", "long hours;", "hours", "payboss", "\tv\v;\ff\r", "Pay", "pay\u00a0"]),
    (SKIPPED, ["yes", "No", " TRUE ", "0", "1", "t", "n", "", " ", None, "perhaps", "2", "1.0", "ja"]),
    (HOURS, ["1", " 2.5 ", "1e400", "-inf", "nan", "", None, "abc", "1,5", "0x10", "1_000"]),
    (AGE, ["15", "25", "24.999999999999996", "1e9", "-1e9", "inf", "nan", "", None, "old"]),
]


def verdicts(answers, code):
    """The code of each answer on its own: None where it is missing, and no where it is refused."""
    found = []
    for answer in answers:
        try:
            number = float(code(answer))
        except BadInput:
            number = -1.0
        found.append(None if math.isnan(number) else number)
    return found


def in_memory(question, answer):
    if isinstance(question, optin.Number | optin.Histogram) and isinstance(answer, str):
        table = pa.chunked_array([[answer]])
        from optin.tables.table_cells import as_numbers

        numbers, words = as_numbers(table, "x", "f")
        if words[0]:
            raise BadInput("no number")
        return question.coded(numbers)[0]
    return question.coded([answer])[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_counts_as_an_answer_is_what_counts_in_memory(tmp_path, engine):
    for number, (question, answers) in enumerate(ENTRIES):
        ids = [f"p{at:02}" for at in range(len(answers))]
        path = tmp_path / f"{number}.parquet"
        pq.write_table(
            pa.table({"id": ids, "limit": [1.0] * len(ids), question.name: pa.array(answers, pa.string())}), path
        )
        rows = optin.read(str(path), limits="limit", engine=engine).rows
        coded = question.coded_in(rows, (question.name,))
        table = rows.table.select(id=rows.ids(), code=coded.code, wrong=coded.wrong.fill_null(False))
        found = sorted(rows.session.fetch(table, about="x").to_pylist(), key=lambda row: row["id"])
        told = [-1.0 if row["wrong"] else row["code"] for row in found]
        assert told == verdicts(answers, lambda answer, question=question: in_memory(question, answer))


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_that_is_none_is_refused_by_id_and_never_repeated(tmp_path, monkeypatch, engine, split):
    monkeypatch.setattr("optin.engine.agents.EngineConstrained.mostly_above", lambda *_: split)
    ids, good = (
        ["a", "b", "c"],
        {"shift": ["early"] * 3, "reasons": ["pay"] * 3, "hours": ["1"] * 3, "skipped": ["yes"] * 3},
    )
    sheet = optin.Sheet([SHIFT, REASONS, HOURS, SKIPPED])
    for name, words in (
        ("shift", "shift is none of the options; write one of them letter for letter, or nothing (1 more)"),
        ("reasons", "reasons is not a selection of at most 2 of the options"),
        (
            "hours",
            "hours is not a number; write it with digits and a point, or nothing; a word for nothing is said with",
        ),
        ("skipped", "skipped is not an answer; write true or false, yes or no, 1 or 0 (1 more)"),
    )[:: 1 if engine == "duckdb" else 2]:
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"id": ids, "limit": [1.0] * 3, **good, name: ["", "secret", "secret"]}), path)
        people = opened(path, engine)
        promises, codes = people.promises(Offer(1.0, (2**18,) * 4)), people.codes(None, sheet)
        for asked in (lambda: promises.sums(codes=codes), lambda: promises.weighed(sheet.questions, codes)):  # noqa: B023
            with pytest.raises(BadInput) as caught:
                asked()
            assert str(caught.value).startswith(f"{path} id b: {words}")
            assert "secret" not in str(caught.value)


def test_columns_that_cannot_hold_answers_are_refused_before_any_is_read(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": ["a"], "limit": [1.0], "shift": [True], "hours": [["x"]], "shfit": ["x"]}), path)
    people = opened(path, "duckdb")
    sent = people.agents.rows.session.sent
    both = [optin.YesNo("limit"), SHIFT]
    with pytest.raises(BadInput, match="shift is stored as boolean, and options are text"):
        people.codes(None, optin.Sheet(both))
    with pytest.raises(BadInput, match="hours is stored as array"):
        people.codes(None, optin.Sheet([HOURS, optin.YesNo("limit")]))
    with pytest.raises(BadInput, match="no column shift2; did you mean"):
        people.codes(None, optin.Sheet([optin.YesNo("a", column="shift2"), optin.YesNo("limit")]))
    with pytest.raises(BadInput, match="answers are its columns"):
        people.codes({"shift": ["early"]}, optin.Sheet(both))
    with pytest.raises(BadInput, match="give values as the name of a column"):
        people.codes([1.0], optin.Sheet([HOURS]))
    assert people.agents.rows.session.sent == sent


@pytest.mark.parametrize("engine", ENGINES)
def test_one_question_of_any_kind_gives_the_same_integers(tmp_path, engine):
    rng = np.random.default_rng(3)
    for question in kinds(rng)[:: 1 if engine == "duckdb" else 4]:
        case = random_case(31, many=9)
        filled = {
            name: [next(each for each in column if each is not None) if one is None else one for one in column]
            for name, column in case.columns.items()
        }
        asked = next(each for each in case.sheet if each.name == question.name)
        case = Asked(optin.Sheet([asked]), (2**20,), 1.25, case.limits, filled, np.array(case.those))
        path = tmp_path / f"{question.name}.parquet"
        pq.write_table(stored(case), path)
        assert_same(case, *everything(opened(path, engine), case, "joined"))


def test_with_one_question_an_answer_that_is_missing_is_refused_by_id(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "limit": [1.0] * 2, "shift": ["early", None]}), path)
    people = opened(path, "duckdb")
    sheet, promises = optin.Sheet([SHIFT]), people.promises(Offer(1.0, (2**20,)))
    with pytest.raises(BadInput, match="id b joined but their value is missing"):
        promises.weighed(sheet.questions, people.codes(None, sheet))


@pytest.mark.parametrize(
    "cells", [[1, 2, 3, None], [1.0, 2.0, 3.0, None], ["1", "2", "3", None]], ids=["whole", "floats", "text"]
)
def test_whole_numbers_are_the_options_that_they_would_be_written_as(tmp_path, cells):
    sheet = optin.Sheet([optin.Scale("mood", options=("1", "2", "3")), optin.YesNo("limit")])
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": list("abcd"), "limit": [1.0] * 4, "mood": cells}), path)
    people = opened(path, "duckdb")
    (code, _) = people.codes(None, sheet)
    rows = people.agents.rows
    table = rows.table.select(person=rows.ids(), code=code.code).order_by("person")
    assert table.code.to_pyarrow().to_pylist() == [0.0, 1.0, 2.0, None]
    assert np.array_equal(sheet["mood"].coded(cells), [0.0, 1.0, 2.0, math.nan], equal_nan=True)
    with pytest.raises(BadInput, match="none of the options"):
        sheet["mood"].coded([1.5, 2.0])


NUMBERS = {
    "whole": pa.array([0, 1, 2, 1000, -1, None]),
    "floats": pa.array([0.0, -0.0, 1.0, 1.5, math.nan, math.inf, -math.inf, 1e300, 2.0**53, 1000.0, None]),
    "short floats": pa.array([1.0, 1.5, math.inf, math.nan, None], pa.float32()),
    "decimals": pa.array([Decimal("1.00"), Decimal("1.50"), Decimal("0.00"), None], pa.decimal128(10, 2)),
}


@pytest.mark.parametrize("cells", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("kind", [optin.Choice, optin.MultipleChoice])
def test_a_number_is_an_option_in_an_engine_where_it_is_one_in_memory(tmp_path, kind, cells):
    several = {"at_most": 2} if kind is optin.MultipleChoice else {}
    question = kind("x", options=("0", "1", "1.5", "1000", "inf", "nan", str(2**53)), **several)
    path = tmp_path / "people.parquet"
    pq.write_table(
        pa.table({"id": [f"p{at:02}" for at in range(len(cells))], "limit": [1.0] * len(cells), "x": cells}), path
    )
    rows = optin.read(str(path), limits="limit", engine="duckdb").rows
    coded = question.coded_in(rows, ("x",))
    table = rows.table.select(id=rows.ids(), code=coded.code, wrong=coded.wrong.fill_null(False)).order_by("id")
    told = [-1.0 if row["wrong"] else row["code"] for row in rows.session.fetch(table, about="x").to_pylist()]
    assert told == verdicts(cells.to_pylist(), lambda answer: question.coded([answer])[0])
    assert -1.0 in told
    assert None in told
    assert any(code is not None and code >= 0 for code in told)
