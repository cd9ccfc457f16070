"""Files and databases of version 1, written by the commit named in them, mean the same to every later version."""

import csv
import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_steps import optin as command
from cli_steps import optin_ok
from web_steps import PASSWORD, House

import optin
from optin import campaign as steps
from optin.announcement.terms import Conditions
from optin.ledger import UNLIMITED, Ledger
from optin.receipts import check
from optin.releasing import noise

FILES = Path(__file__).parent / "fixtures" / "version-1"
EXPECTED = json.loads((FILES / "expected.json").read_text())


def read(kind, name):
    return kind.from_json((FILES / f"{name}.json").read_text())


def numbers(record, names):
    exact = ("total_grains", "total_squared_grains", "noisy_total")
    values = {name: getattr(record.sealed if name in exact else record, name) for name in names}
    return {name: repr(value) if isinstance(value, float) else value for name, value in values.items()}


def people():
    with (FILES / "people.csv").open() as file:
        return list(csv.DictReader(file))


def agents(limits="limit"):
    rows = people()
    return optin.PrivacyConstrained([float(row[limits]) for row in rows], ids=[row["id"] for row in rows])


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request, tmp_path):
    """An old ledger, on each database in turn, and what it said."""
    with Ledger.open(place_of(request, tmp_path, "ledger")) as opened:
        yield opened, EXPECTED["ledgers"][request.param]


def place_of(request, folder, name):
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").restored(FILES / f"{name}.sql")
    shutil.copy(FILES / f"{name}.sqlite", folder / f"{name}.sqlite")
    (folder / f"{name}.sqlite").chmod(0o600)
    return f"sqlite:///{folder / name}.sqlite"


@pytest.mark.parametrize("name", EXPECTED["plans"])
def test_a_plan_reads_back_with_the_same_numbers(name):
    found, told = read(optin.Plan, name), EXPECTED["plans"][name]
    assert numbers(found, told) == told
    assert optin.Plan.from_json(found.to_json()) == found


def test_an_announcement_reads_back_with_the_same_numbers_and_gives_the_same_deal():
    offer, told = read(optin.Announcement, "announcement"), EXPECTED["explained"]
    assert numbers(offer, told["announcement"]) == told["announcement"]
    assert numbers(optin.explain(offer, limit=0.5), told["deal"]) == told["deal"]
    assert optin.Announcement.from_json(offer.to_json()) == offer


@pytest.mark.parametrize("name", ["release", "release-uncharged", "release-postgresql"])
def test_a_release_reads_back_with_the_same_numbers(name):
    found, told = read(optin.Release, name), dict(EXPECTED["explained"][name])
    low, high = map(float, told.pop("noise_interval"))
    assert numbers(found, told) == told
    assert tuple(found.noise_interval(0.95))[:2] == pytest.approx((low, high), rel=1e-9)
    assert optin.Release.from_json(found.to_json()) == found


@pytest.mark.parametrize("place", ["", "-postgresql"])
@pytest.mark.parametrize("name", ["receipt", "receipt-declined", "receipt-without-limit"])
def test_a_receipt_passes_its_check(name, place):
    receipt, release = read(optin.Receipt, f"{name}{place}"), read(optin.Release, f"release{place}")
    assert check(receipt, release.announcement, release)


def test_the_command_line_reads_what_it_wrote(tmp_path):
    optin_ok("check", *(FILES / f"{name}.json" for name in ("receipt", "announcement", "release")))
    optin_ok("explain", FILES / "announcement.json", "--limit", "0.5")
    optin_ok("report", FILES / "release.json", "--plan", FILES / "plan.json", "-o", tmp_path / "report.html")
    new = ("--ledger", tmp_path / "new.sqlite", "-o", tmp_path / "announcement.json")
    optin_ok("announce", FILES / "plan.json", FILES / "people.csv", *new)
    outcome = command("check", *(FILES / f"{name}.json" for name in ("receipt-postgresql", "announcement", "release")))
    assert outcome.code == 4


def test_a_ledger_opens_verifies_and_says_what_it_said(old):
    ledger, told = old
    acts = [[act.number, act.kind, act.campaign, act.round, act.people, act.hash] for act in ledger.acts()]
    left = ledger.remaining(list(told["remaining"])).tolist()
    assert (acts, dict(zip(told["remaining"], left, strict=True))) == (told["acts"], told["remaining"])
    place = "" if ledger.engine.dialect.name == "sqlite" else "-postgresql"
    names = [f"{name}{place}" for name in ("receipt", "receipt-declined", "receipt-without-limit")]
    copies = [read(optin.Release, f"release{place}"), *(read(optin.Receipt, name) for name in names)]
    assert copies[0].fingerprint == told["released"]
    found = ledger.verify(copies)
    assert found.ok, found
    assert ledger.receipt("p02", campaign="spring", round=1).path == copies[1].path


def offer_in(ledger, campaign, round_=1):
    offers = map(optin.Announcement.from_json, ledger.offers())
    return next(offer for offer in offers if (offer.campaign, offer.round) == (campaign, round_))


def test_a_stored_release_comes_back_and_nothing_is_drawn(old, monkeypatch):
    ledger, told = old
    monkeypatch.setattr(noise, "draw", None)
    joined = np.array([row["joined"] == "yes" for row in people()])
    again = steps.release(offer_in(ledger, "spring"), agents(), np.zeros(12), ledger=ledger, joined=joined)
    assert again.fingerprint == told["released"]
    kept = optin.read(str(FILES / "people.csv"), id="id", limits="more", engine="duckdb")
    assert steps.release(offer_in(ledger, "winter"), kept, "hours", ledger=ledger).charged
    exact = optin.PrivacyConstrained([np.inf] * 10, ids=[f"r{k}" for k in range(10)])
    found = steps.release(offer_in(ledger, "exact"), exact, [0.0] * 10, ledger=ledger, allow_no_noise=True)
    assert found.estimate == 0.5


