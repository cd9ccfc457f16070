"""What cells of text mean, the same on every engine: UTF-8 or refused by file and line, blanks trimmed and no letters."""

import math
import string
import sys

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from ledger_steps import counts

import optin
from optin.engine.opening import rows_of
from optin.ledger import Ledger
from optin.tables.table import read_table

BLANKS = string.whitespace
YES, NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")
SPARK = pytest.mark.xdist_group("spark")
ENGINES = ["memory", "duckdb", pytest.param("spark-local", marks=SPARK)]
GOOD = "id,limit\nann,1\nbob,2\n"
NOT_UTF8 = {
    "latin-1": ("id,limit\nJosé,1\nJosè,2\n".encode("latin-1"), "line 2 is not UTF-8 text"),
    "latin-1 in the header": ("id,límit,limit\nann,1,1\n".encode("latin-1"), "line 1 is not UTF-8 text"),
    "a late byte": (
        b"id,limit\n" + b"".join(b"%d,1\n" % at for at in range(300_000)) + b"\xe9,2\n",
        "line 300002 is not",
    ),
    "another column": ("id,limit,name\na,1,Zoë\nb,2,Zoé\n".encode("latin-1"), "line 2 is not UTF-8 text"),
    "half a letter at the end": (b"id,limit\nann,1\nbob,2\nZo\xc3", "line 4 is not UTF-8 text"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), "line 1 is not UTF-8 text but seems to be UTF-16"),
    "surrogates": (b"id,limit\n\xed\xa0\x80,1\n\xed\xa0\x81,1\n", "line 2 is not UTF-8 text"),
    "more bytes than needed": (b"id,limit\n\xc0\x81,1\n", "line 2 is not UTF-8 text"),
    "zero bytes": (b"id,limit\nann,1\nb\x00b,1\n", "line 3 is not UTF-8 text"),
}


