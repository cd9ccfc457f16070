"""One real table (Fair's survey, statsmodels) in the forms people have it in: read to the same plan, or refused with advice."""

import csv
import datetime
import gzip
import io
import json
import re
import zipfile

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from cli_steps import optin as command
from cli_steps import optin_ok
from trying import daily

import optin
from optin.errors import BadInput
from optin.forms import FIELD, QUESTION
from optin.releasing.drawing import measure
from optin.tables import read_table
from optin.wording.limit_steps import LIMIT_STEPS

COUNT = 6366
BOM = "\ufeff"


@pytest.fixture(scope="module")
def table():
    """Fair's people, with ids that are digits, a limit on one of ten steps, and what they answered."""
    from statsmodels.datasets import fair

    people = fair.load_pandas().data
    steps = [
        LIMIT_STEPS[int(age + 3 * years) % len(LIMIT_STEPS)]
        for age, years in people[["age", "yrs_married"]].itertuples(index=False)
    ]
    return pd.DataFrame(
        {
            "id": [str(1000 + row) for row in range(COUNT)],
            "limit": [step.epsilon for step in steps],
            "affairs": people.affairs.round(4).tolist(),
            "step": [step.index for step in steps],
        }
    )


def text(table, delimiter=",", decimal=".", quoting=csv.QUOTE_MINIMAL, end="\n", limit=None):
    """Write people as separated text."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(["id", "limit", "affairs"])
    limits = table.limit if limit is None else limit
    for row in zip(table.id, limits, table.affairs, strict=True):
        writer.writerow([str(cell).replace(".", decimal) if at else cell for at, cell in enumerate(row)])
    return out.getvalue()


def packed_zstd(path, raw):
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(raw)


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(table, path, sheets=("People",), percent=False):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        sheet.append(["id", "limit", "affairs"])
        for row in table[["id", "limit", "affairs"]].itertuples(index=False):
            sheet.append(list(row))
        if percent:
            sheet["B2"].number_format = "0%"
    book.save(path)
    return path


def database(table, path, names=("people",)):
    with duckdb.connect(str(path)) as opened:
        opened.register("given", table)
        opened.execute("CREATE SCHEMA s")
        for name in names:
            opened.execute(f'CREATE TABLE {name} AS SELECT id, "limit", affairs FROM given')
    return path


def marked(folder, cell):
    """Write a workbook in which a limit looks empty, but is a formula or belongs to the cell above it."""
    book = openpyxl.Workbook()
    for row in (["id", "limit", "note"], ["a", 1, "=2"], ["b", cell, None]):
        book.active.append(row)
    if cell is None:
        book.active.merge_cells("B2:B3")
    book.active.merge_cells("C2:C3")
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def placeless(folder):
    """Write a workbook whose cells do not say where they stand, as some programs do, with a formula nobody computed."""
    with zipfile.ZipFile(marked(folder, "=1+1")) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = re.sub(r'(<(?:c|row)\b[^>]*?) r="\w+"', r"\1", parts[name])
    with zipfile.ZipFile(folder / "placeless.xlsx", "w") as book:
        for part, text in parts.items():
            book.writestr(part, text)
    return folder / "placeless.xlsx"


def lines(table, written):
    rows = zip(table.id, table.limit, table.affairs, strict=True)
    return "".join(json.dumps({"id": i, "limit": written(li), "affairs": a}) + "\n" for i, li, a in rows)


def redcap(table, cells, head):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(
        [row, "", "2026-11-02 09:14", cell, done] for row, (cell, done) in zip(table.id, cells, strict=True)
    )
    return out.getvalue()


def limesurvey(table, cells, head, delimiter=","):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(
        [row, "2026-11-02 09:14:22", "1", "en", "1029384756", cell] for row, cell in zip(table.id, cells, strict=True)
    )
    return BOM + out.getvalue()


RAW = ["record_id", "redcap_survey_identifier", "privacy_limit_timestamp", FIELD, "privacy_limit_complete"]
LABELS = ["Record ID", "Survey Identifier", "Survey Timestamp", QUESTION, "Complete?"]
CODES = ["id", "submitdate", "lastpage", "startlanguage", "seed", FIELD]
FULL = ["Response ID", "Date submitted", "Last page", "Start language", "Seed", QUESTION]


def codes(table):
    return [LIMIT_STEPS[index].code for index in table.step]


def labels(table):
    return [LIMIT_STEPS[index].label for index in table.step]


def halves(table, folder):
    (folder / "halves").mkdir()
    put(folder, "halves/a.csv", text(table.head(200), ";", ","))
    put(folder, "halves/b.csv", text(table.tail(COUNT - 200), "\t", ","))
    return folder / "halves"


def zst(table, folder, name, delimiter, decimal="."):
    packed_zstd(folder / name, text(table, delimiter, decimal).encode())
    return folder / name


SAME = {
    "commas": lambda t, f: (put(f, "a.csv", text(t)), {}),
    "commas, everything quoted": lambda t, f: (put(f, "a.csv", text(t, quoting=csv.QUOTE_ALL)), {}),
    "commas, and a decimal comma that is said": lambda t, f: (put(f, "a.csv", text(t, ",", ",")), {"decimal": ","}),
    "semicolons": lambda t, f: (put(f, "a.csv", text(t, ";")), {}),
    "semicolons with decimal commas": lambda t, f: (put(f, "a.csv", text(t, ";", ",")), {}),
    "semicolons, quoted": lambda t, f: (put(f, "a.csv", text(t, ";", ",", csv.QUOTE_ALL)), {}),
    "semicolons as a spreadsheet saves them": lambda t, f: (put(f, "a.csv", BOM + text(t, ";", ",", end="\r\n")), {}),
    "blanks, as R's write.table has them": lambda t, f: (
        put(f, "a.txt", text(t, " ", quoting=csv.QUOTE_NONNUMERIC)),
        {},
    ),
    "a delimiter that is said in a word": lambda t, f: (put(f, "a.txt", text(t, "|")), {"delimiter": "pipe"}),
    "a delimiter that is said": lambda t, f: (put(f, "a.txt", text(t, "~")), {"delimiter": "~"}),
    "tabs": lambda t, f: (put(f, "a.tsv", text(t, "\t")), {}),
    "tabs with decimal commas": lambda t, f: (put(f, "a.txt", text(t, "\t", ",")), {}),
    "pipes": lambda t, f: (put(f, "a.txt", text(t, "|")), {}),
    "gzip": lambda t, f: (put(f, "a.csv.gz", gzip.compress(text(t).encode())), {}),
    "gzip under another name": lambda t, f: (put(f, "a.csv", gzip.compress(text(t, ";", ",").encode())), {}),
    "zstd": lambda t, f: (zst(t, f, "a.csv.zst", ","), {}),
    "zstd with decimal commas": lambda t, f: (zst(t, f, "a.csv.zst", ";", ","), {}),
    "UTF-16, as spreadsheets save Unicode text": lambda t, f: (
        put(f, "a.txt", text(t, "\t", ",").encode("utf-16")),
        {},
    ),
    "UTF-16, the other way round": lambda t, f: (put(f, "a.csv", (BOM + text(t)).encode("utf-16-be")), {}),
    "UTF-32, packed": lambda t, f: (put(f, "a.csv.gz", gzip.compress(text(t, ";").encode("utf-32"))), {}),
    "JSON lines in UTF-16": lambda t, f: (put(f, "a.jsonl", lines(t, float).encode("utf-16")), {}),
    "JSON lines with more inside": lambda t, f: (
        put(f, "a.jsonl", lines(t, float).replace("}", ', "more": {"a": [1, null]}, "list": [1, 2]}')),
        {},
    ),
    "a schema of a DuckDB file": lambda t, f: (database(t, f / "a.duckdb", ("s.people",)), {}),
    "pandas, sparse": lambda t, f: (t.assign(limit=pd.arrays.SparseArray(t.limit)), {}),
    "pandas, columns that are no text": lambda t, f: (
        t[["id", "limit"]].set_axis([0, 1], axis=1),
        {"id": "0", "limits": "1"},
    ),
    "Arrow, in runs": lambda t, f: (
        pa.table({"id": t.id.tolist(), "limit": pc.run_end_encode(pa.array(t.limit.tolist()))}),
        {},
    ),
    "a folder of two kinds of separators": lambda t, f: (halves(t, f), {}),
    "Parquet": lambda t, f: (pq.write_table(pa.Table.from_pandas(t), f / "a.parquet") or f / "a.parquet", {}),
    "JSON lines": lambda t, f: (put(f, "a.jsonl", lines(t, float)), {}),
    "JSON lines of text, packed": lambda t, f: (put(f, "a.jsonl.gz", gzip.compress(lines(t, str).encode())), {}),
    "a workbook": lambda t, f: (workbook(t, f / "a.xlsx"), {}),
    "one sheet of a workbook": lambda t, f: (workbook(t, f / "a.xlsx", ("People", "Notes")), {"table": "People"}),
    "a DuckDB file": lambda t, f: (database(t, f / "a.duckdb"), {}),
    "one table of a DuckDB file": lambda t, f: (database(t, f / "a.db", ("people", "old")), {"table": "people"}),
    "pandas": lambda t, f: (t, {}),
    "pandas, labelled by id": lambda t, f: (t.set_index("id"), {}),
    "polars": lambda t, f: (pl.from_pandas(t), {}),
    "Arrow": lambda t, f: (pa.Table.from_pandas(t), {}),
    "the names of steps": lambda t, f: (
        put(f, "a.csv", text(t, limit=[LIMIT_STEPS[index].name for index in t.step])),
        {},
    ),
    "REDCap, raw": lambda t, f: (
        put(f, "a.csv", redcap(t, [(code, "2") for code in codes(t)], RAW)),
        {"id": "record_id", "limits": FIELD},
    ),
    "REDCap, labels": lambda t, f: (
        put(f, "a.csv", redcap(t, [(label, "Complete") for label in labels(t)], LABELS)),
        {"id": "Record ID", "limits": QUESTION},
    ),
    "LimeSurvey, codes": lambda t, f: (put(f, "a.csv", limesurvey(t, codes(t), CODES)), {"limits": FIELD}),
    "LimeSurvey, full answers": lambda t, f: (
        put(f, "a.csv", limesurvey(t, labels(t), FULL, ";")),
        {"id": "Response ID", "limits": QUESTION},
    ),
}


@pytest.fixture(scope="module")
def expected(table):
    people = optin.PrivacyConstrained(table.limit.to_numpy(), ids=tuple(table.id))
    plan = optin.plan(people, bounds=(0, 10))
    return plan, plan.announce(people, campaign="fair").sealed.total_grains


def read_alike(case, engine, table, expected, folder):
    source, given = SAME[case](table, folder)
    people = optin.read(source, **({"limits": "limit", "engine": engine} | given))
    plan, grains = expected
    assert len(people) == COUNT
    assert optin.plan(people, bounds=(0, 10)).cap == pytest.approx(plan.cap, rel=1e-12)
    assert plan.announce(people, campaign="fair").sealed.total_grains == grains
    return people


def test_there_are_thirty_variants_and_more():
    assert len(SAME) >= 30


@pytest.mark.parametrize("case", SAME)
def test_in_memory_every_form_is_read_to_the_same_people(case, table, expected, tmp_path):
    people = read_alike(case, "memory", table, expected, tmp_path)
    assert people.ids == tuple(table.id)
    assert people.limits.tolist() == table.limit.tolist()


@pytest.mark.parametrize("case", SAME)
def test_duckdb_reads_every_form_to_the_same_promises(case, table, expected, tmp_path):
    read_alike(case, "duckdb", table, expected, tmp_path)


@pytest.fixture(scope="module")
def stored(postgres, table):
    """The same people in PostgreSQL: ids as text, limits as numbers with their digits, answers as floats."""
    import psycopg

    url = postgres.new_schema()
    with psycopg.connect(url) as link:
        link.execute('CREATE TABLE people (id text, "limit" numeric, affairs double precision)')
        with link.cursor().copy("COPY people FROM STDIN (FORMAT csv, HEADER)") as rows:
            rows.write(text(table))
    return url


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_query_of_postgresql_is_read_to_the_same_people(engine, stored, table, expected):
    for how in ({"query": 'SELECT id, "limit" FROM people;'}, {"table": "people"}):
        people = optin.read(stored, limits="limit", engine=engine, **how)
        assert expected[0].announce(people, campaign="fair").sealed.total_grains == expected[1]
        assert str(people.reading) == "read as the rows of a query"


@pytest.mark.parametrize(
    ("how", "advice"),
    [
        ({}, "say which people with query='SELECT …' or table='NAME'"),
        ({"query": "SELECT * FROM nobody"}, "did not answer the query (UndefinedTable)"),
        ({"query": "DELETE FROM people RETURNING id"}, "did not answer the query (ReadOnlySqlTransaction)"),
    ],
)
def test_a_database_is_asked_a_question_that_only_reads(how, advice, stored):
    with pytest.raises(BadInput) as refusal:
        optin.read(stored, limits="limit", engine="memory", **how)
    assert advice in str(refusal.value)


def test_a_password_is_in_no_message():
    with pytest.raises(BadInput) as refusal:
        optin.read("postgresql://ann:secret@127.0.0.1:1/people", limits="limit", table="people")
    assert "secret" not in str(refusal.value)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "case", daily(["semicolons with decimal commas", "JSON lines", "zstd", "a workbook", "LimeSurvey, codes"], 0, 3)
)
def test_spark_reads_what_others_read(case, table, expected, tmp_path):
    read_alike(case, "spark-local", table, expected, tmp_path)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_how_a_table_was_read_is_said(engine, table, expected, tmp_path):
    said = {case: str(read_alike(case, engine, table, expected, tmp_path).reading) for case in list(SAME)[:15:2]}
    assert said["commas"] == ""
    assert said["semicolons with decimal commas"] == "read as semicolons with decimal commas"
    assert said["gzip under another name"] == "read as semicolons, gzip, with decimal commas"


def first(content):
    return lambda t, f: put(f, "a.csv", content)


TWO_WAYS = "can be read in two ways; say which sign stands before a fraction with decimal=',' or decimal='.'"
REFUSED = {
    "a decimal comma between commas": (
        first('id,limit\np1,"0,5"\np2,"0,25"\n'),
        "write it with digits and a point, or say decimal=',' if that is its decimal mark",
    ),
    "an unquoted decimal comma": (first("id,limit\np1,0,5\n"), "line 2 has 3 columns where the header has 2"),
    "both signs": (first("id;limit\np1;0,5\np2;1.5\n"), TWO_WAYS),
    "thousands or fractions": (first("id;limit\np1;1.234\np2;2\n"), TWO_WAYS),
    "thousands or fractions by commas": (first("id\tlimit\np1\t1,234\np2\t2\n"), TWO_WAYS),
    "two separators": (first("id;x,limit;y\np;1,2;3\n"), "say which with delimiter='comma' or delimiter='semicolon'"),
    "a line for spreadsheets": (
        first("sep=;\nid;limit\np1;1\n"),
        "line 1 tells spreadsheets what stands between cells",
    ),
    "a quoted line for spreadsheets": (
        first('"sep=,"\r\nid,limit\r\np1,1\r\n'),
        "the first line must name the columns",
    ),
    "a name with blanks around it": (first("id, limit\np1,1\n"), 'did you mean " limit"?'),
    "a workbook cut short": (
        lambda t, f: put(f, "b.xlsx", workbook(t.head(3), f / "a.xlsx").read_bytes()[:-100]),
        "is not a workbook that can be read, or is damaged",
    ),
    "several sheets": (lambda t, f: workbook(t.head(3), f / "a.xlsx", ("A", "B")), "say which with table='NAME': A, B"),
    "several tables": (lambda t, f: database(t.head(3), f / "a.db", ("a", "b")), "has a, b; say which table holds"),
    "a percentage in a workbook": (lambda t, f: workbook(t.head(3), f / "a.xlsx", percent=True), "is a percentage"),
    "a list of objects": (lambda t, f: put(f, "a.json", '[{"id": "p1"}]'), "write one object a line"),
    "an object twice named": (lambda t, f: put(f, "a.jsonl", '{"id": "1", "id": "2", "limit": 1}\n'), "each name once"),
    "half of a letter": (
        lambda t, f: put(f, "a.jsonl", '{"id": "\\ud800", "limit": 1}\n'),
        "line 1 is no JSON object",
    ),
    "nested limits": (lambda t, f: put(f, "a.jsonl", '{"id": "a", "limit": {"is": 1}}\n'), "limit is not a number"),
    "a formula nobody computed": (lambda t, f: marked(f, "=1+1"), "limit is a formula without its result"),
    "a number that became a date": (lambda t, f: marked(f, datetime.date(2026, 5, 1)), "limit is a date, for which"),
    "a merged cell": (lambda t, f: marked(f, None), "limit is a part of a merged cell"),
    "labels named as a column": (
        lambda t, f: t.head(3).set_index(pd.Index([1, 2, 3], name="id")),
        "the table has 2 columns named id",
    ),
    "an old encoding": (
        lambda t, f: put(f, "a.csv", "id,limit\nZoë,1\n".encode("latin-1")),
        "perhaps Windows-1252 or Latin-1 (iconv -f WINDOWS-1252 -t UTF-8 writes it anew)",
    ),
    "a damaged archive": (lambda t, f: put(f, "a.csv.gz", gzip.compress(text(t).encode())[:-9]), "cannot be unpacked"),
    "a blank limit": (first("id,limit\np1,\n"), "say with blank_limit='0' what an empty limit counts as"),
    "a word for no limit": (first("id,limit\np1,Unlimited\n"), "write inf where there is none"),
    "a word for nothing": (first("id,limit\np1,none\n"), "may mean no limit or nothing allowed; write inf or 0"),
    "nothing, as Stata has it": (first("id,limit\np1,.\np2,.a\n"), "with missing='TEXT' that such a cell is empty"),
    "nothing, as SPSS has it": (first("id,limit\np1,#NULL!\n"), "with missing='TEXT' that such a cell is empty"),
    "nothing, as a spreadsheet has it": (first("id,limit\np1,#N/A\n"), "with missing='TEXT' that such a cell is empty"),
    "thousands and a decimal comma": (first("id;limit\np1;1.234,5\np2;0,5\n"), "without them, such as 1234"),
    "thousands and a decimal point": (first('id,limit\np1,"1,234.5"\n'), "without them, such as 1234"),
    "thousands between blanks": (first("id;limit\np1;1\u202f234,5\np2;0,5\n"), "without them, such as 1234"),
    "no number among decimal commas": (first("id;limit\np1;two\np2;0,5\n"), "write it with digits and a comma"),
    "row names of R": (first('"id" "limit"\n"1" "p1" 1\n'), "or for row names of R (row.names = FALSE writes none)"),
    "a page called a spreadsheet": (
        lambda t, f: put(f, "a.xls", "<table><tr><td>id</td></tr><tr><td>p1</td></tr></table>"),
        "a.xls is HTML or XML, no CSV; save the file as CSV in UTF-8",
    ),
    "JSON lines under another name": (first('{"id": "p1", "limit": 1}\n'), "is JSON, no CSV (a file of JSON lines is"),
    "data of R": (lambda t, f: put(f, "a.rds", gzip.compress(b"X\n\0\0\0\3")), "a.rds is data as R keeps it, no CSV"),
    "data of Stata": (first(b"<stata_dta><header>\xff;\t"), "is a file of Stata (DTA), no CSV"),
    "data of SPSS": (first(b"$FL2@(#) SPSS DATA FILE \xff"), "is a file of SPSS (SAV), not UTF-8 text"),
    "bzip2": (first(b"BZh91AY&SY\xff"), "compressed (bzip2; gzip and zstd are read)"),
    "a formula in a workbook that names no places": (
        lambda t, f: placeless(f),
        "limit is a formula without its result",
    ),
    "a percentage": (first("id,limit\np1,10 %\n"), "write the number itself, such as 0.1"),
    "a query of a file": (first("id,limit\np1,1\n"), "asks a database"),
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_could_be_two_things_is_refused_with_what_to_say(case, engine, table, tmp_path):
    make, advice = REFUSED[case]
    given = {"query": "SELECT 1"} if case == "a query of a file" else {}
    with pytest.raises(BadInput) as refusal:
        optin.read(make(table, tmp_path), limits="limit", engine=engine, **given)
    assert advice in str(refusal.value)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_inf_is_no_limit_and_a_blank_one_counts_as_was_said(engine, tmp_path):
    path = put(tmp_path, "a.csv", "id,limit\np1,inf\np2,\np3, 1\n")
    for blank, total in ((0, 0.0), ("0.25", 0.25), ("inf", 1.5)):
        people = optin.read(path, limits="limit", engine=engine, blank_limit=blank)
        assert people.table().clipped_total(1.5) == 1.5 + total + 1.0


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_ids_stay_what_they_are_byte_for_byte(engine, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["id", "limit"])
    for row in ([7, 1], ["7 ", 1], [8, 1]):
        book.active.append(row)
    book.active["A2"].number_format = "000"
    book.save(tmp_path / "a.xlsx")
    put(tmp_path, "a.csv", "id;limit\n007;1\n7 ;1\n8;1\n")
    for name in ("a.xlsx", "a.csv"):
        people = optin.read(tmp_path / name, limits="limit", engine=engine)
        if engine == "memory":
            assert people.ids == ("007", "7 ", "8")
        else:
            found = people.rows.session.fetch(people.rows.table.select(person=people.rows.ids()), about="ids")
            assert sorted(found.column("person").to_pylist()) == ["007", "7 ", "8"]


BAD = "id,limit\n" + "".join(f"p{row},{'x' if row % 2 else 1}\n" for row in range(60)) + "p0,1\n,1\n"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_bad_rows_are_named_in_one_go_and_left_out_when_asked(engine, tmp_path):
    path = put(tmp_path, "bad.csv", BAD)
    with pytest.raises(BadInput) as refusal:
        optin.read(path, limits="limit", engine=engine)
    told = str(refusal.value).splitlines()
    assert len(told) == 22  # twenty rows, how many more, and what to do
    assert told[-1].endswith("or leave them out with skip_bad='FILE', which writes them there")
    people = optin.read(path, limits="limit", engine=engine, skip_bad=tmp_path / "mend.csv")
    assert (len(people), people.reading.left_out) == (29, 33)
    with (tmp_path / "mend.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 33
    assert {row["id"] for row in rows} == {"", "p0", *(f"p{row}" for row in range(1, 60, 2))}
    assert all(row["where"] and row["what to mend"] for row in rows)
    assert (tmp_path / "mend.csv").stat().st_mode & 0o077 == 0


def test_the_command_line_says_how_it_read_and_how_many_it_left_out(tmp_path):
    path = put(tmp_path, "a.csv", "id;limit\n" + "".join(f"p{row};0,{row + 1}\n" for row in range(8)) + "q;?\nr;1;2\n")
    ask = ("plan", path, "--limits", "limit", "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    refused = command(*ask)
    assert refused.code == 2
    assert "line 11 has 3 columns where the header has 2" in refused.err
    found = optin_ok(*ask, "--skip-bad", tmp_path / "mend.csv")
    assert "read as semicolons with decimal commas; 2 rows left out, and written to" in found.err
    assert "left out        2 rows of the table that cannot be used" in found.out
    assert json.loads((tmp_path / "plan.json").read_text())["left_out"] == 2
    again = ("announce", tmp_path / "plan.json", path, "--ledger", tmp_path / "l.sqlite", "-o", tmp_path / "a.json")
    assert command(*again, "--min-people", 1).code == 2
    optin_ok(*again, "--min-people", 1, "--skip-bad", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "mend.csv").read_text()
    path.write_text(path.read_text().replace("q;", "value;").replace("limit\n", "limit;value\n", 1))
    assert command("plan", path, "--limits", "limit", "--bounds", 0, 1, "--skip-bad", path).code == 2


def test_a_plan_s_way_of_reading_is_the_announcement_s(tmp_path):
    path = put(tmp_path, "a.csv", "id,limit\n" + "".join(f'p{row},"0,{row + 1}"\n' for row in range(8)) + "q,\n")
    optin_ok(
        *("plan", path, "--limits", "limit", "--bounds", 0, 1, "--decimal", ",", "--blank-limit", "0.5"),
        *("-o", tmp_path / "plan.json"),
    )
    ledger = ("--ledger", tmp_path / "l.sqlite", "--min-people", 1)
    optin_ok("announce", tmp_path / "plan.json", path, *ledger, "-o", tmp_path / "a.json")


def test_a_table_of_joiners_only_is_told_what_to_give(tmp_path):
    everyone = "id,limit,value\n" + "".join(f"p{row},1,0.5\n" for row in range(12))
    path = put(tmp_path, "all.csv", everyone)
    joiners = put(tmp_path, "joined.csv", everyone.replace("p3,1,0.5\n", ""))
    ledger = ("--ledger", tmp_path / "l.sqlite")
    optin_ok("plan", path, "--limits", "limit", "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    optin_ok("announce", tmp_path / "plan.json", path, *ledger, "-o", tmp_path / "a.json")
    for engine in ("memory", "duckdb"):
        refused = command(
            "release", tmp_path / "a.json", joiners, *ledger, "--engine", engine, "-o", tmp_path / "r.json"
        )
        assert refused.code == 2
        assert "--joined" in refused.err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("named", [(), ("--limits", "limit")])
def test_a_campaign_goes_through_in_semicolons_and_decimal_commas(engine, named, tmp_path):
    people = "".join(f"p{row};0,{row + 1};{row},5;{'yes' if row else 'no'}\n" for row in range(12))
    path = put(tmp_path, "a.csv", "id;limit;value;joined\n" + people)
    ledger, at = ("--ledger", tmp_path / "l.sqlite"), ("--engine", engine)
    optin_ok("plan", path, "--limits", "limit", "--bounds", 0, 12, *at, "-o", tmp_path / "plan.json")
    optin_ok("announce", tmp_path / "plan.json", path, *ledger, *at, "-o", tmp_path / "a.json")
    asked = (tmp_path / "a.json", path, "--values", "value", "--joined", "joined", *named)
    done = optin_ok("release", *asked, *ledger, *at, "--json", "-o", tmp_path / "r.json")
    assert "read as semicolons" in done.err
    assert done.json["joined_people"] == 11


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("blank", ["0", "inf"])
@pytest.mark.parametrize("cell", ["=1+1", None])
def test_a_cell_that_only_looks_empty_is_no_blank_limit(cell, blank, engine, tmp_path):
    with pytest.raises(BadInput):
        optin.read(marked(tmp_path, cell), limits="limit", engine=engine, blank_limit=blank)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_lines_that_are_no_rows_are_named_in_one_go_and_left_out_when_asked(engine, tmp_path):
    good = "".join(json.dumps({"id": f"p{row}", "limit": 1}) + "\n" for row in range(9))
    book = openpyxl.Workbook()
    for row in (["id", "limit"], *([f"p{row}", 1] for row in range(9)), ["q", 1, "x"], ["r", 1, 2]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    for path, place in (
        (put(tmp_path, "a.jsonl", good + '{"id": "q"\n[]\n'), "a.jsonl line 1"),
        (tmp_path / "a.xlsx", "a.xlsx row 1"),
    ):
        with pytest.raises(BadInput) as refusal:
            optin.read(path, limits="limit", engine=engine)
        assert str(refusal.value).count(place) == 2
        assert "2 rows cannot be used" in str(refusal.value)
        mend = tmp_path / f"{path.name}.csv"
        people = optin.read(path, limits="limit", engine=engine, skip_bad=mend)
        assert (len(people), people.reading.left_out) == (9, 2)
        assert mend.read_text().count(place) == 2


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_rows_that_are_being_mended_are_not_written_over(engine, tmp_path):
    """The same rows may be written again: each step of a campaign reads the same table."""
    path, mend = put(tmp_path, "a.csv", "id,limit\na,1\nb,x\n"), tmp_path / "mend.csv"
    for _ in range(2):
        assert len(optin.read(path, limits="limit", engine=engine, skip_bad=mend)) == 1
    edited = mend.read_text().replace("b,x", "b,2")
    mend.write_text(edited)
    with pytest.raises(BadInput, match="is there already with something else in it"):
        optin.read(path, limits="limit", engine=engine, skip_bad=mend)
    assert mend.read_text() == edited


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("lines", ["a,x\nb,-1\n", "a,1,1\nb\n", "a,x\nb\n"])
def test_a_table_of_which_no_row_can_be_used_is_written_out_whole_and_said(lines, engine, tmp_path):
    path, mend = put(tmp_path, "a.csv", "id,limit\n" + lines), tmp_path / "mend.csv"
    with pytest.raises(BadInput, match="no row can be used: all 2 were left out, and written to"):
        optin.read(path, limits="limit", engine=engine, skip_bad=mend)
    assert len(mend.read_text().splitlines()) == 3


def test_a_file_that_cannot_be_read_is_called_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "a.csv", "id;x,limit;y\np;1,2;3\n")
    put(tmp_path, "b.csv.gz", b"\x1f\x8b")
    for name in ("a.csv", "b.csv.gz"):
        assert command("plan", name, "--limits", "limit", "--bounds", 0, 1).err.startswith(f"optin: {name} ")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_rows_to_be_mended_are_told_in_words_for_whoever_opens_the_file(engine, tmp_path):
    path = put(tmp_path, "a.csv", "id,limit\np1,\np2,1\n")
    optin.read(path, limits="limit", engine=engine, skip_bad=tmp_path / "mend.csv")
    written = (tmp_path / "mend.csv").read_text()
    assert "say with blank_limit what an empty limit counts as" in written
    assert "=" not in written


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_database_is_asked_anew_by_every_call_and_once_by_a_command(engine, postgres):
    import psycopg

    from optin.tables.queries import QUERIES

    url = postgres.new_schema()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE people AS SELECT 'a' || row AS id, 1 AS most FROM generate_series(1, 5) AS row")
        ask = {"limits": "most", "table": "people", "engine": engine}
        assert len(optin.read(url, **ask)) == 5
        with QUERIES.look():
            optin.read(url, **ask)
            link.execute("INSERT INTO people VALUES ('b', 2)")
            assert len(optin.read(url, **ask)) == 5
        assert len(optin.read(url, **ask)) == 6


def test_a_release_that_reads_blank_limits_otherwise_is_told_of_the_option(tmp_path):
    path = put(
        tmp_path, "a.csv", "id,limit,value\n" + "".join(f"p{row},0.{row + 1},1\n" for row in range(8)) + "q,,1\n"
    )
    plan, offer, ledger = tmp_path / "plan.json", tmp_path / "a.json", ("--ledger", tmp_path / "l.sqlite")
    optin_ok("plan", path, "--limits", "limit", "--bounds", 0, 1, "--blank-limit", "0.1", "-o", plan)
    optin_ok("announce", plan, path, *ledger, "--min-people", 1, "-o", offer)
    for blank in ("0.05", "0.3"):
        refused = command(
            *("release", offer, path, "--values", "value", "--limits", "limit", "--blank-limit", blank),
            *(*ledger, "-o", tmp_path / "r.json"),
        )
        assert refused.code == 2
        assert "--blank-limit" in refused.err


NOTHING = 'id,limit,pulse\np1,0.5,NA\np2, NA ,70\n"p3",1,-99\n'


def forms_of_nothing(folder):
    """List a table in which words stand for nothing, as people have it."""
    rows = list(csv.DictReader(io.StringIO(NOTHING)))
    book = openpyxl.Workbook()
    for row in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.active.append(row)
    book.save(folder / "a.xlsx")
    return (
        put(folder, "a.csv", NOTHING),
        put(folder, "b.csv", NOTHING.replace(",", ";")),
        put(folder, "c.csv.gz", gzip.compress(NOTHING.encode())),
        put(folder, "d.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
        folder / "a.xlsx",
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_text_that_is_said_to_stand_for_nothing_is_an_empty_cell_in_every_form(engine, tmp_path):
    for path in forms_of_nothing(tmp_path):
        with pytest.raises(BadInput, match="say with missing='TEXT' that such a cell is empty"):
            optin.read(path, limits="limit", engine=engine)
        with pytest.raises(BadInput, match="say with blank_limit='0' what an empty limit counts as"):
            optin.read(path, limits="limit", engine=engine, missing=("NA", "-99"))
        people = optin.read(path, limits="limit", engine=engine, missing=("NA", "-99"), blank_limit=0.25)
        assert people.table().clipped_total(9.0) == 0.5 + 0.25 + 1
        assert "NA and -99 as empty cells" in people.reading.words


def test_where_a_table_says_itself_what_is_empty_no_text_stands_for_it(tmp_path):
    frame = pd.DataFrame({"id": ["a"], "limit": [1.0]})
    frame.to_parquet(tmp_path / "a.parquet")
    for source, engine in ((frame, "memory"), (frame, "duckdb"), (tmp_path / "a.parquet", "memory")):
        with pytest.raises(BadInput, match="missing is for text"):
            optin.read(source, limits="limit", engine=engine, missing="NA")
    with pytest.raises(BadInput, match="stands for an empty cell"):
        optin.read(frame, limits="limit", missing=" ")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_answers_that_r_wrote_as_na_are_answers_left_out_once_that_is_said(engine, tmp_path):
    """R names no column of row names, and writes NA: MASS's survey of students does both."""
    rows = "".join(f'"{row}",{"NA" if row % 3 else 70 + row},{"NA" if row % 4 else "Male"},1\n' for row in range(60))
    path = put(tmp_path, "a.csv", '"","Pulse","Sex","limit"\n' + rows)
    sheet = put(
        tmp_path,
        "sheet.toml",
        '[[question]]\nname = "Pulse"\nkind = "number"\nbounds = [40, 140]\nsd = 12\n'
        '[[question]]\nname = "Sex"\nkind = "choice"\noptions = ["Female", "Male"]\n',
    )
    plan, offer, end = tmp_path / "plan.json", tmp_path / "a.json", ("--engine", engine, "--id", "")
    assert 'it has "", Pulse, Sex, limit' in command("plan", path, "--limits", "limit", "--sheet", sheet).err
    optin_ok("plan", path, "--limits", "limit", "--sheet", sheet, *end, "-o", plan)
    optin_ok("announce", plan, path, "--ledger", tmp_path / "l.sqlite", *end, "-o", offer)
    asked = ("release", offer, path, "--ledger", tmp_path / "l.sqlite", *end, "-o", tmp_path / "r.json")
    assert "a word for nothing is said with --missing TEXT" in command(*asked).err
    done = optin_ok(*asked, "--missing", "NA", "--json").json
    assert [each["people"] for each in done["questions"]] == [20, 15]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_an_empty_row_is_to_be_deleted_and_asks_for_no_limit(engine, tmp_path):
    path = put(tmp_path, "a.csv", "id,limit\na,1\n,\n,\n")
    with pytest.raises(BadInput) as refusal:
        optin.read(path, limits="limit", engine=engine)
    assert "a row without a person is to be deleted" in str(refusal.value)
    assert "limit is missing" not in str(refusal.value)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_whoever_says_nothing_in_json_lines_skipped_a_question_and_an_empty_list_chose_none(tmp_path, engine):
    said = [{"why": ["pay"]}, {"why": []}, {"why": None}, {}] * 10
    lines = [{"id": f"p{at}", "limit": 1.0, "hours": 1.0} | each for at, each in enumerate(said)]
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    why = optin.MultipleChoice("why", options=("pay", "hours"), at_most=2)
    people = optin.read(path, limits="limit", engine=engine)
    offer = optin.plan(people, [optin.Number("hours", bounds=(0, 2)), why]).announce(people)
    table = read_table(path)
    answers = {"hours": table.values("hours"), "why": table.entries("why")} if engine == "memory" else None
    found = measure(offer, people, answers).those.questions[1]
    plain = optin.PrivacyConstrained([1.0] * 40)
    given = {"hours": [1.0] * 40, "why": [["pay"], [], None, None] * 10}
    assert found == measure(offer, plain, given).those.questions[1]
    assert found.people == 20
