"""The demo: a whole campaign in seconds, every command shown, files left to look at, nobody else's files touched."""

import stat
from pathlib import Path

import pytest
from cli_steps import names, optin, optin_ok

import optin as library
from optin.cli.demo import STEPS, _activation

LEFT = {
    "sheet.toml",
    "people.csv",
    "plan.json",
    "announcement.json",
    "release.json",
    "receipt.json",
    "report.html",
    "ledger.sqlite",
}


def test_the_demo_runs_every_step_and_leaves_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = optin_ok("demo")
    folder = tmp_path / "optin-demo"
    assert set(names(folder)) >= LEFT
    for step in STEPS:
        assert step.story in told.out
        assert f"$ optin {step.command.split('{')[0]}" in told.out
    release = library.Release.from_json((folder / "release.json").read_text())
    assert release.charged
    assert 1700 < release.joined_people < 2000
    assert len({question.kind for question in release.sheet}) >= 4
    assert set(release.results) == {question.name for question in release.sheet}
    assert "skipped" in told.out  # the receipt is of someone who left a question out
    for name in ("people.csv", "plan.json", "receipt.json", "ledger.sqlite"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name


def test_the_demo_starts_afresh_and_leaves_what_others_put_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    optin_ok("demo")
    first = (tmp_path / "optin-demo" / "release.json").read_bytes()
    (tmp_path / "optin-demo" / "mine.txt").write_text("mine")
    optin_ok("demo")
    assert (tmp_path / "optin-demo" / "mine.txt").read_text() == "mine"
    assert (tmp_path / "optin-demo" / "release.json").read_bytes() != first


def test_the_demo_does_not_write_into_a_folder_of_someone_else(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "plan.json").write_text("theirs")
    outcome = optin("demo", "--folder", folder)
    assert outcome.code == 2
    assert names(folder) == ["plan.json"]
    assert (folder / "plan.json").read_text() == "theirs"


def test_make_demo_runs_the_demo():
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    assert "$(BIN)/optin demo" in makefile


@pytest.mark.parametrize("found", [True, False])
def test_the_demo_says_how_the_command_is_found_only_where_a_shell_would_not_find_it(found, tmp_path, monkeypatch):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if found else None)
    assert _activation() == ("" if found else ", after `. .venv/bin/activate`")
