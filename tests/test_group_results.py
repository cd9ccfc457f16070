"""Differences and wholes of groups are what their parts say, and their intervals hold as often as they promise (E27)."""

import math

import numpy as np
import pytest
from group_laws import law_of, truth_of, ward
from scipy import optimize, stats
from sheet_laws import SHEET, SKEWED, columns, offered

import optin
from optin.errors import BadInput
from optin.kernel.mixtures import mixture_quantile
from optin.planning.population import population_shares
from optin.questions.combined import Combined, Term
from optin.releasing.comparing import difference_of, differences_of, total_of

PEOPLE = {"ER": 200, "ICU": 80, "ward": 500}


@pytest.fixture(scope="module")
def groups():
    found = {}
    for name, middle in (("ER", 2.0), ("ICU", 4.0), ("ward", 0.5)):
        offer, agents = offered(PEOPLE[name], middle=middle)
        found[name] = optin.release(offer, agents, columns(SKEWED, PEOPLE[name], np.random.default_rng(3)))
    return found


def figures(result):
    return {reading.answer: reading.estimate for reading in result.readings()}


@pytest.mark.parametrize("question", [question.name for question in SHEET])
def test_every_difference_is_that_of_two_published_figures(groups, question):
    found = difference_of(groups, question, "ER", "ICU")
    first, second = figures(groups["ER"][question]), figures(groups["ICU"][question])
    for reading in found.readings(0.9):
        assert reading.estimate == pytest.approx(first[reading.answer] - second[reading.answer], abs=1e-12)
        assert reading.low <= reading.high
        width = 80 if question == "hours" else 27 if question == "score" else 4 if "mean" in reading.answer else 1
        assert -width <= reading.low <= reading.high <= width


@pytest.mark.parametrize("question", [question.name for question in SHEET])
def test_a_whole_counts_groups_by_their_announced_people(groups, question):
    found = total_of(groups, question)
    shares = {name: people / sum(PEOPLE.values()) for name, people in PEOPLE.items()}
    assert found.shares == pytest.approx(shares)
    for reading in found.readings():
        parts = [shares[name] * figures(groups[name][question])[reading.answer] for name in groups]
        assert reading.estimate == pytest.approx(sum(parts), abs=1e-12)


def test_every_linear_figure_can_be_compared_and_medians_and_spreads_cannot(groups):
    for question in SHEET:
        known = {figure.answer for figure in total_of(groups, question.name).figures}
        left = set(figures(groups["ER"][question.name])) - known
        assert left == {"hours": {"sd"}, "score": {"sd"}, "age": {"median"}, "break": {"no"}}.get(question.name, set())


def test_variances_of_groups_add_up(groups):
    found = difference_of(groups, "hours", "ER", "ward")
    errors = [groups[name]["hours"].standard_error for name in ("ER", "ward")]
    assert found.standard_error == pytest.approx(math.hypot(*errors))
    whole = total_of(groups, "hours")
    parts = [whole.shares[name] * groups[name]["hours"].standard_error for name in groups]
    assert whole.standard_error == pytest.approx(math.hypot(*parts))


def test_proportions_add_up_as_their_standard_errors_say(groups):
    found = difference_of(groups, "shift", "ER", "ward")["night"]
    errors = [groups[name]["shift"].standard_error("night") for name in ("ER", "ward")]
    assert found.standard_error == pytest.approx(math.hypot(*errors))
    several = difference_of(groups, "reasons", "ER", "ward")["pay"]
    errors = [groups[name]["reasons"].standard_error("pay") for name in ("ER", "ward")]
    assert several.standard_error == pytest.approx(math.hypot(*errors))


def test_one_group_of_the_population_alone_is_that_group(groups):
    """A whole in which one group is nearly all has nearly that group's interval."""
    nearly = total_of(groups, "hours", {"ER": 1 - 2e-9, "ICU": 1e-9, "ward": 1e-9})
    own = groups["ER"]["hours"].interval(0.95)
    assert tuple(nearly.interval(0.95)) == pytest.approx(tuple(own), rel=1e-5)


