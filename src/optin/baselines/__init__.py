"""What others do, to stand beside a plan: three reference points for reports, and every baseline with its mechanism.

The references are unbiased for independent values and cross nobody's limit, so they compare by variance alone; where a
gap between people's means was declared, each has its own largest bias, the gap times its tilt (E15). They are computed
from people, or from a `Description`, which is enough to draw reports without any person's limit at hand.

`designs` computes more from people in memory, some of them biased. Their mechanisms take `SimulatedValues`, which can
only be drawn: there is no path from a real value to noise in floats.
"""

from optin.baselines.catalogue import NAMES, Baseline, designs
from optin.baselines.comparison import Comparison, Group, compare, compared
from optin.baselines.local import response_variances
from optin.baselines.points import Reference, best_threshold, no_privacy, references, strictest
from optin.baselines.ruler import comparable
from optin.baselines.search import GRID
from optin.baselines.simulated import SimulatedValues, ValueLaw

__all__ = [
    "GRID",
    "NAMES",
    "Baseline",
    "Comparison",
    "Group",
    "Reference",
    "SimulatedValues",
    "ValueLaw",
    "best_threshold",
    "comparable",
    "compare",
    "compared",
    "designs",
    "no_privacy",
    "references",
    "response_variances",
    "strictest",
]
