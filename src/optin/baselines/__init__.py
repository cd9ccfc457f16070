"""What others do: reference points to stand beside a plan, each with the noise that suits it best.

All of them are unbiased for independent values and cross nobody's limit, so they compare by variance alone; where a gap
between people's means was declared, each has its own largest bias, the gap times its tilt (E15). They are computed
from people, or from a `Description`, which is enough to draw reports without any person's limit at hand.
"""

from optin.baselines.points import Reference, best_threshold, no_privacy, references, strictest

__all__ = ["Reference", "best_threshold", "no_privacy", "references", "strictest"]
