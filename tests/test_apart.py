"""E31: the two numbers that a verdict says a result tells apart are told apart, and the two that it says are not, are not."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trying import daily

import optin
from optin.baselines.answer_laws import Numbers, Options, Sets
from optin.planning.apart import Apart, apart_from, told_words
from optin.planning.assumed import MIXES
from optin.planning.size import people_for
from optin.simulation.sheets import released

HOURS = optin.Number("hours", bounds=(0, 80), sd=9, unit="hours")
OPTIONS = tuple("abcdefgh")


@given(half=st.floats(1e-6, 1e6), more=st.floats(0.5, 1.0), proportion=st.booleans())
def test_pairs_are_as_far_apart_as_the_rule_says_and_lie_on_the_scale(half, more, proportion):
    question = optin.YesNo("break") if proportion else HOURS
    low, high = (0.0, 1.0) if proportion else HOURS.bounds
    found = apart_from(question, half, more * half)
    assert 0 < found.untold[1] - found.untold[0] <= half / 2 * (1 + 1e-6)
    assert low <= found.untold[0] < found.untold[1] <= high * (1 + 1e-9)
    if found.told is not None:
        assert found.told[1] - found.told[0] >= half * (1 + more) * (1 - 1e-6)
        assert low <= found.told[0] < found.told[1] <= high
    else:
        assert half * (1 + more) > (high - low) / 2


def test_words_say_what_a_result_is_enough_for():
    assert told_words(HOURS, 20, 57.0, apart_from(HOURS, 57.0, 45.0)).endswith(
        "within ± 57 hours: not enough to tell anything apart, not even 0 from 80."
    )
    assert "the whole range of answers (± 90 hours)" in told_words(HOURS, 20, 90.0, apart_from(HOURS, 90.0, 80.0))
    skipped = optin.YesNo("break")
    assert told_words(skipped, 900, 0.042, apart_from(skipped, 0.042, 0.034)).endswith(
        "50 % from 58 %, not 50 % from 52 %."
    )
    assert told_words(HOURS, 9, 0.0, Apart(None, None)).endswith("within ± 0 hours.")


def test_where_nobody_gave_a_spread_nothing_is_said_not_to_be_told_apart():
    """With 20,000 people and hours between 0 and 80 the page said "not 40 from 40.2", and 54 of 60 releases told them apart
    where answers lay 5 apart: an interval follows the spread that there is.
    """
    unstated = optin.Number("hours", bounds=(0, 80), unit="hours")
    words = told_words(unstated, 400, 5.0, apart_from(unstated, 5.0, 4.2))
    assert words == "With 400 people like these the average will be within ± 5 hours: enough to tell 40 from 50."
    assert ", not 40 from 42" in told_words(HOURS, 400, 5.0, apart_from(HOURS, 5.0, 4.2))


def test_people_for_a_wished_precision_are_the_fewest_that_reach_it():
    sheet = [HOURS, optin.YesNo("break")]
    for groups in (1, 3):
        needed = people_for(sheet, "hours", half_width=1.5, groups=groups)
        assert optin.size(sheet, people=needed, groups=groups)["hours"].half_width <= 1.5
        fewer = needed - groups
        assert optin.size(sheet, people=fewer, groups=groups)["hours"].half_width > 1.5
    with pytest.raises(optin.OptinError):
        people_for(sheet, "hours", half_width=0.0)


def question(rng, at):
    """A question of any kind, with what a sheet may have in it."""
    width, many = float(rng.choice([1, 20, 80, 500])), int(rng.integers(3, 8))
    low = float(rng.choice([0, -5, 10]))
    kinds = (
        lambda: optin.Number(
            f"q{at}", bounds=(low, low + width), sd=width * float(rng.choice([0.05, 0.11, 0.25, 0.4]))
        ),
        lambda: optin.YesNo(f"q{at}"),
        lambda: optin.Choice(f"q{at}", options=OPTIONS[:many]),
        lambda: optin.Scale(f"q{at}", options=OPTIONS[:many]),
        lambda: optin.Score(f"q{at}", items=9, each=(0, 3), sd=float(rng.choice([3, 5]))),
        lambda: optin.Histogram(f"q{at}", edges=tuple(range(0, 10 * many, 10))),
        lambda: optin.MultipleChoice(f"q{at}", options=OPTIONS[:many], at_most=2),
    )
    return kinds[int(rng.integers(7))]()


def law(asked, truth):
    """Answers of which the first published number is ``truth``, spread as declared where that is possible."""
    if not asked.proportion:
        low, high = asked.bounds
        return Numbers(
            asked.bounds, truth, min(math.sqrt(asked.data_variance), math.sqrt((truth - low) * (high - truth)))
        )
    many = {"yes-no": 2, "histogram": len(getattr(asked, "edges", ())) - 1}.get(asked.kind) or len(asked.options)
    rest = 0.1 if asked.kind == "multiple-choice" else (1 - truth) / (many - 1)
    return (Sets if asked.kind == "multiple-choice" else Options)((truth, *[rest] * (many - 1)))


def some_sheet(rng):
    sheet = optin.Sheet([question(rng, at) for at in range(rng.integers(1, 4))])
    people, mix = int(rng.choice([100, 200, 400])), str(rng.choice(list(MIXES)))
    limits = np.repeat(*(np.array(part) for part in zip(*MIXES[mix], strict=True))).astype(float)
    return sheet, people, mix, optin.PrivacyConstrained(np.tile(limits, people // 100))


@pytest.mark.parametrize("seed", daily(range(8), 0, 5))
def test_the_promised_interval_is_the_plans(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        sheet, people, mix, agents = some_sheet(rng)
        found, plan = optin.size(sheet, people=people, limits=mix), optin.plan(agents, sheet)
        for each in found.questions:
            own = plan[each.name]
            assert each.half_width == pytest.approx(own.half_width(0.95), rel=1e-9)
            assert each.apart == apart_from(sheet[each.name], own.half_width(0.95), own.half_width(0.90))


def left_out(rng, offer, promises, asked, pair, times):
    """Count releases, with the second number true, whose interval leaves the first one out."""
    middle = {each.name: 0.4 if each.proportion else sum(each.bounds) / 2 for each in offer.sheet}
    laws = [law(each, pair[1] if each is asked else middle[each.name]) for each in offer.sheet]
    found = 0
    for _ in range(times):
        codes = tuple(each.codes(offer.people, rng) for each in laws)
        first = released(offer, promises, codes, None, rng)[asked.name].readings(0.95)[0]
        found += not first.low <= pair[0] <= first.high
    return found


@pytest.mark.slow
def test_numbers_that_a_verdict_tells_apart_are_told_apart_over_200_sheets():
    """False alarms: rates are near 0.96 and 0.06; with 200 and more draws a kind, less than one in 10^5."""
    rng, times = np.random.default_rng(31), 12
    counts, wrong_rule = {}, [0, 0]
    for _ in range(200):
        sheet, people, mix, agents = some_sheet(rng)
        offer = optin.plan(agents, sheet).announce(agents, campaign="simulated", min_people=0)
        promises = offer.promises(agents)
        asked = sheet.questions[int(rng.integers(len(sheet)))]
        sized = optin.size(sheet, people=people, limits=mix)[asked.name]
        own = counts.setdefault(asked.kind, [0, 0, 0, 0])
        for place, pair in enumerate((sized.apart.told, sized.apart.untold)):
            if pair is not None:
                own[2 * place] += left_out(rng, offer, promises, asked, pair, times)
                own[2 * place + 1] += times
        middle = sum(asked.bounds) / 2 if not asked.proportion else 0.5
        if sized.half_width < middle / 2:
            wrong_rule[0] += left_out(rng, offer, promises, asked, (middle, middle + sized.half_width), 3)
            wrong_rule[1] += 3
    assert len(counts) == 7
    for kind, (told, pairs, untold, others) in counts.items():
        assert told >= 0.90 * pairs > 0, kind
        assert untold < 0.60 * others, kind
    assert wrong_rule[0] < 0.80 * wrong_rule[1], "a pair only ± apart is no pair that is told apart"
