"""Files of version 2 mean the same to every later version; a release of version 2 may hold an announcement of version 1."""

import json
from pathlib import Path

import pytest

import optin

FILES = Path(__file__).parent / "fixtures" / "version-2"
EXPECTED = json.loads((FILES / "expected.json").read_text())
KINDS = {"plan": optin.Plan, "announcement": optin.Announcement, "release": optin.Release}
OLD = FILES.parent / "version-1" / "announcement.json"


@pytest.mark.parametrize("path", sorted(FILES.glob("[!e]*.json")), ids=lambda path: path.stem)
def test_a_file_is_read_and_written_back_as_it_was(path):
    found = KINDS[path.stem.split("-")[0]].from_json(path.read_text())
    assert json.loads(found.to_json()) == json.loads(path.read_text())
    assert getattr(found, "fingerprint", None) == EXPECTED[path.stem]


def test_the_numbers_are_those_that_were_written():
    plan = optin.Plan.from_json((FILES / "plan.json").read_text())
    release = optin.Release.from_json((FILES / "release.json").read_text())
    told = {"cap": plan.cap, "estimate": release.estimate, "total_grains": release.announcement.total_grains}
    assert told == {name: EXPECTED[name] for name in told}
    assert release["hours"].question.text == "How many hours did you work last week?"
    assert release.announcement.terms.conditions.quorum_people == 10


def test_an_announcement_of_version_1_keeps_its_fingerprint_inside_a_release_of_today():
    text = OLD.read_text()
    offer = optin.Announcement.from_json(text)
    assert json.loads(offer.to_json()) == json.loads(text)
    release = optin.Release.from_json((FILES / "release.json").read_text())
    from dataclasses import replace

    from optin.announcement.numbers import ExactSums
    from optin.releasing.result import Joined

    joined = Joined(offer.people, offer.tilt, ExactSums(offer.total_grains, offer.total_squared_grains))
    mixed = replace(release, announcement=offer, joined=joined)
    record = json.loads(mixed.to_json())
    assert (record["format"], record["announcement"]["format"]) == ("optin.release/2", "optin.announcement/1")
    read = optin.Release.from_json(mixed.to_json())
    assert (read, read.announcement.fingerprint) == (mixed, offer.fingerprint)
