"""A record that may be published carries nobody's id, limit, value or weight, however it is written down."""

import copy
import gc
import json
import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest

import optin
from optin import campaign
from optin.grains.array_answers import _Columns
from optin.grains.people import Allowing
from optin.ledger import Ledger
from optin.tables.table_cells import coded

COUNT = 300
IDS = [f"ID-MARKER-{k}" for k in range(COUNT)]
LIMITS = np.linspace(0.1037, 1.9519, COUNT)
VALUES = np.linspace(0.2003, 0.7009, COUNT)
people = optin.PrivacyConstrained(LIMITS, ids=IDS)
buyers = optin.QuasiLinear(LIMITS / 100, benefit=optin.LinearBenefit(base=3.0, slope=1.0), ids=IDS)


@pytest.fixture(scope="module")
def charged(tmp_path_factory):
    with Ledger.open(str(tmp_path_factory.mktemp("records") / "ledger.sqlite")) as ledger:
        offer = campaign.announce(campaign.plan(people, bounds=(0, 1)), people, ledger=ledger)
        yield campaign.release(offer, people, VALUES, ledger=ledger, joined=np.arange(COUNT) > 0)


def drawn(agents):
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents, min_people=1)
    return optin.release(offer, agents, VALUES)


def written(record):
    """Everything a record can be turned into."""
    shown = [repr(record), str(record), repr(vars(record)), repr(asdict(record)), pickle.dumps(record)]
    shown += [pickle.dumps(copied) for copied in (copy.copy(record), copy.deepcopy(record), asdict(record))]
    shown += [record.to_json()] if hasattr(record, "to_json") else []
    return [one if isinstance(one, bytes) else one.encode() for one in shown]


def expect_public(record, agents):
    """Constant size, no id, no limit; a pickle has 8 bytes of a limit, a text its digits."""
    columns = [agents.limits if agents is people else agents.costs, VALUES]
    secrets = [b"ID-MARKER", *(form for x in columns for form in (x[7].tobytes(), repr(float(x[7])).encode()))]
    for text in written(record):
        assert len(text) < 4000
        assert not [secret for secret in secrets if secret in text]


@pytest.mark.parametrize("agents", [people, buyers], ids=["limits", "costs"])
def test_a_release_however_it_is_written_down_holds_no_ids_limits_or_values(agents):
    expect_public(drawn(agents), agents)


def test_a_charged_release_however_it_is_written_down_holds_no_ids_limits_or_values(charged):
    expect_public(charged, people)


@pytest.mark.parametrize("agents", [people, buyers], ids=["limits", "costs"])
def test_plans_offers_certificates_and_simulations_hold_no_ids_limits_or_values(agents):
    plan = optin.plan(agents, bounds=(0, 1))
    simulated = optin.simulate(agents, generator=np.random.default_rng(1), campaigns=20, workers=1)
    offer = plan.announce(agents, min_people=1)
    for record in (plan, offer, plan.certificate(agents), simulated):
        expect_public(record, agents)


def test_people_print_without_ids_and_limits():
    for agents in (people, buyers):
        assert "ID-MARKER" not in repr(agents)
        assert len(repr(agents)) < 200


def test_what_is_made_of_people_on_the_way_prints_no_limit_and_no_answer():
    limits, answers = [0.1234567, 0.1234568, 0.7654321] * 4, ["MARKED", "other"] * 6
    some = optin.PrivacyConstrained(limits)
    looked_at = some.table()
    made = (
        looked_at,
        looked_at.all_pieces(0.0, 1.0),
        Allowing(allowances=np.array(limits)),
        coded(answers),
        _Columns({"way": answers}, ["way"], optin.Sheet([optin.YesNo("way")]), some),
    )
    for record in made:
        assert not {word for word in ("0.12345", "0.76543", "MARKED") if word in repr(record)}


def test_grains_can_be_listed_in_the_session_that_drew_the_release(charged):
    release = drawn(people)
    assert int(release.grains.sum()) == release.sealed.total_grains
    assert release.id == release.announcement.id
    assert (charged.grains[0], int(charged.grains.sum())) == (0, charged.sealed.total_grains)


def test_grains_stay_with_the_release_that_was_drawn_and_with_no_copy_of_it(charged):
    copies = [copy.copy(charged), copy.deepcopy(charged), pickle.loads(pickle.dumps(charged)), replace(charged)]
    assert [one.grains for one in copies] == [None] * 4
    assert [one == charged for one in copies] == [True] * 4
    assert charged.grains is not None


def test_grains_are_let_go_with_their_release():
    from optin.releasing.record import _SOURCES

    release = drawn(people)
    before = len(_SOURCES)
    del release
    gc.collect()
    assert len(_SOURCES) < before


def test_a_release_reads_back_as_it_was_written(charged):
    assert optin.Release.from_json(charged.to_json()) == charged
    assert "grain_source" not in json.loads(charged.to_json())