MARKED = {
    "UTF-16": (GOOD.encode("utf-16"), "line 1 is UTF-16, not UTF-8 text"),
    "UTF-32": (GOOD.encode("utf-32"), "line 1 is UTF-32, not UTF-8 text"),
}
"""What a local file is read in, and a store's, which is not copied, is not."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", NOT_UTF8)
def test_text_that_is_not_utf8_is_refused_by_file_and_line(tmp_path, engine, case):
    content, words = NOT_UTF8[case]
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "0.csv").write_text(GOOD.replace("ann", "eve").replace("bob", "kim"))
    (tmp_path / "people" / "1.csv").write_bytes(content)
    with pytest.raises(optin.BadInput) as caught:
        optin.read(tmp_path / "people", limits="limit", engine=engine)
    assert f"people/1.csv {words}" in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("case", [*NOT_UTF8, *MARKED])
def test_text_in_a_store_that_is_not_utf8_is_refused_by_file_and_line(case):
    content, words = (NOT_UTF8 | MARKED)[case]
    fsspec.filesystem("memory").pipe("/cells/people.csv", content)
    with pytest.raises(optin.BadInput) as caught:
        optin.read("memory://cells/people.csv", limits="limit", engine="duckdb")
    assert f"memory:///cells/people.csv {words}" in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mark_of_byte_order_is_no_part_of_a_name(tmp_path, engine):
    for number, line_end in enumerate(("\n", "\r\n")):
        text = "id,limit\nJosé,1\nJosè,4\nJose\u0301,9\n\ufffd,9\n".replace("\n", line_end)
        path = tmp_path / f"{number}.csv"
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert len(optin.read(path, limits="limit", engine=engine)) == 4


def damaged(path):
    """Two ids that differ, and are no UTF-8: read with a sign for what cannot be read they would be one."""
    texts = pa.array([b"Jos\xe9", b"Jos\xe8", b"ann"]).view(pa.string())
    pq.write_table(pa.table({"id": texts, "limit": [1.0, 4.0, 9.0]}), path)
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_ids_in_parquet_that_are_not_utf8_are_refused_by_file_and_column(tmp_path, engine):
    with pytest.raises(optin.BadInput, match=r"people.parquet is damaged: its column id cannot be read"):
        optin.read(damaged(tmp_path / "people.parquet"), limits="limit", engine=engine)


BARE = ["1.5", "inf", "-inf", "Infinity", "nan", "1e5", ".5", "5.", "+2", "false", "f", "v", "vvf1.5f", "1f", "finf", "-nan",
        "+nan", "1e400", "-1e400", "9" * 400, "1e-400", "1d", "0x1", "1_0", "1,5", "é",
        "", "1 2", "NaN", "INF", "tt", "yes", "No", "1", "0", "y e s"]  # fmt: skip
CELLS = [
    cell
    for bare in BARE
    for cell in (bare, f" {bare}", f"{bare}{BLANKS}", f"{BLANKS}{bare}\t", f"\xa0{bare}", f"{bare}\u3000")
]


def expected(cells):
    """What Python makes of them: numbers and answers, None where there is none."""
    numbers, answers = [], []
    for cell in cells:
        bare = cell.strip(BLANKS)
        number = (
            None if set(bare.lower()) - set("0123456789.+-einfinityna") or bare[1:].lower() == "nan" else _float(bare)
        )
        numbers.append(number)
        answers.append(True if bare.lower() in YES else False if bare.lower() in NO else None)
    return numbers, answers


def _float(text):
    """Digits past every float are the largest: only inf is without end."""
    try:
        number = float(text)
    except ValueError:
        return None
    far = sys.float_info.max
    return math.copysign(far, number) if math.isinf(number) and "i" not in text.lower() else number


@pytest.mark.parametrize("engine", ENGINES)
def test_blanks_are_trimmed_and_no_letters_on_every_engine(tmp_path, engine):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": [f"{at:03}" for at in range(len(CELLS))], "cell": CELLS}), path)
    numbers, answers = expected(CELLS)
    if engine == "memory":
        found = read_table(str(path), ["cell"]).values("cell").tolist()
        assert list(map(str, found)) == [str(math.nan if number is None else number) for number in numbers]
        return
    rows = rows_of(str(path), id="id", columns=["cell"], engine=engine)
    asked = rows.table.select(person=rows.ids(), number=rows.number("cell"), answer=rows.truth("cell"))
    found = rows.session.fetch(asked, about="the test").sort_by("person")
    assert list(map(str, found.column("number").to_pylist())) == list(map(str, numbers))
    assert found.column("answer").to_pylist() == answers


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_number_past_every_float_is_not_taken_for_no_limit(tmp_path, engine):
    (tmp_path / "people.csv").write_text("id,limit\nann,1\nbob,1e400\n")
    with pytest.raises(optin.BadInput, match=r"limit is finite but above 1e\+300; write inf where there is no limit"):
        optin.read(tmp_path / "people.csv", limits="limit", engine=engine)


def test_the_blanks_are_those_that_arrow_trims():
    for code in range(1, 0x3100):
        trimmed = pc.ascii_trim_whitespace(pa.array([f"{chr(code)}1"]))[0].as_py() == "1"
        assert trimmed == (chr(code) in BLANKS)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 3.0)])
@pytest.mark.parametrize("joined", [None, "joined"])
def test_a_missing_value_of_someone_who_joined_is_said_so_whatever_a_file_declares(tmp_path, joined, bounds):
    """Parquet files declare their smallest and largest number and leave NaN out: it must not pass as one between them."""
    people = 60
    columns = {
        "id": [f"p{at:03}" for at in range(people)],
        "limit": [0.25 + at % 7 / 4 for at in range(people)],
        "value": [math.nan if at == 7 else at / people for at in range(people)],
        "joined": [at % 5 != 0 for at in range(people)],
    }
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    kept = optin.read(tmp_path / "people.parquet", limits="limit")
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = optin.campaign.plan(kept, bounds=bounds, ledger=ledger)
        offer = optin.campaign.announce(plan, kept, ledger=ledger, campaign="c")
        before = counts(ledger)
        with pytest.raises(optin.BadInput, match=r"id p007.* missing"):
            optin.release(offer, kept, "value", joined=joined)
        with pytest.raises(optin.BadInput, match=r"id p007.* missing"):
            optin.campaign.release(offer, kept, "value", joined=joined, ledger=ledger)
        assert counts(ledger) == before
