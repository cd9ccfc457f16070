"""Every bad file gives one clear message with the line, the contract's exit code, no output file, and no act in the ledger."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import PLAN, names, optin, optin_ok, people_csv
from ledger_steps import counts

from optin.cli.output import Output
from optin.errors import BadInput
from optin.ledger import Ledger

MARK = "777123"
GOOD = "".join(f"p{k},0.{MARK}{k:02d},3.{MARK},yes\n" for k in range(12))
HEADER = "id,limit,units,joined\n"


def text(content, encoding="utf-8"):
    def write(folder):
        path = folder / "bad.csv"
        path.write_bytes(content.encode(encoding))
        return path

    return write


def parquet(**columns):
    def write(folder):
        path = folder / "bad.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def raw(name, content=b""):
    def write(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return write


def bare_folder(folder):
    (folder / "bare").mkdir()
    (folder / "bare" / "notes.txt").write_text(MARK)
    return folder / "bare"


def folder_with_one_bad_file(folder):
    (folder / "parts").mkdir()
    (folder / "parts" / "a.csv").write_text(HEADER + GOOD)
    (folder / "parts" / "b.csv").write_text(HEADER + f"q1,0.{MARK},1,yes\nq2,-{MARK},1,yes\n")
    return folder / "parts"


def folder_of_two_kinds(folder):
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.csv").write_text(HEADER + GOOD)
    pq.write_table(pa.table({"id": ["a"], "limit": [1.0]}), folder / "mixed" / "b.parquet")
    return folder / "mixed"


def damaged_parquet(folder):
    path = folder / "bad.parquet"
    pq.write_table(pa.table({"id": [f"p{k}" for k in range(1000)], "limit": np.arange(1000.0)}), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return path


BAD = {
    "a missing column": (
        text(HEADER.replace("limit", "limits") + GOOD),
        "line 1 has no column limit; did you mean limits?",
    ),
    "text in numbers": (text(HEADER + GOOD + f"x,about {MARK},1,yes\n"), "line 14: limit is not a number"),
    "a number with a comma": (
        text(HEADER + GOOD + f'x,"1,{MARK}",1,yes\n'),
        "line 14: limit is written with a comma; write it with digits and a point, or say --decimal ,",
    ),
    "a negative limit": (text(HEADER + f"x,-{MARK},1,yes\n" + GOOD), "line 2: limit is negative"),
    "a missing limit": (text(HEADER + GOOD + f"x,,{MARK},yes\n"), "line 14: limit is missing"),
    "a limit that is not a number": (text(HEADER + GOOD + f"x,nan,{MARK},yes\n"), "line 14: limit is missing"),
    "a duplicate id": (
        text(HEADER + GOOD + f"p3,0.{MARK},1,yes\n"),
        "bad.csv line 14: 2 people have this id; every person needs",
    ),
    "a missing id": (text(HEADER + GOOD + f",0.{MARK},1,yes\n"), "line 14: id is missing"),
    "a line far below a quoted line break": (
        text(HEADER + '"a\nb",1,1,yes\n\n' + GOOD + f"x,-{MARK},1,yes\n"),
        "line 17: limit is negative",
    ),
    "an empty file": (text(""), "is empty; the first line must name the columns"),
    "a header and nothing else": (text(HEADER), "has a header and no rows"),
    "no header": (text(GOOD), "line 1 has no column id; its first line holds numbers"),
    "no header, other separators": (
        text(GOOD.replace(".", ",").replace(",0,", ";0,").replace(",3,", ";3,").replace(",yes", ";yes")),
        "could be read with commas or with semicolons between its cells; say which with --delimiter",
    ),
    "no header, spaces": (text(GOOD.replace(",", " ")), "its first line holds numbers"),
    "Latin-1": (text(HEADER + GOOD + f"ä,0.{MARK},1,yes\n", "latin-1"), "line 14 is not UTF-8"),
    "UTF-16 without a mark": (text(HEADER + GOOD, "utf-16-le"), "line 1 is not UTF-8 text but seems to be UTF-16"),
    "a short row": (text(HEADER + GOOD + f"x,0.{MARK}\n"), "line 14 has 2 columns where the header has 4"),
    "a long row": (text(HEADER + f"x,0.{MARK},1,yes,1\n" + GOOD), "line 2 has 5 columns where the header has 4"),
    "a quote that is not closed": (
        text(HEADER + f'"x,0.{MARK},1,yes\n' + GOOD),
        "line 2 has 1 column where the header has 4",
    ),
    "semicolons and a limit that is none": (
        text((HEADER + GOOD).replace(",", ";") + f"x;about {MARK};1;yes\n"),
        "line 14: limit is not a number",
    ),
    "two columns of one name": (text("id,limit,limit\n" + f"a,1,{MARK}\n"), "has 2 columns named limit"),
    "nothing there": (lambda folder: folder / "absent.csv", "there is no file, folder or match"),
    "a glob without a match": (lambda folder: folder / "*.nothing", "holds no CSV or Parquet file"),
    "a folder of nothing": (bare_folder, "holds no CSV or Parquet file"),
    "a folder with one bad file": (folder_with_one_bad_file, "b.csv line 3: limit is negative"),
    "a folder of two kinds": (folder_of_two_kinds, "mixes CSV and Parquet"),
    "a 0-byte Parquet": (raw("bad.parquet"), "is empty (0 bytes): it is not a Parquet file"),
    "CSV that calls itself Parquet": (
        raw("bad.parquet", (HEADER + GOOD).encode()),
        "is not a Parquet file, or is damaged",
    ),
    "half a Parquet": (damaged_parquet, "is not a Parquet file, or is damaged"),
    "ids that are not text": (
        parquet(id=[1.0, 2.0], limit=[1.0, 2.0]),
        "id is stored as float64, and ids and groups are text",
    ),
    "a negative limit in Parquet": (parquet(id=["a", "b"], limit=[1.0, -float(MARK)]), "row 2: limit is negative"),
    "no limit in Parquet": (parquet(id=["a", "b"], limit=[1.0, None]), "row 2: limit is missing"),
    "text in Parquet": (parquet(id=["a", "b"], limit=["1", f"x{MARK}"]), "row 2: limit is not a number"),
    "another column in Parquet": (parquet(id=["a"], Limit=[1.0]), "has no column limit; did you mean Limit?"),
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A good campaign, announced and not yet released."""
    folder = tmp_path_factory.mktemp("campaign")
    table = people_csv(folder)
    optin_ok("plan", table, *PLAN, "-o", folder / "plan.json")
    url = folder / "ledger.sqlite"
    optin_ok("announce", folder / "plan.json", table, "--ledger", url, "-o", folder / "announcement.json")
    return folder


