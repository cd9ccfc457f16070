"""What is wrong with a sheet or with answers is refused in words, on the command line, and nothing is written or charged."""

import json

import pytest
from cli_steps import names, optin, optin_ok

TOML = """\
[[question]]
kind = "number"
name = "hours"
bounds = [0, 80]
sd = 9

[[question]]
kind = "choice"
name = "shift"
options = ["early", "late", "night"]

[[question]]
kind = "yes-no"
name = "break"
"""
LIMITS = ("--limits", "limit", "--sheet", "sheet.toml")
PEOPLE = 40
SECRET = "s3cret"


def table(change=None):
    rows = [
        [f"p{at}", f"{0.5 + at % 3}", f"{30 + at % 20}", ("early", "late", "night")[at % 3], "yes"]
        for at in range(PEOPLE)
    ]
    lines = [["id", "limit", "hours", "shift", "break"], *rows]
    if change is not None:
        line, column, cell = change
        lines[line][column] = cell
    return "\n".join(map(",".join, lines)) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(table())
    (tmp_path / "sheet.toml").write_text(TOML)
    return tmp_path


@pytest.fixture
def offered(folder):
    optin_ok("plan", "people.csv", *LIMITS, "-o", "plan.json")
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "--campaign", "c", "-o", "offer.json")
    return folder


def question(text):
    return f"[[question]]\n{text}\n"


NAMED_TWICE = question("kind='yes-no'\nname='a'") * 2
CHOICE = "kind='choice'\nname='a'\n"
FIFTY_ONE = [f"option {at}" for at in range(51)]


@pytest.mark.parametrize(
    ("sheet", "told"),
    [
        (NAMED_TWICE, 'two questions of this sheet are called "a"'),
        (question(CHOICE + "options=['x', 'y', 'x']"), 'the option "x" is given twice'),
        (question(CHOICE + "options=['x', '']"), "every option must be a text that is not empty"),
        (question(CHOICE + "options=[1, 2]"), 'write a number between quotes, such as "1"'),
        (question(CHOICE + "options=[]"), "has 0 options"),
        (question(CHOICE + f"options={FIFTY_ONE}"), "has 51 options: give 2 to 50"),
        (question(CHOICE), '"options" is missing'),
        (question("kind='histogram'\nname='a'\nedges=[1, 3, 2]"), "rise"),
        (question("kind='histogram'\nname='a'\nedges=[1, 1, 2]"), "rise"),
        (question("kind='histogram'\nname='a'\nedges='123'"), "edges must be numbers"),
        (question("kind='yes-no'\nname='a'\ncolumn=0"), "column must be text"),
        (question(CHOICE + "options={x=1, y=2}"), "give options as a list of texts"),
        (question("kind='multiple-choice'\nname='a'\noptions=['x', 'y']\nat_most=0"), "at_most"),
        (question("kind='yes-no'\nname='a'\nimportance=0"), "importance"),
        (question("kind='yes-no'\nname='a'\nimportance=-1"), "importance"),
        (question("kind='yes-no'\nname='a'\nmax_error=0"), "max_error must be a positive number"),
        (question("kind='number'\nname='a'\nbounds=[5, 1]"), "bounds must be two different numbers, the lower first"),
        (question("kind='number'\nname='a'\nbounds=['x', 1]"), "bounds"),
        (question("kind='number'\nname='a'\nbounds=[0, 1]\nsd=0") + question("kind='yes-no'\nname='b'"), "sd"),
        (question("kind='riddle'\nname='a'"), "give its kind, one of"),
        (question("kind='yes-no'\nname='a'\ncolour='red'"), 'has no "colour"'),
        ("title = 'nothing is asked'\n", "a [[question]] for each question"),
        ("[[question\n", "is not TOML"),
        ("\x00\x01", "is not TOML"),
    ],
)
def test_a_sheet_that_cannot_be_asked_is_refused_before_anything_is_written(sheet, told, folder):
    (folder / "sheet.toml").write_text(sheet)
    before = names(folder)
    for command in (
        ("plan", "people.csv", *LIMITS, "-o", "plan.json", "--ledger", "l.sqlite"),
        ("size", "sheet.toml", "--people", 100),
        ("sheet", "check", "sheet.toml"),
    ):
        refused = optin(*command)
        assert refused.code == 2, refused.out
        assert told in refused.err
        assert "--importance" not in refused.err
    assert names(folder) == before


