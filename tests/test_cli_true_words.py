"""What the command line says of one person, one table, one refusal is true, and is the same wherever it is said."""

import pytest
from cli_steps import optin, optin_ok


def written(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """One was charged, one declined, one was away, one joined with nothing to give; and ten more joined."""
    folder = tmp_path_factory.mktemp("released")
    rows = ["charged,1,0.2,yes", "declined,1,0.9,yes", "away,1,0.4,no", "empty,0,0.7,yes"]
    table = written(folder / "people.csv", "id,limit,answer,joined", *rows, *(f"p{k},2,0.5,yes" for k in range(10)))
    plan, offer, kept = folder / "plan.json", folder / "offer.json", ("--ledger", folder / "l.sqlite")
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 1, "-o", plan)
    optin_ok("announce", plan, table, *kept, "--campaign", "survey", "-o", offer)
    optin_ok("ledger", "decline", offer, "--id", "declined", *kept)
    table.write_text(table.read_text().replace("0.9,yes", "0.9,no"))
    asked = ("--values", "answer", "--joined", "joined", *kept, "-o", folder / "release.json")
    optin_ok("release", offer, table, *asked)
    return folder


@pytest.mark.parametrize(
    ("person", "spent", "sealed", "shown"),
    [
        ("charged", "epsilon 1\n", ", one of 12 charges\n", "the charge is among those sealed with the release"),
        (
            "declined",
            "epsilon 0: declined or stayed away\n",
            ", not one of its 12 charges\n",
            "declined or stayed away",
        ),
        ("away", "epsilon 0: declined or stayed away\n", ", not one of its 12 charges\n", "declined or stayed away"),
        (
            "empty",
            "epsilon 0: joined with nothing to give\n",
            ", one of 12 charges, of nothing\n",
            "joined with nothing to give: a charge of nothing is among those sealed with the release",
        ),
    ],
)
def test_a_receipt_and_its_check_say_the_same_true_thing(released, tmp_path, person, spent, sealed, shown):
    receipt = tmp_path / "receipt.json"
    told = optin_ok("receipt", "--ledger", released / "l.sqlite", "--id", person, "-o", receipt).out
    assert spent in told
    assert sealed in told
    lines = optin_ok("check", receipt, released / "offer.json", released / "release.json").out
    assert shown in lines
    assert ("the charge is among" in lines) == (person == "charged")
    assert ("cannot be proved" in lines) == (person in ("declined", "away"))


@pytest.fixture
def announced(tmp_path):
    """A campaign called survey that is open; its folder."""
    table = written(tmp_path / "people.csv", "id,limit", *(f"p{k},1" for k in range(12)))
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 1, "-o", tmp_path / "plan.json")
    kept = ("--ledger", tmp_path / "l.sqlite", "--campaign", "survey", "-o", tmp_path / "offer.json")
    optin_ok("announce", tmp_path / "plan.json", table, *kept)
    return tmp_path


def test_an_id_that_was_typed_is_named_where_it_is_refused(announced):
    kept = ("--ledger", announced / "l.sqlite")
    refused = optin("ledger", "decline", announced / "offer.json", "--id", "p3", "--id", "p0999", *kept)
    assert refused.code == 2
    assert "id p0999 was not among those announced" in refused.err


def test_an_id_whose_receipt_is_refused_is_named(released, tmp_path):
    asked = ("--id", "p0999", "--campaign", "survey", "--round", 1, "-o", tmp_path / "receipt.json")
    refused = optin("receipt", "--ledger", released / "l.sqlite", *asked)
    assert refused.code == 2
    assert "id p0999 was not among those this release was announced to" in refused.err


def test_a_receipt_before_the_release_is_told_that_the_round_is_open(announced):
    kept = ("--ledger", announced / "l.sqlite")

    def refused(*more, person="p3"):
        outcome = optin("receipt", *kept, "--id", person, *more, "-o", announced / "receipt.json")
        assert outcome.code == 2
        return outcome.err

    for more in ((), ("--campaign", "survey")):
        assert "campaign survey, round 1 is announced and not released yet" in refused(*more)
    assert "no release in this ledger was announced to this person" in refused(person="stranger")
    assert "no release in this ledger was announced to this person" in refused("--campaign", "another")
    optin_ok("ledger", "cancel", announced / "offer.json", *kept)
    assert "campaign survey, round 1 was cancelled, and nothing was spent" in refused()


def test_a_quorum_is_refused_in_the_words_of_a_release(tmp_path):
    people = [f"p{k},{0 if k < 100 else 1},0.5" for k in range(1300)]
    table = written(tmp_path / "people.csv", "id,limit,answer", *people)
    plan, offer = tmp_path / "plan.json", tmp_path / "offer.json"
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 1, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", tmp_path / "l.sqlite", "-o", offer)
    asked = ("release", offer, table, "--values", "answer", "--no-ledger", "-o", tmp_path / "release.json")
    refused = optin(*asked, "--quorum", 1250)
    assert refused.code == 4
    assert "1,200 of those who joined count and the quorum is 1,250 (who has nothing to give does not" in refused.err
    assert "1,300 of 1,300 people; 1,200 of them count, 100 have nothing to give" in optin_ok(*asked).out


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_plan_that_forgot_the_ledger_is_told_to_ask_it(tmp_path, engine):
    table = written(tmp_path / "people.csv", "id,limit,value", *(f"p{k},{1 + k},0.5" for k in range(20)))
    plan, offer, kept = tmp_path / "plan.json", tmp_path / "offer.json", ("--ledger", tmp_path / "l.sqlite")
    asked = ("plan", table, "--limits", "limit", "--bounds", 0, 1, "--engine", engine)
    optin_ok(*asked, "-o", plan)
    optin_ok("announce", plan, table, *kept, "-o", offer, "--min-people", 1)
    optin_ok("release", offer, table, "--values", "value", *kept, "-o", tmp_path / "release.json")
    optin_ok(*asked, "--sd", 0.1, "-o", plan)
    again = ("announce", plan, table, *kept, "-o", offer, "--min-people", 1, "--engine", engine)
    refused = optin(*again)
    assert refused.code == 2
    assert f"less left in this ledger than {plan} takes: plan again with --ledger" in refused.err
    assert "not the people" not in refused.err
    optin_ok(*asked, "--sd", 0.1, *kept, "-o", plan)
    optin_ok(*again)
    others = written(tmp_path / "others.csv", "id,limit", *(f"p{k},{2 + k}" for k in range(20)))
    refused = optin("announce", plan, others, "--ledger", tmp_path / "new.sqlite", "-o", tmp_path / "a.json")
    assert "these are not the people" in refused.err


