"""The pictures of the laboratory: crowds that tip, rounds, reports, the dial; each says in words what it shows."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import optin
from optin import figures


def axes():
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


def test_crowds_rounds_and_reports_are_drawn_and_said_in_words():
    rng = np.random.default_rng(4)
    people = optin.QuasiLinear(rng.lognormal(0, 1, 200), benefit=optin.LinearBenefit(base=1.0, slope=40.0))
    game = optin.dynamics.game_of(optin.plan(people, bounds=(0, 1), slack=0.1), people)
    ax = axes()
    rests = optin.dynamics.equilibria(game)
    assert f"{rests[1].people} people" in figures.margins(ax, game)
    assert sum(line.get_marker() == "o" and line.get_markerfacecolor() != "#ffffff" for line in ax.lines) == len(rests)
    drawn(ax)
    runs = {start: optin.dynamics.play(game, start) for start in ("nobody", "everybody")}
    ax = axes()
    assert "nobody: 0 %; everybody: 100 %" in figures.rounds(ax, runs)
    drawn(ax)
    limits = optin.PrivacyConstrained(np.sort(rng.lognormal(-1, 1, 40)))
    found = optin.incentives.limit_reports(limits, bounds=(0, 1))
    ax = axes()
    words = figures.limit_reports(ax, found, {"strictest": 0, "most open": 39}, limits.limits)
    assert "crossed (strictest)" in words
    drawn(ax)
    with pytest.raises(optin.BadInput, match="no rounds"):
        figures.rounds(axes(), {})


def test_the_dial_under_a_relation_shows_its_four_points():
    limits = np.random.default_rng(2).lognormal(-1, 1, 200)
    means = optin.relations.related_means(limits, bounds=(0, 1), gap=0.2)
    ax = axes()
    words = figures.relation(ax, optin.PrivacyConstrained(limits), means, bounds=(0, 1), max_gap=0.2)
    drawn(ax)
    assert [name for name in ("strictest", "robust", "optimum", "proportional") if name in words] == [
        note.get_text() for note in ax.texts if note.get_text() in words and "case" not in note.get_text()
    ]
    assert sum(line.get_marker() == "o" for line in ax.lines) == 4
