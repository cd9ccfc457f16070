"""Markers planted in a value, a limit, an id and keys appear in nothing that a failure shows."""

import logging
import pickle
import tempfile
import traceback

import numpy as np
import pytest
from ledger_steps import announce as hold
from ledger_steps import damage, nth
from sqlalchemy import event, text
from sqlalchemy.exc import DatabaseError

from optin import campaign
from optin.agents import PrivacyConstrained
from optin.campaign import Quorum
from optin.database.crash_points import LISTENERS
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.grains.batches import Batch
from optin.ledger import Ledger, LedgerUnavailable, Terms, allowance_grains
from optin.ledger.roster import roster_of

VALUE, LIMIT, ID, KEY = 0.7319024681, 1.9283746556, "ID-MARKER-x9q", "KEY-MARKER-77"
PEOPLE = 12
IDS = [*nth(PEOPLE - 1), ID]
VALUES = np.array([0.5] * (PEOPLE - 1) + [VALUE])
LIMITS = np.array([1.0] * (PEOPLE - 1) + [LIMIT])
people = PrivacyConstrained(LIMITS, ids=IDS)
GRAINS = int(allowance_grains(np.array([LIMIT]))[0])


@pytest.fixture(autouse=True)
def _nobody_listens():
    yield
    LISTENERS.clear()


def announce(ledger, who=people, **more):
    return campaign.announce(campaign.plan(who, bounds=(0, 1)), who, ledger=ledger, **more)


def spend_twice(ledger):
    announce(ledger)
    much = np.full(PEOPLE, GRAINS)
    hold(ledger, "second", ids=IDS, grains=much, allowances=much)


def edit_a_limit(ledger):
    offer = announce(ledger)
    campaign.release(offer, PrivacyConstrained(LIMITS[::-1].copy(), ids=IDS), VALUES, ledger=ledger)


def give_other_people(ledger):
    offer = announce(ledger)
    campaign.release(offer, PrivacyConstrained(LIMITS, ids=[*nth(PEOPLE - 1), f"{ID}2"]), VALUES, ledger=ledger)


def repeat_an_id(ledger):
    roster_of(Batch([ID, ID], np.array([GRAINS, GRAINS])))


def give_a_bad_id(ledger):
    roster_of(Batch([ID, f"{ID}\x00"], np.array([GRAINS, GRAINS])))


def leave_a_value_out(ledger):
    offer = announce(ledger)
    campaign.release(offer, people, np.where(np.arange(PEOPLE) == 3, np.nan, VALUES), ledger=ledger)


def give_text_for_a_value(ledger):
    campaign.release(announce(ledger), people, [*VALUES[:-1], f"{VALUE}"], ledger=ledger)


def give_an_object_for_a_value(ledger):
    campaign.release(announce(ledger), people, np.array([*VALUES[:-1], {ID: VALUE}], dtype=object), ledger=ledger)


def give_rows_of_different_lengths(ledger):
    joined = np.ones(PEOPLE, dtype=bool)
    campaign.release(announce(ledger), people, [*VALUES[:-1], [VALUE, LIMIT]], ledger=ledger, joined=joined)


def give_values_for_answers(ledger):
    campaign.release(announce(ledger), people, VALUES, ledger=ledger, joined=VALUES)


def answer_with_a_value(ledger):
    campaign.answer(announce(ledger), {ID: VALUE}, ledger=ledger)


def release_what_was_cancelled(ledger):
    offer = announce(ledger)
    campaign.cancel(offer, ledger=ledger)
    campaign.release(offer, people, VALUES, ledger=ledger)


def release_without_noise(ledger):
    free = PrivacyConstrained(np.full(PEOPLE, np.inf), ids=IDS)
    campaign.release(announce(ledger, free), free, VALUES, ledger=ledger)


def announce_to_people_with_little_left(ledger):
    announce(ledger)
    plan = campaign.plan(people, bounds=(0, 1))
    campaign.announce(plan, people, ledger=ledger)


def charge_whoever_declined(ledger):
    offer = announce(ledger)
    campaign.answer(offer, {ID: False}, ledger=ledger)
    campaign.release(offer, people, VALUES, ledger=ledger, joined=np.ones(PEOPLE, dtype=bool))


def join_after_declining(ledger):
    offer = announce(ledger)
    campaign.answer(offer, {ID: False}, ledger=ledger)
    campaign.answer(offer, {ID: True}, ledger=ledger)


def answer_as_a_stranger(ledger):
    campaign.answer(announce(ledger), {f"{ID}3": False}, ledger=ledger)


def ask_for_a_strangers_receipt(ledger):
    campaign.release(announce(ledger), people, VALUES, ledger=ledger)
    ledger.receipt(f"{ID}4")


def miss_the_quorum(ledger):
    campaign.release(announce(ledger), people, VALUES, ledger=ledger, quorum=Quorum(people=99))


def release_over_others(ledger):
    offer = announce(ledger)
    campaign.release(offer, people, VALUES, ledger=ledger)
    campaign.release(offer, people, VALUES, ledger=ledger, joined=np.arange(PEOPLE) > 2)


def announce_differently(ledger):
    announce(ledger, campaign="census")
    announce(ledger, PrivacyConstrained(LIMITS / 2, ids=IDS), campaign="census")


def violate_a_constraint(ledger):
    """Make the database itself refuse a row; PostgreSQL's message quotes it."""
    with ledger.engine.begin() as link:
        link.execute(text("CREATE UNIQUE INDEX odd ON people (substr(id, 1, 13))"))
    announce(ledger, PrivacyConstrained(LIMITS, ids=[f"{ID}{k}" for k in range(PEOPLE)]))


