"""Files that a command is to write are looked at before anything is held, drawn or charged."""

import pytest
from cli_steps import optin, optin_ok, people_csv

import optin as library


@pytest.fixture
def announced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people_csv(tmp_path, 60)
    optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", "0", "1", "-o", "plan.json")
    return tmp_path


HELD = ("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
DRAWN = (
    "release",
    "offer.json",
    "people.csv",
    "--values",
    "units",
    "--joined",
    "joined",
    "--ledger",
    "ledger.sqlite",
    "-o",
    "release.json",
)


@pytest.mark.parametrize("missing", ["parquet", "folder"])
def test_grains_that_cannot_be_written_are_refused_before_anything_is_held_or_charged(announced, monkeypatch, missing):
    path = "grains.parquet" if missing == "parquet" else "nowhere/grains.parquet"
    said = "pip install 'optin[parquet]'" if missing == "parquet" else "nowhere/grains.parquet cannot be written"

    def refused(*command):
        with pytest.MonkeyPatch.context() as patch:
            if missing == "parquet":
                patch.setattr("optin.extras._present", lambda name: name != "pyarrow")
            outcome = optin(*command)
        assert outcome.code == 2
        assert said in outcome.err

    refused(*HELD, "--promises", path)
    assert not (announced / "ledger.sqlite").exists()
    assert not (announced / "offer.json").exists()
    optin_ok(*HELD)
    refused(*DRAWN, "--grains", path)
    assert not (announced / "release.json").exists()
    with library.Ledger.open("ledger.sqlite") as ledger:
        assert [act.kind for act in ledger.acts()] == ["register", "announce"]
    optin_ok(*DRAWN, "--grains", "grains.parquet")
