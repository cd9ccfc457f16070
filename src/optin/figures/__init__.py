"""Pictures of plans and releases: each draws on a matplotlib axes and returns what it shows in words.

    figure, ax = matplotlib.pyplot.subplots()
    words = optin.figures.limits(ax, plan, optin.describe(agents))

All are drawn from the plan and the description alone. Cells of fewer than ten people are merged with their neighbours,
so no mark stands for a person. Importing this loads no matplotlib; the axes brings it.
"""

from optin.figures.accuracy import error_sources, intervals, release_sources, turnout
from optin.figures.cells import Cell, cells, groups
from optin.figures.dial import variance_by_cap, variance_by_eta
from optin.figures.ink import DARK, LIGHT, Ink
from optin.figures.people import costly_limits, limits, weights

__all__ = [
    "DARK",
    "LIGHT",
    "Cell",
    "Ink",
    "cells",
    "costly_limits",
    "error_sources",
    "groups",
    "intervals",
    "limits",
    "release_sources",
    "turnout",
    "variance_by_cap",
    "variance_by_eta",
    "weights",
]
