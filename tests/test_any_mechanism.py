"""E30: no private mechanism of any kind beats the bound, shown by the exact best ones for a few people."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from trying import examples

import optin
from optin.kernel.any_mechanism import (
    CountedLimits,
    Family,
    Prior,
    _answers,
    _peaks,
    by_information,
    by_posteriors,
    counted_limits,
    least_error,
    most_information,
)

MEANS = np.linspace(0.0, 1.0, 31)


def bound(limits, spread=0.25):
    found, counts = np.unique(np.array(limits, dtype=float), return_counts=True)
    return least_error(CountedLimits(found, counts.astype(float)), spread=spread)


def best_mechanism(limits, risk, answers, values=2):
    """Solve for the private mechanism on a few values with the least risk: a linear program, exact but for the grid.

    ``risk`` has a row for each thing to be kept below the objective, over (values of all people, answer).
    """
    worlds = list(itertools.product(range(values), repeat=len(limits)))
    size = len(worlds) * len(answers)
    held = [person for person in range(len(limits)) if limits[person] < math.inf]
    pairs = [
        (here, worlds.index((*world[:person], other, *world[person + 1 :])), person)
        for (here, world), person, other in itertools.product(enumerate(worlds), held, range(values))
        if other != world[person]
    ]
    allowed = lil_matrix((len(risk) + len(pairs) * len(answers), size + 1))
    for row, weights in enumerate(risk):
        allowed[row, :size], allowed[row, size] = weights.ravel(), -1.0
    row = len(risk)
    for here, there, person in pairs:
        for answer in range(len(answers)):
            allowed[row, here * len(answers) + answer] = 1.0
            allowed[row, there * len(answers) + answer] = -math.exp(limits[person])
            row += 1
    whole = lil_matrix((len(worlds), size + 1))
    for here in range(len(worlds)):
        whole[here, here * len(answers) : (here + 1) * len(answers)] = 1.0
    objective = np.append(np.zeros(size), 1.0)
    found = linprog(
        objective,
        A_ub=allowed.tocsr(),
        b_ub=np.zeros(allowed.shape[0]),
        A_eq=whole.tocsr(),
        b_eq=np.ones(len(worlds)),
        method="highs",
    )
    return found.fun


def squared_errors(limits, means, answers):
    """Return expected squared error of answering y in world x, for each mean: P(x | mean) (y - mean)^2."""
    ones = np.array(list(itertools.product((0, 1), repeat=len(limits)))).sum(axis=1)
    chances = means[:, None] ** ones * (1 - means[:, None]) ** (len(limits) - ones)
    return chances[:, :, None] * (answers[None, None, :] - means[:, None, None]) ** 2


SMALL = [[0.5], [3.0], [1.0, 1.0], [0.3, 2.0], [1.0, 1.0, 1.0], [0.2, 1.0, 4.0], [4.0, 4.0, 4.0], [0.1, 0.1, 0.1]]
SMALL += [
    [0.0, 1.0],
    [math.inf],
    [0.01, math.inf],
    [1.0, 1.0, math.inf],
    [0.05, 1.0, 9.0],
    [0.0, 0.0, 2.0],
    [20.0, 20.0],
]


@pytest.mark.parametrize("limits", SMALL, ids=str)
def test_the_best_of_all_mechanisms_for_a_few_people_is_above_the_bound_and_not_far(limits):
    """The linear program takes the worst case over 31 means only, which can only help a mechanism; answers are rounded to
    1/30, which costs it 1/3600 at most."""
    best = best_mechanism(limits, squared_errors(limits, MEANS, MEANS), MEANS)
    assert bound(limits) <= best
    assert best <= 1.7 * bound(limits) + 1 / 3600


@settings(max_examples=examples(12), deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0.05, 4.0), min_size=1, max_size=2),
    st.floats(0.05, 0.5),
    st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5),
    st.integers(0, 1),
)
@example([3.08], 0.47, [0.56, 0.06, 0.11, 0.44, 0.85], 0)  # most of the prior's weight lies at its ends
def test_no_mechanism_has_a_smaller_risk_under_the_prior_that_bounds_it(limits, half, heights, revealed):
    x = np.linspace(-half, half, 5)
    prior = Prior(x, np.array(heights) / sum(heights))
    found, counts = np.unique(np.array(limits), return_counts=True)
    private, family = CountedLimits(found, counts.astype(float)), Family(1.0, 1.0)
    least = by_posteriors(prior, _peaks(private, family, x), _answers(revealed, family, x))
    answers = np.linspace(0.5 - half, 0.5 + half, 41)
    everyone = [*limits, *[math.inf] * revealed]
    risk = np.tensordot(prior.chances, squared_errors(everyone, 0.5 + x, answers), axes=1)
    best = best_mechanism(everyone, [risk], answers)
    assert least <= best * (1 + 1e-6) + 1e-9


def sharpest_outputs(limits):
    """List all outputs that limits allow at the most: likelihoods over the worlds where a tree of limits is used up.

    They are the edges of the cone of likelihoods, so every private mechanism on coins is a mixture of them.
    """
    worlds = list(itertools.product((0, 1), repeat=len(limits)))
    sides = [(a, a | 1 << i, i) for a in range(len(worlds)) for i in range(len(limits)) if not a >> i & 1]
    found = set()
    for tree in itertools.combinations(sides, len(worlds) - 1):
        steps = np.zeros((len(tree), len(worlds)))
        for row, (a, b, _) in zip(steps, tree, strict=True):
            row[a], row[b] = -1.0, 1.0
        if np.linalg.matrix_rank(steps) < len(tree):
            continue
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(tree))))
        logs = signs * np.array([limits[i] for _, _, i in tree]) @ np.linalg.pinv(steps).T
        allowed = [np.abs(logs[:, a] - logs[:, b]) <= limits[i] + 1e-9 for a, b, i in sides]
        found |= {tuple(row) for row in (logs - logs[:, :1])[np.all(allowed, axis=0)].round(9)}
    return np.exp(np.array(sorted(found)))


def largest_information(limits, x):
    """Solve for the private mechanism on coins whose output has the largest Fisher information about the mean: exact."""
    ones = np.array([[a >> i & 1 for i in range(len(limits))] for a in range(2 ** len(limits))])
    chances = np.where(ones, 0.5 + x, 0.5 - x).prod(axis=1)
    scores = np.where(ones, 1 / (0.5 + x), -1 / (0.5 - x)).sum(axis=1)
    outputs = sharpest_outputs(limits)
    gains = (outputs @ (chances * scores)) ** 2 / (outputs @ chances)
    return -linprog(-gains, A_eq=outputs.T, b_eq=np.ones(len(ones)), method="highs").fun


FEW = [[1.0], [0.3], [1.0, 1.0], [0.3, 2.0], [3.0, 3.0], [0.1, 0.1], [5.0, 0.2]]
COINS = Family(1.0, 1.0)


def bounded_information(limits, x):
    found, counts = np.unique(np.array(limits, dtype=float), return_counts=True)
    return float(most_information(CountedLimits(found, counts.astype(float)), COINS, np.array([x]))[0])


@pytest.mark.parametrize("x", [0.0, 0.1, -0.3])
@pytest.mark.parametrize("limits", FEW, ids=str)
def test_no_private_output_carries_more_information_than_the_bound(limits, x):
    largest = largest_information(limits, x)
    assert largest <= bounded_information(limits, x) * (1 + 1e-9)
    assert bounded_information(limits, x) <= 1.7 * largest


@pytest.mark.slow
@pytest.mark.parametrize("limits", [[1.0, 1.0, 1.0], [0.2, 1.0, 4.0], [0.5, 0.5, 0.5]], ids=str)
@pytest.mark.parametrize("x", [0.0, 0.3])
def test_nor_does_one_of_three_people(limits, x):
    assert largest_information(limits, x) <= bounded_information(limits, x) * (1 + 1e-9)


@pytest.mark.parametrize("q", [1.0, 0.16])
@pytest.mark.parametrize("limits", [[0.1], [3.0], [math.inf], [0.1, 0.5, 1.0], [0.5, math.inf]], ids=str)
def test_a_sum_over_the_prior_is_off_by_less_than_is_taken_off(limits, q, monkeypatch):
    people, family = CountedLimits(np.array(limits), np.full(len(limits), 100.0)), Family(1.0, q)
    found = by_information(people, family)
    monkeypatch.setattr("optin.kernel.any_mechanism.FINE", 8192)
    monkeypatch.setattr("optin.kernel.any_mechanism.SUMMED", 0.0)
    finer = by_information(people, family)
    assert finer * (1 - 3e-5) <= found < finer


def test_information_that_limits_do_not_allow_would_be_found_out():
    """With every slope a fifth too small the bound would forbid what a mechanism really has."""
    assert largest_information([1.0], 0.0) > bounded_information([0.8], 0.0)
    assert largest_information([0.1, 0.1], 0.0) > bounded_information([0.08, 0.08], 0.0)


@pytest.mark.parametrize(("levels", "counts"), [([5e-4, 2e-3, 1e-2], [4e5, 3e5, 3e5]), ([1e-3, 5e-3], [9e5, 1e5])])
def test_for_many_people_the_bound_is_the_optimum_had_its_noise_half_the_variance(levels, counts):
    """E1 to E5 with kappa 1, the cap by bisection: the plan with kappa 2 is then never worse than twice the bound."""
    tau, many = np.array(levels), np.array(counts)

    def best(kappa):
        low, high = 0.0, 10.0
        for _ in range(100):
            cap = (low + high) / 2
            low, high = (cap, high) if many @ (tau * np.maximum(cap - tau, 0)) < 4 * kappa else (low, cap)
        return 0.25 * low / (many @ np.minimum(tau, low))

    found = least_error(CountedLimits(tau, many), spread=0.25)
    assert 0.99 * best(1) <= found <= best(1) * (1 + 1e-9)
    assert best(2) <= 2 * best(1)


def best_on_three_values(limits, spread, steps=20):
    """Solve for the best mechanism where values are 0, 1/2 or 1, against every law on a grid of at most this variance."""
    values, answers = np.array([0.0, 0.5, 1.0]), np.linspace(0, 1, steps + 1)
    parts = [(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)]
    laws = [law for law in np.array(parts) / steps if law @ values**2 - (law @ values) ** 2 <= spread + 1e-12]
    worlds = list(itertools.product(range(3), repeat=len(limits)))
    risk = [
        np.multiply.outer([math.prod(law[v] for v in world) for world in worlds], (answers - law @ values) ** 2)
        for law in laws
    ]
    return best_mechanism(limits, risk, answers, values=3)


@pytest.mark.parametrize("limits", [[1.0], [3.0], [0.2, 3.0], [1.0, 1.0]], ids=str)
@pytest.mark.parametrize("spread", [0.1, 0.04])
def test_with_a_smaller_variance_the_best_of_all_mechanisms_is_above_the_bound_too(limits, spread):
    """Fewer laws and three values can only help a mechanism; answers are rounded to 1/20, which costs it 1/1600 at most.

    Here the bound is looser than for coins: its family of laws has its mean near the middle, and for few people with high
    limits the worst laws are not there.
    """
    best = best_on_three_values(limits, spread)
    assert bound(limits, spread) <= best + 1 / 1600
    assert best <= 2.1 * bound(limits, spread)


@pytest.mark.parametrize(
    ("limits", "spread", "times"),
    [([8.0], 0.1, 2.4), ([2.8, 1.0], 0.1, 2.3), ([8.0], 0.04, 3.4), ([3.0, 3.0], 0.02, 1.5)],
)
def test_for_few_people_with_high_limits_and_little_variance_the_bound_is_as_loose_as_said(limits, spread, times):
    assert best_on_three_values(limits, spread) / bound(limits, spread) == pytest.approx(times, abs=0.06)


def test_the_loosest_case_that_was_found_is_as_loose_as_said():
    assert best_on_three_values([6.0], 0.03, steps=40) / bound([6.0], 0.03) == pytest.approx(4.2, abs=0.06)


def test_a_slope_that_limits_do_not_allow_would_be_found_out():
    """With likelihoods held to half their slope the bound would exceed what a mechanism really does."""
    limits = [1.0, 1.0]
    best = best_mechanism(limits, squared_errors(limits, MEANS, MEANS), MEANS)
    assert bound(np.array(limits) / 2) > best


@pytest.mark.parametrize("people", [1, 4, 25, 100, 400])
def test_without_limits_it_is_below_the_known_minimax_error_of_a_proportion_and_near_it(people):
    """1 / (4 (sqrt n + 1)^2), Hodges and Lehmann."""
    known = 0.25 / (math.sqrt(people) + 1) ** 2
    assert 0.85 * known <= bound([math.inf] * people) <= known * (1 + 1e-12)


def test_where_nothing_can_be_learned_the_middle_of_the_bounds_is_the_best_answer():
    assert bound([1e-9] * 10) == pytest.approx(0.25, rel=1e-6)
    assert least_error(CountedLimits(np.array([0.0]), np.array([5.0])), spread=0.25) == 0.25


@pytest.mark.parametrize(
    ("limit", "people", "most"), [(0.0001, 10**6, 1.2), (0.0018, 10**6, 1.56), (0.003, 10**6, 1.32), (1.0, 10**6, 1.01)]
)
def test_many_people_leave_little_between_the_plan_and_anything_else(limit, people, most):
    """Noise dominates the first and sampling the last; where both count alike the bound is loosest."""
    variance = 0.25 / people + 2 / (people * limit) ** 2
    assert variance <= most * least_error(CountedLimits(np.array([limit]), np.array([float(people)])), spread=0.25)


tables = st.lists(st.floats(0.01, 10.0) | st.sampled_from([0.0, 0.5, math.inf]), min_size=1, max_size=30)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(tables.filter(lambda t: max(t) > 0), st.sampled_from([1.0, 0.3, 0.01]))
def test_no_plan_and_no_guess_is_better_than_the_bound(table, share):
    agents = optin.PrivacyConstrained(table)
    proof = optin.plan(agents, bounds=(3, 5), data_variance=share).certificate(agents)
    assert 0.0 <= proof.any_mechanism <= min(proof.objective * (1 + 1e-9), 0.25 * (1 + 1e-12))
    assert proof.factor >= 1 - 1e-9


def test_the_certificate_says_how_far_the_plan_is_from_anything():
    agents = optin.PrivacyConstrained([0.1] * 500 + [1.0] * 500)
    proof = optin.plan(agents, bounds=(0, 1)).certificate(agents)
    assert 1.2 < proof.factor < 1.23
    assert proof.beyond.endswith("the plan's is at most 1.22 times that")
    assert "table" not in repr(proof)


def test_what_is_printed_is_no_more_than_was_shown():
    """The bound is rounded down and the factor up: a bound that is rounded up would be none."""
    for people in (4, 20, 150, 1000):
        agents = optin.PrivacyConstrained(np.random.default_rng(people).lognormal(-1, 1, people))
        proof = optin.plan(agents, bounds=(0, 1)).certificate(agents)
        bound, factor = map(
            float, re.search(r"below (\S+) squared ranges; .* at most (\S+) times", proof.beyond).groups()
        )
        assert 0.999 * proof.any_mechanism <= bound <= proof.any_mechanism
        assert proof.factor <= factor <= 1.01 * proof.factor


def test_a_small_declared_sd_leaves_much_to_other_mechanisms_and_the_bound_says_so():
    agents = optin.PrivacyConstrained([0.01] * 1000)
    assert optin.plan(agents, bounds=(0, 1)).certificate(agents).factor < 1.6
    assert optin.plan(agents, bounds=(0, 1), sd=0.1).certificate(agents).factor > 11


@pytest.mark.parametrize("rare", [0.5, 0.01])
def test_two_steps_that_look_first_where_values_lie_beat_a_plan_for_a_small_declared_sd(rare):
    """The example of the page, simulated on values of two kinds, common or rare: its bound holds, and is below the plan."""
    n, limit, sd, part, omega = 1000, 0.1, 0.02, 0.5, 0.1
    generator, apart = np.random.default_rng(30), sd / math.sqrt(rare * (1 - rare))
    values = 0.3 + apart * (generator.random((600, n)) < rare)
    guesses = values.mean(axis=1) + generator.laplace(scale=1 / (part * n * limit), size=600)
    clamped = np.clip(values, guesses[:, None] - omega, guesses[:, None] + omega).mean(axis=1)
    answers = clamped + generator.laplace(scale=2 * omega / ((1 - part) * n * limit), size=600)
    error = float(((answers - 0.3 - rare * apart) ** 2).mean())
    moved = (math.sqrt(sd**4 + sd**2 / n) + math.sqrt(24) / (part * n * limit) ** 2) / (4 * omega)
    most = (sd / math.sqrt(n) + moved) ** 2 + 2 * (2 * omega / ((1 - part) * n * limit)) ** 2
    people = optin.PrivacyConstrained([limit] * n)
    assert error < most < 0.5 * optin.plan(people, bounds=(0, 1), sd=sd).variance


def test_limits_are_rounded_up_and_never_down():
    limits = np.random.default_rng(5).lognormal(-1, 1, 500)
    table = optin.PrivacyConstrained(limits).table()
    rungs = counted_limits(table.buckets(), zeros=table.zeros, infinite=table.infinite, scale=table.scale)
    assert rungs.people == 500
    rounded = np.repeat(rungs.limits, rungs.counts.astype(int))
    assert (rounded >= np.sort(limits)).all()
    assert (rounded <= np.sort(limits) * 1.02).all()


def test_people_in_an_engine_have_the_same_bound(tmp_path):
    limits = np.random.default_rng(6).lognormal(-1, 1, 400)
    rows = [f"p{i},{limit!r}" for i, limit in enumerate(limits.tolist())]
    (tmp_path / "people.csv").write_text("id,limit\n" + "\n".join(rows) + "\n")
    kept = optin.read(str(tmp_path / "people.csv"), id="id", limits="limit", engine="duckdb")
    found = [
        optin.plan(p, bounds=(0, 1)).certificate(p).any_mechanism for p in (kept, optin.PrivacyConstrained(limits))
    ]
    assert found[0] == pytest.approx(found[1], rel=0.01)


def test_several_numbers_and_quasi_linear_people_have_none():
    agents = optin.PrivacyConstrained([1.0] * 30)
    for sheet in ([optin.YesNo("a"), optin.YesNo("b")], optin.Choice("c", options=("x", "y", "z"))):
        proof = optin.plan(agents, sheet).certificate(agents)
        assert proof.any_mechanism is None
        assert proof.factor is None
        assert proof.beyond == "nothing is shown of mechanisms of other kinds here"
    weighing = optin.QuasiLinear([1.0, 2.0], benefit=optin.LinearBenefit(base=3.0, slope=1.0))
    assert optin.plan(weighing, bounds=(0, 1)).certificate(weighing).any_mechanism is None
    assert optin.plan(agents, optin.YesNo("a")).certificate(agents).any_mechanism is not None
