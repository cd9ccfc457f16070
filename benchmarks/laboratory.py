"""A comparison, and all false reports, against one plan; ten thousand campaigns against drawing their random numbers."""

import numpy as np

import optin
from benchmarks.timing import best
from optin import incentives
from optin.baselines import NAMES

CAMPAIGNS, PEOPLE = 10_000, 1_000


def compare():
    for name, limits in {
        "lognormal": np.random.default_rng(1).lognormal(-1, 1, 10**6),
        "three levels": np.random.default_rng(1).choice([0.1, 0.5, 1.0], 10**6),
    }.items():
        people = optin.PrivacyConstrained(limits)
        plan = best(lambda people=people: optin.plan(people, bounds=(0, 1)), repeats=5)
        both = best(lambda people=people: optin.compare(people, bounds=(0, 1)), repeats=3)
        print(f"compare, 10^6 people, {name}: {both / plan:.1f} times one plan (at most 40)")


def simulate():
    generator, room = np.random.default_rng(1), np.empty((100, PEOPLE))

    def numbers():
        for _ in range(CAMPAIGNS // 100):
            generator.random(out=room)

    draws = best(numbers)
    for workers in (1, 2):
        own = best(lambda w=workers: campaigns((), w))
        every = best(lambda w=workers: campaigns(NAMES, w))
        print(
            f"simulate, 10^4 campaigns of 10^3 people, {workers} threads: {own / draws:.1f} times drawing the values'"
        )
        print(
            f"  random numbers (at most 5); {every / draws:.1f} with all {len(NAMES)} designs, which draw five times as many"
        )


def campaigns(designs, workers):
    optin.simulate(
        "standard", generator=np.random.default_rng(2), campaigns=CAMPAIGNS, designs=designs, workers=workers
    )


def reports():
    people = optin.PrivacyConstrained(np.random.default_rng(1).lognormal(-1, 1, 2_000))
    plan = best(lambda: optin.plan(people, bounds=(0, 1)), repeats=20)
    count = incentives.limit_reports(people, bounds=(0, 1)).reports.size
    every = best(lambda: incentives.limit_reports(people, bounds=(0, 1)), repeats=3)
    print(f"{count} false reports at once: {every / plan / count:.3f} of planning each (at most 0.1)")


def main():
    compare()
    reports()
    simulate()
