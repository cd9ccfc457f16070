"""Tables too large to sort whole take other paths: sampled brackets, buckets, counted ties. They change nothing."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from oracles import optimum

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear

N = 10_000
RNG = np.random.default_rng(11)
WEYL = (np.arange(2000) * 0.6180339887498949 % 1.0 * N).astype(int)


def planted():
    """Limits that fool the sample: large exactly where it looks."""
    limits = RNG.random(N)
    limits[WEYL] = 1e3
    return limits


POPULATIONS = {
    "lognormal": RNG.lognormal(0, 1.5, N),
    "sorted": np.sort(RNG.lognormal(0, 1.5, N)),
    "periodic": np.tile([0.1, 1.0, 10.0, 0.5], N // 4),
    "two-level": np.where(np.arange(N) % 2 == 0, 0.1, 1.0),
    "cluster": np.where(np.arange(N) % 100 == 0, 0.001, 1 + 1e-6 * RNG.random(N)),
    "wide": 10.0 ** RNG.uniform(-6, 6, N),
    "with zeros and infinities": np.where(
        RNG.random(N) < 0.1, 0.0, np.where(RNG.random(N) < 0.1, np.inf, RNG.random(N))
    ),
    "planted": planted(),
    "even": (np.arange(N) + 0.5) / N,
    "constant": np.full(N, 0.3),
}


@pytest.mark.parametrize("variance", [0.25, 1e-5])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_cap_of_a_large_table_is_exact(name, variance):
    limits = POPULATIONS[name]
    plan = optin.plan(PrivacyConstrained(limits), bounds=(0, 1), data_variance=variance)
    exact = optimum(limits.tolist(), (0, 1), variance)
    assert abs(Fraction(plan.cap) / exact.cap - 1) <= Fraction(1, 10**12)
    assert abs(Fraction(plan.variance) / exact.variance - 1) <= Fraction(1, 10**12)


@pytest.mark.parametrize("gap", [1e-3, 0.03, 0.5])
@pytest.mark.parametrize("variance", [0.25, 6.7e-4, 1e-9])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_dial_of_a_large_table_is_certified(name, variance, gap):
    people = PrivacyConstrained(POPULATIONS[name])
    plan = optin.plan(people, bounds=(0, 1), data_variance=variance, max_gap=gap)
    assert plan.certificate(people).holds


@pytest.mark.parametrize("share", [0.001, 0.3, 0.99])
@pytest.mark.parametrize("name", [name for name in POPULATIONS if "infinities" not in name])
def test_a_given_eta_of_a_large_table_is_certified(name, share):
    people = PrivacyConstrained(POPULATIONS[name])
    plan = optin.plan(people, bounds=(0, 1), eta=share * float(people.limits.sum()))
    assert plan.certificate(people).holds


@pytest.mark.parametrize("eta", [None, 500.0])
@pytest.mark.parametrize("name", ["lognormal", "two-level", "periodic", "constant", "wide"])
def test_a_called_benefit_is_planned_as_a_linear_one_in_a_large_table(name, eta):
    costs = POPULATIONS[name]
    linear = QuasiLinear(costs, benefit=LinearBenefit(3, 900))
    called = QuasiLinear(costs, benefit=lambda v: 3 - 900 * v)
    first, second = (optin.plan(people, bounds=(0, 1), eta=eta) for people in (linear, called))
    assert second.variance == pytest.approx(first.variance, rel=1e-11)
    assert first.certificate(linear).holds
    assert second.certificate(called).holds


@pytest.mark.parametrize(
    "costs", [np.full(200_000, 0.3), np.where(np.arange(200_000) % 2 == 0, 0.1, 1.0)], ids=["one", "two"]
)
def test_ties_take_little_memory(costs):
    people = QuasiLinear(costs, benefit=LinearBenefit(1, 1))
    limits = PrivacyConstrained(costs)
    for call in (
        lambda: optin.plan(people, bounds=(0, 1)),
        lambda: optin.plan(limits, bounds=(0, 1)),
        lambda: optin.plan(limits, bounds=(0, 1), max_gap=0.1),
    ):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= 0.5 * costs.nbytes + 2**20