def test_the_whole_without_groups_is_the_least_that_one_draw_of_noise_allows(groups):
    """Against a search over the part that each group gives of its epsilons."""
    whole = total_of(groups, "hours")
    counted = [groups[name]["hours"].counted for name in groups]
    reaches = np.array([each.reach for each in counted])
    squares = np.array([each.weight_squares * each.reach**2 for each in counted])
    found = optimize.minimize(
        lambda c: (400 * (c**2 @ squares) + 2 * 80**2) / (c @ reaches) ** 2,
        [0.9] * 3,
        bounds=[(1e-6, 1)] * 3,
        tol=1e-14,
    )
    assert whole.ungrouped_standard_error == pytest.approx(math.sqrt(found.fun), rel=1e-6)
    assert whole.ungrouped_standard_error < whole.standard_error


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_without_groups_is_at_least_as_accurate_as_is_said_and_nearly_never_much_more(seed):
    rng = np.random.default_rng(seed)
    wards = rng.integers(1 + seed % 7, size=600).astype(str)
    limits = rng.lognormal(-1, 0.8, 600) * (1 + wards.astype(int))
    asked = [optin.Number("hours", bounds=(0, 80), sd=9)]
    told = optin.plan(optin.PrivacyConstrained(limits, groups=wards), asked).total("hours")
    alone = optin.plan(optin.PrivacyConstrained(limits), asked)["hours"].standard_error
    assert alone <= told.ungrouped_standard_error * (1 + 1e-9)
    assert told.ungrouped_standard_error <= min(1.1 * alone, told.standard_error * (1 + 1e-9))


def test_declared_gaps_and_roundings_of_all_groups_are_added():
    question = optin.Number("hours", bounds=(0, 80), sd=20, max_gap=4)
    agents = optin.PrivacyConstrained([0.2] * 60 + [3.0] * 60)
    offer = optin.plan(agents, [question]).announce(agents, campaign="c")
    pair = {name: optin.release(offer, agents, np.full(120, 30.0)) for name in ("a", "b")}
    found = difference_of(pair, "hours", "a", "b").only
    bare = Combined(tuple(Term(t.group, t.coefficient, _without_slack(t.addend)) for t in found.terms))
    biases = sum(each["hours"].bias_bound + each["hours"].rounding for each in pair.values())
    assert biases > 0
    assert found.half_width(0.95) - bare.half_width(0.95) == pytest.approx(biases)


def _without_slack(addend):
    from dataclasses import replace

    return replace(addend, slack=0.0)


def test_all_pairs_hold_together_each_at_its_part_of_the_error(groups):
    found = differences_of(groups, "hours", 0.95)
    assert len(found) == 3
    assert found.each_level == pytest.approx(1 - 0.05 / 3)
    rows = list(found)
    assert [row[:2] for row in rows] == [("ER", "ICU"), ("ER", "ward"), ("ICU", "ward")]
    for first, second, _, _, low, high in rows:
        alone = difference_of(groups, "hours", first, second)
        assert (low, high) == tuple(alone.interval(found.each_level))
        assert high - low > alone.interval(0.95).high - alone.interval(0.95).low
    assert "3 hold together at 95 %" in repr(found)
    assert "Bonferroni" in repr(found)
    assert len(differences_of(groups, "shift", 0.95)) == 9
    assert list(found.to_pandas().columns) == ["group", "other", "answer", "estimate", "low", "high"]


def test_the_one_difference_of_two_groups_is_not_said_to_hold_together_with_others(groups):
    found = differences_of(groups, "hours", 0.95, among=["ER", "ICU"])
    assert found.each_level == 0.95
    assert "one difference: its interval is made at 95 %, as it is" in repr(found)
    assert "together" not in found.promise


