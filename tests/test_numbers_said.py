"""Numbers that pages say in passing, outside of examples: each is computed here, and found on its page."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import optin
from optin.engine.limits import SHARE, SMALL
from optin.kernel.coarse import told_up
from optin.releasing.noise import SCALE

ROOT = Path(__file__).parent.parent


def said(page):
    return " ".join((ROOT / "docs" / page).read_text().split())


@pytest.mark.parametrize(("epsilon", "exponent"), [(3, 2950), (1024, 1477)])
def test_the_deltas_of_the_page_are_those_of_64_bits(epsilon, exponent):
    scales = 2**63 / SCALE
    assert math.floor((scales - epsilon) / math.log(2)) == exponent
    assert f"below 2^-{exponent}" in said("privacy.md")
    assert f"about {scales:,.0f} scales out" in said("privacy.md")


def test_the_employee_survey_is_good_from_as_many_people_as_the_page_says():
    sheet = optin.Sheet.from_toml(ROOT / "examples/questionnaires/employee.toml")
    needed = max(question.people_needed for question in optin.size(sheet, people=400, limits="mixed").questions)
    assert f"the employee survey needs {needed:,} people" in said("how-to/questionnaires.md")


def test_twelve_people_at_the_careful_end_of_their_cell_look_several_times_worse_than_they_are():
    really, careful = np.repeat([0.1, 0.2, 0.5, 1.0], 3), np.full(12, 0.1)
    halves = [optin.plan(optin.PrivacyConstrained(limits), bounds=(0, 1)).half_width() for limits in (careful, really)]
    assert f"a ± that is {halves[0] / halves[1]:.1f} times what is announced" in said("decisions/what-if-from-cells.md")


@pytest.mark.parametrize(("cost", "asked"), [(0.1, 49), (0.01, 490)])
def test_a_plan_asks_nearly_all_that_a_perfect_result_is_worth(cost, asked):
    people = optin.QuasiLinear([cost] * 12, benefit=optin.LinearBenefit(base=5, slope=4))
    epsilon = float(optin.plan(people, bounds=(0, 1)).epsilons(people)[0])
    assert epsilon == pytest.approx(asked, rel=0.005)
    assert str(asked) in said("decisions/a-total-of-several-campaigns.md")


def test_no_more_limits_are_fetched_from_an_engine_than_the_page_says():
    assert f"never more than one in {SHARE}, or {SMALL:,} where that is more, comes into Python" in said(
        "theory/scale.md"
    )


@pytest.mark.parametrize(("people", "mean", "most"), [(50, 0.10, 0.25), (300, 0.02, 0.10)])
def test_noise_is_told_as_much_too_large_as_the_page_says(people, mean, most):
    """Rounded up over a whole decade: a tenth and at most a quarter among few people, a fiftieth and at most a tenth."""
    noises = np.geomspace(1.0001, 9.9999, 400).tolist()
    over = np.array([told_up(noise, people) / noise - 1 for noise in noises])
    assert over.mean() == pytest.approx(mean, rel=0.25)
    assert over.max() <= most


def test_someone_of_the_tail_who_states_twice_the_cost_gives_half_and_keeps_half_and_one_liar_moves_one_part_in_n():
    n, benefit = 1000, optin.LinearBenefit(base=2, slope=1)
    costs = np.linspace(0.5, 2, n)
    people = optin.QuasiLinear(costs, benefit=benefit)
    honest = optin.plan(people, bounds=(0, 1))
    twice, gone = (optin.QuasiLinear([*costs[:-1], costs[-1] * factor], benefit=benefit) for factor in (2, 1e8))
    told = optin.plan(twice, bounds=(0, 1))
    given = float(told.epsilons(twice)[-1])
    assert given == pytest.approx(float(honest.epsilons(people)[-1]) / 2, rel=1e-3)
    assert costs[-1] * given == pytest.approx(told.surplus / 2, rel=1e-9)
    assert n * (optin.plan(gone, bounds=(0, 1)).variance / honest.variance - 1) == pytest.approx(1, rel=0.01)
