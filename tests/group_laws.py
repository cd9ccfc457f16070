"""Groups of uneven sizes and limits, and many simulated results of each: exact sums in grains, Laplace noise of 2^52."""

import math
from dataclasses import dataclass

import numpy as np

import optin
from optin.baselines.answer_laws import laws_of
from optin.questions.counted import Counted

SHAPES = {
    "alike": lambda n, rng: np.full(n, 0.3),
    "open": lambda n, rng: np.full(n, 20.0),
    "uneven": lambda n, rng: rng.lognormal(math.log(0.5), 1.2, n),
    "two kinds": lambda n, rng: np.where(np.arange(n) < n // 2, 0.05, 2.0),
}


@dataclass(frozen=True)
class Ward:
    """One group: what everyone is promised, in grains."""

    name: str
    grains: np.ndarray

    def results(self, question, law, many, rng):
        """Draw the results of so many releases of one question: new answers and new noise each time."""
        sums = (int(self.grains.sum()), int(sum(int(a) ** 2 for a in self.grains)), int(self.grains.max()))
        weights = self.grains.astype(float)
        for _ in range(many):
            codes = law.codes(len(weights), rng)
            exact = (int(cell.levels(codes).astype(float) @ weights) for cell in question.cells)
            noisy = tuple(total + int(rng.laplace(scale=2.0**52)) for total in exact)
            yield question.result(Counted(len(weights), *sums, noisy))


def ward(name, people, shape, question, seed=1):
    """Plan a group by itself."""
    agents = optin.PrivacyConstrained(SHAPES[shape](people, np.random.default_rng(seed)))
    epsilons = optin.plan(agents, [question]).epsilons(agents)
    return Ward(name, np.floor(epsilons * 2.0**32).astype(np.int64))


def truth_of(question, law, answer):
    """Return the true value of a figure."""
    if question.kind in ("number", "score"):
        return law.mean
    if answer == "mean score":
        return float(np.dot(range(1, len(law.chances) + 1), law.chances))
    return law.chances[question.options.index(answer)]


def law_of(question, given):
    (law,) = laws_of(optin.Sheet([question]), {question.name: given})
    return law
