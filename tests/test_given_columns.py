"""What people's columns may be: labelled by ids or intervals, answers in words, tables in memory; and what is said if not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from cli_steps import optin as command
from cli_steps import optin_ok, people_csv

import optin
from optin import PrivacyConstrained
from optin.campaign import within_allowance
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger
from optin.releasing.drawing import measure
from optin.tables.labels import aligned

NAMES = [f"p{at}" for at in range(12)]
LIMITS = np.linspace(0.1, 1.2, 12)
VALUES = np.linspace(0.0, 1.0, 12)


def offered(people):
    return optin.plan(people, bounds=(0, 1)).announce(people, campaign="c")


def summed(people, values, joined=None):
    return measure(offered(people), people, values, joined=joined).those


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda rows: pa.table(rows)])
@pytest.mark.parametrize("engine", ["memory", "duckdb", None])
def test_a_table_in_memory_is_read_as_people_and_stays_there_unless_an_engine_is_named(kind, engine):
    people = optin.read(kind({"id": NAMES, "limit": LIMITS}), limits="limit", engine=engine)
    assert len(people) == len(NAMES)
    assert isinstance(people, PrivacyConstrained) == (engine != "duckdb")


ODD = ["collect", "collect_schema", "get_backend", "to_arrow", "to_pylist", "combine_chunks", "column_names", "sparse"]
"""What tables and columns of other libraries are asked for: pandas answers for labels and columns of these names too."""


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_columns_and_people_of_pandas_may_bear_the_names_of_methods(engine):
    names = [*ODD, *NAMES[len(ODD) :]]
    frame = pd.DataFrame({"id": names, "limit": LIMITS} | dict.fromkeys(ODD, VALUES), index=names)
    people = optin.read(frame, limits="limit", engine=engine)
    found, expected = offered(people).sealed, offered(PrivacyConstrained(LIMITS)).sealed
    assert found.total_squared_grains == expected.total_squared_grains
    if engine == "memory":
        ids, wards = pd.Series(names, index=names), pd.Series(["a", "b"] * 6, index=names)
        grouped = PrivacyConstrained(frame["limit"], ids=ids, groups=wards)
        assert (grouped.ids, grouped.groups.names) == (tuple(names), ("a", "b"))


@pytest.mark.parametrize(
    "sheet",
    [[optin.Number("hours", bounds=(0, 1))], [optin.Number("hours", bounds=(0, 1)), optin.YesNo("late")]],
    ids=len,
)
def test_a_table_that_polars_only_describes_holds_people_and_answers(sheet):
    order = np.random.default_rng(3).permutation(12)
    late = np.arange(12) % 3 == 0
    table = pl.DataFrame({"id": NAMES, "limit": LIMITS, "hours": VALUES, "late": late})[order.tolist()].lazy()
    people, plain = optin.read(table, limits="limit"), PrivacyConstrained(LIMITS, ids=NAMES)
    offer = optin.plan(plain, sheet).announce(plain)
    expected = measure(offer, plain, {"hours": VALUES, "late": late}).those
    assert measure(offer, people, table).those == measure(offer, plain, table).those == expected


def test_columns_that_are_no_table_are_refused_with_what_to_do():
    with pytest.raises(BadInput, match=r"optin.PrivacyConstrained\(limits, ids=ids\)"):
        optin.read({"id": NAMES, "limit": LIMITS}, limits="limit")


def test_people_of_a_data_frame_keep_its_labels():
    frame = pd.DataFrame({"id": NAMES, "limit": LIMITS, "value": VALUES}, index=[f"row {name}" for name in NAMES])
    people, order = optin.read(frame, limits="limit"), np.random.default_rng(3).permutation(12)
    assert summed(people, frame["value"].iloc[order]) == summed(people, VALUES)


@pytest.mark.parametrize("ids", [pd.Series(NAMES), NAMES])
def test_values_labelled_by_ids_are_taken_by_id(ids):
    people = PrivacyConstrained(LIMITS, ids=ids)
    order = np.random.default_rng(3).permutation(12)
    labelled = pd.Series(VALUES, index=NAMES).iloc[order]
    assert summed(people, labelled) == summed(people, VALUES)
    with pytest.raises(BadInput, match="different indexes"):
        summed(people, labelled.rename({"p3": "q3"}))


def test_labels_in_another_order_are_not_called_missing():
    people = PrivacyConstrained(pd.Series(LIMITS))
    with pytest.raises(
        BadInput, match="both carry the labels 0, 1, 2 and so on, one of them in another order"
    ) as refusal:
        summed(people, pd.Series(VALUES).iloc[::-1])
    assert "only one of them carries labels" not in str(refusal.value)
    with pytest.raises(BadInput, match="only one of them carries labels"):
        summed(people, pd.Series(VALUES, index=NAMES))


def test_intervals_that_overlap_are_labels_like_any():
    labels = pd.IntervalIndex.from_arrays(np.arange(12.0), np.arange(12.0) + 3)
    values = pd.Series(VALUES, index=labels).iloc[::-1]
    assert aligned(values, labels, "values").to_numpy().tolist() == VALUES.tolist()
    others = pd.IntervalIndex.from_arrays(np.arange(12.0) + 1, np.arange(12.0) + 4)
    with pytest.raises(BadInput, match="different indexes"):
        aligned(pd.Series(VALUES, index=others), labels, "values")


@pytest.mark.parametrize(
    "answers",
    [["yes"] * 11 + ["no"], ["True "] * 11 + ["F"], pd.Series(["y"] * 11 + ["n"]), pd.Categorical(["1"] * 11 + ["0"])],
)
def test_answers_in_words_are_taken_as_in_a_file(answers):
    people = PrivacyConstrained(LIMITS, ids=NAMES)
    assert summed(people, VALUES, joined=answers) == summed(people, VALUES, joined=np.arange(12) < 11)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (["yes"] * 11 + ["maybe"], r"joined\[11\] is not an answer"),
        (["yes", None] * 6, "true or false for each"),
        ([1, 0] * 6, "true or false for each"),
        (["yes"] * 3, "joined has shape"),
    ],
)
def test_answers_that_are_none_are_refused(answers, why):
    people = PrivacyConstrained(LIMITS, ids=NAMES)
    with pytest.raises(BadInput, match=why):
        summed(people, VALUES, joined=answers)


def test_totals_lower_limits_in_grains_as_a_new_ledger_does():
    """A total above the limit by less than a grain, or below it by less, leaves the limit as it is, to the last bit."""
    limits = np.array([0.3, 0.3, 0.3, 0.5])
    totals = np.array([np.nextafter(0.3, 0), 0.3, 0.2, 2.0**-17])
    people = PrivacyConstrained(limits, ids=list("abcd"))
    found = within_allowance(people, None, allowances=totals).limits
    assert found.tolist() == [0.3, 0.3, np.floor(0.2 * 2**32) / 2**32, 0.0]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    table = people_csv(folder, 40)
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 40, "-o", folder / "plan.json")
    optin_ok("announce", folder / "plan.json", table, "--ledger", folder / "l.sqlite", "-o", folder / "offer.json")
    return folder


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("edit", "ledger"),
    [("limit", True), ("limit", False), ("missing", True), ("missing", False), ("stranger", True)],
)
def test_another_table_leaves_with_one_exit_code_wherever_it_is_read(campaign, tmp_path, engine, ledger, edit):
    lines = (campaign / "people.csv").read_text().splitlines()
    cells = lines[3].split(",")
    lines[3] = {"limit": ",".join([cells[0], "7.5", *cells[2:]]), "stranger": ",".join(["x", *cells[1:]])}.get(
        edit, lines[3]
    )
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines[:-1] if edit == "missing" else lines) + "\n")
    kept = ("--ledger", campaign / "l.sqlite") if ledger else ("--no-ledger",)
    asked = ("--limits", "limit", "--values", "units", "--joined", "joined", "--engine", engine, *kept)
    outcome = command("release", campaign / "offer.json", table, *asked, "-o", tmp_path / "r.json")
    assert outcome.code == 2, outcome.err
    few = command(
        "release", campaign / "offer.json", campaign / "people.csv", *asked, "--quorum", 99, "-o", tmp_path / "r.json"
    )
    assert few.code == 4, few.err


def test_a_refusal_says_whether_another_table_mends_it():
    people = PrivacyConstrained(LIMITS, ids=NAMES)
    offer = offered(people)
    with pytest.raises(PromiseBroken) as other:
        measure(offer, PrivacyConstrained(LIMITS * 0.9, ids=NAMES), VALUES)
    with pytest.raises(PromiseBroken) as nobody:
        measure(offer, people, VALUES, joined=np.zeros(12, dtype=bool))
    assert (other.value.other_people, nobody.value.other_people) == (True, False)


def test_a_decimal_comma_is_answered_with_a_point(campaign):
    said = command("explain", campaign / "offer.json", "--limit", "0,5")
    assert said.code == 2
    assert "--limit must be a number: digits and a point, as in 0.5" in said.err


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_answers_of_a_table_in_memory_go_along_with_its_people_to_an_engine(kind, tmp_path):
    columns = {"id": NAMES, "limit": LIMITS, "total": LIMITS * 2, "hours": VALUES, "joined": [1] * 11 + [0]}
    people = optin.read(FRAMES[kind](columns), limits="limit", engine="duckdb")
    expected = summed(PrivacyConstrained(LIMITS, ids=NAMES), VALUES, np.arange(12) < 11)
    assert summed(people, "hours", "joined") == expected
    assert within_allowance(people, None, allowances="total").expression is not None
    with pytest.raises(BadInput, match="has no column missing"):
        summed(people, "missing")


def test_what_an_engine_could_not_read_of_a_table_in_memory_does_not_stand_in_the_way():
    odd = {"mixed": ["a", 1] * 6, "things": [object()] * 12, "nested": [[1.0]] * 12}
    frame = pd.DataFrame({"id": NAMES, "limit": LIMITS} | odd)
    frame = pd.concat([frame, *(frame[[name]].set_axis(["twice"], axis=1) for name in ("nested", "limit"))], axis=1)
    people = optin.read(frame, limits="limit", engine="duckdb")
    found, expected = offered(people).sealed, offered(PrivacyConstrained(LIMITS, ids=NAMES)).sealed
    assert found.total_squared_grains == expected.total_squared_grains


STORED = {
    "views": lambda texts: pa.array(texts, pa.string_view()),
    "runs": lambda texts: pc.run_end_encode(pa.array(texts)),
    "large": lambda texts: pa.array(texts, pa.large_string()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
}


@pytest.mark.parametrize("stored", STORED)
def test_however_arrow_stores_answers_they_are_put_into_the_order_of_the_people(stored):
    people, sheet = PrivacyConstrained(LIMITS, ids=NAMES), [optin.Choice("way", options=["bus", "foot"])]
    offer, ways = optin.plan(people, sheet).announce(people, campaign="c"), ["bus"] * 5 + ["foot"] * 7
    table = pa.table({"id": NAMES[::-1], "way": STORED[stored](ways[::-1])})
    assert measure(offer, people, table).those == measure(offer, people, {"way": ways}).those


@pytest.mark.parametrize("column", ["id", "limit", "way"])
def test_rows_are_left_out_of_a_table_however_arrow_stores_it(column, tmp_path):
    columns = {"id": NAMES, "limit": ["1"] * 11 + ["no number"], "way": ["bus"] * 12}
    table = pa.table(columns | {column: pa.array(columns[column], pa.string_view())})
    people = optin.read(table, limits="limit", skip_bad=str(tmp_path / "bad.csv"))
    assert people.ids == tuple(NAMES[:11])


def named_twice(names):
    columns = {"id": NAMES, "value": VALUES, "way": ["bus"] * 12}
    return pa.Table.from_arrays([pa.array(columns[name]) for name in names], names=names)


@pytest.mark.parametrize("twice", ["id", "value", "way"])
@pytest.mark.parametrize("kind", [lambda table: table, lambda table: table.to_pandas()])
def test_a_table_of_answers_with_a_column_twice_is_refused_by_its_name(kind, twice):
    people = PrivacyConstrained(LIMITS, ids=NAMES)
    sheet = [optin.Number("value", bounds=(0, 1)), optin.Choice("way", options=["bus", "foot"])]
    offer = optin.plan(people, sheet).announce(people, campaign="c")
    with pytest.raises(BadInput, match=f"the table of answers has 2 columns named {twice}; rename all but one"):
        measure(offer, people, kind(named_twice(["id", "value", "way", twice])))


@pytest.mark.parametrize(
    "odd",
    [
        np.array([np.timedelta64(1, "s")] * 12, dtype=object),
        np.array([np.complex128(0.5)] * 12, dtype=object),
        pl.Series([1] * 12).cast(pl.Int128),
        (value for value in VALUES),
        np.array(0.5),
    ],
    ids=["lengths of time", "complex numbers", "128 bits", "a generator", "one number"],
)
def test_what_is_no_column_of_numbers_is_bad_input_wherever_one_is_asked_for(odd):
    people = PrivacyConstrained(LIMITS, ids=NAMES)
    for use in (
        PrivacyConstrained,
        lambda column: summed(people, column),
        lambda column: summed(people, VALUES, column),
    ):
        with pytest.raises(BadInput):
            use(odd)


def test_ids_and_groups_of_arrow_that_are_not_utf_8_are_refused_by_their_place():
    offsets = pa.array(NAMES).buffers()[1]
    text = "".join(NAMES).encode()
    broken = pa.Array.from_buffers(pa.string(), 12, [None, offsets, pa.py_buffer(text[:-1] + b"\xff")])
    for given, place in (({"ids": broken}, "ids"), ({"ids": NAMES, "groups": broken}, "groups")):
        with pytest.raises(BadInput, match=rf"{place}\[11\] is not text"):
            PrivacyConstrained(LIMITS, **given)


@pytest.mark.parametrize("ids", [set(NAMES), frozenset(NAMES), "abcdefghijkl"])
def test_ids_of_which_nobody_knows_whose_is_whose_are_refused(ids):
    with pytest.raises(BadInput, match="in the order of the people"):
        PrivacyConstrained(LIMITS, ids=ids)


def test_bounds_may_stand_in_any_two_places_and_what_is_no_number_is_bad_input():
    people = PrivacyConstrained(LIMITS)
    for bounds in (np.array([0, 1]), pd.Series([0, 1]), pa.array([0.0, 1.0]).to_numpy(), pl.Series([0, 1])):
        assert optin.plan(people, bounds=bounds).bounds == (0.0, 1.0)
    for odd in (pd.NA, np.complex128(0.1), np.complex64(0.1), np.timedelta64(1, "s"), np.str_("0.1"), np.array([0.1])):
        for asked in ({"sd": odd}, {"data_variance": odd}, {"max_gap": odd}, {"bounds": (0, odd)}):
            with pytest.raises(BadInput):
                optin.plan(people, **({"bounds": (0, 1)} | asked))
            with pytest.raises(BadInput):
                optin.plan(people, [optin.YesNo("late")], **asked)


def test_a_ledger_takes_ids_from_whatever_lists_them_and_refuses_one_text_or_a_set(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        people = PrivacyConstrained(LIMITS, ids=NAMES)
        optin.campaign.announce(optin.plan(people, bounds=(0, 1)), people, ledger=ledger, allowances=9.0)
        expected = ledger.remaining(NAMES).tolist()
        for ids in (iter(NAMES), tuple(NAMES), np.array(NAMES), pa.array(NAMES), pl.Series(NAMES), pd.Series(NAMES)):
            assert ledger.remaining(ids).tolist() == expected
        for ids in ("p0", b"p0", set(NAMES)):
            with pytest.raises(BadInput, match="in the order of the people"):
                ledger.remaining(ids)
