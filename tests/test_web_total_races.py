"""A total and what stands against it change one at a time, also where two requests of one person meet."""

import threading

import pytest
from sqlalchemy import text
from web_steps import answering, registered, visitor

from optin.database.turnstile import turnstile_of
from optin.errors import PromiseBroken
from optin.web.service.people import allowing, doing
from optin.web.service.people.looking import campaign as seen
from optin.web.service.people.looking import me


def waiting(service):
    """Whether someone waits for a transaction to end."""
    engine = service.ledger.engine
    if engine.dialect.name == "sqlite":
        return bool(turnstile_of(engine).waiting)
    with engine.connect() as link:
        return bool(link.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


@pytest.fixture
def house(house_on_each):
    return house_on_each


@pytest.fixture
def crossed(house, monkeypatch):
    """Begin the second act when the first has read the budget; go on when the second has ended, or waits."""

    def cross(module, first, second):
        told, threads, read = {}, [], module.budget_of

        def act(name, work):
            try:
                told[name] = work()
            except PromiseBroken as refusal:
                told[name] = str(refusal)

        def read_and_let_the_other_begin(*given):
            found = read(*given)
            if not threads:
                threads.append(threading.Thread(target=act, args=("second", second)))
                threads[0].start()
                while threads[0].is_alive() and not waiting(house.service):
                    threads[0].join(0.01)
                told["waits"] = threads[0].is_alive()
            return found

        monkeypatch.setattr(module, "budget_of", read_and_let_the_other_begin)
        try:
            act("first", first)
        finally:  # whatever became of the first, the second gives its connection back before the house closes
            for thread in threads:
                thread.join()
        assert told["waits"], "the second has to wait until the first is written"
        return told["first"], told["second"]

    return cross


@pytest.fixture
def declined(house):
    """Someone who declined where they were promised 0.5 of a total of 2, and the campaign."""
    analyst, crowd = house.analyst(), house.people(12)
    campaign = answering(analyst, crowd, steps=[5] * 12)
    crowd[0].decline(campaign)
    return visitor(crowd[0].me().account), campaign


def test_a_total_is_not_lowered_below_what_is_joined_at_the_same_moment(house, crossed, declined):
    person, campaign = declined
    joined, refused = crossed(
        doing,
        lambda: doing.join(house.service, person, campaign, {"value": 5.0}),
        lambda: allowing.lower_allowance(house.service, person, 0.0),
    )
    assert joined is None, "the first is not refused"
    assert seen(house.service, person, campaign).answer == "joined"
    assert "spent or promised already" in refused
    assert me(house.service, person).promised == 0.5


def test_nobody_joins_beyond_a_total_that_is_lowered_at_the_same_moment(house, crossed, declined):
    person, campaign = declined
    lowered, refused = crossed(
        allowing,
        lambda: allowing.lower_allowance(house.service, person, 0.0),
        lambda: doing.join(house.service, person, campaign, {"value": 5.0}),
    )
    assert lowered is None, "the first is not refused"
    assert me(house.service, person).allowance == 0.0
    assert "no longer covers" in refused
    assert me(house.service, person).promised == 0.0


def test_a_total_said_beside_a_choice_counts_what_is_joined_at_the_same_moment(house, crossed, declined):
    person, campaign = declined
    other = registered(house.analyst("bob"), [])
    crossed(
        doing,
        lambda: doing.join(house.service, person, campaign, {"value": 5.0}),
        lambda: doing.register(house.service, person, other, 0, times=1),
    )
    mine = me(house.service, person)
    assert (mine.promised, mine.allowance) == (0.5, pytest.approx(0.51))


def test_of_two_first_choices_at_once_one_states_the_total_and_both_are_told_it(house, crossed):
    analyst, person = house.analyst(), visitor(house.person().me().account)
    one, other = (registered(analyst, []) for _ in range(2))
    told = crossed(
        allowing,
        lambda: doing.register(house.service, person, one, 5),
        lambda: doing.register(house.service, person, other, 9),
    )
    assert told == (None, None), "neither is refused"
    assert [seen(house.service, person, name).remaining for name in (one, other)] == [2.0, 2.0]
    assert me(house.service, person).allowance == 2.0


def test_a_total_lowered_while_one_is_said_beside_a_choice_stays_lowered(house, crossed):
    analyst, person = house.analyst(), house.person()
    campaign, account = registered(analyst, [person], steps=[5]), visitor(person.me().account)
    crossed(
        allowing,
        lambda: doing.register(house.service, account, campaign, 5, times=10),
        lambda: allowing.lower_allowance(house.service, account, 0.1),
    )
    assert person.me().allowance == pytest.approx(0.1)
