"""People made up for the demo: a survey of drinking, with the mix of privacy limits that studies often use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HIGHEST = 40.0
SPREAD = 9.0
DECLINING = 0.08


@dataclass(frozen=True)
class MadePeople:
    """Columns of the demo's table."""

    ids: list[str]
    limits: NDArray[np.float64]
    values: NDArray[np.float64]
    joined: NDArray[np.bool_]

    def to_csv(self) -> str:
        """Write the table; those who decline gave no value."""
        rows = zip(self.ids, self.limits, self.values, self.joined, strict=True)
        lines = [f"{i},{limit:.4f},{f'{value:.1f}' if j else ''},{'yes' if j else 'no'}" for i, limit, value, j in rows]
        return "\n".join(["id,limit,units,joined", *lines]) + "\n"


def make_people(count: int, generator: np.random.Generator) -> MadePeople:
    """Make people: 54 % with limits in [.01, .2], 37 % in [.2, 1], 9 % at 1; units of alcohol a week, a fifth of them none.

    >>> made = make_people(1000, np.random.default_rng(1))
    >>> 500 < int((made.limits < 0.2).sum()) < 580
    True
    """
    kind = generator.choice(3, size=count, p=(0.54, 0.37, 0.09))
    limits = np.choose(kind, (generator.uniform(0.01, 0.2, count), generator.uniform(0.2, 1.0, count), np.ones(count)))
    drinking = generator.random(count) < 0.8
    values = np.where(drinking, generator.gamma(1.6, 7.0, count), 0.0)
    joined = generator.random(count) >= DECLINING
    return MadePeople([f"p{at:04d}" for at in range(1, count + 1)], limits, values, joined)
