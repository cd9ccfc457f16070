"""Groups in the ledger: one act each, charges that follow from a person's own group, receipts that know it."""

import numpy as np
import pytest
from sqlalchemy import text

import optin
from optin import campaign
from optin.errors import PromiseBroken
from optin.questions.number_result import NumberResult
from optin.releasing.drawing import measure

SHEET = (optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9))
ONE = SHEET[1:]
COUNT = 120


def study(seed=1, sheet=SHEET):
    rng = np.random.default_rng(seed)
    limits = rng.choice([0.1, 0.5, 1.0, 3.0], size=COUNT)
    groups = np.array(["ER", "ICU", "ward 'x'\n"], dtype=object)[np.arange(COUNT) % 3]
    answers = {"break": np.where(rng.random(COUNT) < 0.3, "yes", "no"), "hours": rng.normal(40, 9, COUNT)}
    if len(sheet) > 1:
        answers["hours"][::7] = np.nan
    agents = optin.PrivacyConstrained(limits, groups=groups, ids=[f"p{k}" for k in range(COUNT)])
    return agents, groups, {question.name: answers[question.name] for question in sheet}


def announced(ledger, agents, sheet=SHEET, **more):
    plan = campaign.plan(agents, sheet, ledger=ledger, allowances=20.0)
    return campaign.announce(plan, agents, ledger=ledger, allowances=20.0, **more)


@pytest.mark.parametrize("sheet", [SHEET, ONE])
def test_groups_are_announced_and_released_by_one_act_each_and_charges_add_up(ledger, sheet):
    agents, groups, answers = study(sheet=sheet)
    offer = announced(ledger, agents, sheet)
    joined = np.arange(COUNT) % 5 != 0
    joined[groups == "ER"] = np.arange((groups == "ER").sum()) < 6
    release = campaign.release(offer, agents, answers, ledger=ledger, joined=joined)
    assert [act.kind for act in ledger.acts()] == ["register", "announce", "absent", "release"]
    assert release.withheld == {"ER": "too few people answered it"}
    receipts = ledger.receipts(list(agents.ids), campaign=offer.campaign, round=1)
    spent = np.array([receipt.spent for receipt in receipts])
    assert spent.tolist() == release.grains.tolist()
    assert spent.sum() == release.sealed.total_grains
    assert not spent[groups == "ER"].any()
    for name, each in release.groups.items():
        assert spent[groups == name].sum() == each.sealed.total_grains
    for person in (0, 1, 2, 3, 7, 100):
        receipt = optin.Receipt.from_json(receipts[person].to_json())
        assert receipt.design == sorted(set(groups)).index(groups[person])
        (told,) = [line for line in optin.check(receipt, offer, release) if "the person is in group" in line]
        assert ("says the operator" in told) == (receipt.index is None), "who was not charged is in no group by proof"
    found = ledger.verify([release, *receipts[:9]])
    assert found.ok, found
    again = campaign.release(offer, agents, answers, ledger=ledger, joined=joined)
    assert again == release
    assert again.grains.tolist() == release.grains.tolist()


def test_a_receipt_that_names_another_group_fails(ledger):
    from dataclasses import replace

    agents, _, answers = study()
    offer = announced(ledger, agents)
    release = campaign.release(offer, agents, answers, ledger=ledger)
    receipt = ledger.receipt("p1")
    optin.check(receipt, offer, release)
    for other in (0, 2, 7):
        with pytest.raises(PromiseBroken):
            optin.check(replace(receipt, design=other), offer, release)
    assert not ledger.verify([replace(receipt, design=0)]).ok


def test_a_person_moved_to_another_group_is_refused_and_nothing_is_lost(ledger):
    agents, groups, answers = study()
    offer = announced(ledger, agents)
    moved = groups.copy()
    moved[4] = "ER"
    others = optin.PrivacyConstrained(agents.limits, groups=moved, ids=agents.ids)
    before = len(ledger.acts())
    with pytest.raises(PromiseBroken, match="the group of"):
        campaign.release(offer, others, answers, ledger=ledger)
    assert len(ledger.acts()) == before
    assert campaign.release(offer, agents, answers, ledger=ledger).withheld == {}