def test_two_groups_without_noise_differ_as_two_normals():
    agents = optin.PrivacyConstrained([math.inf] * 400)
    offer = optin.plan(agents, [optin.Number("x", bounds=(0, 1))]).announce(agents, campaign="c")
    values = np.linspace(0, 1, 400)
    pair = {name: optin.release(offer, agents, values, allow_no_noise=True) for name in ("a", "b")}
    found = difference_of(pair, "x", "a", "b")
    above = pair["a"]["x"]._moments.spread
    sd = math.sqrt(2 / 400 * above.__class__(above.variance, 0.0, 1 / 800).above)
    normal = stats.norm.isf(0.9 * 0.05 / 2) * sd
    assert found.half_width(0.95) == pytest.approx(normal + (1.959964**2 + 2) / 6 / 400 + 2**-20, rel=1e-6)
    assert total_of(pair, "x").ungrouped_standard_error == pytest.approx(total_of(pair, "x").standard_error)


def test_a_group_without_noise_beside_one_with_it_has_one_laplace():
    question = optin.YesNo("x")
    pair = {}
    for name, limit in (("open", math.inf), ("shy", 0.5)):
        agents = optin.PrivacyConstrained([limit] * 300)
        offer = optin.plan(agents, [question]).announce(agents, campaign="c")
        pair[name] = optin.release(offer, agents, [True, False] * 150, allow_no_noise=True)
    found = difference_of(pair, "x", "open", "shy")
    part, slack = found.only.terms[1].addend.part, found.only.terms[1].addend.slack
    alone = mixture_quantile(0.045, sd=math.sqrt(1 / 300 + part.squares) / 2, scales=part.scales)
    assert found.half_width(0.95) == pytest.approx(alone + (1.959964**2 + 2) / 6 * part.heaviest + slack, rel=1e-3)
    assert total_of(pair, "x").ungrouped_standard_error is None


def test_what_was_not_published_of_a_group_is_withheld_from_the_whole_with_its_reason(groups):
    _, agents = offered(60, middle=2.0)
    few = columns(SKEWED, 60, np.random.default_rng(3))
    few["hours"] = np.where(np.arange(60) < 57, np.nan, 20.0)
    quorum = optin.plan(agents, SHEET).announce(agents, campaign="c", min_people=10)
    from optin.releasing.drawing import measure

    small = measure(quorum, agents, few).drawn()
    if not small.dropped:
        pytest.fail("the small group should have dropped a question")
    both = {**groups, "small": small}
    with pytest.raises(BadInput, match='"hours" has no whole: of group "small" it was not published: too few people'):
        total_of(both, "hours")
    found = differences_of(both, "hours", 0.95)
    assert found.withheld == {"small": "too few people answered it"}
    assert len(found) == 3
    assert "small" in repr(found)
    assert total_of(both, "break").estimate == pytest.approx(total_of(both, "break")["yes"].estimate)


@pytest.mark.parametrize(
    ("population", "words"),
    [
        ({"a": 0.5}, 'says nothing of the groups "b"'),
        ({"a": 0.5, "b": 0.25, "c": 0.25}, 'were not announced: "c"'),
        ({"a": 0.5, "b": 0.4}, "must add up to 1"),
        ({"a": 1.0, "b": 0.0}, 'share of group "b" must be a positive number'),
        ({"a": 1.0, "b": math.nan}, "positive number"),
        ({"a": 1.0, "b": "many"}, "positive number"),
        ({"a": True, "b": True}, "positive number"),
        ([0.5, 0.5], "as a mapping by name"),
    ],
)
def test_a_population_that_does_not_fit_the_groups_is_refused(population, words):
    with pytest.raises(BadInput, match=words):
        population_shares(population, ("a", "b"))