def test_every_mistake_of_a_sheet_is_named_in_one_go(folder):
    wrong = ("kind='riddle'\nname='a'", "kind='number'\nname='b'\nbound=[0, 1]", CHOICE + "options=['x']")
    (folder / "sheet.toml").write_text("".join(map(question, wrong)))
    refused = optin("sheet", "check", "sheet.toml")
    assert refused.code == 2
    told = refused.err.splitlines()
    assert told[0] == "optin: 4 mistakes in this sheet"
    for line, words in zip(
        told[1:], ("1: give its kind", '2: a number has no "bound"', '2: "bounds" is missing', "1 options"), strict=True
    ):
        assert words in line


def test_a_sheet_that_is_no_text_or_not_there_is_refused(folder):
    (folder / "sheet.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not TOML" in optin("plan", "people.csv", *LIMITS).err
    (folder / "sheet.toml").unlink()
    refused = optin("plan", "people.csv", *LIMITS)
    assert (refused.code, "sheet.toml cannot be read" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "say what is asked: --bounds LO HI for one number, or --sheet sheet.toml"),
        (("--sheet", "sheet.toml", "--bounds", 0, 1), "--bounds is for one number"),
        (("--sheet", "sheet.toml", "--sd", 0), "--sd is for one number"),
        (("--sheet", "sheet.toml", "--eta", 1), "--eta is for one number"),
        (("--sheet", "sheet.toml", "--max-gap", 0.1), "--max-gap is for one number"),
        (("--sheet", "sheet.toml", "--target-error", 1), "takes the name of a question and a standard error, as in"),
        (("--sheet", "sheet.toml", "--target-error", "nights=1"), '--target-error names "nights"'),
        (("--sheet", "sheet.toml", "--target-error", "hours=x"), "--target-error must be a number"),
        (("--sheet", "sheet.toml", "--target-error", "hours=-1"), "--target-error must be a positive"),
        (("--sheet", "sheet.toml", "--target-error", "hours=1", "--target-error", "hours=2"), "names a question twice"),
        (
            ("--sheet", "sheet.toml", "--wished-error", "hours=1"),
            '--wished-error names no standard error for question "shift"',
        ),
        (("--bounds", 0, 80, "--target-error", "hours=1"), "takes one number where no --sheet names questions"),
        (("--bounds", 0, 80, "--target-error", 1, "--target-error", 2), "takes one number"),
        (("--bounds", 0, 80, "--wished-error", "hours=1"), "--wished-error goes with --sheet"),
        (("--bounds", 0, 80, "--wished-error", 1), "--wished-error goes with --sheet"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_their_own_words(asked, told, folder):
    refused = optin("plan", "people.csv", "--limits", "limit", *asked, "-o", "plan.json")
    assert refused.code == 2
    assert told in refused.err
    assert "plan.json" not in names(folder)


def test_a_plan_does_not_replace_its_own_sheet(folder):
    assert "is an input of this command" in optin("plan", "people.csv", *LIMITS, "-o", "sheet.toml").err
    assert (folder / "sheet.toml").read_text() == TOML


def refused_release(folder, *more, engine="memory", offer="offer.json"):
    """Ask for a release that must be refused, and see that nothing was written or charged."""
    at = ("--ledger", "l.sqlite", "--engine", engine, "-o", "release.json")
    refused = optin("release", offer, "people.csv", *at, *more)
    assert refused.code in (2, 4), refused.out
    assert SECRET not in refused.err + refused.out
    assert "release.json" not in names(folder)
    acts = optin_ok("ledger", "show", "--ledger", "l.sqlite", "--json").json
    assert [act["kind"] for act in acts] == ["register", "announce"]
    return refused.err


ENGINES = pytest.mark.parametrize("engine", ["memory", "duckdb"])


@ENGINES
@pytest.mark.parametrize(
    ("column", "name", "told"),
    [(2, "hours", "is not a number"), (3, "shift", "is none of the options"), (4, "break", "is not an answer")],
)
def test_what_is_no_answer_is_refused_by_its_place_and_never_repeated(column, name, told, engine, offered):
    (offered / "people.csv").write_text(table((6, column, SECRET)))
    said = refused_release(offered, engine=engine)
    assert told in said
    assert (f"people.csv line 7: {name}" if engine == "memory" else f"id p5: {name}") in said


@ENGINES
def test_options_are_matched_letter_for_letter(engine, offered):
    (offered / "people.csv").write_text(table((1, 3, "Early")))
    assert "is none of the options" in refused_release(offered, engine=engine)


@ENGINES
def test_a_column_that_is_missing_is_refused_by_name(engine, offered):
    (offered / "people.csv").write_text(table((0, 3, "shifts")))
    assert "has no column shift; did you mean shifts?" in refused_release(offered, engine=engine)


def test_one_column_is_not_taken_for_several_questions(offered):
    assert "--values names the column of one question, and this announcement asks 3" in refused_release(
        offered, "--values", "hours"
    )


def test_a_quorum_for_the_standard_error_of_one_number_is_refused_for_a_sheet(offered):
    assert "give questions of a sheet a max_error" in refused_release(offered, "--max-standard-error", 1)


def test_a_sheet_changed_after_the_announcement_is_refused(offered):
    record = json.loads((offered / "offer.json").read_text())
    record["terms"]["sheet"]["questions"][1]["options"][0] = "dawn"
    (offered / "changed.json").write_text(json.dumps(record))
    assert "changed.json" in refused_release(offered, offer="changed.json")


def test_a_plan_of_another_sheet_is_not_announced_in_the_place_of_the_first(offered):
    (offered / "sheet.toml").write_text(TOML.replace('"night"]', '"nights"]'))
    optin_ok("plan", "people.csv", *LIMITS, "-o", "plan.json")
    again = ("--campaign", "c", "-o", "again.json")
    refused = optin("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", *again)
    assert refused.code in (2, 4)
    assert "announced" in refused.err
    assert "again.json" not in names(offered)
    optin_ok("release", "offer.json", "people.csv", "--ledger", "l.sqlite", "-o", "release.json")
    refused = optin("report", "release.json", "--plan", "plan.json", "-o", "report.html")
    assert refused.code == 2
    assert "plan" in refused.err
    assert "report.html" not in names(offered)


def test_an_edited_limit_is_found_in_a_sheet_too(offered):
    (offered / "people.csv").write_text(table((3, 1, "9")))
    assert "people.csv line 4: what this person allows is not what was announced" in refused_release(offered)


def test_a_question_whose_error_would_be_too_large_is_dropped_and_charged_to_nobody(folder):
    (folder / "sheet.toml").write_text(TOML + "max_error = 0.0001\n")
    optin_ok("plan", "people.csv", *LIMITS, "-o", "plan.json")
    told = optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "-o", "offer.json")
    assert "published up to 0.01 points" in told.out
    shown = optin_ok("release", "offer.json", "people.csv", "--ledger", "l.sqlite", "-o", "release.json")
    assert "its ± would be above the largest that was stated beforehand" in shown.out
    receipt = optin_ok("receipt", "--ledger", "l.sqlite", "--id", "p0", "-o", "r.json")
    assert "break  epsilon 0, not published" in receipt.out