def test_people_in_another_order_are_the_same_people(ledger):
    agents, groups, answers = study()
    offer = announced(ledger, agents)
    order = np.random.default_rng(3).permutation(COUNT)
    mixed = optin.PrivacyConstrained(
        agents.limits[order], groups=groups[order], ids=[agents.ids[at] for at in order.tolist()]
    )
    release = campaign.release(offer, mixed, {name: column[order] for name, column in answers.items()}, ledger=ledger)
    assert release.grains.tolist() == campaign.release(offer, agents, answers, ledger=ledger).grains[order].tolist()
    assert ledger.verify([release]).ok


def test_a_second_round_asks_nobody_for_more_than_is_left_and_declined_stay_uncharged(ledger):
    agents, _groups, answers = study()
    first = announced(ledger, agents)
    campaign.answer(first, {"p3": False, "p4": False}, ledger=ledger)
    release = campaign.release(first, agents, answers, ledger=ledger)
    assert not release.grains[[3, 4]].any()
    second = announced(ledger, agents)
    campaign.cancel(second, ledger=ledger)
    third = announced(ledger, agents)
    assert campaign.release(third, agents, answers, ledger=ledger).withheld == {}
    assert ledger.verify().ok


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE promises SET design = 1 WHERE position = 0",
        "UPDATE promises SET design = 9 WHERE position = 0",
        "UPDATE promises SET design = NULL WHERE position = 0",
        "UPDATE charges SET grains = grains - 1 WHERE position = 1",
        "UPDATE charges SET answered = 1 WHERE position = 1",
    ],
)
def test_an_edited_group_or_charge_is_found(tmp_path, change):
    agents, _, answers = study()
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = announced(ledger, agents)
        campaign.release(offer, agents, answers, ledger=ledger)
        assert ledger.verify().ok
        with ledger.engine.begin() as connection:
            table = change.split()[1]
            connection.execute(text(f"DROP TRIGGER {table}_refuses_update"))
            connection.execute(text(change))
        assert any("promises" in each or "act" in each or "rows" in each for each in ledger.verify().problems)
        assert len(ledger.verify().problems) > 1  # the trigger, and what was changed


def test_what_was_promised_is_recomputed_from_the_group_s_own_cap_and_shares(ledger):
    agents, groups, _ = study()
    offer = announced(ledger, agents)
    promised = ledger.promises(optin.ledger.Terms(offer.campaign, 1, offer.fingerprint))
    for person, name in zip(agents.ids, groups, strict=True):
        place = agents.ids.index(person)
        deal = optin.explain(offer, limit=float(agents.limits[place]), group=name)
        assert promised[person] == deal.grains


def test_people_who_weigh_costs_are_charged_by_their_group_s_promise(ledger):
    rng = np.random.default_rng(5)
    groups = np.repeat(["a", "b"], 40)
    agents = optin.QuasiLinear(
        rng.uniform(0.1, 1.0, 80),
        benefit=optin.LinearBenefit(2.0, 1.0),
        groups=groups,
        ids=[f"q{k}" for k in range(80)],
    )
    plan = campaign.plan(agents, bounds=(0, 1), slack=0.1)
    offer = campaign.announce(plan, agents, ledger=ledger, allowances=40.0)
    release = campaign.release(offer, agents, rng.random(80), ledger=ledger)
    assert release.grains.sum() == release.sealed.total_grains
    assert ledger.verify([release]).ok


def test_the_draw_of_a_ledger_has_the_sums_of_one_without(ledger):
    agents, _groups, answers = study()
    offer = announced(ledger, agents)
    release = campaign.release(offer, agents, answers, ledger=ledger)
    expected = measure(offer, agents, answers)
    assert [[each.sums for each in part.answered] for part in release.sealed.parts] == [
        [each.sums for each in part.decision.came.questions] for part in expected.parts
    ]


def test_a_release_is_stated_once_and_once_more_to_check_what_is_stored(ledger, monkeypatch):
    """Intervals of many groups take long; whoever knows what was announced does not read it again either."""
    agents, _, answers = study(sheet=ONE)
    offer = announced(ledger, agents, ONE)
    stated, read = [], []
    statement, from_fields = NumberResult.statement, optin.Announcement.from_fields
    monkeypatch.setattr(NumberResult, "statement", lambda self: stated.append(1) or statement(self))
    monkeypatch.setattr(optin.Announcement, "from_fields", lambda fields: read.append(1) or from_fields(fields))
    release = campaign.release(offer, agents, answers, ledger=ledger)
    written = release.to_json()
    assert (len(stated), len(read)) == (2 * len(offer.groups), 1)
    assert optin.Release.from_json(written) == release
