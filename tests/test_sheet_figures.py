"""Pictures of sheets: every kind is drawn as published, words do not overlap, and nothing people wrote becomes a formula."""

import base64
import itertools
import math
import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import optin
from optin import figures
from optin.figures.answers import drawn
from optin.figures.captions import row_labels, unit_label
from optin.questions.counted import Counted
from optin.report import images
from optin.report.images import WIDTH

LONG = "a rather long answer that nobody could read beside a bar, number {}"
FIFTY = tuple(LONG.format(k) for k in range(50))
KINDS = [
    optin.Number("hours", bounds=(0, 80), sd=9, unit="hours"),
    optin.Score("score", items=9, each=(0, 3)),
    optin.YesNo("break"),
    optin.Choice("shift", options=("early", "late", "night", "rather not say")),
    optin.Choice("fifty", options=FIFTY),
    optin.Choice("money", options=("$5 to $6", "$x^{2$", "\\frac", "日本語", "עברית")),
    optin.Scale("mood", options=("very bad", "bad", "neither good nor bad, or both", "good", "very good")),
    optin.Histogram("age", edges=(16, 25, 35, 45, 55, 65, 80), unit="years"),
    optin.Histogram("income", edges=(0, 1e4, 2e4, 5e4, 1e5, 1e7), unit="$"),
    optin.Histogram("fine", edges=tuple(range(0, 330, 10))),
    optin.Histogram("halves", edges=(0, 50, 100)),
    optin.MultipleChoice("reasons", options=("pay", "hours", "boss", "way", "other"), at_most=3),
]
NAMES = [question.name for question in KINDS]
PEOPLE = 400


def result(question, seed=1, noise=1.0, tilt=0.1):
    """What is published if people answer at random, some of them more cautious than others."""
    rng = np.random.default_rng(seed)
    grains = [int(each * 2**32) for each in rng.choice([0.5, 1.0, 2.0], PEOPLE)]
    codes = rng.integers(0, 2 ** min(len(question.cells), 20), PEOPLE).astype(float)
    if question.kind in ("number", "score"):
        codes = rng.uniform(*question.bounds, PEOPLE)
    elif question.kind != "multiple-choice":
        codes = rng.integers(0, max(len(question.cells), 2), PEOPLE).astype(float)
    sums = [sum(a * int(level) for a, level in zip(grains, cell.levels(codes), strict=True)) for cell in question.cells]
    noisy = tuple(total + int(noise * rng.laplace(scale=2.0**52)) for total in sums)
    return question.result(Counted(PEOPLE, sum(grains), sum(a * a for a in grains), max(grains), noisy, tilt=tilt))


