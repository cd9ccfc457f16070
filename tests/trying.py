"""How many examples a law is tried on: a share of its number in the daily run, all of them in ``make slow``."""

import pytest
from hypothesis import settings

FEWEST = 10


def daily(cases, *chosen):
    """Mark all cases but the chosen ones (by place) as slow: the daily run tries those, the long one every case."""
    return [case if at in chosen else pytest.param(case, marks=pytest.mark.slow) for at, case in enumerate(cases)]


def examples(number):
    """Give the number of examples for this run, in proportion to the profile's; laws that ask for few keep them all."""
    return max(min(number, FEWEST), number * settings.default.max_examples // 100)
