"""How many examples a law is tried on: a share of its number in the daily run, all of them in ``make slow``."""

from hypothesis import settings

FEWEST = 10


def examples(number):
    """Give the number of examples for this run, in proportion to the profile's; laws that ask for few keep them all."""
    return max(min(number, FEWEST), number * settings.default.max_examples // 100)
