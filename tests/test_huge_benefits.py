"""A result can be worth so much to people that nearly all they could give is asked of them."""

import pytest

import optin


@pytest.mark.parametrize("base", [1e3, 1e6, 1e9, 1e11, 1e12])
def test_people_to_whom_a_result_is_worth_very_much_are_planned_for(base):
    agents = optin.QuasiLinear([0.0, 0.01, 1.0, 5.0] * 5, benefit=optin.LinearBenefit(base=base, slope=1), outside=0)
    plan = optin.plan(agents, bounds=(0, 12))
    offer = plan.announce(agents)
    assert plan.cap == pytest.approx(base / 5, rel=0.05)
    for cost in (0.0, 0.01, 1.0, 5.0):
        assert optin.explain(offer, cost=cost).margin >= 0