def test_a_population_is_given_by_shares_or_by_people():
    import pandas

    assert population_shares({"a": 3, "b": 1}, ("a", "b")) == {"a": 0.75, "b": 0.25}
    assert population_shares({"a": 0.75, "b": 0.25}, ("a", "b")) == {"a": 0.75, "b": 0.25}
    assert population_shares(pandas.Series({"b": 30, "a": 10}), ("a", "b")) == {"a": 0.25, "b": 0.75}


def test_shares_of_a_population_may_be_percentages_and_are_refused_with_their_sum():
    assert population_shares({"a": 62.5, "b": 37.5}, ("a", "b")) == {"a": 0.625, "b": 0.375}
    assert population_shares({"a": 33.3, "b": 66.7}, ("a", "b")) == pytest.approx({"a": 0.333, "b": 0.667})
    with pytest.raises(BadInput, match=r"these add up to 0\.999$"):
        population_shares({"a": 0.333, "b": 0.666}, ("a", "b"))


def test_a_population_is_a_table_in_memory_as_it_is_a_file():
    import pandas
    import polars
    import pyarrow

    columns = {"group": ["b", "a"], "share": [0.25, 0.75]}
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)):
        assert population_shares(table, ("a", "b")) == {"a": 0.75, "b": 0.25}
    with pytest.raises(BadInput, match="the population must have the columns group and share"):
        population_shares(pandas.DataFrame({"ward": ["a"], "share": [1.0]}), ("a",))


def test_a_merged_group_counts_by_its_own_name_or_by_all_that_it_is_made_of():
    made = {"a": ("a",), "b + c": ("b", "c")}
    for population in ({"a": 6, "b + c": 4}, {"a": 6, "b": 3, "c": 1}, {"a": 0.6, "b": 0.4, "c": 0.0}):
        assert population_shares(population, made) == pytest.approx({"a": 0.6, "b + c": 0.4})
    with pytest.raises(BadInput, match='says nothing of the groups "c"'):
        population_shares({"a": 6, "b": 4}, made)
    with pytest.raises(BadInput, match='were not announced: "c"'):
        population_shares({"a": 6, "b + c": 4, "c": 1}, made)
    with pytest.raises(BadInput, match=r'share of group "b [+] c" must be a positive number'):
        population_shares({"a": 1.0, "b": 0.0, "c": 0.0}, made)


def test_merged_groups_are_put_together_by_shares_of_what_they_are_made_of():
    wards = np.array(["ER"] * 60 + ["ICU"] * 40 + ["lab"] * 4)
    few = optin.PrivacyConstrained(np.tile([0.5, 1.0, 2.0, 2.0], 26), groups=wards)
    plan = optin.plan(few, [optin.YesNo("ill")], merge_small=True)
    census, known = {"ER": 50.5, "ICU": 40.0, "lab": 9.5}, {"ER": 0.505, "ICU + lab": 0.495}
    assert plan.total("ill", census).shares == pytest.approx(known)
    release = optin.release(plan.announce(few), few, {"ill": np.ones(104)})
    assert release.total("ill", census).shares == pytest.approx(known)


