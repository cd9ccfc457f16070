"""Whoever writes waits for little: what a long step reads and counts of many people is done before it is taken, or in parts."""

import pytest
from sqlalchemy import select
from web_steps import House, answering, registered

from optin.database.turnstile import turnstile_of
from optin.errors import LedgerUnavailable
from optin.web.schema import accounts, answers
from optin.web.service import announcing, jobs, limit_cells, long_steps, next_time
from optin.web.service.ladder import LIMITS


@pytest.fixture
def house(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as opened:
        yield opened


def someone_writes(house):
    return turnstile_of(house.service.ledger.engine).busy


def test_the_result_is_read_and_people_are_counted_for_the_next_time_while_nobody_has_to_wait(house, monkeypatch):
    analyst, crowd = house.analyst(), house.people(24)
    campaign = answering(analyst, crowd, steps=[6] * 24)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    seen = {"counted": [], "read": []}

    def noticing(what, work):
        def noticed(*given):
            seen[what].append(someone_writes(house))
            return work(*given)

        return noticed

    monkeypatch.setattr(next_time, "people_of", noticing("counted", next_time.people_of))
    monkeypatch.setattr(long_steps, "stored_release", noticing("read", long_steps.stored_release))
    found = analyst.take(campaign, "release")
    assert found.release.joined_people == 24
    assert seen["counted"] == [False]
    assert seen["read"]
    assert not any(seen["read"])
    assert sorted(analyst.can_again(campaign)) == [1, 2, 4]


def totals_of(service):
    query = select(accounts.c.allowance).where(accounts.c.kind == "person")
    return service.read(lambda link: sorted(link.scalars(query)))


def test_first_totals_are_kept_a_few_at_a_time_and_whoever_is_killed_in_between_goes_on(house, monkeypatch):
    monkeypatch.setattr(announcing, "KEPT_AT_ONCE", 5)
    monkeypatch.setattr(jobs, "PAUSES", (0.01,))
    analyst, crowd = house.analyst(), house.people(12)
    campaign = registered(analyst, crowd, steps=[3, 4, 5, 6] * 3)
    analyst.take(campaign, "close-registration")
    house.service.change(lambda link: link.execute(accounts.update().values(allowance=None)))  # as none said a total
    kept, keep = [], announcing._remember_some

    def cut_off(connection, **given):
        keep(connection, **given)
        if len(kept) == 1:
            kept.append("lost")
            raise LedgerUnavailable("the service was killed")  # and with it this part
        kept.append(sum(total is not None for total in connection.scalars(ours)))

    ours = select(accounts.c.allowance).where(accounts.c.kind == "person")
    monkeypatch.setattr(announcing, "_remember_some", cut_off)
    found = analyst.take(campaign, "announce")
    assert found.state == "announced"
    assert kept == [5, "lost", 5, 10, 12], "what was kept stays, what was cut off is kept the next time"
    assert [act.kind for act in house.service.ledger.acts()] == ["register", "announce"]
    chosen = sorted(int(LIMITS[step].amount * 2**32) for step in [3, 4, 5, 6] * 3)
    assert totals_of(house.service) == chosen, "each allows what they chose"
    assert house.service.ledger.verify().ok


@pytest.mark.parametrize("people", [12, 40])
def test_while_answers_are_forgotten_the_result_is_not_read_again_for_each_portion(house, monkeypatch, people):
    monkeypatch.setattr(long_steps, "PORTION", 5)
    analyst, crowd = house.analyst(), house.people(people)
    campaign = answering(analyst, crowd, steps=[6] * people)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    read, stored = [], long_steps.stored_release
    monkeypatch.setattr(long_steps, "stored_release", lambda *given: read.append(given) or stored(*given))
    portions = []
    forget = long_steps._forget_some
    monkeypatch.setattr(long_steps, "_forget_some", lambda *a, **k: portions.append(k) or forget(*a, **k))
    analyst.take(campaign, "release")
    assert len(portions) == 2 + people // 5
    assert len(read) == 2, "before the draw, and after it"


def test_no_answer_is_left_when_the_last_ones_are_forgotten_with_the_step(house, monkeypatch):
    monkeypatch.setattr(long_steps, "PORTION", 5)
    analyst, crowd = house.analyst(), house.people(12)
    campaign = answering(analyst, crowd, steps=[6] * 12)
    for person in crowd:
        person.join(campaign, 5.0)
    analyst.take(campaign, "close")
    behind, forget = [], long_steps._forget_values

    def forgetting(connection, row, after):
        left = select(answers.c.person).where(answers.c.value.is_not(None)).order_by(answers.c.person)
        behind.append((after, list(connection.scalars(left))))
        forget(connection, row, after)

    monkeypatch.setattr(long_steps, "_forget_values", forgetting)
    analyst.take(campaign, "release")
    ((after, left),) = behind
    assert len(left) == 2
    assert after < left[0], "all before were forgotten in portions, and are not looked at again"
    kept = select(answers.c.person).where(answers.c.value.is_not(None))
    assert house.service.read(lambda link: list(link.scalars(kept))) == []


def test_closing_registration_looks_at_nobodys_choice_while_none_was_shown(house, monkeypatch):
    analyst, crowd = house.analyst(), house.people(24)
    campaign = registered(analyst, crowd, steps=[3, 4] * 12)

    def looked(*_):
        raise AssertionError("who chose what is looked at only beside groups that were shown before")

    with monkeypatch.context() as patch:
        patch.setattr(limit_cells, "people_of", looked)
        patch.setattr(limit_cells, "_choices", looked)
        analyst.take(campaign, "close-registration")
    assert [cell.people for cell in analyst.cells(campaign)] == [12, 12]
