"""The life of a campaign through the service: only forward, once, decided without a value, on both databases."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from cli_steps import optin
from sqlalchemy import func, select, text
from web_steps import DRAFT, House, answering, exact_counts, finish_jobs, opened_acts, registered, released

from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger
from optin.receipts import check
from optin.releasing import noise
from optin.web.schema import answers
from optin.web.service import announcing, jobs, long_steps
from optin.web.service.ladder import COSTS, LIMITS


def ciphertexts(service):
    query = select(func.count()).select_from(answers).where(answers.c.value.is_not(None))
    return service.read(lambda link: link.scalar(query))


def test_a_campaign_runs_from_draft_to_a_released_mean_with_receipts_that_check(house_on_each):
    analyst, crowd = house_on_each.analyst(), house_on_each.people(12)
    campaign = released(analyst, crowd)
    found = analyst.campaign(campaign)
    assert (found.state, found.registered, found.joined, found.steps) == ("released", 10, 10, ())
    assert found.release.charged
    assert found.release.joined_people == 12
    receipt, public = crowd[0].receipt(campaign), house_on_each.client().published(campaign)
    check(receipt, public.announcement, public.release)
    assert public.fingerprint == public.announcement.fingerprint
    assert receipt.spent == crowd[0].my_campaign(campaign).deal.grains
    assert house_on_each.service.ledger.verify([public.release, receipt]).ok
    assert house_on_each.service.keys.stored_rounds() == []
    assert ciphertexts(house_on_each.service) == 0


def test_what_was_asked_is_announced_word_for_word_and_a_rewritten_question_fails_the_check(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = released(analyst, crowd)
    draft, public = analyst.campaign(campaign).draft, lodge.client().published(campaign)
    terms = public.announcement.terms
    asked, sheet = terms.sheet.only, terms.sheet
    told = {"question": asked.text, "unit": asked.unit, "title": sheet.title, "purpose": sheet.purpose}
    assert told == {name: draft[name] for name in told}
    assert terms.conditions.quorum_people == draft["quorum_people"]
    other = replace(sheet, questions=(replace(asked, text="Something else?"),))
    rewritten = replace(public.announcement, terms=replace(terms, sheet=other))
    with pytest.raises(PromiseBroken, match="another announcement"):
        check(crowd[0].receipt(campaign), rewritten, public.release)


def test_every_step_is_taken_once_in_order_and_written_down(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = registered(analyst, crowd)
    with pytest.raises(PromiseBroken, match="state registration cannot take the step announce"):
        analyst.take(campaign, "announce")
    for step in ("close-registration", "announce", "open-answers"):
        assert analyst.take(campaign, step).state == analyst.take(campaign, step).state
    for at, person in enumerate(crowd):
        person.join(campaign, float(at % 12))
    for step in ("close", "release"):
        assert analyst.take(campaign, step) == analyst.take(campaign, step)
    for step in ("open", "announce", "close", "new-round", "cancel"):
        with pytest.raises(PromiseBroken, match="nothing can be done any more"):
            analyst.take(campaign, step)
    done = [line.kind for line in analyst.log(campaign) if line.kind not in ("asked", "due", "able", "cells")]
    steps = ["open", "close-registration", "announce", "open-answers", "close", "release"]
    assert done == ["created", *steps]
    assert [act.kind for act in lodge.service.ledger.acts()] == ["register", "announce", "release"]


def test_a_step_that_names_its_round_is_taken_in_that_round_or_not_at_all(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = registered(analyst, crowd)
    with pytest.raises(PromiseBroken, match="there is no round 2 yet"):
        analyst.take(campaign, "close-registration", round=2)
    for step in ("close-registration", "announce", "open-answers", "close", "new-round"):
        found = analyst.take(campaign, step, round=1)
    begun = (found.state, found.round, found.registered, found.job)
    for round_ in (1, None):
        again = analyst.take(campaign, "new-round", round=round_)
        assert (again.state, again.round, again.registered, again.job) == begun
    for step in ("open", "close-registration", "announce", "cancel"):
        with pytest.raises(PromiseBroken, match="round 1 is over; look at the campaign as it is now"):
            analyst.take(campaign, step, round=1)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step, round=2)
    assert analyst.take(campaign, "new-round", round=1).state == "answers"
    assert analyst.take(campaign, "new-round", round=2).round == 3
    assert analyst.take(campaign, "new-round", round=1).round == 3
    assert [line.kind for line in analyst.log(campaign)].count("new-round") == 2


def test_people_change_their_minds_until_answers_close_and_the_last_word_counts(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd)
    for person in crowd:
        person.join(campaign, 3.0)
    crowd[0].decline(campaign)
    crowd[1].decline(campaign)
    crowd[1].join(campaign, 4.0)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="answers are not open"):
        crowd[0].join(campaign, 3.0)
    assert analyst.take(campaign, "release").release.joined_people == 11
    assert (crowd[0].receipt(campaign).spent, crowd[1].receipt(campaign).spent > 0) == (0, True)


def test_a_value_out_of_bounds_is_told_to_its_owner_at_once_without_repeating_it(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd)
    for value in (12.0000001, -0.5, 1e300):
        with pytest.raises(BadInput, match="from 0 to 12") as caught:
            crowd[0].join(campaign, value)
        assert repr(value) not in str(caught.value)
    assert exact_counts(lodge.service, campaign).joined == 0


def test_a_step_of_another_round_is_refused_while_the_same_step_is_under_way(lodge, monkeypatch):
    analyst, crowd, make = lodge.analyst(), lodge.people(12), announcing._announce
    campaign, refusals = registered(analyst, crowd), []

    def asked_meanwhile(*given):
        for round_ in (1, 2):
            try:
                analyst._call("POST", f"/api/campaigns/{campaign}/steps/announce", {"round": round_})
            except PromiseBroken as refusal:
                refusals.append(str(refusal))
        return make(*given)

    monkeypatch.setattr(announcing, "_announce", asked_meanwhile)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    assert refusals == ["there is no round 2 yet: this is round 1"]


def test_a_missed_quorum_charges_nobody_and_a_new_round_begins_without_the_old_values(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = answering(analyst, crowd)
    for person in crowd[:9]:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="the quorum is 10 people, and too few joined"):
        analyst.take(campaign, "release")
    assert house.service.keys.stored_rounds() == [(campaign, 1)]
    found = analyst.take(campaign, "new-round")
    assert (found.state, found.round, found.registered, found.joined) == ("registration", 2, 10, 0)
    assert (house.service.keys.stored_rounds(), ciphertexts(house.service)) == ([], 0)
    assert crowd[0].me().promised == 0.0
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    for person in crowd:
        person.join(campaign, 5.0)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    assert analyst.campaign(campaign).release.announcement.round == 2
    assert house.service.ledger.verify().ok


def test_the_largest_standard_error_is_a_quorum_too(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = answering(analyst, crowd, quorum_standard_error=0.5)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    with pytest.raises(PromiseBroken, match="the quorum is a standard error of"):
        analyst.take(campaign, "release")


def test_cancelling_gives_every_promise_back_and_destroys_the_key(house_on_each):
    analyst, crowd = house_on_each.analyst(), house_on_each.people(12)
    campaign = answering(analyst, crowd)
    crowd[0].join(campaign, 5.0)
    assert analyst.take(campaign, "cancel").state == "cancelled"
    assert (house_on_each.service.keys.stored_rounds(), ciphertexts(house_on_each.service)) == ([], 0)
    assert [person.me().promised for person in crowd] == [0.0] * 12
    with pytest.raises(PromiseBroken):
        crowd[0].join(campaign, 5.0)


def test_a_sealed_campaign_needs_one_visit(house):
    analyst, crowd = house.analyst(), house.people(12)
    campaign = analyst.draft(**DRAFT, sealed=True).id
    analyst.take(campaign, "open")
    for person in crowd:
        person.register(campaign, 5, value=7.0)
    with pytest.raises(BadInput, match="together with your limit"):
        crowd[0].register(campaign, 5)
    for step in ("close-registration", "announce", "close", "release"):
        analyst.take(campaign, step)
    assert analyst.campaign(campaign).release.joined_people == 12
    assert house.service.keys.stored_rounds() == []


def test_a_sealed_campaign_is_for_people_with_limits_only(lodge):
    with pytest.raises(BadInput, match="sealed campaign needs people with limits"):
        lodge.analyst().draft(**DRAFT, sealed=True, model="quasi-linear")


def test_joining_and_closing_do_not_cross(house_on_each):
    analyst, crowd = house_on_each.analyst(), house_on_each.people(24)
    campaign = answering(analyst, crowd, quorum_people=1)
    for person in crowd[:12]:
        person.join(campaign, 5.0)
    accepted, lined_up = [12], threading.Barrier(4)

    def join(some):
        lined_up.wait()
        for person in some:
            try:
                person.join(campaign, 5.0)
                accepted.append(1)
            except PromiseBroken:
                pass

    racers = [threading.Thread(target=join, args=(crowd[12 + 4 * k : 16 + 4 * k],)) for k in range(3)]
    for racer in racers:
        racer.start()
    lined_up.wait()
    analyst.take(campaign, "close")
    for racer in racers:
        racer.join()
    assert exact_counts(house_on_each.service, campaign).joined == sum(accepted)
    assert analyst.take(campaign, "release").release.joined_people == sum(accepted)


def test_long_work_tells_how_far_it_has_come(lodge, monkeypatch):
    monkeypatch.setattr(long_steps, "CHUNK", 5)
    told, mark = [], jobs._mark
    monkeypatch.setattr(
        jobs, "_mark", lambda service, job, **new: (told.append((job.kind, new)), mark(service, job, **new))
    )
    released(lodge.analyst(), lodge.people(12))
    opening = [new for kind, new in told if kind == "release" and new.get("step") == "opening answers"]
    assert [(new["done"], new["total"]) for new in opening] == [(0, 0), (0, 12), (5, 12), (10, 12)]
    steps = [new["step"] for kind, new in told if kind == "announce"]
    assert steps == ["beginning", "planning", "announcing", "done"]


def test_a_job_that_nobody_finished_is_finished_at_the_next_start(url, tmp_path):
    with House(url, tmp_path) as house:
        analyst, crowd = house.analyst(), house.people(12)
        campaign = registered(analyst, crowd)
        analyst.take(campaign, "close-registration")
    with House(url, tmp_path, port=house.port) as house:
        house.service.change(
            lambda link: link.execute(
                text(
                    "INSERT INTO web_jobs (id, campaign, round, kind, state, step, done, total, created_at, changed_at) "
                    "VALUES ('j', :campaign, 1, 'announce', 'running', 'planning', 0, 0, 1, 1)"
                ),
                {"campaign": campaign},
            )
        )
        finish_jobs(house.service)
        assert house.client().published(campaign).state == "announced"


def test_a_job_killed_after_its_step_was_taken_is_marked_as_done_and_changes_nothing(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    for person in crowd:
        person.raise_allowance(8.0)
    done, renewed, dropped = released(analyst, crowd), answering(analyst, crowd), answering(analyst, crowd)
    analyst.take(renewed, "new-round")
    analyst.take(dropped, "cancel")
    before = [analyst.campaign(name) for name in (done, renewed, dropped)]
    acts = lodge.service.ledger.acts()
    lodge.service.change(lambda link: link.execute(text("UPDATE web_jobs SET state = 'running', step = 'beginning'")))
    finish_jobs(lodge.service)
    for earlier in before:
        later = analyst.campaign(earlier.id)
        assert (later.state, later.round, later.release) == (earlier.state, earlier.round, earlier.release)
        assert (later.job.state, later.job.error) == ("done", None)
    assert lodge.service.ledger.acts() == acts


def test_people_take_along_what_is_theirs_and_leave(house):
    analyst, crowd = house.analyst(), house.people(12)
    for person in crowd:
        person.raise_allowance(8.0)
    done = released(analyst, crowd)
    waiting, open_one = registered(analyst, crowd), answering(analyst, crowd)
    crowd[0].join(open_one, 5.0)
    taken = crowd[0].export()
    assert [one["id"] for one in taken["campaigns"]] == [open_one, waiting, done]
    assert taken["campaigns"][2]["receipt"]["spent"] > 0
    assert taken["campaigns"][0]["stated"]["amount"] == 0.1
    crowd[0].leave()
    with pytest.raises(BadInput, match="sign in first"):
        crowd[0].me()
    assert exact_counts(house.service, waiting).registered == 11
    assert (exact_counts(house.service, open_one).joined, exact_counts(house.service, open_one).declined) == (0, 1)


def test_people_take_along_every_round_with_what_they_stated_answered_and_were_promised_and_when(lodge):
    analyst, admission = lodge.analyst(), (client := lodge.client()).sign_up()
    crowd = [client, *lodge.people(11)]
    campaign = answering(analyst, crowd, steps=[5] * 12)
    crowd[0].decline(campaign)
    analyst.take(campaign, "new-round")
    crowd[0].register(campaign, 4)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    for person in crowd:
        person.join(campaign, 5.0)
    before = crowd[0].export()
    for step in ("close", "release"):
        analyst.take(campaign, step)
    taken = crowd[0].export()
    (one,), (earlier,) = taken["campaigns"], before["campaigns"]
    first, second = one["rounds"]
    assert (first["round"], first["stated"]["amount"], "answer" in first) == (1, LIMITS[5].amount, False)
    assert (first["promise"]["given_back"], first["promise"]["spent"]) == (True, 0.0)
    assert (second["stated"]["amount"], second["answer"], second["value"]) == (LIMITS[4].amount, "joined", None)
    assert earlier["rounds"][1] == {**second, "value": "sealed", "promise": {**second["promise"], "spent": 0.0}}
    assert second["promise"]["promised"] == second["promise"]["spent"] > 0
    assert one["receipt"]["round"] == 2
    times = [taken["since"], first["stated_at"], second["stated_at"], second["answered_at"]]
    assert times == sorted(set(times))
    assert (len(taken["sessions"]), taken["invitations"], taken["account"]) == (1, [], admission.account)


def test_an_analyst_sees_limits_only_when_registration_is_closed_and_in_cells_of_ten(lodge):
    analyst, crowd = lodge.analyst(), lodge.people(25)
    campaign = registered(analyst, crowd, steps=[2] * 3 + [4] * 12 + [6] * 10)
    with pytest.raises(PromiseBroken, match="when registration is closed"):
        analyst.cells(campaign)
    analyst.take(campaign, "close-registration")
    found = analyst.cells(campaign)
    assert [(cell.low, cell.high, cell.people) for cell in found] == [(0.05, 0.2, 15), (1.0, 1.0, 10)]
    fewer = analyst.what_if(campaign, decline_share=0.2)
    assert (fewer.people, fewer.standard_error > analyst.what_if(campaign).standard_error) == (20, True)
    strict = registered(analyst, crowd[:9])
    analyst.take(strict, "close-registration")
    assert analyst.cells(strict) == []
    with pytest.raises(PromiseBroken, match="too few people are promised"):
        analyst.take(strict, "announce")


def test_the_service_and_the_command_line_give_the_same_cap_and_from_one_announcement_the_same_sum(
    house, tmp_path, monkeypatch
):
    """The noise is switched off in this test alone: what then remains of a release is the exact integer sum."""
    monkeypatch.setattr(noise, "draw", lambda count: [0] * count)
    analyst, crowd = house.analyst(), house.people(40)
    rng = np.random.default_rng(7)
    steps, values, joined = rng.integers(2, 8, 40), rng.uniform(0, 12, 40), rng.random(40) < 0.8
    campaign = answering(analyst, crowd, steps=steps.tolist(), data_sd=2.0)
    for person, value, joins in zip(crowd, values.tolist(), joined.tolist(), strict=True):
        person.join(campaign, value) if joins else person.decline(campaign)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    rows = [
        f"{person.me().account},{LIMITS[step].amount!r},{value!r},{str(joins).lower()}"
        for person, step, value, joins in zip(crowd, steps, values.tolist(), joined.tolist(), strict=True)
    ]
    table, out = tmp_path / "people.csv", {name: tmp_path / f"{name}.json" for name in ("plan", "offer", "release")}
    table.write_text("\n".join(["id,limit,value,joined", *sorted(rows)]) + "\n")
    ledger = ("--ledger", tmp_path / "other.sqlite")
    terms = ("--limits", "limit", "--bounds", "0", "12", "--sd", "2")
    commands = [
        ("plan", table, *terms, "-o", out["plan"]),
        ("announce", out["plan"], table, *ledger, "--campaign", campaign, "-o", out["offer"]),
        ("release", out["offer"], table, "--values", "value", "--joined", "joined", *ledger, "-o", out["release"]),
    ]
    for command in commands:
        done = optin(*command)
        assert done.code == 0, done.err
    with Ledger.open(str(tmp_path / "other.sqlite")) as other:
        (offer, release), (found, told) = opened_acts(other, campaign), opened_acts(house.service.ledger, campaign)
    assert offer.cap == found.cap
    assert (offer.public, offer.only_design.exact) == (found.public, found.only_design.exact)
    assert release.sealed.noisy_total == told.sealed.noisy_total


def test_the_sum_without_noise_is_the_sum_of_grains_times_levels(lodge, monkeypatch):
    """What the comparison above rests on: with the noise switched off a release is the exact sum over those who joined."""
    monkeypatch.setattr(noise, "draw", lambda count: [0] * count)
    analyst, crowd = lodge.analyst(), lodge.people(12)
    campaign = released(analyst, crowd, values=[12.0] * 12, steps=[5] * 12)
    found = opened_acts(lodge.service.ledger, campaign)[1].sealed
    assert found.noisy_total == 2**20 * found.total_grains > 0


def test_the_steps_that_people_choose_from_are_told_to_everyone(lodge):
    told = lodge.ask("GET", "/api/ladder").json()
    assert [step["words"] for step in told["limits"]] == [step.words for step in LIMITS]
    assert [step["words"] for step in told["costs"]] == [step.words for step in COSTS]
