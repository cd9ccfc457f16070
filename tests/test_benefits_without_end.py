"""Benefits that fall without end: minus infinity is a benefit like any other, only a bad one."""

import math
import warnings

import numpy as np
import pytest

import optin
from optin import QuasiLinear
from optin.errors import BadInput, Infeasible

COSTS = np.linspace(0.002, 0.02, 30)
WIDE = {"bounds": (0, 100), "data_sd": 3.0}  # the scan of a benefit looks as far as variance 2500


def clipped(variance):
    """The same benefit, without an overflow."""
    return 3 - math.exp(min(variance, 700.0))


ENDLESS = {
    "numpy": lambda v: 3 - np.exp(v),
    "math": lambda v: 3 - math.exp(v),
    "stated": lambda v: 3 - math.exp(v) if v < 50 else -math.inf,
    "power": lambda v: 3 - (1 + v / 100) ** 220,
}


@pytest.mark.parametrize("name", ["numpy", "math", "stated"])
def test_a_benefit_that_falls_below_every_float_is_planned_as_any_other(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        people = QuasiLinear(COSTS, benefit=ENDLESS[name])
        found = optin.plan(people, **WIDE)
    same = optin.plan(QuasiLinear(COSTS, benefit=clipped), **WIDE)
    assert (found.cap, found.promised_variance) == (same.cap, same.promised_variance)
    assert found.certificate(people).holds
    offer = found.announce(people)
    assert optin.explain(offer, cost=0.1, benefit=ENDLESS[name], outside=0.0).margin >= 0


@pytest.mark.parametrize("question", [{"eta": 5.0}, {"slack": 0.1}, {"target_error": 0.5}])
@pytest.mark.parametrize("name", ENDLESS)
def test_it_is_planned_for_every_question(name, question):
    found = optin.plan(QuasiLinear(COSTS, benefit=ENDLESS[name]), **WIDE, **question)
    assert 0 < found.promised_variance < 10


def test_one_person_s_benefit_may_fall_without_end():
    rates = np.linspace(0.5, 2.0, 30)
    for exponential in (np.exp, lambda x: np.exp(np.minimum(x, 600.0))):
        people = QuasiLinear(COSTS, benefit=lambda v, f=exponential: 3 - f(rates * v), outside=rates / 10)
        assert optin.plan(people, **WIDE).certificate(people).holds


def test_no_design_is_found_where_there_is_none():
    for benefit in (
        lambda v: -math.inf,
        lambda v: np.full(30, -math.inf),
        lambda v: 3 - v if v < 0.2 else -math.inf,
        ENDLESS["math"],
        ENDLESS["numpy"],
        lambda v: np.full(30, -math.inf if v > 2 else 3 - v),
    ):
        with pytest.raises(Infeasible, match="no design makes these 30 people join") as caught:
            optin.plan(QuasiLinear(COSTS + 1e6, benefit=benefit, outside=2.9), **WIDE)
        assert "inf" not in str(caught.value)


@pytest.mark.parametrize(
    "benefit",
    [
        lambda v: math.nan if v > 800 else 3 - v,
        lambda v: math.inf if v < 5 else -v,
        lambda v: np.where(np.arange(30) == 4, math.inf, 3 - v),
        lambda v: np.where(np.arange(30) == 4, math.nan, 3 - v),
    ],
)
def test_nan_and_plus_infinity_stay_refused(benefit):
    with pytest.raises(BadInput, match="not a finite number"):
        optin.plan(QuasiLinear(COSTS, benefit=benefit), **WIDE)


def test_a_benefit_that_overflows_upwards_is_refused():
    with pytest.raises(BadInput, match=r"failed at variance .*OverflowError"):
        optin.plan(QuasiLinear(COSTS, benefit=lambda v: math.exp(7000 / v)), **WIDE)


@pytest.mark.parametrize("low", [-math.inf, np.where(np.arange(30) == 3, -math.inf, 1.0)])
def test_a_rise_from_minus_infinity_is_a_rise(low):
    with pytest.raises(BadInput, match="rises"):
        optin.plan(QuasiLinear(COSTS, benefit=lambda v: low if v < 1 else np.ones(np.shape(low))[()]), **WIDE)


def test_own_data_that_is_worth_minus_infinity_is_no_outside_option():
    with pytest.raises(BadInput, match="not finite"):
        optin.plan(
            QuasiLinear(COSTS, benefit=lambda v: 3 - np.exp(v), outside="own-data"), bounds=(0, 100), data_sd=40.0
        )