def test_a_population_is_read_from_a_file(tmp_path):
    path = tmp_path / "shares.csv"
    path.write_text('group,people\n"say ""b""",30\na,10\n')
    assert population_shares(path, ("a", 'say "b"')) == {"a": 0.25, 'say "b"': 0.75}
    path.write_text("group,share\na,0.5\nb,0.4\n")
    with pytest.raises(BadInput, match="must add up to 1"):
        population_shares(str(path), ("a", "b"))
    path.write_text("group,share,people\na,0.5,3\n")
    with pytest.raises(BadInput, match="must have the columns group and share, or group and people"):
        population_shares(str(path), ("a",))
    path.write_text("group,share\na,0.5\na,0.5\n")
    with pytest.raises(BadInput, match="line 3: the population names a group twice"):
        population_shares(str(path), ("a",))
    path.write_text("ward,share\na,1\n")
    with pytest.raises(BadInput, match="group"):
        population_shares(str(path), ("a",))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g: difference_of(g, "hours", "ER", "nowhere"), 'no group "nowhere"; the groups are "ER"'),
        (lambda g: difference_of(g, "hours", "ER", "ER"), "given twice"),
        (lambda g: difference_of(g, "shift", "ER", "ICU").estimate, "early, late, night"),
        (lambda g: difference_of(g, "shift", "ER", "ICU")["noon"], 'no answer "noon"'),
        (lambda g: differences_of(g, "hours", 0.95, among=["ER"]), "among names fewer than two groups"),
        (lambda g: differences_of({"ER": g["ER"]}, "hours", 0.95), "was published of fewer than two groups"),
        (lambda g: differences_of(g, "hours", 1.5), "level must be"),
        (lambda g: total_of({}, "hours"), "not by group"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(groups, call, words):
    with pytest.raises(BadInput, match=words):
        call(groups)


def study(rng, people=900):
    limits = np.repeat([0.5, 1.0, 4.0], people // 3)
    wards = np.repeat(["ER", "ICU", "ward"], people // 3)
    hours = np.clip(rng.normal(np.repeat([30.0, 40.0, 50.0], people // 3), 9), 0, 80)
    return optin.PrivacyConstrained(limits, groups=wards), {"hours": hours, "break": rng.random(people) < 0.3}, wards


def test_a_release_of_groups_answers_for_several_of_them():
    agents, answers, _ = study(np.random.default_rng(5))
    asked = [optin.Number("hours", bounds=(0, 80), sd=9), optin.YesNo("break")]
    release = optin.release(optin.plan(agents, asked).announce(agents), agents, answers)
    found = release.difference("hours", "ward", "ER")
    own = [release.groups[name]["hours"].estimate for name in ("ward", "ER")]
    assert found.estimate == pytest.approx(own[0] - own[1])
    assert found.interval(0.95).low > 0  # 20 hours apart: noise alone hides it once in 10^9 releases
    assert release.total("hours").estimate == pytest.approx(
        np.mean([each["hours"].estimate for each in release.groups.values()])
    )
    assert release.total("hours", {"ER": 1, "ICU": 1, "ward": 2}).shares["ward"] == 0.5
    assert len(release.differences("break", 0.9)) == 3
    again = optin.Release.from_json(release.to_json())
    assert again.total("break").interval() == release.total("break").interval()
    with pytest.raises(BadInput, match="not by group"):
        release.groups["ER"].total("hours")


def test_a_group_that_nobody_joined_leaves_the_others_and_no_whole():
    agents, answers, wards = study(np.random.default_rng(6))
    asked = [optin.Number("hours", bounds=(0, 80), sd=9), optin.YesNo("break")]
    release = optin.release(optin.plan(agents, asked).announce(agents), agents, answers, joined=wards != "ICU")
    with pytest.raises(BadInput, match='"hours" has no whole: of group "ICU" it was not published'):
        release.total("hours")
    with pytest.raises(BadInput, match='of group "ICU" it was not published'):
        release.difference("hours", "ICU", "ER")
    assert list(release.differences("hours").withheld) == ["ICU"]


# Coverage.

LEVELS = (0.8, 0.95, 0.99)
RELEASES = 2000
WARDS = (("a", 30, "uneven"), ("b", 300, "two kinds"), ("c", 3000, "alike"))
HOURS = optin.Number("hours", bounds=(0, 80))
RARE = optin.YesNo("break")
MOOD = optin.Scale("mood", options=("very bad", "bad", "fair", "good", "very good"))
CASES = {
    "skewed number": (HOURS, [{"mean": m, "sd": s} for m, s in ((4, 6), (9, 12), (15, 15))], "mean"),
    "a coin between the bounds": (HOURS, [{"mean": 40, "sd": 40}] * 3, "mean"),
    "rare yes": (RARE, [(0.02, 0.98), (0.05, 0.95), (0.01, 0.99)], "yes"),
    "even yes": (RARE, [(0.5, 0.5), (0.4, 0.6), (0.6, 0.4)], "yes"),
    "mood": (
        MOOD,
        [(0.02, 0.08, 0.3, 0.4, 0.2), (0.6, 0.3, 0.1, 0.0, 0.0), (0.0, 0.0, 0.01, 0.04, 0.95)],
        "mean score",
    ),
}


def simulated(case, coefficients, rng, wards=WARDS):
    """List errors of a sum over groups, and the halves of its intervals: at 0.95 of all releases, at others of a quarter."""
    question, given, answer = CASES[case]
    laws = [law_of(question, each) for each in given]
    drawn = [ward(*each, question).results(question, law, RELEASES, rng) for each, law in zip(wards, laws, strict=True)]
    truth = sum(a * truth_of(question, law, answer) for a, law in zip(coefficients, laws, strict=True))
    errors, halves = [], []
    for place, results in enumerate(zip(*drawn, strict=True)):
        terms = []
        for (name, *_), a, result in zip(wards, coefficients, results, strict=True):
            if a:
                (addend,) = (each for each in result.addends() if each.answer == answer)
                terms.append(Term(name, a, addend))
        found = Combined(tuple(terms))
        errors.append(abs(found.estimate - truth))
        halves.append([found.half_width(level) if level == 0.95 or place % 4 == 0 else math.nan for level in LEVELS])
    return np.array(errors), np.array(halves)


def shortfalls(errors, halves):
    """Return by how many standard errors of a binomial each coverage lies below its level."""
    found = []
    for level, half in zip(LEVELS, halves.T, strict=True):
        known = np.isfinite(half)
        covered = np.mean(errors[known] <= half[known])
        found.append((level - covered) / math.sqrt(level * (1 - level) / known.sum()))
    return np.array(found)


SUMS = {
    "difference": (1.0, -1.0, 0.0),
    "far difference": (1.0, 0.0, -1.0),
    "whole": (30 / 3330, 300 / 3330, 3000 / 3330),
}


MEASURED = [(case, which) for case in CASES for which in ("far difference", "whole")] + [
    ("skewed number", "difference")
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "which"), MEASURED)
def test_differences_and_wholes_hold_as_often_as_they_say(case, which):
    """33 comparisons at 4.5 standard errors: were seeds not fixed, a false alarm in 1 of 8,000 runs at most."""
    found = shortfalls(*simulated(case, SUMS[which], np.random.default_rng(11)))
    assert found.max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("which", ["difference", "whole"])
def test_intervals_cut_to_three_fifths_are_seen_to_fail(which):
    errors, halves = simulated("even yes", SUMS[which], np.random.default_rng(12))
    assert shortfalls(errors, 0.6 * halves).max() > 4.5


@pytest.mark.slow
def test_all_pairs_together_hold_as_often_as_they_say():
    """One comparison at 4.5 standard errors."""
    question, given, answer = CASES["even yes"]
    laws, rng, held = [law_of(question, each) for each in given], np.random.default_rng(13), []
    drawn = [ward(*each, question).results(question, law, RELEASES, rng) for each, law in zip(WARDS, laws, strict=True)]
    truths = [truth_of(question, law, answer) for law in laws]
    for results in zip(*drawn, strict=True):
        pairs, parts = [(0, 1), (0, 2), (1, 2)], [result.addends()[0] for result in results]
        found = [Combined((Term("", 1.0, parts[a]), Term("", -1.0, parts[b]))) for a, b in pairs]
        errors = [abs(each.estimate - truths[a] + truths[b]) for each, (a, b) in zip(found, pairs, strict=True)]
        held.append(all(e <= each.half_width(1 - 0.05 / 3) for e, each in zip(errors, found, strict=True)))
    assert np.mean(held) > 0.95 - 4.5 * math.sqrt(0.95 * 0.05 / RELEASES)
