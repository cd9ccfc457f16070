"""What the command line says of one person, one table, one refusal is true, and is the same wherever it is said."""

import pytest
from cli_steps import optin_ok


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
