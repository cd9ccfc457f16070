"""Designs side by side for a sheet: everything known of one number, at P^2 and in declared variances (E18)."""

import math

import numpy as np
import pytest
from cli_steps import optin as run
from test_compare import LIMITS

import optin
from optin.baselines import comparable, compared, designs, references

TWO = [optin.YesNo("a"), optin.YesNo("b")]
MIXED = [
    optin.Number("hours", bounds=(0, 80), sd=9),
    optin.Choice("shift", options=("early", "late", "night")),
    optin.MultipleChoice("reasons", options=tuple("abcde"), at_most=2),
]


def people(name="three"):
    return optin.PrivacyConstrained(LIMITS[name])


def price(questions):
    return sum(math.sqrt(question.price) for question in questions) ** 2


def by_hand(tau, squared):
    """Write v down for designs whose formula needs no search: PEERS' table with sigma^2 = 1 and P^2 for 2 / sigma^2."""
    n, least, local = len(tau), tau.min(), 1 + squared / tau**2
    falling = np.sort(tau)[::-1]
    kept = np.arange(1, n + 1)
    return {
        "strictest": 1 / n + squared / (n * least) ** 2,
        "threshold": (1 / kept + squared / (kept * falling) ** 2).min(),
        "proportional": ((tau**2).sum() + squared) / tau.sum() ** 2,
        "local": 1 / (1 / local).sum(),
    }


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("questions", [TWO, MIXED], ids=["two", "mixed"])
def test_every_formula_holds_at_the_price_of_the_sheet(name, questions):
    plan = optin.plan(people(name), questions)
    found = {design.name: design for design in designs(plan, people(name))}
    for design, expected in by_hand(LIMITS[name], price(questions)).items():
        assert found[design].mse == pytest.approx(expected, rel=1e-9), design
        assert found[design].effective_people == pytest.approx(1 / expected, rel=1e-9)
    assert found["optimum"].effective_people == pytest.approx(plan.effective_people, rel=1e-12)
    assert found["optimum"].mse == pytest.approx(found["optimum"].sampling + found["optimum"].noise)


@pytest.mark.parametrize("name", LIMITS)
def test_nothing_unbiased_has_more_effective_people_than_the_optimum(name):
    own, *others = designs(optin.plan(people(name), MIXED), people(name))
    assert all(each.mse >= own.mse * (1 - 1e-9) for each in others if each.unbiased)


def test_several_like_questions_are_one_dearer_question():
    """d like questions multiply the noise variance by d^2: two yes or no at limits t are one at t / 2."""
    two = designs(optin.plan(people(), TWO), people())
    halved = optin.PrivacyConstrained(LIMITS["three"] / 2)
    one = designs(optin.plan(halved, optin.YesNo("a")), halved)
    for both, alone in zip(two, one, strict=True):
        if not both.name.startswith("sampling"):
            assert both.mse == pytest.approx(4 * alone.mse, rel=1e-9), both.name


def test_a_yes_or_no_is_a_number_between_0_and_1():
    asked = designs(optin.plan(people(), optin.YesNo("a")), people())
    number = designs(optin.plan(people(), bounds=(0, 1)), people(), names=[one.name for one in asked])
    for one, other in zip(asked, number, strict=True):
        assert (one.mse, one.bias, one.tilt) == pytest.approx((other.mse, other.bias, other.tilt), rel=1e-12)


def test_adpm_is_the_optimum_unless_a_number_declares_less_than_its_bounds_allow():
    for questions, same in ((TWO, True), (MIXED, False)):
        found = {d.name: d.mse for d in designs(optin.plan(people("far"), questions), people("far"))}
        assert (found["adpm"] == pytest.approx(found["optimum"], rel=1e-12)) == same
        assert found["adpm"] >= found["optimum"] * (1 - 1e-12)


def test_references_are_those_of_the_designs_and_a_description_is_enough():
    plan = optin.plan(people(), MIXED)
    found = {d.name: d for d in designs(plan, people())}
    for source in (people(), optin.describe(people())):
        none, threshold, strict = references(plan, source)
        assert none.effective_people == plan.people
        assert threshold.effective_people == pytest.approx(found["threshold"].effective_people, rel=1e-9)
        assert strict.effective_people == pytest.approx(found["strictest"].effective_people, rel=1e-9)
        assert plan.effective_people >= threshold.effective_people >= strict.effective_people


def test_a_gap_in_sds_counts_as_for_one_number():
    gapped = [optin.YesNo("a", max_gap=0.2), optin.YesNo("b", max_gap=0.2)]
    plan = optin.plan(people(), gapped)
    own, *others = designs(plan, people())
    assert own.mse == pytest.approx(1 / plan.worst_case_people, rel=1e-9)
    assert all(each.mse >= own.mse * (1 - 1e-9) for each in others if each.unbiased)
    threshold = references(plan, people())[1]
    assert threshold.worst_case_mse == pytest.approx({d.name: d for d in others}["threshold"].mse, rel=1e-9)


def test_importance_is_refused_for_others_know_nothing_of_it():
    plan = optin.plan(people(), [optin.YesNo("a"), optin.YesNo("b", importance=4)])
    assert not comparable(plan)
    assert comparable(optin.plan(people(), MIXED))
    for ask in (designs, references, compared):
        with pytest.raises(optin.BadInput, match="importance"):
            ask(plan, people())


def test_a_mean_is_that_of_one_number_and_no_baseline_is_drawn_for_a_sheet():
    plan = optin.plan(people(), TWO)
    with pytest.raises(optin.BadInput, match="one number"):
        designs(plan, people(), mean=0.3)
    values = optin.baselines.SimulatedValues(
        optin.baselines.ValueLaw(), LIMITS["three"], campaigns=1, generator=np.random.default_rng(1)
    )
    with pytest.raises(optin.BadInput, match="one number"):
        designs(plan, people())[0].draw(values, np.random.default_rng(1))


def test_quasi_linear_people_are_compared_at_the_limits_of_their_promise():
    crowd = optin.QuasiLinear(np.linspace(0.5, 3, 60), benefit=optin.LinearBenefit(base=20.0, slope=1.0))
    own, *others = designs(optin.plan(crowd, TWO), crowd)
    assert all(each.mse >= own.mse * (1 - 1e-9) for each in others if each.unbiased)


def test_the_command_compares_a_sheet(tmp_path):
    table, sheet = tmp_path / "people.csv", tmp_path / "sheet.toml"
    table.write_text("id,limit\n" + "".join(f"p{at},{limit}\n" for at, limit in enumerate(LIMITS["three"])))
    sheet.write_text('[[question]]\nkind = "yes-no"\nname = "a"\n\n[[question]]\nkind = "yes-no"\nname = "b"\n')
    told = run("compare", table, "--limits", "limit", "--sheet", sheet, "-o", tmp_path / "designs.png")
    assert "as N people" in told.out
    assert "in declared variances" in told.out
    assert (tmp_path / "designs.png").stat().st_size > 10_000
    record = run("compare", table, "--limits", "limit", "--sheet", sheet, "--json").json
    own = optin.plan(people(), TWO)
    assert record["designs"][0]["effective_people"] == pytest.approx(own.effective_people)
    refused = run("compare", table, "--limits", "limit", "--sheet", sheet, "--sd", 1)
    assert refused.code
    assert "--sd is for one number" in refused.err
