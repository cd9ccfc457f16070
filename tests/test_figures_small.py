"""Pictures of a plan and its people, six on a page as one draws them: every word can be read."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

import optin
from optin import figures

PEOPLE = optin.PrivacyConstrained(np.exp(np.random.default_rng(1).normal(-1, 1, 1000)))
PLAN = optin.plan(PEOPLE, bounds=(0, 10), sd=2)
DRAWN = (
    figures.limits,
    figures.weights,
    figures.variance_by_cap,
    figures.turnout,
    figures.error_sources,
    figures.costly_limits,
)
ALSO = (figures.variance_by_eta, figures.comparison, figures.losses)


def grid(size):
    figure = Figure(figsize=size, dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3).flat
    for ax, draw in zip(axes, DRAWN, strict=True):
        draw(ax, PLAN, PEOPLE)
    figure.draw_without_rendering()
    return figure


def words_in(ax):
    """What is written in and around one picture, with its place on the page."""
    legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    notes = [child for child in ax.get_children() if isinstance(child, Annotation)]
    told = [*notes, *legend, *ticks, ax.xaxis.label, ax.yaxis.label]
    inside = ax.get_window_extent().padded(6)
    shown = [(one.get_text(), one.get_window_extent()) for one in told if one.get_text().strip()]
    return [(text, box) for text, box in shown if text not in {t.get_text() for t in ticks} or inside.overlaps(box)]


@pytest.mark.parametrize("size", [(11.0, 6.5), (14.0, 8.0)])
def test_no_two_words_of_six_pictures_on_a_page_lie_on_each_other_or_off_the_page(size):
    figure = grid(size)
    for ax in figure.axes:
        for (one, first), (other, second) in combinations(words_in(ax), 2):
            assert not first.padded(-1).overlaps(second.padded(-1)), (one, other)
        for text, box in words_in(ax):
            page = figure.bbox.padded(2)
            assert page.x0 <= box.x0, text
            assert box.x1 <= page.x1, text


def test_letters_of_a_small_picture_can_still_be_read():
    for ax in grid((8.0, 5.0)).axes:
        notes = [child for child in ax.get_children() if isinstance(child, Annotation)]
        assert min(note.get_fontsize() for note in (*notes, ax.xaxis.label)) >= 6


@pytest.mark.parametrize("draw", [*DRAWN, *ALSO], ids=lambda draw: draw.__name__)
def test_a_picture_of_people_says_what_one_of_their_description_says(draw):
    ax = Figure(figsize=(7, 4)).subplots()
    other = Figure(figsize=(7, 4)).subplots()
    summary = optin.baselines.compared(PLAN, PEOPLE) if draw in ALSO[1:] else None
    assert draw(ax, PLAN, PEOPLE) == (
        draw(other, PLAN, optin.describe(PEOPLE)) if summary is None else draw(other, summary)
    )


def test_a_plan_is_compared_for_people_only():
    with pytest.raises(optin.BadInput, match="give them after it"):
        figures.comparison(Figure().subplots(), PLAN)


@pytest.mark.parametrize("draw", DRAWN)
def test_a_title_that_someone_gives_is_written_over_nothing(draw):
    figure = Figure(figsize=(5, 4), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    draw(ax, PLAN, PEOPLE)
    title = ax.set_title("Everyone who was asked, and a title as wide as they get")
    figure.draw_without_rendering()
    written = [text for text in ax.texts if isinstance(text, Annotation) and text.get_text()]
    legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
    place = title.get_window_extent()
    assert not [text.get_text() for text in (*written, *legend) if place.overlaps(text.get_window_extent())]
