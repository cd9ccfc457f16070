"""CSV without Arrow reads what Arrow reads: the same cells, the same numbers, and the same files refused."""

import math
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_csv_lines import REFUSED, TAKEN
from test_decimals import ODD
from test_text_cells import NOT_UTF8
from trying import examples

import optin
from optin.errors import BadInput
from optin.kernel.rounding import GRAIN, LESS
from optin.questions.entries import entries_of
from optin.tables import decimals, table_cells
from optin.tables.columns import Wanted
from optin.tables.csvfiles import csv_header, expect_text, read_csv

FORMS = (None, Wanted("limit"), Wanted.budgets("b"), Wanted.costs("c"), Wanted.divisors("d"))
SPELLINGS = (
    *ODD,
    *("", " ", "\t", "\xa0", "1\xa0", "\u2009.5", "1 2", "1,5", "1_000", "1d", "0x10", "1e", "e1", ".", "+", "-", "+-1", "--1"),
    *("inf", "-inf", "+Infinity", "INFINITY", "infinit", "nan", "+nan", "NaN ", "n/a", "None", "unlimited", "10 %", "\u0661"),
    *("1e308", "1e309", "-1e309", "9" * 400, "1e-400", "0e999", "1e-310", "4.9e-324", "2.5e-324", "-0", "-0.0", "1.e3", "1e+05"),
    *("0.1", "0.3", "17.99999999999999999999999", "1073741824", "1073741823.9999999999", "9007199254740993", "\n1\n", "1\n2"),
)  # fmt: skip
BAD = {
    "a quote that never closes": b'id,limit\n"a,1\nb,2\n',
    "a quote inside a cell": b'id,limit\na"b,1\n',
    "a blank beside quotes": b'id,limit\n"a" ,1\n',
    "a column too few": b"id,limit\na,1\nb\n",
    "a column too many": b"id,limit\na,1\nb,2,3\n",
    "nothing": b"",
    "a lone quote": b'id,limit\n",1\n',
    "blanks on a line": b"id,limit\na,1\n \nb,2\n",
}


def by_arrow(path, names):
    """Read as the version before did, by Arrow; None if it refuses."""
    try:
        expect_text(path)
        table = arrow_csv.read_csv(
            pa.OSFile(str(path)),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, BadInput):
        return None
    return {name: table.column(name).to_pylist() for name in names}


def by_us(path, names):
    try:
        table = read_csv(path, names)
    except BadInput:
        return None
    assert all(len(table.column(name)) == len(table) for name in names)
    return dict(table.columns)


def numbers_by_arrow(texts, wanted):
    """Read numbers as the version before did, by Arrow's expressions and casts."""
    text = pc.ascii_trim_whitespace(pa.chunked_array([pa.array(texts, pa.string())]))
    number = np.array(pc.match_substring_regex(text, table_cells.NUMBER).to_pylist(), dtype=np.bool_)
    found = text.filter(pa.array(number))
    numbers = np.array(pc.cast(found, pa.float64(), safe=False).to_pylist(), dtype=np.float64)
    endless = np.array(pc.match_substring_regex(found, table_cells.ENDLESS).to_pylist(), dtype=np.bool_)
    numbers = np.where(endless, numbers, np.clip(numbers, -table_cells.FARTHEST, table_cells.FARTHEST))
    every = np.full(len(texts), np.nan)
    every[number] = numbers if wanted is None else corrected_by_arrow(found, numbers, wanted)
    return every, ~number & np.array(pc.match_substring_regex(text, ".").to_pylist(), dtype=np.bool_)


def corrected_by_arrow(text, numbers, wanted):
    def matched(pattern):
        return np.array(pc.match_substring_regex(text, pattern).to_pylist(), dtype=np.bool_)

    if wanted.finite:
        numbers = np.where((numbers == 0) & matched(decimals.POSITIVE), decimals.VANISHED, numbers)
    with np.errstate(over="ignore"):
        scaled = numbers * GRAIN
    grain = (np.floor(scaled) == scaled) & (numbers < decimals.LARGE)
    short = matched(decimals.SHORT)
    above, exact = np.zeros(len(numbers), dtype=np.bool_), short & (grain | (numbers >= decimals.LARGE))
    for row in np.flatnonzero(grain & ~short & (numbers > 0)).tolist():
        written = decimals.Decimal(text[row].as_py())
        above[row], exact[row] = float(numbers[row]) > written, float(numbers[row]) == written
    if wanted.inexact is None:
        return np.where(above, numbers * LESS, numbers)
    with np.errstate(over="ignore"):
        moved = numbers * wanted.inexact
    moved = np.where(
        np.isinf(moved), numbers, moved
    )  # unlike before: what is finite is refused as too large, as in engines
    return np.where(exact, numbers, np.where(numbers <= wanted.most, np.minimum(moved, wanted.most), moved))


def same(ours, theirs):
    return all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f") and np.array_equal(np.signbit(one), np.signbit(other))
        if one.dtype.kind == "f" else np.array_equal(one, other)
        for one, other in zip(ours, theirs, strict=True)
    )  # fmt: skip


BATTERY = (
    {name: text.encode() for name, text in TAKEN.items()}
    | {name: text.encode() for name, (text, _) in REFUSED.items()}
    | {name: content for name, (content, _) in NOT_UTF8.items()}
    | BAD
)


