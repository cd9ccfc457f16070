"""E30 for many people of one limit: the exact best mechanism on yes or no, which needs to know only how many say yes."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, hstack, vstack
from scipy.stats import binom

import optin
from optin.kernel.any_mechanism import CountedLimits, _by_a_world_between, least_error

PAGE = Path(__file__).parent.parent / "docs/theory/lower-bound.md"
MEANS = np.linspace(0.0, 1.0, 41)


def bound(people, limit):
    return least_error(CountedLimits(np.array([limit]), np.array([float(people)])), spread=0.25)


def planned(people, limit):
    return optin.plan(optin.PrivacyConstrained([limit] * people), bounds=(0, 1)).variance


def best_mechanism(people, limit, answers):
    """Solve for the least worst error over 41 means of any mechanism with these answers: a linear program.

    Averaged over all orders of people a mechanism keeps the same limits and errors, so it may look at the number of yeses
    alone, and one person moves that by one.
    """
    counts, many = people + 1, len(answers)
    size = counts * many
    chances = binom.pmf(np.arange(counts), people, MEANS[:, None])
    risk = np.einsum("mc,ma->mca", chances, (answers - MEANS[:, None]) ** 2).reshape(len(MEANS), size)
    here = np.arange(size - many)
    row, one = np.arange(len(here)), np.ones(len(here))
    steep = -math.exp(limit) * one
    up = coo_matrix((np.r_[one, steep], (np.r_[row, row], np.r_[here, here + many])), shape=(len(here), size + 1))
    down = coo_matrix((np.r_[one, steep], (np.r_[row, row], np.r_[here + many, here])), shape=(len(here), size + 1))
    whole = coo_matrix((np.ones(size), (np.repeat(np.arange(counts), many), np.arange(size))), shape=(counts, size + 1))
    least = hstack([coo_matrix(risk), -np.ones((len(MEANS), 1))])
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=vstack([least, up, down]).tocsr(),
        b_ub=np.zeros(len(MEANS) + 2 * len(here)),
        A_eq=whole.tocsr(),
        b_eq=np.ones(counts),
        method="highs-ipm",
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize(
    ("people", "limit"),
    [(1, 1.0), (3, 1.0), (4, 0.75), (6, 2.0), (10, 0.1), (10, 1.0), (20, 0.6), (40, 0.075), (40, 1.0)],
)
def test_up_to_forty_people_of_one_limit_the_best_of_all_mechanisms_is_above_the_bound_and_not_far(people, limit):
    """Answers are rounded to 1/40, which costs at most 1/6400."""
    best = best_mechanism(people, limit, MEANS)
    assert bound(people, limit) <= best
    assert best <= 1.7 * bound(people, limit) + 1 / 6400


@pytest.mark.parametrize(("people", "limit"), [(10, 1.0), (80, 0.2)])
def test_of_many_people_of_one_limit_the_best_of_all_mechanisms_is_what_the_page_says(people, limit):
    """Answers rounded half as finely move it by less than a hundredth."""
    (row,) = re.findall(rf"^\| {people} . {limit:g} \| (.+) \|$", PAGE.read_text(), re.M)
    best = best_mechanism(people, limit, MEANS)
    told = [float(each) for each in row.split(" | ")]
    assert told == pytest.approx([planned(people, limit), best, bound(people, limit)], rel=0.012)
    assert planned(people, limit) / best < best / bound(people, limit) or people < 80


@pytest.mark.parametrize("limits", [[1.0], [1.0, 1.0], [1.0, 1.0, 1.0], [4.0, 4.0, 4.0]], ids=str)
def test_of_a_few_people_plan_best_and_bound_are_what_the_page_says(limits):
    (row,) = re.findall(rf"^\| {', '.join(f'{limit:g}' for limit in limits)} \| (.+) \|$", PAGE.read_text(), re.M)
    plan, best, least = map(float, row.split(" | "))
    assert (plan, least) == pytest.approx((planned(len(limits), limits[0]), bound(len(limits), limits[0])), abs=6e-5)
    assert best == pytest.approx(best_mechanism(len(limits), limits[0], MEANS), rel=0.005)


@pytest.mark.slow
def test_the_bounds_own_part_of_the_factor_of_three_hundred_people_is_what_the_page_says():
    best = best_mechanism(300, 0.08, MEANS)
    assert planned(300, 0.08) / bound(300, 0.08) == pytest.approx(1.45, abs=0.005)
    assert best / bound(300, 0.08) == pytest.approx(1.28, abs=0.02)


def test_slopes_that_limits_do_not_allow_would_be_found_out():
    """Held to half of their limits people would be said to leave more than a mechanism really does."""
    assert bound(20, 0.3) > best_mechanism(20, 0.6, MEANS)


def best_between_ends(limits):
    """Solve for the least worst error where all values are 0 or all are 1, of any mechanism on coins."""
    answers, worlds = np.linspace(0.0, 1.0, 81), 2 ** len(limits)
    size = worlds * len(answers)
    steps = [(world, world ^ 1 << i, limit) for world in range(worlds) for i, limit in enumerate(limits)]
    allowed = np.zeros((2 + len(steps) * len(answers), size + 1))
    allowed[0, : len(answers)], allowed[1, size - len(answers) : size] = answers**2, (1.0 - answers) ** 2
    allowed[:2, size] = -1.0
    for row, ((here, there, limit), at) in enumerate(itertools.product(steps, range(len(answers))), start=2):
        allowed[row, here * len(answers) + at] = 1.0
        allowed[row, there * len(answers) + at] = -math.exp(limit)
    whole = np.kron(np.eye(worlds), np.ones(len(answers)))
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=coo_matrix(allowed).tocsr(),
        b_ub=np.zeros(len(allowed)),
        A_eq=np.hstack([whole, np.zeros((worlds, 1))]),
        b_eq=np.ones(worlds),
        method="highs-ipm",
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("limits", [[0.5], [6.0], [3.0, 3.0], [1.0, 4.0], [2.0, 2.0, 2.0], [0.3, 1.0, 3.0]], ids=str)
def test_between_two_ends_every_mechanism_errs_as_much_as_a_world_between_says(limits):
    best = best_between_ends(limits)
    assert between(limits) <= best * (1 + 1e-6)
    assert best <= 1.8 * bound_of(limits, 1e-6) + 1 / 25_600


def test_halves_of_people_are_nearly_alike_however_many_share_a_limit():
    """1 / (e^(a/2) + e^(b/2))^2 with the best halves, by trying all."""
    for limits in ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 2.0], [4.0, 1.0, 1.0, 1.0, 1.0], [0.7] * 5):
        halves = [sum(limit for i, limit in enumerate(limits) if chosen >> i & 1) for chosen in range(2 ** len(limits))]
        best = max(1 / (math.exp(a / 2) + math.exp((sum(limits) - a) / 2)) ** 2 for a in halves)
        assert between(limits) == pytest.approx(best, rel=1e-12)


def between(limits):
    return _by_a_world_between(rungs(limits))


def bound_of(limits, spread):
    return least_error(rungs(limits), spread=spread)


def rungs(limits):
    found, counts = np.unique(np.array(limits), return_counts=True)
    return CountedLimits(found, counts.astype(float))


def test_held_to_four_fifths_of_their_limits_people_would_leave_more_than_they_do():
    assert between([2.4, 2.4]) > best_between_ends([3.0, 3.0])
