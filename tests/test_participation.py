"""E12: promises freeze, weights are renormalised over those who joined, and nobody's loss grows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from changing import changed_offer
from hypothesis import given
from hypothesis import strategies as st

import optin
from optin.announcement.numbers import ExactSums
from optin.errors import BadInput, PromiseBroken
from optin.participation import QuestionTurnout, Turnout, check_promise, renormalised_weights, turnout

answers = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 1.0, 9.0]), st.floats(min_value=0.01, max_value=50.0)), st.booleans()),
    min_size=2,
    max_size=25,
).filter(lambda people: any(limit > 0 and joined for limit, joined in people))


def announced(limits, **settings):
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, bounds=(0.0, 2.0), **settings).announce(agents, min_people=1), agents


def quasi_linear(people, *, slack):
    agents = optin.QuasiLinear(np.full(people, 2.0), benefit=optin.LinearBenefit(base=1.0, slope=1.0))
    return optin.plan(agents, bounds=(0.0, 1.0), slack=slack).announce(agents), agents


@given(answers)
def test_those_who_join_keep_their_promise_and_only_weights_change(people):
    limits, joined = (np.array(column) for column in zip(*people, strict=True))
    offer, agents = announced(limits)
    grains = offer.grains(agents).tolist()
    present = turnout(offer, agents, joined)
    mine = [a for a, j in zip(grains, joined, strict=True) if j]
    assert (present.total_grains, present.total_squared_grains) == (sum(mine), sum(a * a for a in mine))
    assert present.people == sum(joined)
    weights = renormalised_weights(offer, agents, joined)
    assert np.all(weights[~joined] == 0)
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.all(weights[joined] >= renormalised_weights(offer, agents)[joined] * (1 - 1e-12))


@given(answers)
def test_the_variance_that_remains_is_the_general_form_over_the_joined(people):
    limits, joined = (np.array(column) for column in zip(*people, strict=True))
    offer, agents = announced(limits)
    epsilons = [Fraction(a, 2**32) for a, j in zip(offer.grains(agents).tolist(), joined, strict=True) if j]
    total = sum(epsilons)
    exact = (Fraction(offer.data_variance) * sum(e * e for e in epsilons) + 2 * Fraction(2) ** 2) / total**2
    present = turnout(offer, agents, joined)
    assert present.variance == float(exact)
    assert present.standard_error == math.sqrt(present.variance)


@given(answers)
def test_nobody_who_counts_can_stay_away_without_loss_of_accuracy(people):
    limits, joined = (np.array(column) for column in zip(*people, strict=True))
    offer, agents = announced(limits)
    missing = offer.grains(agents)[~joined].sum()
    if missing:
        assert turnout(offer, agents, joined).variance > offer.sealed.variance * (1 - 1e-15)
    else:
        assert turnout(offer, agents, joined).variance == offer.sealed.variance


@given(answers)
def test_tilt_is_measured_against_everyone_announced(people):
    limits, joined = (np.array(column) for column in zip(*people, strict=True))
    offer, agents = announced(limits)
    mine = [int(a) * bool(j) for a, j in zip(offer.grains(agents), joined, strict=True)]
    exact = sum(max(Fraction(a, sum(mine)) - Fraction(1, len(mine)), 0) for a in mine)
    assert turnout(offer, agents, joined).tilt == float(exact)


def test_everyone_joining_is_the_announcement():
    offer, agents = announced([1.0, 4.0, 9.0, 9.0])
    for joined in (None, [True] * 4, np.ones(4, dtype=bool)):
        present = turnout(offer, agents, joined)
        assert (present.variance, present.tilt) == (offer.sealed.variance, offer.sealed.tilt)
        assert (present.people, present.announced) == (4, 4)


def test_quasi_linear_people_get_their_promised_variance_or_no_release():
    offer, agents = quasi_linear(200, slack=0.0)
    assert turnout(offer, agents).variance <= offer.promised_variance
    one_missing = np.arange(200) != 7
    with pytest.raises(PromiseBroken, match="new round"):
        turnout(offer, agents, one_missing)


def test_slack_makes_room_for_decliners_exactly_up_to_the_promise():
    offer, agents = quasi_linear(200, slack=0.2)
    verdicts = []
    for missing in range(60):
        try:
            variance = turnout(offer, agents, np.arange(200) >= missing).variance
        except PromiseBroken:
            verdicts.append(False)
        else:
            verdicts.append(True)
            assert variance <= offer.promised_variance
    assert 5 < sum(verdicts) < 60
    assert verdicts == sorted(verdicts, reverse=True)


def came(total, squares):
    """Two hundred people with these sums."""
    answered = QuestionTurnout(200, 200, ExactSums(total, squares), 0.0, math.nan, math.nan)
    return Turnout(200, 200, 200, (answered,))


def test_a_variance_equal_to_the_promised_one_keeps_the_promise_and_one_float_less_does_not():
    """sum A = 2^40 and sum A^2 = 2^66 leave (2^66 / 4 + 2 * 2^64) / 2^80 = 3 * 2^-16, which is a float."""
    offer, _ = quasi_linear(200, slack=0.0)
    promised = changed_offer(offer, data_variance=0.25, promised_variance=3 * 2.0**-16)
    check_promise(promised, came(2**40, 2**66))
    for total, squares in ((2**40 - 1, 2**66), (2**40, 2**66 + 1)):
        with pytest.raises(PromiseBroken, match="above the one promised"):
            check_promise(promised, came(total, squares))
    less = changed_offer(promised, promised_variance=math.nextafter(3 * 2.0**-16, 0.0))
    with pytest.raises(PromiseBroken, match="above the one promised"):
        check_promise(less, came(2**40, 2**66))


def test_a_limit_edited_after_the_announcement_is_noticed():
    limits = np.array([1.0, 4.0, 9.0, 9.0])
    offer, _ = announced(limits)
    for person, edited in ((0, 1.0 + 2.0**-30), (0, 0.5), (1, 5.0), (2, 4.0)):
        changed = limits.copy()
        changed[person] = edited
        with pytest.raises(PromiseBroken, match="limit was changed"):
            turnout(offer, optin.PrivacyConstrained(changed))


def test_an_edit_that_keeps_the_sum_is_still_noticed_by_the_squares():
    offer, _ = announced([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(PromiseBroken, match="limit was changed"):
        turnout(offer, optin.PrivacyConstrained([2.0, 3.0, 9.0, 9.0]))


def test_an_edit_of_someone_who_stays_away_is_noticed_too():
    offer, _ = announced([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(PromiseBroken, match="limit was changed"):
        turnout(offer, optin.PrivacyConstrained([2.0, 4.0, 9.0, 9.0]), [False, True, True, True])


def test_a_table_of_another_length_is_refused():
    offer, _ = announced([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(PromiseBroken, match="4 people were announced, 3 are given"):
        turnout(offer, optin.PrivacyConstrained([1.0, 4.0, 9.0]))


@pytest.mark.parametrize(
    "joined",
    [[1, 0, 1, 1], ["sure"] * 4, [True] * 3, [[True] * 4], True, [1.0] * 4, [[True], [True, False]], [None] * 4],
)
def test_answers_must_be_true_or_false_for_each_announced_person(joined):
    offer, agents = announced([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(BadInput, match="joined"):
        turnout(offer, agents, joined)


@pytest.mark.parametrize("hidden", [[False, True, False, False], [True] * 4])
def test_a_masked_answer_is_no_yes(hidden):
    offer, agents = announced([1.0, 4.0, 9.0, 9.0])
    with pytest.raises(BadInput, match="joined is masked"):
        turnout(offer, agents, np.ma.masked_array([True] * 4, mask=hidden))


def test_nobody_joining_leaves_nothing_to_release():
    offer, agents = announced([0.0, 4.0, 9.0, 9.0])
    for joined in ([False] * 4, [True, False, False, False]):
        with pytest.raises(PromiseBroken, match="nothing to release"):
            turnout(offer, agents, joined)