def test_a_round_that_waited_is_released_and_charges_what_it_promised(old):
    ledger, told = old
    offer, hours = offer_in(ledger, "summer", 2), [float(row["hours"]) for row in people()]
    release = steps.release(offer, agents(), hours, ledger=ledger)
    assert release.joined_people == 11
    assert ledger.receipt("p04", campaign="summer", round=2).spent == 0
    assert ledger.remaining(list(told["remaining"])).tolist() == list(told["remaining"].values())
    assert ledger.verify([release]).ok


def test_a_round_that_is_announced_again_stays_in_its_version_with_its_fingerprint(old):
    ledger, _ = old
    stored, plan = offer_in(ledger, "spring"), read(optin.Plan, "plan")
    again = steps.announce(plan, agents(), ledger=ledger, campaign="spring")
    assert (again.version, again.fingerprint) == (1, stored.fingerprint)


def test_words_that_a_round_was_not_announced_with_do_not_come_under_its_fingerprint(old):
    ledger, _ = old
    stored, plan = offer_in(ledger, "spring"), read(optin.Plan, "plan")
    worded = replace(plan, sheet=optin.Sheet(plan.sheet.questions, title="Something else"))
    conditions = Conditions(quorum_people=10**6)
    again = steps.announce(worded, agents(), ledger=ledger, campaign="spring", conditions=conditions)
    assert again == stored


def test_a_new_campaign_over_the_same_people_keeps_to_what_is_left(old):
    ledger, told = old
    ids = [row["id"] for row in people()]
    before = ledger.remaining(ids)
    plan = steps.plan(agents("more"), bounds=(0, 80), data_sd=9, ledger=ledger)
    offer = steps.announce(plan, agents("more"), ledger=ledger, campaign="new", min_people=1)
    release = steps.release(offer, agents("more"), np.full(12, 40.0), ledger=ledger)
    finite = before < UNLIMITED
    assert np.all(release.grains[finite] <= before[finite])
    assert np.all(ledger.remaining(ids)[finite] == (before - release.grains)[finite])
    assert np.any(release.grains[finite] > 0)
    assert ledger.verify([release]).ok
    others = [person for person in told["remaining"] if person not in ids]
    assert ledger.remaining(others).tolist() == [told["remaining"][person] for person in others]


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request, tmp_path):
    """The old service's database and keys under today's service, a minute after it was left, and what it said."""
    told, started = EXPECTED["webs"][request.param], time.time()
    name = "web.keys" if request.param == "sqlite" else "web-postgresql.keys"
    shutil.copytree(FILES / name, tmp_path / "keys")
    key = (tmp_path / "keys" / "environment.key").read_text().strip()
    url = place_of(request, tmp_path, "web")
    with House(url, tmp_path, clock=lambda: told["made_at"] + 60 + time.time() - started, key=key) as opened:
        yield opened, told


def analyst_of(house, name):
    client = house.client()
    client.sign_in(name, PASSWORD)
    return client


def people_of(house, told):
    """Everyone, come back with the key they were given."""
    clients = [house.client() for _ in told["people"]]
    entries = [client.enter(one["key"]) for client, one in zip(clients, told["people"], strict=True)]
    assert [entry.account for entry in entries] == [one["account"] for one in told["people"]]
    return clients


def test_a_service_shows_old_results_totals_and_receipts(service):
    house, told = service
    released = told["campaigns"]["released"]
    page = house.ask("GET", f"/r/{released}")
    assert page.status_code == 200
    assert "Sleep" in page.text
    public = house.client().published(released)
    assert public.release.fingerprint == told["release"]["fingerprint"]
    receipt = optin.Receipt.from_json(json.dumps(told["receipt"]))
    check(receipt, public.announcement, public.release)
    assert house.service.ledger.verify([public.release, receipt]).ok
    person = house.client()
    person.enter(told["people"][0]["key"])
    me = person.me()
    assert (repr(me.promised), repr(me.spent)) == (told["people"][0]["promised"], told["people"][0]["spent"])
    assert person.receipt(released).spent == receipt.spent


def test_a_service_carries_on_every_campaign_it_finds(service):
    house, told = service
    ada, ben, named = analyst_of(house, "ada"), analyst_of(house, "ben"), told["campaigns"]
    crowd = people_of(house, told)
    for person in crowd[9:]:
        person.join(named["answering"], 7.0)
    ada.take(named["answering"], "close")
    found = ada.take(named["answering"], "release")
    assert (found.state, found.release.joined_people) == ("released", 11)
    assert ben.take(named["closed"], "release").release.joined_people == 11
    assert ada.campaign(named["second-round"]).round == 2
    for step in ("close-registration", "announce", "open-answers"):
        ada.take(named["sealed"], step)
    ada.take(named["sealed"], "close")
    assert ada.take(named["sealed"], "release").state == "released"
    assert ada.campaign(named["cancelled"]).state == "cancelled"
    assert ada.take(named["draft"], "open").state == "registration"
    assert house.service.ledger.verify().ok


def test_invitations_of_an_old_service_can_still_be_used(service):
    house, told = service
    assert house.client().enter(told["unused"]["person"]).campaign == told["campaigns"]["released"]
    assert house.client().become_analyst(told["unused"]["analyst"], "cora", PASSWORD)
