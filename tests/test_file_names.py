"""Columns come from files, never from the names of folders; and a file's name means that file, whatever letters it holds."""

import importlib
import shutil
import unicodedata
from pathlib import Path
from typing import ClassVar

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import optin as command
from cli_steps import optin_ok
from fsspec.implementations.memory import MemoryFileSystem

import optin
from optin.engine.opening import rows_of
from optin.ledger import Ledger
from optin.tables import read_table

SPARK = pytest.mark.xdist_group("spark")
ENGINES = ["memory", "duckdb", pytest.param("spark-local", marks=SPARK)]
KINDS = ["parquet", "csv"]
NAMES = {  # a name, and names that it would match as a pattern or after some decoding
    "people[1]": ["people1"],
    "a*": ["ab", "a"],
    "q?": ["qx"],
    "{a,b}": ["a", "b"],
    "c,d": ["c", "d"],
    " sp ace ": ["sp ace"],
    "p%20x": ["p x"],
    "h#x": ["h"],
    "people?v=1": ["people"],
    unicodedata.normalize("NFC", "José"): [unicodedata.normalize("NFD", "José")],
    unicodedata.normalize("NFD", "Zoë"): [unicodedata.normalize("NFC", "Zoë")],
    "-dash": [],
    "back\\slash": ["backslash"],
    "it's": ["its"],
    'a"quote': [],
    "$HOME": [],
    "[!z]": ["y"],
    "[[]": ["["],
    "**": ["other"],
}
STRICT, LAX = 0.5, 100.0