def test_totals_of_a_plan_are_kept_where_columns_are_named_again(tmp_path):
    """Whoever named the limits again lost the totals, and everyone's limit became all they would ever give."""
    table = written(tmp_path / "people.csv", "id,limit,total", *(f"p{k},1,3" for k in range(20)))
    plan, kept = tmp_path / "plan.json", ("--ledger", tmp_path / "l.sqlite")
    asked = ("plan", table, "--limits", "limit", "--bounds", 0, 1)
    optin_ok(*asked, "--allowances", "total", "-o", plan)
    told = optin_ok("announce", plan, table, "--limits", "limit", *kept, "-o", tmp_path / "a.json")
    assert "counts against  their totals, column total\n" in told.out
    optin_ok(*asked, *kept)


def test_an_announcement_says_what_promises_count_against(tmp_path):
    table = written(tmp_path / "people.csv", "id,limit,total", *(f"p{k},1,3" for k in range(20)))
    plan, kept = tmp_path / "plan.json", ("--ledger", tmp_path / "l.sqlite")
    optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 1, "-o", plan)
    announce = ("announce", plan, table, "--campaign", "one", *kept, "-o", tmp_path / "a.json")
    assert (
        "counts against  their limits, once (--total NUMBER or --allowances COL for totals)\n"
        in optin_ok(*announce).out
    )
    known = "; or the total in the ledger, for whoever has one\n"
    assert (
        f"counts against  their limits, once (--total NUMBER or --allowances COL for totals){known}"
        in optin_ok(*announce).out
    )


WAYS = {
    "limits": ("--limits", "most"),
    "budgets": ("--budgets", "most", "--costs", "cost"),
    "costs": ("--costs", "cost", "--benefit-base", 3, "--benefit-slope", 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_engine_finds_the_announced_columns_as_memory_does(tmp_path, way):
    rows = (f"p{k:02d},{1 + k % 3},{0.5 + k % 2},town {k},{k % 2}" for k in range(30))
    table = written(tmp_path / "people.csv", "id,most,cost,town,value", *rows)
    plan, offer = tmp_path / "plan.json", tmp_path / "offer.json"
    optin_ok("plan", table, *WAYS[way], "--bounds", 0, 1, "-o", plan)
    optin_ok("announce", plan, table, "--ledger", tmp_path / "l.sqlite", "--min-people", 1, "-o", offer)
    asked = ("release", offer, table, "--values", "value", "--no-ledger", "-o", tmp_path / "release.json", "--json")
    there, here = (optin_ok(*asked, "--engine", engine).json for engine in ("duckdb", "memory"))
    assert there["standard_error"] == here["standard_error"]


def test_an_engine_finds_limits_that_the_ledger_had_cut(tmp_path):
    rows = (f"p{k:02d},{k + 0.5},{1 + k % 3},1,{k % 2}" for k in range(30))
    table = written(tmp_path / "people.csv", "id,age,most,limit,value", *rows)
    plan, offer, kept = tmp_path / "plan.json", tmp_path / "offer.json", ("--ledger", tmp_path / "l.sqlite")
    for campaign, more in (("one", ("--eta", 10)), ("two", kept)):
        optin_ok("plan", table, "--limits", "most", "--bounds", 0, 1, *more, "-o", plan)
        optin_ok("announce", plan, table, *kept, "--campaign", campaign, "--min-people", 1, "-o", offer)
    asked = ("release", offer, table, "--values", "value", *kept, "--engine", "duckdb", "-o", tmp_path / "r.json")
    assert "Released" in optin_ok(*asked).out
    edited = written(tmp_path / "edited.csv", "id,most,value", *(f"p{k:02d},0.2,1" for k in range(30)))
    refused = optin(*asked[:2], edited, *asked[3:])
    assert refused.code == 2
    assert "no column of this table adds up to what was announced" in refused.err
    assert "--limits COL" in refused.err


def test_a_standard_error_that_the_interval_does_not_follow_says_of_which_sd_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = {}
    for people in (12, 3000):
        table = written(tmp_path / "a.csv", "id,limit,visits", *(f"p{at},1,{at % 5}" for at in range(people)))
        kept = ("--ledger", f"{people}.sqlite")
        optin_ok("plan", table, "--limits", "limit", "--bounds", 0, 80, "-o", "plan.json")
        optin_ok("announce", "plan.json", table, *kept, "-o", "offer.json")
        said[people] = optin_ok("release", "offer.json", table, "--values", "visits", *kept, "-o", "release.json").out
    words = ", for the sd that was declared (40); the interval in total uses what was released"
    assert {people: words in told for people, told in said.items()} == {12: False, 3000: True}
