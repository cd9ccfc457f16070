"""A sheet of any questions is planned: E18 and E15 through `optin.plan`, for every kind, with known answers and at edges."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optin
from optin import BadInput, Infeasible, LinearBenefit, PrivacyConstrained, QuasiLinear
from optin.kernel.sharing import SHARES

FOUR = PrivacyConstrained([1, 4, 9, 9])
INF = math.inf


def yes_no(count, **words):
    return [optin.YesNo(f"q{k}", **words) for k in range(count)]


def all_kinds():
    return [
        optin.Number("hours", bounds=(0, 80), sd=9),
        optin.YesNo("break"),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Scale("mood", options=("bad", "fair", "good", "best")),
        optin.Score("phq9", items=9, each=(0, 3)),
        optin.Histogram("age", edges=(16, 25, 35, 45, 80)),
        optin.MultipleChoice("reasons", options=("pay", "boss", "way", "other", "hours"), at_most=2),
    ]


def crowd(seed=1, people=400):
    rng = np.random.default_rng(seed)
    return PrivacyConstrained(rng.choice([0.0, 0.1, 0.3, 1.0, 2.5, 7.0], people) * rng.choice([1.0, 1.1], people))


# --- known answers


@pytest.mark.parametrize(
    ("limits", "questions", "cap", "variance"),
    [
        ([1, 4, 9, 9], 2, 211 / 23, 211 / 2116),
        ([0.1] * 340 + [0.5] * 430 + [1.0] * 230, 10, 2.38183716075157, 0.00124313004214591),
        ([1], 2, 33.0, 8.25),
        ([0.5] * 100 + [INF] * 100, 4, 3.06, 0.00214887640449438),
    ],
)
def test_like_questions_have_the_known_cap_and_variance(limits, questions, cap, variance):
    plan = optin.plan(PrivacyConstrained(limits), yes_no(questions))
    assert plan.cap == pytest.approx(cap, rel=1e-12)
    for question in plan.questions:
        assert question.variance == pytest.approx(variance, rel=1e-12)
        assert question.epsilon_share == pytest.approx(1 / questions, rel=1e-15)
        assert question.effective_people == pytest.approx(0.25 / variance, rel=1e-12)
    assert plan.effective_people == pytest.approx(0.25 / variance, rel=1e-12)


def test_two_questions_have_the_known_effective_people():
    assert optin.plan(FOUR, yes_no(2)).effective_people == pytest.approx(2.50710900473934, rel=1e-12)
    crowd = PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    assert optin.plan(crowd, yes_no(10)).effective_people == pytest.approx(201.105267771058, rel=1e-12)


def test_unlike_prices_share_as_their_roots():
    sheet = [
        optin.Choice("eight", options=tuple("12345678")),
        optin.Number("half", bounds=(0, 1), data_variance=1 / 8),
    ]
    assert [question.price for question in sheet] == [64, 16]
    plan = optin.plan(PrivacyConstrained([1] * 10 + [100] * 2), sheet)
    assert plan.cap == pytest.approx(15.4, rel=1e-12)
    assert [question.epsilon_share for question in plan.questions] == pytest.approx([2 / 3, 1 / 3], rel=1e-12)
    assert 1 / plan.effective_people == pytest.approx(77 / 204, rel=1e-12)


@pytest.mark.parametrize(("gaps", "theta"), [((1.0, 1.0), 0.568359375), ((0.0, 1.0), 0.523644754947)])
def test_gaps_have_the_known_answers_equal_or_not(gaps, theta):
    plan = optin.plan(FOUR, [optin.YesNo(f"q{k}", max_gap=gap) for k, gap in enumerate(gaps)])
    assert plan.cap == pytest.approx(5.5, rel=1e-11)
    assert plan.theta == pytest.approx(theta, rel=1e-11)
    assert plan.certificate(FOUR).holds
    for question, gap in zip(plan.questions, gaps, strict=True):
        assert question.bias_bound == gap * plan.tilt
        assert question.half_width() > question.bias_bound


# --- laws


@pytest.mark.parametrize("question", all_kinds(), ids=lambda question: question.kind)
def test_one_question_of_any_kind_is_the_optimum_of_its_price(question):
    people = crowd()
    plan = optin.plan(people, question)
    same = optin.plan(people, optin.Number("x", bounds=(0, 1), data_variance=2 / max(question.price, 8.0)))
    alone = plan[question.name]
    if question.price >= 8.0:
        assert plan.cap == pytest.approx(same.cap, rel=1e-12)
        assert plan.effective_people == pytest.approx(same.effective_people, rel=1e-12)
    assert (alone.epsilon_share, plan.integer_shares) == (1.0, (SHARES,))
    assert (alone.variance, alone.standard_error) == (plan.variance, plan.standard_error)
    assert (alone.half_width(0.9), alone.noise_scale) == (plan.half_width(0.9), plan.noise_scale)
    assert plan.certificate(people).holds


def test_a_score_is_planned_as_the_number_it_is_to_the_last_bit():
    score = optin.plan(crowd(), optin.Score("phq9", items=9, each=(0, 3), sd=5))
    number = optin.plan(crowd(), optin.Number("phq9", bounds=(0, 27), sd=5))
    assert score.designs == number.designs
    assert (score.eta, score.bounds, score.half_width()) == (number.eta, number.bounds, number.half_width())


def test_the_variance_of_every_question_follows_from_its_share():
    people, sheet = crowd(), all_kinds()
    plan = optin.plan(people, sheet)
    eps = plan.epsilons(people)
    for question, asked in zip(plan.questions, sheet, strict=True):
        own = eps * question.epsilon_share
        noise = asked.price * asked.data_variance
        assert question.variance == pytest.approx(
            (asked.data_variance * (own**2).sum() + noise) / own.sum() ** 2, rel=1e-12
        )
        assert question.standard_error == pytest.approx(math.sqrt(question.variance / asked.variance_terms))
        assert question.effective_people == pytest.approx(plan.effective_people, rel=1e-12)
    assert sum(question.epsilon_share for question in plan.questions) == pytest.approx(1.0, rel=1e-15)
    assert (eps <= people.limits).all()
    assert plan.certificate(people).holds


def test_the_noise_scale_has_the_noise_variance_of_what_is_published():
    plan = optin.plan(crowd(), all_kinds())
    for question in plan.questions:
        noise = question.question.noise_constant / question.epsilon_total**2
        assert 2 * question.noise_scale**2 * question.question.variance_terms == pytest.approx(noise, rel=1e-12)


@given(
    st.lists(st.floats(1e-3, 1e3) | st.sampled_from([0.0, INF, 1.0]), min_size=1, max_size=30),
    st.integers(1, 5),
    st.sampled_from([0.01, 0.1, 0.25]),
)
@settings(max_examples=40, deadline=None)
def test_the_certificate_of_a_sheet_holds_with_ties_zeros_and_infinities(limits, count, variance):
    people = PrivacyConstrained([*limits, 0.5])
    plan = optin.plan(people, [*yes_no(count), optin.Number("x", bounds=(0, 1), data_variance=variance)])
    certificate = plan.certificate(people)
    assert certificate.holds
    assert not certificate.one_cap
    assert certificate.claim.startswith("best among weighted means with fixed weights and one Laplace noise: ")
    assert certificate.objective == pytest.approx(plan.theta, rel=1e-9)


def test_the_certificate_of_wrong_shares_does_not_hold():
    from dataclasses import replace

    plan = optin.plan(FOUR, yes_no(2))
    for shares in ((0.6, 0.4), (0.6, 0.6)):
        wrong = replace(plan, designs=(replace(plan.designs[0], shares=shares),))
        assert not wrong.certificate(FOUR).holds


def test_shadow_prices_of_a_sheet_are_slopes_of_v():
    people, sheet, step = np.array([1.0, 4.0, 9.0, 20.0]), yes_no(2), 1e-6
    plan = optin.plan(PrivacyConstrained(people), sheet)
    for k, price in enumerate(plan.shadow_prices(PrivacyConstrained(people))):
        moved = people + step * (np.arange(4) == k)
        after = optin.plan(PrivacyConstrained(moved), sheet).theta
        assert (after - plan.theta) / step == pytest.approx(price, abs=1e-5)


@pytest.mark.parametrize("importance", [(1.0, 1.0, 1.0), (1.0, 5.0, 2.0)])
@pytest.mark.parametrize("gaps", [(0.0, 0.0, 0.0), (0.2, 0.0, 0.5)])
def test_size_and_plan_say_the_same_of_the_same_people(importance, gaps):
    sheet = [
        optin.YesNo("break", importance=importance[0], max_gap=gaps[0]),
        optin.Choice("shift", options=("early", "late", "night"), importance=importance[1], max_gap=gaps[1]),
        optin.Number("hours", bounds=(0, 80), sd=9, importance=importance[2], max_gap=gaps[2]),
    ]
    limits = np.repeat([0.1, 0.5, 1.0], [34, 43, 23])
    people = PrivacyConstrained(np.tile(limits, 5))
    plan, sized = optin.plan(people, sheet), optin.size(sheet, people=500, limits=limits)
    for question, told in zip(plan.questions, sized.questions, strict=True):
        assert question.epsilon_share == pytest.approx(told.epsilon_share, rel=1e-9)
        assert question.effective_people == pytest.approx(told.effective_people, rel=1e-9)
        assert question.half_width() == pytest.approx(told.half_width, rel=1e-9)
        assert question.effective_without(people) == pytest.approx(told.effective_without, rel=1e-9)


def test_what_a_question_costs_is_the_plan_without_it():
    people, sheet = crowd(), all_kinds()
    plan = optin.plan(people, sheet)
    assert plan["age"].effective_without(people) == optin.plan(people, sheet[:5] + sheet[6:]).effective_people
    assert plan["age"].effective_without(people) > plan.effective_people
    assert optin.plan(people, sheet[1])["break"].effective_without(people) is None
    with pytest.raises(BadInput, match="not 4"):
        plan["age"].effective_without(FOUR)


def test_people_in_an_engine_have_the_plan_of_those_in_memory(tmp_path):
    import pandas

    limits = crowd(people=3000).limits
    path = tmp_path / "people.parquet"
    pandas.DataFrame({"id": [f"p{k}" for k in range(3000)], "limit": limits}).to_parquet(path)
    people = optin.read(path, id="id", limits="limit", engine="duckdb")
    for sheet in (all_kinds(), [optin.YesNo("a"), optin.YesNo("b", importance=3, max_gap=0.2)]):
        kept, held = optin.plan(people, sheet), optin.plan(PrivacyConstrained(limits), sheet)
        assert kept.cap == pytest.approx(held.cap, rel=1e-12)
        assert kept.designs[0].shares == pytest.approx(held.designs[0].shares, rel=1e-12)
        assert kept.certificate(people).holds


# --- edges


def test_a_choice_among_fifty_options_beside_another():
    fifty = optin.Choice("town", options=tuple(f"town {k}" for k in range(50)))
    plan = optin.plan(crowd(), [fifty, optin.YesNo("break")])
    assert plan["town"].epsilon_share == pytest.approx(math.sqrt(50) / (1 + math.sqrt(50)), rel=1e-12)
    assert plan.certificate(crowd()).holds


def test_equal_limits_are_all_below_the_cap():
    plan = optin.plan(PrivacyConstrained([0.5] * 100), yes_no(3))
    assert plan.cap > 0.5
    assert 1 / plan.effective_people == pytest.approx(1 / 100 + 72 / 50**2, rel=1e-12)
    assert plan.tilt == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("importance", [1.0, 7.0])
def test_without_limits_there_is_no_noise(importance):
    people = PrivacyConstrained([0, INF, INF, INF])
    plan = optin.plan(people, [optin.YesNo("a"), optin.YesNo("b", importance=importance, max_gap=0.1)])
    assert plan.noiseless
    assert [question.effective_people for question in plan.questions] == [3.0, 3.0]
    assert [question.noise_scale for question in plan.questions] == [0.0, 0.0]
    assert plan.epsilons(people).tolist() == [0, INF, INF, INF]
    assert plan.certificate(people).holds
    assert optin.Plan.from_json(plan.to_json()) == plan
    assert "3 people" in repr(plan)


@pytest.mark.parametrize("limits", [[1e200] * 3, [1e200, 1.0, INF], [1e-140, 1e-140], [1e160, 2e160, 0.0]])
def test_extreme_limits_overflow_nowhere(limits):
    plan = optin.plan(PrivacyConstrained(limits), yes_no(2))
    assert all(question.variance > 0 for question in plan.questions)
    assert plan.integer_shares == (SHARES // 2, SHARES // 2)


@pytest.mark.parametrize("limits", [[1e200] * 3, [1e160, 2e160, 0.0], [1e12] * 5, [1e8, 1e9]])
def test_where_noise_is_next_to_nothing_importance_leaves_others_nothing_and_is_refused(limits):
    with pytest.raises(BadInput, match='question "a" would get less than a millionth'):
        optin.plan(PrivacyConstrained(limits), [optin.YesNo("a"), optin.YesNo("b", importance=7)])


def test_limits_that_are_all_zero_are_infeasible():
    with pytest.raises(Infeasible, match="limits are 0"):
        optin.plan(PrivacyConstrained([0, 0]), yes_no(2))


@pytest.mark.parametrize("sd", [0, 1e-76])
def test_answers_that_are_said_not_to_differ_are_refused_beside_others(sd):
    number = optin.Number("hours", bounds=(0, 1), sd=sd)
    with pytest.raises(BadInput, match=r'"hours": its sd is too small'):
        optin.plan(FOUR, [number, optin.YesNo("a")])
    assert optin.plan(FOUR, number).variance > 0


def test_a_question_that_the_others_leave_nothing_is_refused_by_name():
    sharp = optin.Number("income", bounds=(0, 1), sd=1e-8)
    with pytest.raises(BadInput, match='question "q0" would get less than a millionth'):
        optin.plan(FOUR, [sharp, *yes_no(1)])
    assert min(optin.plan(FOUR, [optin.Number("income", bounds=(0, 1), sd=1e-6), *yes_no(1)]).integer_shares) >= 1


def test_integer_shares_are_the_shares():
    plan = optin.plan(crowd(), all_kinds())
    assert sum(plan.integer_shares) == SHARES
    for share, question in zip(plan.integer_shares, plan.questions, strict=True):
        assert abs(share / SHARES - question.epsilon_share) < 1 / SHARES


def test_sixty_questions_are_planned_and_one_more_is_no_sheet():
    assert len(optin.plan(crowd(), yes_no(60)).questions) == 60
    with pytest.raises(BadInput, match="at most 60 questions"):
        optin.plan(crowd(), yes_no(61))


def test_a_given_rate_goes_with_one_number_alone():
    for sheet in (yes_no(2), yes_no(1)):
        with pytest.raises(BadInput, match="eta is the Laplace rate of one number"):
            optin.plan(FOUR, sheet, eta=3.0)
    assert optin.plan(FOUR, optin.Score("s", items=2, each=(0, 1)), eta=3.0).eta == 3.0


# --- people who weigh costs


def test_people_with_costs_are_promised_v():
    people = QuasiLinear([1, 0.5, 0.25, 0.25], benefit=LinearBenefit(base=30, slope=1))
    plan = optin.plan(people, yes_no(2))
    assert plan.data_variance == 1.0
    assert plan.promised_variance == pytest.approx(1 / plan.effective_people, rel=1e-12)
    limits = (30 - plan.promised_variance) / people.costs
    assert optin.plan(PrivacyConstrained(limits), yes_no(2)).cap == pytest.approx(plan.cap, rel=1e-9)
    assert plan["q0"].variance == pytest.approx(plan.promised_variance / 4, rel=1e-12)
    assert plan.certificate(people).holds
    assert optin.Plan.from_json(plan.to_json()) == plan


def test_for_one_question_a_benefit_stays_one_of_its_variance():
    people = QuasiLinear([1, 0.5, 0.25, 0.25], benefit=LinearBenefit(base=30, slope=20))
    number, share = optin.plan(people, bounds=(0, 1)), optin.plan(people, optin.YesNo("a"))
    assert share.promised_variance == pytest.approx(number.promised_variance, rel=1e-12)
    assert share.cap == pytest.approx(number.cap, rel=1e-12)


@pytest.mark.parametrize(
    "benefit", [LinearBenefit(base=np.array([9.0, 8.0, 9.0] * 20), slope=1.0), lambda v: 9 / (1 + v)]
)
def test_any_benefit_will_do(benefit):
    people = QuasiLinear([1, 0.5, 0.25] * 20, benefit=benefit, outside="own-data")
    plan = optin.plan(people, yes_no(2), slack=0.1)
    assert plan.promised_variance == pytest.approx(1.1 / plan.effective_people, rel=1e-9)
    assert plan.certificate(people).holds


def test_people_with_costs_take_no_importance_and_no_gap_beside_other_questions():
    people = QuasiLinear([1, 0.5], benefit=LinearBenefit(base=9, slope=1))
    with pytest.raises(BadInput, match="importance and wished"):
        optin.plan(people, [optin.YesNo("a"), optin.YesNo("b", importance=2)])
    with pytest.raises(BadInput, match="importance and wished"):
        optin.plan(people, yes_no(2), wished_errors={"q0": 0.1, "q1": 0.2})
    with pytest.raises(BadInput, match="max_gap"):
        optin.plan(people, [optin.YesNo("a"), optin.YesNo("b", max_gap=0.1)])
    assert optin.plan(people, optin.YesNo("a", importance=2)).cap > 0
