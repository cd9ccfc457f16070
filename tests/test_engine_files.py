"""Files that cannot be used, through the command line with an engine: refused by file and column, nothing quoted or charged."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import names, optin, optin_ok

N = 1_000
RNG = np.random.default_rng(4)
PEOPLE = {
    "id": [f"p{number:04}" for number in range(N)],
    "limit": RNG.lognormal(-1.0, 1.0, N),
    "value": RNG.random(N),
    "joined": RNG.random(N) < 0.8,
}
DUCKDB = ("--engine", "duckdb", "--limits", "limit")
SECRET = "7351.25"
DATES = pa.array([7351] * N, pa.date32())
WORDS = ["seven", f"about {SECRET}"] * (N // 2)


def written(folder, **columns):
    """Two parts, of which the second is the one that something happens to."""
    folder.mkdir()
    table = pa.table(PEOPLE | columns)
    for part in range(2):
        pq.write_table(table.slice(part * N // 2, N // 2), folder / f"{part}.parquet", compression="snappy")
    return folder


def cut(folder):
    whole = (written(folder) / "1.parquet").read_bytes()
    (folder / "1.parquet").write_bytes(whole[: len(whole) // 2])


def damaged(folder, column):
    """Pages of one column are overwritten; the file's own index is as it was."""
    path = written(folder) / "1.parquet"
    group = pq.read_metadata(path).row_group(0)
    chunk = next(group.column(at) for at in range(group.num_columns) if group.column(at).path_in_schema == column)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + chunk.total_compressed_size] = b"\xfe" * chunk.total_compressed_size
    path.write_bytes(bytes(content))


def mixed(folder, column, entries):
    """One part stores a column otherwise than the other."""
    table = pa.table(PEOPLE).slice(N // 2)
    at = table.column_names.index(column)
    pq.write_table(table.set_column(at, column, pa.array(entries)[: N // 2]), written(folder) / "1.parquet")


def cut_csv(folder):
    folder.mkdir()
    (folder / "0.csv").write_text("id,value,joined,limit\n" + f"p0,1,1,{SECRET}\n" * 4 + f"p4,{SECRET}")


PLANNED = {
    "cut": (cut, "bad/1.parquet is not a Parquet file, or is damaged"),
    "cut CSV": (cut_csv, "bad/0.csv line 6 has 2 columns where the header has 4"),
    "damaged ids": (lambda folder: damaged(folder, "id"), "bad/1.parquet is damaged: its column id cannot be read"),
    "damaged limits": (lambda folder: damaged(folder, "limit"), "bad/1.parquet is damaged: its column limit cannot be"),
    "dates": (lambda folder: written(folder, limit=DATES), "bad: limit is stored as date, and numbers are needed"),
    "lists": (lambda folder: written(folder, limit=[[1.0]] * N), "bad: limit is stored as array<float64>, and numbers"),
    "words": (lambda folder: written(folder, limit=WORDS), "bad id p0000: limit is not a number"),
    "ids that are floats": (
        lambda folder: written(folder, id=np.arange(N) / 2),
        "bad: id is stored as float64, and ids",
    ),
    "dates in one part": (lambda folder: mixed(folder, "limit", DATES), "bad: limit is stored as date, and numbers"),
    "words in one part": (lambda folder: mixed(folder, "limit", WORDS), "bad id p0500: limit is not a number"),
}
RELEASED = {
    "damaged values": (lambda folder: damaged(folder, "value"), "bad/1.parquet is damaged: its column value cannot be"),
    "dates": (lambda folder: written(folder, value=DATES), "bad: value is stored as date, and numbers are needed"),
    "words": (
        lambda folder: written(folder, value=WORDS),
        "bad id p0000 joined but their value is missing or not a number",
    ),
    "words in one part": (
        lambda folder: mixed(folder, "value", WORDS),
        "id p0500 joined but their value is missing or not a number",
    ),
    "nothing": (lambda folder: written(folder, value=pa.nulls(N)), "bad id p0000 joined but their value is"),
    "not a number": (
        lambda folder: written(folder, value=[math.nan] * N),
        "bad id p0000 joined but their value",
    ),
    "answers that are dates": (lambda folder: written(folder, joined=DATES), "bad id p0000: joined is not an answer"),
}


@pytest.fixture(scope="module")
def announced(tmp_path_factory):
    """A plan, an announcement and its ledger, made from the good table."""
    folder = tmp_path_factory.mktemp("campaign")
    people = written(folder / "people")
    optin_ok("plan", people, *DUCKDB, "--bounds", 0, 1, "-o", folder / "plan.json")
    book = ("--ledger", folder / "ledger.sqlite")
    optin_ok("announce", folder / "plan.json", people, *DUCKDB, *book, "-o", folder / "offer.json")
    return folder


def refused(outcome, words):
    """Exit code 2, the file and the column; neither an entry nor an engine's own words."""
    assert outcome.code == 2, outcome
    assert words in outcome.err
    assert not any(
        secret in outcome.out + outcome.err for secret in (SECRET, "seven", "7351", "Traceback", "Exception")
    )
    assert outcome.out == ""


def nothing_charged(folder, before):
    """The ledger is as it was, and whole."""
    assert names(folder) == before
    shown = optin_ok("ledger", "verify", "--ledger", folder / "ledger.sqlite", "--json").json
    assert (shown["ok"], shown["acts"]) == (True, 2)


@pytest.mark.parametrize("case", PLANNED)
def test_neither_plan_nor_announcement_nor_release_takes_it(case, tmp_path, monkeypatch, announced):
    make, words = PLANNED[case]
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "bad")
    before = names(announced)
    refused(optin("plan", "bad", *DUCKDB, "--bounds", 0, 1, "-o", "plan.json"), words)
    new = ("--ledger", "new.sqlite", "-o", "offer.json")
    refused(optin("announce", announced / "plan.json", "bad", *DUCKDB, *new), words)
    old = ("--ledger", announced / "ledger.sqlite", "-o", "release.json")
    refused(optin("release", announced / "offer.json", "bad", *DUCKDB, "--values", "value", *old), words)
    assert names(tmp_path) == ["bad"]
    nothing_charged(announced, before)


@pytest.mark.parametrize("case", RELEASED)
def test_a_release_refuses_values_and_answers_that_cannot_be_used(case, tmp_path, monkeypatch, announced):
    make, words = RELEASED[case]
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "bad")
    before = names(announced)
    columns = ("--values", "value", "--joined", "joined")
    for where in (("--ledger", announced / "ledger.sqlite"), ("--no-ledger",)):
        refused(optin("release", announced / "offer.json", "bad", *DUCKDB, *columns, *where, "-o", "r.json"), words)
    assert names(tmp_path) == ["bad"]
    nothing_charged(announced, before)