def picture(question, found, width=WIDTH, ink=figures.LIGHT):
    """A picture of the size that a report gives it."""
    figure = Figure(figsize=(width, figures.answer_height(found)), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    words = drawn(ax, found, unit=question.unit, ink=ink)
    figure.canvas.draw()
    return ax, words


def texts(ax):
    """Every piece of writing that is seen, with its place in the picture."""
    low, high = sorted(ax.get_xlim())
    ticks = [text for text in ax.get_xticklabels() if low <= text.get_position()[0] <= high]
    found = [*ax.texts, *ticks, *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label]
    return [(text.get_text(), text.get_window_extent()) for text in found if text.get_text().strip()]


def expect_apart(ax):
    found = [(text, box.shrunk(0.98, 0.8)) for text, box in texts(ax)]
    touching = [(one, other) for (one, a), (other, b) in itertools.combinations(found, 2) if a.overlaps(b)]
    assert touching == []


@pytest.mark.parametrize("question", KINDS, ids=NAMES)
@pytest.mark.parametrize("ink", [figures.LIGHT, figures.DARK], ids=["light", "dark"])
def test_every_kind_is_drawn_and_says_every_estimate_in_words(question, ink):
    found = result(question)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, words = picture(question, found, ink=ink)
    readings = found.readings(0.95)
    told = sum(each.written(question.unit)[0].split(" ")[0] in words for each in readings)
    assert told == len(readings) or len(readings) > 8 <= told or question.kind == "scale"
    assert f"{PEOPLE} people" in words


@pytest.mark.parametrize("question", KINDS, ids=NAMES)
def test_no_words_overlap_or_leave_the_picture(question):
    ax, _ = picture(question, result(question))
    expect_apart(ax)
    paper = ax.figure.bbox
    for text, box in texts(ax):
        assert paper.x0 - 1 <= box.x0, text
        assert box.x1 <= paper.x1 + 1, text
        assert box.y1 <= paper.y1 + 1, text


@pytest.mark.parametrize("name", ["shift", "mood", "reasons", "break"])
def test_bars_are_the_published_proportions_also_outside_what_is_possible(name):
    question = KINDS[NAMES.index(name)]
    found = result(question, noise=400.0)
    assert any(not 0 <= p <= 1 for p in found.proportions.values())
    ax, _ = picture(question, found)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([100 * p for p in found.proportions.values()])
    low, high = ax.get_xlim()
    assert all(low <= 100 * p <= high for p in found.proportions.values())


@pytest.mark.parametrize("name", ["shift", "reasons", "age", "fine"])
def test_intervals_are_drawn_where_they_lie_and_inside_what_is_possible(name):
    question = KINDS[NAMES.index(name)]
    found = result(question, noise=40.0)
    ax, _ = picture(question, found)
    lines = [line for line in ax.lines if line.get_marker() in ("|", "_")]
    bins = found.readings(0.95)[: len(found.options)]
    assert len(lines) == len(bins)
    if name != "age":  # bins of different widths are drawn by their areas
        ends = [line.get_xdata() if line.get_marker() == "|" else line.get_ydata() for line in lines]
        assert np.allclose(ends, [(100 * each.low, 100 * each.high) for each in bins])
        assert np.min(ends) >= 0
        assert np.max(ends) <= 100


def test_areas_of_a_histogram_are_proportions_where_bins_differ_in_width():
    question = KINDS[NAMES.index("age")]
    found = result(question)
    ax, _ = picture(question, found)
    (steps,) = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    heights, edges, _ = steps.get_data()
    assert tuple(edges) == question.edges
    assert np.allclose(heights * np.diff(edges) / 10, 100 * np.array(list(found.proportions.values())))
    assert ax.get_ylabel() == "people (%) per 10 years"


def test_bins_of_very_different_widths_are_drawn_equally_wide_and_say_so():
    ax, _ = picture(KINDS[NAMES.index("income")], result(KINDS[NAMES.index("income")]))
    assert "equally wide" in ax.get_xlabel()
    assert ax.get_xlim() == (0, 5)


def test_the_median_and_its_interval_are_where_they_were_published():
    question = KINDS[NAMES.index("age")]
    found = result(question)
    ax, words = picture(question, found)
    (median,) = [
        line for line in ax.lines if line.get_linestyle() == "--" and line.get_xdata()[0] == line.get_xdata()[1]
    ]
    assert median.get_xdata()[0] == pytest.approx(found.median)
    low, high = found.quantile_interval(0.5)
    assert f"(95 %: {low:g} to {high:g})" in words


def test_a_mean_is_drawn_on_the_range_of_its_bounds_with_one_sd_to_both_sides():
    question = KINDS[0]
    found = result(question)
    ax, words = picture(question, found)
    low, high = ax.get_xlim()
    assert low < 0 < 80 < high
    (box,) = ax.patches
    assert box.get_width() == pytest.approx(2 * found.sd)
    assert box.get_x() + box.get_width() / 2 == pytest.approx(found.estimate)
    assert "standard deviation" in words


def test_a_mean_outside_its_bounds_is_drawn_where_it_was_published():
    question = KINDS[0]
    found = question.result(Counted(20, 2**32, 2**64 // 20, 2**28, (-(2**52), 0), tilt=0.0))
    assert found.estimate < 0
    ax, _ = picture(question, found)
    assert ax.get_xlim()[0] < found.estimate


def test_a_scale_says_its_mean_score():
    question = KINDS[NAMES.index("mood")]
    found = result(question)
    ax, words = picture(question, found)
    said = f"mean score {found.mean:.2f}"
    assert said in words
    assert any(said in text.get_text() for text in ax.texts)


@pytest.mark.parametrize(
    "names", [FIFTY, FIFTY[:5], ("same start " * 9 + "a", "same start " * 9 + "b"), ("x" * 300, "y")]
)
def test_shortened_names_stay_different_and_short(names):
    found = row_labels(names)
    assert len(set(found)) == len(names)
    assert all(len(line) <= 27 for label in found for line in label.split("\n"))
    assert all(label.count("\n") <= (0 if len(names) > 13 else 1) for label in found)


def test_names_that_differ_nowhere_in_sight_are_numbered():
    names = ["a" * 60 + "b" + "c" * 60, "a" * 60 + "d" + "c" * 60]
    assert [label[:2] for label in row_labels(names)] == ["1.", "2."]


def test_letters_that_cannot_be_drawn_are_called_by_their_place():
    assert row_labels(["日本語", "né à Zürich", "עברית", "a\tb"]) == ["option 1", "né à Zürich", "option 3", "a b"]
    assert unit_label("日本") == ""


def sheet_plan(questions=KINDS[:4], **options):
    people = optin.PrivacyConstrained(np.repeat([0.1, 0.5, 1.0], [340, 430, 230]))
    plan = optin.plan(people, optin.Sheet(list(questions)), **options)
    return plan, people


def axes(height=4.0):
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def test_epsilon_shares_are_those_of_the_plan_and_of_its_offer():
    plan, people = sheet_plan()
    for terms in (plan, plan.announce(people, campaign="c")):
        ax = axes()
        words = figures.epsilon_shares(ax, terms)
        ax.figure.canvas.draw()
        assert math.fsum(bar.get_width() for bar in ax.patches) == pytest.approx(100)
        shares = [100 * terms[question.name].epsilon_share for question in terms.sheet]
        assert [bar.get_width() for bar in ax.patches] == pytest.approx(shares)
        assert all(f"{question.name}: " in words for question in terms.sheet)
        assert "points" in words
        assert "hours" in words


def test_sixty_questions_are_drawn_without_touching():
    questions = [optin.YesNo(f"a question with quite a long name, number {k}") for k in range(60)]
    plan, _ = sheet_plan(questions)
    ax = axes(0.9 + 0.21 * 60)
    figures.epsilon_shares(ax, plan)
    ax.figure.canvas.draw()
    expect_apart(ax)


def test_a_question_of_a_release_is_drawn_by_its_name():
    plan, people = sheet_plan(KINDS[2:4])
    offer = plan.announce(people, campaign="c")
    release = optin.release(offer, people, {"break": [True] * 1000, "shift": ["early"] * 1000})
    ax = axes()
    words = figures.answer(ax, release, "shift")
    assert "early" in words
    assert ax.get_xlabel() == "people (%)"


@pytest.mark.parametrize("question", KINDS[1:4:2], ids=NAMES[1:4:2])
def test_the_dark_picture_of_a_page_is_the_one_that_is_drawn_by_itself(question):
    found = result(question)

    def draw(ax, ink):
        return drawn(ax, found, unit=question.unit, ink=ink)

    both = images.picture(draw)
    for ink in (figures.LIGHT, figures.DARK):
        png, words = images.drawn(draw, ink)
        assert base64.b64encode(png).decode() in both
        assert words
