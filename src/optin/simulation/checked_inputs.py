"""What a simulation is given, checked at its door: people, counts, and a generator that can be split."""

from __future__ import annotations

from typing import Any

import numpy as np

from optin.agents import Agents, Constrained, PrivacyConstrained, Weighing
from optin.errors import BadInput
from optin.simulation.populations import Population, population_named


def agents_of(population: Population | Agents | str, people: int, generator: np.random.Generator) -> Agents:
    """Draw limits once from a population, by its name or itself; agents are taken as they are."""
    if isinstance(population, Constrained | Weighing):
        return population
    law = population_named(population) if isinstance(population, str) else population
    return PrivacyConstrained(law.limits(people, child(generator)))


def child(generator: np.random.Generator) -> np.random.Generator:
    """Split a generator, so that what is drawn later does not depend on how much was drawn before."""
    try:
        return generator.spawn(1)[0]
    except TypeError:
        raise BadInput("this generator cannot be split; make one with numpy.random.default_rng(seed)") from None


def count(number: Any, name: str) -> int:  # noqa: ANN401
    """Insist on a whole number, at least 1."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 1:
        raise BadInput("{name} must be a whole number, at least 1", name=name)
    return int(number)
