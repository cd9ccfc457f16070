"""The study of the demo: a sheet of five questions of five kinds, and people made up to answer it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optin.cli.made_people import HIGHEST, MadePeople

SKIPPING = 0.03
PLACES = ("at home", "with friends", "in a bar", "I do not drink", "rather not say")
NIGHTS = ("very badly", "badly", "fairly", "well", "very well")
OLDEST = 80.0

SHEET = f"""\
title = "Drinking and sleep"
purpose = "To decide whether a campaign for drinking less is needed"
asked_by = "A health office (made up)"

[[question]]
name = "units"
kind = "number"
text = "How many units of alcohol do you drink a week?"
unit = "units"
bounds = [0, {HIGHEST:g}]
sd = 9

[[question]]
name = "more"
kind = "yes-no"
text = "Did you drink more than you meant to last month?"

[[question]]
name = "where"
kind = "choice"
text = "Where do you drink most?"
options = ["{'", "'.join(PLACES)}"]

[[question]]
name = "sleep"
kind = "scale"
text = "How do you sleep?"
options = ["{'", "'.join(NIGHTS)}"]

[[question]]
name = "age"
kind = "histogram"
text = "How old are you?"
unit = "years"
edges = [18, 30, 45, 60, {OLDEST:g}]
"""


@dataclass(frozen=True)
class MadeStudy:
    """Made people and their answers, by the names of the questions; those who declined gave none."""

    people: MadePeople
    answers: dict[str, list[str]]

    @property
    def skipped_one(self) -> NDArray[np.bool_]:
        """Say who left exactly one question out."""
        return np.array([given.count("") == 1 for given in zip(*self.answers.values(), strict=True)])

    def to_csv(self) -> str:
        """Write the table: id, limit, an answer to each question or nothing, and who joined."""
        made = self.people
        rows = zip(made.ids, made.limits, zip(*self.answers.values(), strict=True), made.joined, strict=True)
        lines = [
            ",".join([person, f"{limit:.4f}", *(given if joined else ("",) * len(given)), "yes" if joined else "no"])
            for person, limit, given, joined in rows
        ]
        return "\n".join([",".join(["id", "limit", *self.answers, "joined"]), *lines]) + "\n"


def make_answers(made: MadePeople, generator: np.random.Generator) -> MadeStudy:
    """Make answers that go with how much people drink, and not with their limits; each is left out by three in a hundred.

    >>> from optin.cli.made_people import make_people
    >>> generator = np.random.default_rng(1)
    >>> study = make_answers(make_people(500, generator), generator)
    >>> list(study.answers), study.to_csv().splitlines()[0]
    (['units', 'more', 'where', 'sleep', 'age'], 'id,limit,units,more,where,sleep,age,joined')
    """
    count, units = len(made.ids), made.values
    more = generator.random(count) < np.clip(units / HIGHEST, 0.05, 0.8)
    where = np.where(units > 0, generator.choice(3, count, p=(0.5, 0.3, 0.2)), 3)
    where[generator.random(count) < 0.05] = 4
    sleep = np.clip(np.round(generator.normal(2.6 - units / HIGHEST, 1.0)), 0, 4).astype(int)
    age = np.clip(generator.normal(44, 15, count), 18, OLDEST - 1).astype(int)
    answers = {
        "units": [f"{each:.1f}" for each in units],
        "more": ["yes" if each else "no" for each in more],
        "where": [PLACES[each] for each in where],
        "sleep": [NIGHTS[each] for each in sleep],
        "age": [str(each) for each in age],
    }
    return MadeStudy(made, {name: _with_gaps(given, generator) for name, given in answers.items()})


def _with_gaps(given: list[str], generator: np.random.Generator) -> list[str]:
    skipped: NDArray[np.bool_] = generator.random(len(given)) < SKIPPING
    return ["" if gone else answer for answer, gone in zip(given, skipped, strict=True)]