def written(path, limit, people=3, **columns):
    """People whose limits and ids tell the file they came from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = {"id": [f"{path} {number}" for number in range(people)], "limit": [limit] * people} | columns
    if path.suffix == ".parquet":
        with path.open("wb") as file:
            pq.write_table(pa.table(table), file)
    else:
        rows = zip(*table.values(), strict=True)
        quoted = "\n".join(",".join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows)
        path.write_text(",".join(table) + "\n" + quoted + "\n")
    return path


def limits_in(source, engine, name="limit"):
    """The limits that an engine reads, one for each row: what `optin.read` opens, before anything is planned."""
    if engine == "memory":
        return read_table(str(source), ["id", name]).numbers(name).tolist()
    rows = rows_of(str(source), id="id", columns=[name], engine=engine)
    return rows.session.fetch(rows.number(name).name("tau").as_table(), about="the test").column("tau").to_pylist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_name_never_replaces_a_column(tmp_path, engine, kind):
    file = written(tmp_path / f"limit={LAX}" / "id=same" / f"people.{kind}", STRICT)
    written(tmp_path / f"limit={LAX}" / "id=other" / f"more.{kind}", STRICT)
    for source in (file, tmp_path / f"limit={LAX}", f"{tmp_path}/*/*/*.{kind}"):
        assert limits_in(source, engine) == [STRICT] * (3 if source == file else 6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_name_never_adds_a_column(tmp_path, engine, kind):
    written(tmp_path / f"cap={LAX}" / f"people.{kind}", STRICT)
    with pytest.raises(optin.BadInput, match="has no column cap"):
        optin.read(tmp_path, limits="cap", engine=engine)
    with pytest.raises(optin.BadInput, match="has no column cap"):
        optin.read(tmp_path, budgets="limit", costs="cap", engine=engine)


def test_a_folder_name_never_answers_for_anyone(tmp_path):
    home, engine = tmp_path / "joined=yes" / "value=1", ("--engine", "duckdb", "--limits", "limit")
    file = written(home / "people.csv", STRICT, people=40, joined=["no", "no", *["yes"] * 38], value=[0.5] * 40)
    book, offer = ("--ledger", tmp_path / "ledger.sqlite"), tmp_path / "offer.json"
    optin_ok("plan", file, *engine, "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    optin_ok("announce", tmp_path / "plan.json", file, *engine, *book, "-o", offer)
    columns = ("--values", "value", "--joined", "joined")
    drawn = optin_ok("release", offer, file, *engine, *book, *columns, "-o", tmp_path / "release.json", "--json")
    assert drawn.json["joined_people"] == 38
    shutil.copytree(tmp_path / "joined=yes", tmp_path / "region=1")
    other = ("--no-ledger", "-o", tmp_path / "other.json", "--values", "region")
    refused = command("release", offer, tmp_path / "region=1", *engine, *other)
    assert refused.code == 2
    assert "has no column region" in refused.err


@SPARK
def test_a_folder_name_never_answers_for_anyone_on_spark(tmp_path):
    written(tmp_path / "joined=yes" / "people.csv", STRICT, joined=["no", "no", "yes"])
    rows = rows_of(str(tmp_path), id="id", columns=[], engine="spark-local")
    answers = rows.session.fetch(rows.truth("joined").name("joined").as_table(), about="the test").column("joined")
    assert answers.to_pylist() == [False, False, True]


def test_what_a_ledger_knows_is_read_from_its_file_wherever_temporary_files_lie(tmp_path, monkeypatch):
    """A second round lays allowances over people's rows; the temporary folder's name must not become one of them."""
    home = tmp_path / "first=999999999999" / "tmp[1]*"
    home.mkdir(parents=True)
    for name in ("first", "second", "optin_first", "optin_second"):
        home = home / f"{name}=7"
        home.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(home))
    limits = np.full(40, 0.5)
    pq.write_table(pa.table({"id": [f"p{at}" for at in range(40)], "limit": limits}), tmp_path / "people.parquet")
    people = optin.read(tmp_path / "people.parquet", limits="limit")
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = optin.campaign.plan(people, bounds=(0, 1), ledger=ledger)
        optin.campaign.announce(plan, people, ledger=ledger, campaign="first", allowances=1.0)
        assert optin.campaign.plan(people, bounds=(0, 1), ledger=ledger).cap == plan.cap  # half is left


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_means_the_file_that_bears_it(tmp_path, engine, kind):
    for number, (name, others) in enumerate(NAMES.items()):
        file = written(tmp_path / str(number) / f"{name}.{kind}", STRICT)
        for other in others:
            written(tmp_path / str(number) / f"{other}.{kind}", LAX, people=5)
        assert limits_in(file, engine) == [STRICT] * 3, name


@pytest.mark.parametrize("engine", ENGINES)
def test_the_name_of_a_folder_means_that_folder_and_a_pattern_inside_it_is_a_pattern(tmp_path, engine):
    for name, other in (("data[1]", "data1"), ("b*", "bc"), ("{x,y}", "x")):
        written(tmp_path / name / "people 1.csv", STRICT)
        written(tmp_path / name / "people 2.csv", STRICT)
        written(tmp_path / other / "people 1.csv", LAX)
        for source in (tmp_path / name, f"{tmp_path / name}/*.csv", f"{tmp_path / name}/people ?.csv"):
            assert limits_in(source, engine) == [STRICT] * 6, source
    assert len(limits_in(f"{tmp_path}/data[[]*/*[12].csv", engine)) == 6
    assert len(limits_in(f"{tmp_path}/**/**/*.csv", engine)) == 27


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_means_the_same_file_wherever_the_process_stands_and_links_lead(tmp_path, monkeypatch, engine):
    here, there = tmp_path / "here", tmp_path / "there"
    written(here / "people.parquet", STRICT)
    written(there / "people.parquet", LAX, people=5)
    (there / "deep").mkdir()
    monkeypatch.chdir(there)
    assert limits_in("people.parquet", engine) == [LAX] * 5  # Spark starts here, if it was not running before
    monkeypatch.chdir(here)
    assert limits_in("people.parquet", engine) == [STRICT] * 3
    (here / "link").symlink_to(there / "deep")
    assert limits_in("link/../people.parquet", engine) == [LAX] * 5


def test_a_file_counts_as_unchanged_wherever_the_process_stands(tmp_path, monkeypatch):
    written(tmp_path / "people.parquet", STRICT)
    monkeypatch.chdir(tmp_path)
    rows = rows_of("people.parquet", id="id", columns=["limit"], engine="duckdb")
    monkeypatch.chdir("/")
    rows.expect_unchanged()


@SPARK
@pytest.mark.parametrize("name", ["_people", ".people", "a:b"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_spark_passes_over_is_refused(tmp_path, kind, name):
    written(tmp_path / f"people.{kind}", STRICT)
    file = written(tmp_path / f"{name}.{kind}", STRICT)
    for source in (file, f"{tmp_path}/{name[0]}*.{kind}"):
        with pytest.raises(optin.BadInput, match=r"Spark does not read .*; rename the file"):
            limits_in(source, "spark-local")
    assert limits_in(file, "duckdb") == limits_in(file, "memory") == [STRICT] * 3


def test_a_file_replaced_after_its_header_was_read_is_noticed(tmp_path, monkeypatch):
    """The same columns in another order: what was a value would be a limit."""
    file = tmp_path / "people.csv"
    file.write_text("id,limit,value\na,.5,100\nb,.5,100\n")

    def replaced(path):
        found = known(path)
        file.write_text("id,value,limit\na,100,.5\nb,100,.5\n")
        return found

    known = optin.engine.opening.header
    monkeypatch.setattr("optin.engine.opening.header", replaced)
    people = optin.read(file, limits="limit")
    with pytest.raises(optin.PromiseBroken, match="was changed while this ran"):
        people.rows.expect_unchanged()


WITH_FILES = [
    *(["size"], ["plan"], ["announce"], ["explain"], ["release"], ["receipt"], ["check"], ["annex"], ["report"]),
    *(["compare"], ["form"], ["sheet", "check"], ["ledger", "show"], ["web", "restore"]),
]


@pytest.mark.parametrize("words", WITH_FILES, ids=" ".join)
@pytest.mark.parametrize("name", ["-x.csv", "-o.csv", "-hx.json"])
def test_a_name_with_a_leading_dash_is_answered_with_how_to_write_it(tmp_path, monkeypatch, words, name):
    monkeypatch.chdir(tmp_path)
    for there in (False, True):
        if there:
            written(Path(name), STRICT)
        refused = command(*words, name)
        assert refused.code == 2
        assert f"If {name} is a file, write ./{name}." in refused.err


def test_only_what_may_be_a_file_is_answered_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["plan", "x.csv", "--bound=0.5"], ["plan", "x.csv", "-1.5"], ["plan", "--xx"], ["plan", "-", "-x"]):
        assert "is a file" not in command(*words).err, words
    written(Path("--xx"), STRICT)
    assert "If --xx is a file, write ./--xx." in command("plan", "--xx", "--limits", "limit").err


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_with_a_leading_dash_is_read_after_two_dashes_and_from_here(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    written(Path("-x.csv"), STRICT, people=40)
    options = ("--engine", engine, "--limits", "limit", "--bounds", 0, 1, "--json")
    for words in (["./-x.csv", *options], [*options, "--", "-x.csv"]):
        assert optin_ok("plan", *words).json["people"] == 40


class Bucket(MemoryFileSystem):
    """A store whose addresses start with s3://, as the usual one does."""

    protocol = "s3"
    store: ClassVar = {}
    pseudo_dirs: ClassVar = [""]

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.replace("s3://", "memory://"))


