"""Any sequence of announcing, declining, cancelling, releasing and asking again, against a model of a few lines."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from ledger_steps import announce, copy_of, release, spent, terms

from optin.errors import BudgetSpent, PromiseBroken
from optin.ledger import UNLIMITED, Ledger

POOL = [f"p{k}" for k in range(6)]
some_people = st.lists(st.sampled_from(POOL), unique=True, min_size=1)
amounts = st.lists(st.integers(0, 6), min_size=6, max_size=6)
allowances = st.lists(st.sampled_from([3, 12, 30, 60, UNLIMITED]), min_size=6, max_size=6)


class Fault(Exception):
    """Whatever can go wrong while drawing."""


class LedgerMachine(RuleBasedStateMachine):
    """The model: each person's allowance, and for each campaign who holds what and how it ended."""

    def __init__(self, url):
        super().__init__()
        self.url = url
        self.ledger = Ledger.open(url)
        self.allowance = {}
        self.campaigns = {}
        self.names = map(str, itertools.count())
        self.known = []

    # --- what the model says

    def left(self, person):
        if person not in self.allowance or self.allowance[person] == UNLIMITED:
            return UNLIMITED
        return self.allowance[person] - sum(one.standing.get(person, 0) for one in self.campaigns.values())

    def pick(self, data, *states):
        names = [name for name, one in self.campaigns.items() if one.state in states]
        return data.draw(st.sampled_from(names))

    def has(*states):
        return precondition(lambda self: any(one.state in states for one in self.campaigns.values()))

    # --- what can happen

    @precondition(lambda self: sum(one.state == "open" for one in self.campaigns.values()) < 2)
    @rule(who=some_people, grains=amounts, stated=allowances, raising=st.booleans())
    def announce(self, who, grains, stated, raising):
        name, asked, stated = (
            next(self.names),
            dict(zip(who, grains, strict=False)),
            dict(zip(who, stated, strict=False)),
        )
        after = {
            one: stated[one] if one not in self.allowance else max(self.allowance[one], stated[one] * raising)
            for one in who
        }
        assume(any(asked.values()))  # nobody announces nothing
        before, self.allowance = self.allowance, {**self.allowance, **after}
        columns = {
            "ids": who,
            "grains": list(asked.values()),
            "allowances": list(stated.values()),
            "raise_limits": raising,
        }
        if any(self.left(one) < asked[one] for one in who):
            self.allowance = before
            with pytest.raises(BudgetSpent):
                announce(self.ledger, name, **columns)
            return
        announce(self.ledger, name, **columns)
        self.campaigns[name] = SimpleNamespace(asked=asked, standing=dict(asked), state="open", columns=columns)

    @has("open", "released")
    @rule(data=st.data())
    def announce_again(self, data):
        name = self.pick(data, "open", "released")
        announce(self.ledger, name, **self.campaigns[name].columns)

    @has("open")
    @rule(data=st.data())
    def decline(self, data):
        name = self.pick(data, "open")
        one = self.campaigns[name]
        gone = data.draw(st.lists(st.sampled_from(list(one.asked)), unique=True, min_size=1))
        self.ledger.let_go(terms(name), gone)
        one.standing = {who: grains for who, grains in one.standing.items() if who not in gone}

    @has("open")
    @rule(data=st.data())
    def cancel(self, data):
        name = self.pick(data, "open")
        self.ledger.cancel(terms(name))
        self.campaigns[name].state, self.campaigns[name].standing = "cancelled", {}

    @has("open")
    @rule(data=st.data())
    def release_over_everyone(self, data):
        self._try_release(self.pick(data, "open"), None)

    @has("open")
    @rule(data=st.data())
    def release_over_some(self, data):
        name = self.pick(data, "open")
        people = len(self.campaigns[name].asked)
        self._try_release(name, data.draw(st.lists(st.booleans(), min_size=people, max_size=people)))

    @has("open")
    @rule(data=st.data())
    def fail_while_drawing(self, data):
        name = self.pick(data, "open")
        with pytest.raises((Fault, PromiseBroken)):
            self._release(name, None, draw=self._fail)

    def _try_release(self, name, joined):
        one = self.campaigns[name]
        wanted = [who in one.standing for who in one.asked] if joined is None else joined
        those = [who for who, joins in zip(one.asked, wanted, strict=True) if joins]
        if not those or not set(those) <= set(one.standing):
            with pytest.raises(PromiseBroken):
                self._release(name, joined, draw=self._fail)
            return
        if not any(one.asked[who] for who in those):
            with pytest.raises(PromiseBroken, match="cannot be released"):
                self._release(name, joined, draw=lambda mask, number: ("{}", "f"))
            return
        one.result, one.joined, one.given = self._release(name, joined), wanted, joined
        one.state, one.standing = "released", {who: one.asked[who] for who in those}
        self.known.append(copy_of(one.result))

    @has("released")
    @rule(data=st.data())
    def ask_again(self, data):
        name = self.pick(data, "released")
        one = self.campaigns[name]
        assert self._release(name, one.given, draw=self._fail) == one.result
        assert self._release(name, one.joined, draw=self._fail) == one.result
        with pytest.raises(PromiseBroken):
            self._release(name, [not joins for joins in one.joined], draw=self._fail)

    @has("cancelled")
    @rule(data=st.data())
    def ask_for_what_was_cancelled(self, data):
        name = self.pick(data, "cancelled")
        with pytest.raises(PromiseBroken):
            self._release(name, None, draw=self._fail)
        with pytest.raises(PromiseBroken, match="cancelled"):
            announce(self.ledger, name, **self.campaigns[name].columns)

    @rule()
    def open_again(self):
        self.ledger.close()
        self.ledger = Ledger.open(self.url)

    # --- what always holds

    @invariant()
    def what_remains_is_what_the_model_says(self):
        assert self.ledger.remaining(POOL).tolist() == [self.left(person) for person in POOL]
        assert all(self.left(person) >= 0 for person in POOL)

    @invariant()
    def what_was_spent_is_what_the_model_says(self):
        expected = {}
        for one in self.campaigns.values():
            for who, grains in one.standing.items() if one.state == "released" else ():
                expected[who] = expected.get(who, 0) + grains
        assert spent(self.ledger) == expected

    def teardown(self):
        verification = self.ledger.verify(self.known)
        self.ledger.close()
        assert verification.ok, verification

    def _release(self, name, joined, draw=None):
        one = self.campaigns[name]
        given = None if joined is None else np.array(joined)
        return release(self.ledger, name, ids=one.asked, grains=list(one.asked.values()), joined=given, draw=draw)

    def _fail(self, mask, number):
        raise Fault


@pytest.mark.parametrize(
    ("engine", "examples"),
    [
        ("sqlite", 8),
        ("postgresql", 4),
        pytest.param("sqlite", 25, marks=pytest.mark.slow),
        pytest.param("postgresql", 8, marks=pytest.mark.slow),
        pytest.param("sqlite", 500, marks=pytest.mark.soak),
        pytest.param("postgresql", 100, marks=pytest.mark.soak),
    ],
)
def test_the_ledger_agrees_with_its_model(engine, examples, tmp_path, migrated, request):
    numbers = itertools.count()

    def machine():
        if engine == "postgresql":
            return LedgerMachine(request.getfixturevalue("postgres").new_ledger())
        path = tmp_path / f"{next(numbers)}.sqlite"
        path.write_bytes(migrated)
        path.chmod(0o600)
        return LedgerMachine(str(path))

    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=checks),
    )
