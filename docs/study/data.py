"""The four data sets of the study: real answers that ship with statsmodels, and limits that nobody was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas
import statsmodels.api as sm
from numpy.typing import NDArray

import optin
from optin.questions import Question

Array = NDArray[np.float64]
LIMITS = (0.1, 0.5, 1.0)
PARTS = (0.34, 0.43, 0.23)
"""Levels and shares of the literature's three kinds of people (Jorgensen and others)."""


@dataclass(frozen=True)
class Study:
    """A data set: its name, whose answers these are, how many are asked in a campaign, questions, answers, public groups."""

    name: str
    source: str
    people: int
    questions: tuple[Question, ...]
    answers: dict[str, Sequence[object]]
    groups: Sequence[str]

    def codes(self, question: Question) -> Array:
        """Return everyone's answers as the question codes them."""
        return np.asarray(question.coded(self.answers[question.name]), dtype=np.float64)


def limits(people: int) -> Array:
    """Return the three levels in their shares, rising."""
    edges = np.cumsum(PARTS) * people
    return np.array([LIMITS[int(np.searchsorted(edges, place + 0.5))] for place in range(people)])


def _asked(*columns: tuple[Question, Any]) -> tuple[tuple[Question, ...], dict[str, Sequence[object]]]:
    """Return questions, and everyone's answers to each; what is true or false is answered by yes or no."""
    answers = {
        question.name: [("yes" if each else "no") for each in column] if column.dtype == bool else column.tolist()
        for question, column in columns
    }
    return tuple(question for question, _ in columns), answers


def _fair() -> Study:
    data = sm.datasets.fair.load_pandas().data
    asked = _asked(
        (optin.Number("years", bounds=(0, 25), sd=7), data["yrs_married"]),
        (optin.YesNo("affair"), data["affairs"] > 0),
        (optin.Number("children", bounds=(0, 6), sd=1.5), data["children"]),
    )
    groups = ["religious" if each >= 3 else "not religious" for each in data["religious"]]
    return Study("fair", "6,366 readers of a magazine, 1974", 1000, *asked, groups)


def _anes() -> Study:
    data = sm.datasets.anes96.load_pandas().data
    asked = _asked(
        (optin.Number("age", bounds=(18, 100), sd=18), data["age"]),
        (optin.YesNo("Dole"), data["vote"] > 0),
        (optin.Number("news", bounds=(0, 7), sd=2.7), data["TVnews"]),
    )
    groups = ["college" if each >= 6 else "no college" for each in data["educ"]]
    return Study("anes96", "944 voters in the United States, 1996", 900, *asked, groups)


def _randhie() -> Study:
    data = sm.datasets.randhie.load_pandas().data
    asked = _asked(
        (optin.Number("visits", bounds=(0, 20), sd=4.5), data["mdvis"]),
        (optin.YesNo("limited"), data["physlm"] > 0.5),
        (optin.Number("diseases", bounds=(0, 60), sd=7), data["disea"]),
    )
    groups = ["free care" if each == 0 else "own share" for each in data["lncoins"]]
    return Study("randhie", "20,190 years of insured people, RAND 1974-82", 1000, *asked, groups)


def _engel() -> Study:
    data = pandas.DataFrame(sm.datasets.engel.load_pandas().data)
    asked = _asked(
        (optin.Number("food", bounds=(200, 2100), sd=280), data["foodexp"]),
        (optin.Number("income", bounds=(300, 5000), sd=520), data["income"]),
    )
    groups = ["poorer" if each < 884 else "richer" for each in data["income"]]
    return Study("engel", "235 Belgian households, 1857", 235, *asked, groups)


def studies() -> tuple[Study, ...]:
    """Load all four."""
    return (_fair(), _anes(), _randhie(), _engel())
