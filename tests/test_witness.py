"""Forks and rollbacks by real processes: an operator who keeps two ledgers, a witness, two people; every day in this process."""

import base64
import json
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest
from cli_steps import Outcome, optin

from optin.transparency.keys import read_key

PEOPLE = "id,limit,answer\n" + "".join(f"p{k},{1 + k % 9},{k / 20}\n" for k in range(20))


def in_a_process(*arguments):
    """Run the command as another process does."""
    words = [sys.executable, "-m", "optin", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture(params=["here", pytest.param("processes", marks=pytest.mark.slow)])
def run(request, tmp_path, monkeypatch):
    """Commands in a folder of their own: here, or each in a process of its own."""
    for name in ("OPTIN_LEDGER", "OPTIN_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return optin if request.param == "here" else in_a_process


def done(outcome):
    assert outcome.code == 0, outcome.err
    return outcome


def announced(run):
    done(run("plan", "people.csv", "--limits", "limit", "--bounds", 0, 1, "-o", "plan.json"))
    done(run("ledger", "key", "--ledger", "ledger.sqlite", "--name", "example.org/survey"))
    given = ("--ledger", "ledger.sqlite", "--campaign", "survey", "-o", "announcement.json")
    done(run("announce", "plan.json", "people.csv", *given))


def released(run, ledger="ledger.sqlite", name="release.json"):
    given = ("--values", "answer", "--ledger", ledger, "-o", name)
    return done(run("release", "announcement.json", "people.csv", *given))


def bundled(run, name, ledger="ledger.sqlite"):
    done(run("ledger", "bundle", "--ledger", ledger, "--campaign", "survey", "-o", name))
    return name


def copied(name):
    """The operator keeps the ledger and its key a second time."""
    for end in ("", ".log-key"):
        shutil.copy(f"ledger.sqlite{end}", f"{name}{end}")
    return name


def test_a_fork_is_found_by_the_first_witness_and_by_two_people_who_compare(run, tmp_path):
    announced(run)
    second = copied("second.sqlite")
    released(run)
    released(run, second, "other.json")
    done(run("receipt", "--ledger", "ledger.sqlite", "--id", "p3", "-o", "one.json"))
    done(run("receipt", "--ledger", second, "--id", "p4", "-o", "two.json"))
    for held, drawn in (("one.json", "release.json"), ("two.json", "other.json")):
        done(run("check", held, "announcement.json", drawn))
    compared = run("check", "one.json", "two.json")
    assert (compared.code, "there are two ledgers" in compared.err) == (4, True)
    done(run("witness", bundled(run, "one.zip"), "--folder", "w"))
    found = run("witness", bundled(run, "two.zip", second), "--folder", "w")
    assert (found.code, "shows different people different ledgers" in found.err) == (4, True)
    (evidence,) = (tmp_path / "w").glob("evidence-*.json")
    kept = json.loads(evidence.read_text())
    assert kept["before"] != kept["now"]["checkpoints"][-1]
    assert run("check", "one.zip", "two.zip").code == 4


def test_a_rollback_is_found_by_the_first_witness(run):
    announced(run)
    before = copied("before.sqlite")
    released(run)
    done(run("witness", bundled(run, "now.zip"), "--folder", "w"))
    shutil.move(before, "ledger.sqlite")
    assert done(run("ledger", "verify", "--ledger", "ledger.sqlite")).code == 0, "the ledger itself is in order"
    found = run("witness", bundled(run, "again.zip"), "--folder", "w")
    assert (found.code, "rolled back" in found.err) == (4, True)


def test_receipts_say_by_how_many_witnesses_they_were_seen(run):
    announced(run)
    released(run)
    bundled(run, "now.zip")
    for name in ("w1", "w2"):
        done(run("witness", "now.zip", "--folder", name, "--name", name, "-o", f"{name}.txt"))
        done(run("ledger", "cosign", f"{name}.txt", "--ledger", "ledger.sqlite"))
    told = done(run("receipt", "--ledger", "ledger.sqlite", "--id", "p3", "-o", "r.json"))
    assert "seen by 2 witnesses" in told.out
    assert "seen by 2 witnesses: w1 at" in done(run("check", "r.json", "announcement.json", "release.json")).out
    keys = done(run("ledger", "log", "--ledger", "ledger.sqlite", "--json")).json["keys"]
    known = ("--key", keys[0], "--key", next(key for key in keys if key.startswith("w1+")))
    told = done(run("check", "r.json", "announcement.json", "release.json", *known)).out
    assert "seen by 1 witness: w1" in told
    assert "with the key you know" in told


def test_a_bundle_is_checked_whole_holds_nothing_private_and_no_change_of_it_passes(run, tmp_path):
    announced(run)
    released(run)
    bundled(run, "now.zip")
    assert "Everything in this file is good" in done(run("check", "now.zip")).out
    with zipfile.ZipFile("now.zip") as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    for text in files.values():
        assert not any(f'"p{k}"' in text for k in range(20))
        assert "salt" not in re.sub("[A-Za-z0-9+/]{40,}", "", text)  # which a signature may hold by chance
    changes = {
        "annex.html": lambda text: text.replace("Nobody is told", "Your boss is told"),
        "promise.json": lambda text: text.replace('"central"', '"local"'),
        "consent.json": lambda text: text.replace('"consent"', '"contract"'),
        "acts.json": lambda text: text.replace('"people": 20', '"people": 19'),
        "log.json": lambda text: text.replace("example.org/survey\\n", "example.org/surwey\\n"),
        "announcement.json": lambda text: text.replace('"campaign": "survey"', '"campaign": "surwey"'),
    }
    for name, change in changes.items():
        changed = change(files[name])
        assert changed != files[name], name
        with zipfile.ZipFile("bad.zip", "w") as archive:
            for each, text in files.items():
                archive.writestr(each, changed if each == name else text)
        assert run("check", "bad.zip").code in (2, 4), name
    for wrong in ({**files, "more.txt": ""}, {name: text for name, text in files.items() if name != "log.json"}):
        with zipfile.ZipFile("bad.zip", "w") as archive:
            for each, text in wrong.items():
                archive.writestr(each, text)
        assert run("check", "bad.zip").code == 2
    (tmp_path / "bad.zip").write_text("no zip")
    assert run("check", "bad.zip").code == 2


def test_keys_are_private_files_made_once(run, tmp_path):
    announced(run)
    assert stat.S_IMODE((tmp_path / "ledger.sqlite.log-key").stat().st_mode) == 0o600
    again = run("ledger", "key", "--ledger", "ledger.sqlite")
    assert (again.code, "a key signs for this ledger already" in again.err) == (2, True)
    assert run("ledger", "key", "--ledger", "postgresql://nowhere/x").code == 2
    key, kept = read_key(tmp_path / "ledger.sqlite.log-key"), (tmp_path / "ledger.sqlite").read_bytes()
    written = base64.b64encode(bytes([key.kind]) + key.seed)
    assert key.to_text().endswith(f"+{written.decode()}")
    assert written not in kept
    assert key.seed not in kept


def test_receipts_of_different_times_are_compared_with_a_bundle_and_not_without(run):
    announced(run)
    released(run)
    done(run("receipt", "--ledger", "ledger.sqlite", "--id", "p3", "-o", "one.json"))
    given = ("--campaign", "next", "-o", "next.json", "--total", 9, "--raise-limits")
    done(run("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", *given))
    done(run("release", "next.json", "people.csv", "--values", "answer", "--ledger", "ledger.sqlite", "-o", "n.json"))
    done(run("receipt", "--ledger", "ledger.sqlite", "--id", "p3", "--campaign", "next", "-o", "two.json"))
    with_bundle = done(run("check", "one.json", "two.json", bundled(run, "all.zip")))
    assert "all of them show one ledger" in with_bundle.out
    unlike = run("check", "one.json", "two.json")
    assert (unlike.code, "give the newest bundle" in unlike.err) == (2, True)


def test_a_consent_record_is_for_one_person_by_their_receipt(run, tmp_path):
    announced(run)
    released(run)
    done(run("receipt", "--ledger", "ledger.sqlite", "--id", "p3", "-o", "r.json"))
    made = ("-o", "annex.html", "--consent", "c.json", "--promise", "p.json", "--receipt", "r.json")
    done(run("annex", "announcement.json", *made))
    record = json.loads((tmp_path / "c.json").read_text())
    assert (record["pii_principal_id"], record["event"][0]["event_state"]) == ("p3", "consent given")
    assert stat.S_IMODE((tmp_path / "c.json").stat().st_mode) == 0o600
    assert json.loads((tmp_path / "p.json").read_text())["epsilon"]["noise"] is True