def lose_the_database(ledger):
    """On SQLite the disk is full; on PostgreSQL the connection is cut."""
    offer = announce(ledger)
    if ledger.engine.dialect.name == "sqlite":
        ledger.engine.dispose()
        event.listen(ledger.engine, "connect", lambda link, _: link.execute("PRAGMA query_only = ON"))
    else:
        LISTENERS.append(lambda point: _cut(ledger) if point == "after charges" else None)
    campaign.release(offer, people, VALUES, ledger=ledger)


def _cut(ledger):
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    with ledger.engine.connect() as link:
        link.execute(text(kill + " AND pid <> pg_backend_pid()"))


def open_with_a_password(ledger):
    Ledger.open(f"postgresql://{ID}:{KEY}@/nowhere?host=/tmp/{ID}")


def open_a_wrong_url(ledger):
    Ledger.open(f"oracle://{ID}:{KEY}@host/{KEY}")


def open_a_file_of_values(ledger):
    with tempfile.NamedTemporaryFile("w", suffix=ID) as file:
        file.write(f"id,limit,value\n{ID},{LIMIT},{VALUE}\n" * 100)
        file.flush()
        Ledger.open(file.name)


def damage_and_verify(ledger):
    campaign.release(announce(ledger), people, VALUES, ledger=ledger)
    damage(ledger, "UPDATE charges SET grains = grains - 1", f"UPDATE people SET id = '{ID}5' WHERE person = 3")
    raise RuntimeError(str(ledger.verify()) + repr(ledger.verify()))


FAILURES = {
    spend_twice: BudgetSpent,
    edit_a_limit: PromiseBroken,
    give_other_people: PromiseBroken,
    repeat_an_id: BadInput,
    give_a_bad_id: BadInput,
    leave_a_value_out: BadInput,
    give_text_for_a_value: BadInput,
    give_an_object_for_a_value: BadInput,
    give_rows_of_different_lengths: BadInput,
    give_values_for_answers: BadInput,
    answer_with_a_value: BadInput,
    release_what_was_cancelled: PromiseBroken,
    release_without_noise: BadInput,
    announce_to_people_with_little_left: BadInput,
    charge_whoever_declined: PromiseBroken,
    join_after_declining: PromiseBroken,
    answer_as_a_stranger: BadInput,
    ask_for_a_strangers_receipt: BadInput,
    miss_the_quorum: PromiseBroken,
    release_over_others: PromiseBroken,
    announce_differently: PromiseBroken,
    violate_a_constraint: LedgerUnavailable,
    lose_the_database: LedgerUnavailable,
    open_with_a_password: LedgerUnavailable,
    open_a_wrong_url: BadInput,
    open_a_file_of_values: LedgerUnavailable,
    damage_and_verify: RuntimeError,
}


def markers(ledger):
    with ledger.engine.connect() as link:
        salts = list(link.scalars(text("SELECT salt FROM acts")))
    return [ID, KEY, str(VALUE)[:9], str(LIMIT)[:9], str(GRAINS), *salts]


def everything_in(error):
    """The printed traceback, what hides behind it (arguments, causes, contexts) and what another process would get."""
    lines, behind = [*traceback.format_exception(error), repr(pickle.dumps(error))], [error]
    while behind:
        error = behind.pop()
        lines += [str(error), repr(error), repr(error.args), repr(vars(error))]
        behind += [one for one in (error.__cause__, error.__context__) if one is not None]
    return "\n".join(lines)


@pytest.mark.parametrize("failure", FAILURES)
def test_no_failure_shows_a_marker(ledger, failure, caplog, capfd, request):
    caplog.set_level(logging.DEBUG)
    on_server = ledger.engine.dialect.name == "postgresql"
    log = request.getfixturevalue("postgres").log if on_server else None
    before = log.stat().st_size if on_server else 0
    with pytest.raises(FAILURES[failure]) as caught:
        failure(ledger)
    shown = everything_in(caught.value) + caplog.text + "".join(capfd.readouterr())
    if on_server and failure is not violate_a_constraint:  # the operator's own server quotes the row it refuses
        shown += log.read_bytes()[before:].decode()
    assert [marker for marker in markers(ledger) if marker in shown] == []


def test_the_driver_itself_would_have_shown_one(postgres):
    """The trap is real: the error that ``violate_a_constraint`` provokes quotes the row before we put it in our words."""
    with Ledger.open(postgres.new_schema()) as ledger, ledger.engine.connect() as link:
        rows = [{"person": 1, "id": f"{ID}1", "act": 1}, {"person": 2, "id": f"{ID}2", "act": 1}]
        link.execute(text("CREATE UNIQUE INDEX odd ON people (left(id, 13))"))
        with pytest.raises(DatabaseError, match=ID):
            link.execute(text("INSERT INTO people VALUES (:person, :id, :act)"), rows)


def test_even_a_raw_database_error_hides_its_parameters(ledger):
    with ledger.engine.connect() as link, pytest.raises(DatabaseError) as caught:
        link.execute(text("SELECT :id FROM missing"), {"id": ID})
    assert ID not in str(caught.value)


def test_nothing_that_is_printed_shows_a_marker(ledger):
    offer = announce(ledger)
    release = campaign.release(offer, people, VALUES, ledger=ledger)
    again = announce(ledger, PrivacyConstrained(LIMITS * 2, ids=IDS), raise_limits=True)
    things = [ledger, offer, release, again, ledger.receipt(ID), ledger.verify(), *ledger.acts(), people]
    things += [roster_of(Batch(IDS, np.full(PEOPLE, GRAINS))), ledger.bounded(Terms(again.campaign, 1, ""))]
    shown = "\n".join(f"{thing!r} {thing}" for thing in things) + release.to_json() + offer.to_json()
    assert [marker for marker in markers(ledger) if marker in shown] == []