@pytest.mark.parametrize("text", ['id,limit\nann,"1\n', 'id,"limit\nann,1\n'], ids=["last cell", "header"])
def test_a_quote_that_never_closes_is_refused_where_arrow_took_the_rest_of_the_file_for_a_cell(tmp_path, text):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(BadInput, match="starts a cell that never ends") as refusal:
        optin.read(path, limits="limit", engine="memory")
    assert "ann" not in str(refusal.value)


@pytest.mark.parametrize("case", BATTERY)
def test_every_file_of_the_battery_is_read_as_by_arrow_or_refused_by_both(tmp_path, case):
    path = tmp_path / "people.csv"
    path.write_bytes(BATTERY[case])
    try:
        names = [name for name in ("id", "limit") if name in csv_header(path)]
    except BadInput:
        names = ["id"]
    assert by_us(path, names) == by_arrow(path, names)


CELL = st.text(st.sampled_from(list('ab,"\n\r é\t0;\u2028\x85')), max_size=5)


@st.composite
def files(draw):
    """Tables as spreadsheets write them, with every kind of cell, blank lines, and now and then a row that is none."""
    width, end = draw(st.integers(1, 4)), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    header = [f"c{at}" for at in range(width)]
    rows = draw(st.lists(st.lists(CELL, min_size=width, max_size=width), max_size=6))
    lines = [",".join(_quoted(cell, draw(st.booleans())) for cell in row) for row in rows]
    for line in draw(st.lists(st.sampled_from(["", " ", "a" + ",b" * width, '"', "a,"]), max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    last = end if draw(st.booleans()) else ""
    return header, draw(st.sampled_from(["", "\ufeff"])) + end.join([",".join(header), *lines]) + last


def _quoted(cell, anyway):
    return '"' + cell.replace('"', '""') + '"' if anyway or set(cell) & set('",\r\n') else cell


@given(files())
@settings(max_examples=examples(600), derandomize=True)
def test_drawn_tables_are_read_as_by_arrow_or_refused_by_both(tmp_path_factory, drawn):
    names, text = drawn
    path = tmp_path_factory.mktemp("drawn") / "people.csv"
    path.write_bytes(text.encode())
    ours, theirs = by_us(path, names), by_arrow(path, names)
    expected = theirs if text.count('"') % 2 == 0 else None  # Arrow takes a quote that never closes for a cell
    alone = expected is None and ours == {name: [] for name in names}  # and a header without a line end for nothing
    assert alone or ours == expected


@pytest.mark.parametrize("wanted", FORMS, ids=lambda wanted: wanted.name if wanted else "value")
def test_every_spelling_of_a_number_is_read_to_the_same_bits_as_by_arrow(wanted):
    texts = list(SPELLINGS)
    assert same(table_cells.numbers_in(texts, wanted), numbers_by_arrow(texts, wanted))
    for text in texts:  # alone, cells that are digits only go the short way
        assert same(table_cells.numbers_in([text], wanted), numbers_by_arrow([text], wanted)), text


DIGITS = st.text(st.sampled_from(list("0123456789.+-eE")), max_size=9)


@given(st.lists(DIGITS | st.floats().map(repr) | st.decimals().map(str) | st.sampled_from(SPELLINGS), max_size=8))
@settings(max_examples=examples(600), derandomize=True)
def test_drawn_numbers_are_read_to_the_same_bits_as_by_arrow(texts):
    for wanted in FORMS:
        assert same(table_cells.numbers_in(texts, wanted), numbers_by_arrow(texts, wanted))


def test_rows_are_kept_in_order_across_blocks_and_blank_lines(tmp_path):
    people = [f"p{at}" for at in range(1000)]
    path = tmp_path / "people.csv"
    path.write_text(
        "id,note,limit\n" + "".join(f"{name},,{at}\n" + "\n" * (at % 3 == 0) for at, name in enumerate(people))
    )
    table = read_csv(path, ["limit", "id"])
    assert table.column("id") == people
    assert table.column("limit") == [str(at) for at in range(1000)]


def test_coded_text_stands_for_the_same_entries():
    rng = random.Random(7)
    texts = [rng.choice(["yes", "no", "", "Ja", " yes"]) for _ in range(200)]
    entries, places = entries_of(table_cells.coded(texts))
    assert [entries[at] for at in places] == texts


def test_a_campaign_over_csv_loads_neither_arrow_nor_pandas_nor_an_engine(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,limit,drinks,smokes\n" + "".join(f"p{at},0.{at % 9 + 1},{at % 7},yes\n" for at in range(50)))
    (tmp_path / "sheet.toml").write_text(
        '[[question]]\nname = "drinks"\nkind = "number"\nbounds = [0, 9]\nsd = 2\n'
        '[[question]]\nname = "smokes"\nkind = "yes-no"\n'
    )
    script = (
        "import sys, itertools\n"
        "from optin.cli.one_command import run\n"
        "steps = ['plan people.csv --limits limit --sheet sheet.toml -o plan.json',\n"
        " 'announce plan.json people.csv --ledger l.sqlite -o a.json', 'release a.json people.csv --ledger l.sqlite -o r.json']\n"
        "codes = [run(step.split()) for step in steps]\n"
        "assert codes == [0, 0, 0], codes\n"
        "loaded = {'pyarrow', 'pandas', 'ibis', 'duckdb', 'matplotlib', 'fsspec', 'psycopg', 'pydantic'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_oracle_tells_a_wrong_number():
    ours, theirs = table_cells.numbers_in(["0.5"], None), numbers_by_arrow(["0.5000000000000001"], None)
    assert not same(ours, theirs)
    assert math.isnan(table_cells.numbers_in(["x"], None)[0][0])
