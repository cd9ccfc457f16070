"""Pictures of plans and releases: each draws on a matplotlib axes and returns what it shows in words.

    figure, ax = matplotlib.pyplot.subplots()
    words = optin.figures.limits(ax, plan, optin.describe(agents))

Pictures of plans and releases are drawn from the plan and the description alone: cells of fewer than ten people are merged
with their neighbours, so no mark stands for a person. Those of the laboratory show simulated people. Importing this loads
no matplotlib; the axes brings it.
"""

from optin.figures.accuracy import error_sources, intervals, release_sources, turnout
from optin.figures.answers import answer, answer_height
from optin.figures.by_group import by_group, differences
from optin.figures.comparison import comparison, losses
from optin.figures.dial import variance_by_cap, variance_by_eta
from optin.figures.histograms import histogram
from optin.figures.ink import DARK, LIGHT, Ink
from optin.figures.laboratory import limit_reports, margins, relation, rounds
from optin.figures.means import mean
from optin.figures.merged_cells import Cell, cells, groups
from optin.figures.paper import png
from optin.figures.people_by_limit import costly_limits, limits, weights
from optin.figures.proportions import proportions
from optin.figures.shares import epsilon_shares

__all__ = [
    "DARK",
    "LIGHT",
    "Cell",
    "Ink",
    "answer",
    "answer_height",
    "by_group",
    "cells",
    "comparison",
    "costly_limits",
    "differences",
    "epsilon_shares",
    "error_sources",
    "groups",
    "histogram",
    "intervals",
    "limit_reports",
    "limits",
    "losses",
    "margins",
    "mean",
    "png",
    "proportions",
    "relation",
    "release_sources",
    "rounds",
    "turnout",
    "variance_by_cap",
    "variance_by_eta",
    "weights",
]
