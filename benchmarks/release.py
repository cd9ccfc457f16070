"""How much dearer an exact private release is than the plain weighted sum it publishes, in processor time and in turn."""

import tracemalloc

import numpy as np

import optin
from benchmarks.timing import best_in_turn

PEOPLE = 10**7
TARGET = 15.0


def main():
    rng = np.random.default_rng(0)
    limits, values = rng.lognormal(-1.0, 1.0, PEOPLE), rng.random(PEOPLE)
    agents = optin.PrivacyConstrained(limits)
    plan = optin.plan(agents, bounds=(0.0, 1.0))
    offer = plan.announce(agents)
    weights = plan.weights(agents)
    joined = rng.random(PEOPLE) < 0.9
    answers = np.where(joined, values, np.nan)
    plain, draw, some = best_in_turn(
        [
            lambda: np.dot(weights, values),
            lambda: optin.release(offer, agents, values),
            lambda: optin.release(offer, agents, answers, joined=joined),
        ]
    )
    tracemalloc.start()
    optin.release(offer, agents, values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"release of {PEOPLE:,} people / np.dot(weights, values): {draw / plain:.1f} (target <= {TARGET:g})")
    print(f"the same if a tenth declined and their values are missing: {some / plain:.1f} (target <= {TARGET:g})")
    print(f"memory taken by that release / memory of the values: {peak / values.nbytes:.3f}")


if __name__ == "__main__":
    main()
