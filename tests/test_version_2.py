"""Files of version 2 mean the same to every later version; a release of version 2 may hold an announcement of version 1."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import optin

FILES = Path(__file__).parent / "fixtures" / "version-2"
EXPECTED = json.loads((FILES / "expected.json").read_text())
KINDS = {"plan": optin.Plan, "announcement": optin.Announcement, "release": optin.Release}
OLD = FILES.parent / "version-1" / "announcement.json"


def told(results):
    """List everything that results say, with the place where it stands."""
    if isinstance(results, dict):
        return {f"{name} {at}": each for name, part in results.items() for at, each in told(part).items()}
    if isinstance(results, list):
        return told(dict(enumerate(results)))
    return {"": results}


@pytest.mark.parametrize("path", sorted(FILES.glob("[!e]*.json")), ids=lambda path: path.stem)
def test_a_file_is_read_and_written_back_as_it_was(path):
    found = KINDS[path.stem.split("-")[0]].from_json(path.read_text())
    written, read = json.loads(found.to_json()), json.loads(path.read_text())
    assert written == read | {"results": written["results"]} if "results" in read else written == read
    assert told(written.get("results")) == pytest.approx(told(read.get("results")), rel=1e-9), (
        "ends of intervals are searched"
    )
    assert getattr(found, "fingerprint", None) == EXPECTED[path.stem]


def test_the_numbers_are_those_that_were_written():
    plan = optin.Plan.from_json((FILES / "plan.json").read_text())
    release = optin.Release.from_json((FILES / "release.json").read_text())
    told = {"cap": plan.cap, "estimate": release.estimate, "total_grains": release.announcement.sealed.total_grains}
    assert told == {name: EXPECTED[name] for name in told}
    assert release.sheet["hours"].text == "How many hours did you work last week?"
    assert release.announcement.terms.conditions.quorum_people == 10


def test_an_announcement_of_version_1_keeps_its_fingerprint_inside_a_release_of_today():
    text = OLD.read_text()
    offer = optin.Announcement.from_json(text)
    assert json.loads(offer.to_json()) == json.loads(text)
    release = optin.Release.from_json((FILES / "release.json").read_text())
    from optin.releasing.answered import Answered

    answered = Answered(
        offer.people, offer.tilt, offer.sealed.question_sums[0], release.sealed.answered[0].noisy_totals[:1]
    )
    mixed = replace(release, announcement=offer, joined_people=offer.people, answered=(answered,))
    record = json.loads(mixed.to_json())
    assert (record["format"], record["announcement"]["format"]) == ("optin.release/2", "optin.announcement/1")
    read = optin.Release.from_json(mixed.to_json())
    assert (read, read.announcement.fingerprint) == (mixed, offer.fingerprint)


@pytest.mark.parametrize("kind", ["announcement", "release"])
def test_a_number_too_large_for_a_float_is_refused_in_words(kind):
    text = (FILES / f"{kind}.json").read_text()
    assert '"importance": 1.0' in text
    with pytest.raises(optin.BadInput, match="does not match its fingerprint"):
        KINDS[kind].from_json(text.replace('"importance": 1.0', '"importance": 1e999'))


def forged(**changes):
    release = optin.Release.from_json((FILES / "release.json").read_text())
    return replace(release, answered=(replace(release.answered[0], **changes),)).to_json()


@pytest.mark.parametrize("squares", [0, 1, 10**60])
def test_a_release_with_sums_that_nobody_can_have_is_refused(squares):
    release = optin.Release.from_json((FILES / "release.json").read_text())
    with pytest.raises(optin.BadInput, match="nobody who joined can have its sums"):
        optin.Release.from_json(forged(sums=replace(release.answered[0].sums, total_squared_grains=squares)))


@pytest.mark.parametrize("odd", [{"people": 1}, {"tilt": -1.0}, {"tilt": 5.0}])
def test_a_release_with_people_or_a_tilt_that_cannot_be_is_refused(odd):
    with pytest.raises(optin.BadInput, match="nobody who joined can have its sums"):
        optin.Release.from_json(forged(**odd))


def test_a_release_of_an_older_format_than_its_announcement_is_refused():
    release = optin.Release.from_json((FILES / "release.json").read_text())
    with pytest.raises(optin.BadInput, match="older than the announcement"):
        optin.Release.from_json(replace(release, version=1).to_json())


@pytest.mark.parametrize("odd", [{"people": 0}, {"epsilon_total": 0}, {"cap": 0}, {"variances": [-1.0]}])
def test_a_plan_with_numbers_that_no_plan_has_is_refused(odd):
    record = json.loads((FILES / "plan.json").read_text())
    record["designs"][0] |= odd
    with pytest.raises(optin.BadInput, match="positive in a plan"):
        optin.Plan.from_json(json.dumps(record))