@pytest.fixture(params=["memory", "s3"])
def store(request):
    if request.param == "s3":
        fsspec.register_implementation("s3", Bucket, clobber=True)
    system = fsspec.filesystem(request.param)
    yield system, f"{request.param}://"
    system.store.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_in_a_store_means_the_file_that_bears_it(tmp_path, store, kind):
    system, scheme = store
    for number, (name, others) in enumerate(NAMES.items()):
        home = f"/limit={LAX}/{number}"
        for each, limit in ((name, STRICT), *((other, LAX) for other in others)):
            file = written(tmp_path / str(number) / f"{each}.{kind}", limit)
            system.pipe(f"{home}/{file.name}", file.read_bytes())
        rows = rows_of(f"{scheme}{home[1:]}/{name}.{kind}", id="id", columns=["limit"], engine="duckdb")
        found = rows.session.one(
            rows.table.aggregate(people=rows.table.count(), most=rows.number("limit").max()), about=""
        )
        assert found == {"people": 3, "most": STRICT}, name
        rows.expect_unchanged()


def test_patterns_and_folders_in_a_store_are_still_patterns_and_folders(tmp_path, store):
    system, scheme = store
    for name in ("people/1.csv", "people/2.csv", "people/_temporary/1.csv", "other[1]/1.csv", "other1/1.csv"):
        system.pipe(f"/{name}", written(tmp_path / name, STRICT).read_bytes())
    for source, people in (("people", 6), ("people/*.csv", 6), ("people/[1].csv", 3), ("other[1]", 3), ("*/1.csv", 9)):
        assert len(limits_in(scheme + source, "duckdb")) == people, source


def test_tables_in_memory_are_read_from_the_file_named_even_where_the_name_looks_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("file:x.parquet", "s3:x.csv", "plain.csv.gz", "-"):
        written(Path(name), STRICT)
        assert read_table(f"./{name}" if name == "-" else name, ["limit"]).numbers("limit").tolist() == [STRICT] * 3
        assert limits_in(tmp_path / name, "duckdb") == [STRICT] * 3


def test_a_pattern_passes_over_names_with_a_dot_on_a_disk_and_at_an_address_alike(tmp_path):
    folder = tmp_path / ".home"
    for name, limit in (("a.csv", STRICT), (".b.csv", LAX), (".c/d.csv", LAX), ("e/.f.csv", LAX)):
        written(folder / name, limit)
    for place in (folder, f"file://{folder}"):
        for pattern in ("*.csv", "**/*.csv"):
            assert limits_in(f"{place}/{pattern}", "duckdb") == [STRICT] * 3, (place, pattern)
        assert limits_in(f"{place}/.*.csv", "duckdb") == [LAX] * 3, place


OTHER_ORDER = "id,most,limit\n" + "".join(f"p{at},9,.1\n" for at in range(20))


@pytest.mark.parametrize(
    "where",
    ["tables.csvfiles.csv_header", "tables.csvfiles.expect_text", "tables.table.header", "tables.table.read_csv"],
)
def test_a_file_that_changes_while_it_is_read_into_memory_is_noticed(tmp_path, monkeypatch, where):
    """Whoever allows .1 before and after would be taken at 9, the number in the other column."""
    module, _, name = f"optin.{where}".rpartition(".")
    file = tmp_path / "people.csv"
    file.write_text("id,limit,most\n" + "".join(f"p{at},.1,9\n" for at in range(20)))
    known = getattr(importlib.import_module(module), name)

    def replaced(*given):
        found = known(*given)
        file.write_text(OTHER_ORDER)
        return found

    monkeypatch.setattr(f"{module}.{name}", replaced)
    with pytest.raises(optin.PromiseBroken, match=r"people\.csv was changed while this ran"):
        optin.read(file, limits="limit", engine="memory")
    monkeypatch.undo()
    assert set(optin.read(file, limits="limit", engine="memory").limits) == {0.1}
