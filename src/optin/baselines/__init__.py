"""What others do, to stand beside a plan: three reference points for reports, and every baseline with its mechanism.

The references are unbiased for independent values and cross nobody's limit, so they compare by variance alone; where a
gap between people's means was declared, each has its own largest bias, the gap times its tilt (E15). They are computed
from people, or from a `Description`, which is enough to draw reports without any person's limit at hand.

`designs` computes more from people in memory, some of them biased. Their mechanisms take `SimulatedValues`, which can
only be drawn: there is no path from a real value to noise in floats.
"""

from optin.baselines.best_caps import GRID
from optin.baselines.by_group import WholeError, whole_errors
from optin.baselines.catalogue import NAMES, OUTSIDE, Baseline, designs, own_designs
from optin.baselines.comparison import Comparison, Group, compare, compared
from optin.baselines.levels import Levels, levels_for
from optin.baselines.local import response_variances
from optin.baselines.reference_points import Reference, best_threshold, no_privacy, references, strictest
from optin.baselines.rule import Accuracy, Epsilons, Loss, Rule, Setting
from optin.baselines.ruler import comparable
from optin.baselines.simulated import SimulatedValues, ValueLaw

__all__ = [
    "GRID",
    "NAMES",
    "OUTSIDE",
    "Accuracy",
    "Baseline",
    "Comparison",
    "Epsilons",
    "Group",
    "Levels",
    "Loss",
    "Reference",
    "Rule",
    "Setting",
    "SimulatedValues",
    "ValueLaw",
    "WholeError",
    "best_threshold",
    "comparable",
    "compare",
    "compared",
    "designs",
    "levels_for",
    "no_privacy",
    "own_designs",
    "references",
    "response_variances",
    "strictest",
    "whole_errors",
]