def acts(folder):
    with Ledger.open(str(folder / "ledger.sqlite")) as ledger:
        return counts(ledger)


def expect_refused(outcome, message, code=2):
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.count("\n") == 1, "one message on one line"
    assert MARK not in outcome.err
    assert outcome.err.startswith("optin: ")


@pytest.mark.parametrize("case", BAD)
def test_a_plan_refuses(case, tmp_path):
    write, message = BAD[case]
    path = write(tmp_path)
    before = names(tmp_path)
    expect_refused(optin("plan", path, *PLAN, "-o", tmp_path / "plan.json"), message)
    assert names(tmp_path) == before


@pytest.mark.parametrize("case", BAD)
def test_an_announcement_refuses_and_leaves_the_ledger_alone(case, tmp_path, campaign):
    write, message = BAD[case]
    path, before = write(tmp_path), acts(campaign)
    known = names(tmp_path)
    at = ("--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "offer.json")
    expect_refused(optin("announce", campaign / "plan.json", path, *at), message)
    assert acts(campaign) == before
    assert names(tmp_path) == known


@pytest.mark.parametrize("case", BAD)
def test_a_release_refuses_and_leaves_the_ledger_alone(case, tmp_path, campaign):
    write, message = BAD[case]
    path, before = write(tmp_path), acts(campaign)
    if path.name == "bad.parquet" and "Parquet" not in message:
        message = "bad.parquet"  # it lacks the column of values too, which may be found out first
    known = names(tmp_path)
    at = ("--limits", "limit", "--values", "units", "--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "r.json")
    expect_refused(optin("release", campaign / "announcement.json", path, *at), message)
    assert acts(campaign) == before
    assert names(tmp_path) == known


def test_a_release_names_the_line_of_an_odd_answer(tmp_path, campaign):
    message = "line 202: joined is not an answer"
    table = tmp_path / "people.csv"
    table.write_text((campaign / "people.csv").read_text() + f"p-x,0.5,3.{MARK},perhaps\n")
    before = acts(campaign)
    at = ("--values", "units", "--joined", "joined", "--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "r.json")
    expect_refused(optin("release", campaign / "announcement.json", table, *at), message)
    assert acts(campaign) == before
    assert names(tmp_path) == ["people.csv"]


@pytest.mark.parametrize("cell", ["", f"{MARK}x", "-", "nan"])
def test_a_release_names_the_line_of_someone_who_joined_without_a_value(tmp_path, campaign, cell):
    lines = (campaign / "people.csv").read_text().splitlines()
    first = next(at for at, line in enumerate(lines) if line.endswith(",yes"))
    name, limit, *_ = lines[first].split(",")
    lines[first] = f"{name},{limit},{cell},yes"
    table = tmp_path / "people.csv"
    table.write_text("\n".join(lines) + "\n")
    before = acts(campaign)
    at = ("--values", "units", "--joined", "joined", "--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "r.json")
    message = f"people.csv line {first + 1} joined but their value is missing or not a number"
    expect_refused(optin("release", campaign / "announcement.json", table, *at), message)
    assert acts(campaign) == before


def test_a_bad_value_in_parquet_is_named_by_its_own_row(tmp_path, campaign):
    rows = [line.split(",") for line in (campaign / "people.csv").read_text().splitlines()[1:]]
    columns = {"id": [r[0] for r in rows], "limit": [float(r[1]) for r in rows], "units": ["1"] * len(rows)}
    columns["units"][2] = f"x{MARK}"
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    at = ("--values", "units", "--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "r.json")
    outcome = optin("release", campaign / "announcement.json", tmp_path / "people.parquet", *at)
    expect_refused(outcome, "people.parquet row 3 joined but their value is missing or not a number")
    assert outcome.err.count(" row ") == 1


def other_people(folder, campaign):
    return people_csv(folder, seed=8)


def one_limit_edited(folder, campaign):
    lines = (campaign / "people.csv").read_text().splitlines()
    name, _, units, joined = lines[5].split(",")
    path = folder / "people.csv"
    path.write_text("\n".join([*lines[:5], f"{name},0.0{MARK},{units},{joined}", *lines[6:]]) + "\n")
    return path


def one_person_missing(folder, campaign):
    path = folder / "people.csv"
    path.write_text("\n".join((campaign / "people.csv").read_text().splitlines()[:-1]) + "\n")
    return path


def one_stranger(folder, campaign):
    path = folder / "people.csv"
    path.write_text((campaign / "people.csv").read_text().replace("p0003,", "x0003,"))
    return path


def two_limits_swapped(folder, campaign):
    lines = [line.split(",") for line in (campaign / "people.csv").read_text().splitlines()]
    lines[7][1], lines[9][1] = lines[9][1], lines[7][1]
    path = folder / "people.csv"
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    return path


OTHERS = {
    other_people: "people.csv line 2: what this person allows is not what was announced",
    one_limit_edited: "people.csv line 6: what this person allows is not what was announced",
    one_person_missing: "people.csv lacks 1 of the announced people, the first is p0200",
    one_stranger: "people.csv line 4: this person was not announced",
    two_limits_swapped: "people.csv line 8: what this person allows is not what was announced",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("named", [True, False])
def test_a_table_other_than_the_announced_one_is_refused_with_the_first_line_that_differs(
    other, named, tmp_path, campaign
):
    table, before = other(tmp_path, campaign), acts(campaign)
    at = ("--values", "units", "--joined", "joined", "--ledger", campaign / "ledger.sqlite", "-o", tmp_path / "r.json")
    which = ("--limits", "limit") if named else ()
    expect_refused(optin("release", campaign / "announcement.json", table, *at, *which), OTHERS[other])
    assert acts(campaign) == before
    assert names(tmp_path) == ["people.csv"]


@pytest.mark.parametrize("other", [other_people, one_limit_edited, one_person_missing])
def test_without_a_ledger_another_table_is_refused_by_its_sums(other, tmp_path, campaign):
    table = other(tmp_path, campaign)
    at = ("--values", "units", "--joined", "joined", "--no-ledger", "-o", tmp_path / "r.json")
    told = "199 people and 200 were announced" if other is one_person_missing else "does not add up"
    expect_refused(optin("release", campaign / "announcement.json", table, *at), told)
    assert names(tmp_path) == ["people.csv"]


@pytest.mark.parametrize("other", [other_people, one_limit_edited, one_person_missing])
def test_a_table_other_than_the_planned_one_is_not_announced(other, tmp_path, campaign):
    table, before = other(tmp_path, campaign), acts(campaign)
    at = ("--ledger", tmp_path / "new.sqlite", "-o", tmp_path / "a.json")
    expect_refused(optin("announce", campaign / "plan.json", table, *at), "these are not the people")
    assert acts(campaign) == before
    assert names(tmp_path) == ["people.csv"], "no ledger is created for what is refused"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("announce", ("wrong.json", "people.csv", "--ledger", "l.sqlite", "-o", "a.json")),
        ("explain", ("wrong.json", "--limit", "1")),
        ("release", ("wrong.json", "people.csv", "--values", "units", "--no-ledger", "-o", "r.json")),
        ("check", ("wrong.json", "wrong.json", "wrong.json")),
        ("report", ("wrong.json", "-o", "r.html")),
    ],
)
@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"format": "777123"}', b"\xff\xfe", None])
def test_a_file_that_is_not_the_one_asked_for_is_refused(command, files, content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path)
    if content is not None:
        (tmp_path / "wrong.json").write_bytes(content)
    before = names(tmp_path)
    expect_refused(optin(command, *files), "wrong.json")
    assert names(tmp_path) == before


@pytest.mark.parametrize("target", ["no-such-folder/plan.json", ".", "people.csv"])
def test_an_output_that_cannot_be_written_is_refused_before_anything_else_is_lost(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people_csv(tmp_path)
    content = table.read_bytes()
    outcome = optin("plan", table, *PLAN, "-o", target)
    assert outcome.code == 2
    assert table.read_bytes() == content
    assert names(tmp_path) == ["people.csv"]


def test_an_output_is_whole_or_not_there(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("old")
    with pytest.raises(RuntimeError), Output(path):
        raise RuntimeError("in the middle of it")
    assert path.read_text() == "old"
    with Output(path) as file:
        assert path.read_text() == "old"
        file.write("new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["plan.json"]


def test_an_output_whose_folder_is_gone_says_so(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    with Output(folder / "plan.json") as file:
        shutil.rmtree(folder)
        with pytest.raises(BadInput, match="cannot be written"):
            file.write("new")
    assert names(tmp_path) == []


def test_files_as_spreadsheets_write_them_are_read(tmp_path):
    plain = people_csv(tmp_path)
    odd = tmp_path / "odd.csv"
    lines = [",".join(f'"{cell}"' for cell in line.split(",")) for line in plain.read_text().splitlines()]
    odd.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n\r\n")
    assert optin_ok("plan", odd, *PLAN, "--json").json == optin_ok("plan", plain, *PLAN, "--json").json
