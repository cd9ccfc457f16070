"""What rounding leaves of an allowance is nothing: no plan is made on it, in memory or in an engine."""

import numpy as np
import pandas
import pytest

import optin
from optin import campaign
from optin.errors import BudgetSpent

PEOPLE = 20
IDS = [f"p{at:02}" for at in range(PEOPLE)]


def people(limits, engine, folder):
    if engine == "memory":
        return optin.PrivacyConstrained(limits, ids=IDS)
    pandas.DataFrame({"id": IDS, "limit": limits}).to_parquet(folder / "people.parquet")
    return optin.read(str(folder / "people.parquet"), id="id", limits="limit", engine=engine)


def spent_but(ledger, left):
    """Register everyone with an allowance of 1 and spend all of it but so many grains."""
    agents = optin.PrivacyConstrained(np.full(PEOPLE, 1 - left * 2.0**-32), ids=IDS)
    offer = campaign.announce(optin.plan(agents, bounds=(0, 1)), agents, ledger=ledger, allowances=1.0)
    campaign.release(offer, agents, np.full(PEOPLE, 0.5), ledger=ledger)
    assert set(ledger.remaining(IDS).tolist()) == {left}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("left", [1, 2**16 - 1])
def test_rounding_dust_is_not_budget(tmp_path, engine, left):
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        spent_but(ledger, left)
        agents = people(np.full(PEOPLE, 0.5), engine, tmp_path)
        with pytest.raises(BudgetSpent, match="nothing is left to plan"):
            campaign.plan(agents, bounds=(0, 1), ledger=ledger)
        fresh = optin.plan(agents, bounds=(0, 1))
        with pytest.raises(BudgetSpent, match="nothing is left to plan"):
            campaign.announce(fresh, agents, ledger=ledger)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_useful_rest_is_planned_on_to_the_last_grain(tmp_path, engine):
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        spent_but(ledger, 2**16)
        agents = people(np.full(PEOPLE, 0.5), engine, tmp_path)
        plan = campaign.plan(agents, bounds=(0, 1), ledger=ledger)
        assert plan.epsilon_total == PEOPLE * 2.0**-16
        assert campaign.announce(plan, agents, ledger=ledger).sealed.total_grains == PEOPLE * 2**16


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_limit_that_someone_stated_is_never_dust(tmp_path, engine):
    """Only what is left of more is: a person may state a very small limit, and a crowd of them is of use."""
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        spent_but(ledger, 1000)
        plan = campaign.plan(people(np.full(PEOPLE, 500 * 2.0**-32), engine, tmp_path), bounds=(0, 1), ledger=ledger)
        assert plan.epsilon_total == PEOPLE * 500 * 2.0**-32
