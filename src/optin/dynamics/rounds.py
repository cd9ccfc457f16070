"""Rounds of best responses: from nobody, everybody or a random crowd, until nobody wants to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from optin.dynamics.game import Game, Members
from optin.errors import BadInput
from optin.wording.records import Listed

MOST = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Rounds(Listed):
    """How many were in and how good the release would be, after each round; who was in at the end."""

    counts: tuple[int, ...]
    variances: tuple[float, ...]
    joined: Members
    settled: bool


def play(
    game: Game,
    start: Literal["nobody", "everybody"] | Members = "nobody",
    *,
    awake: float = 1.0,
    generator: np.random.Generator | None = None,
    most: int = MOST,
) -> Rounds:
    """Let people reconsider, round after round, given who was in after the last one, until nobody would change.

    From nobody the crowd can only grow, from everybody only shrink, as long as company never hurts. From other crowds people
    who all move at once can chase each other for ever; with ``awake`` below 1 each reconsiders with that probability, and
    rounds settle. ``settled`` is false if they had not after ``most`` rounds.

    >>> import optin
    >>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    >>> from optin.dynamics import game_of
    >>> game = game_of(optin.plan(people, bounds=(0, 1), slack=0.2), people)
    >>> play(game, "nobody").counts, play(game, "everybody").counts
    ((0,), (50,))
    >>> crowd = random_crowd(game, 0.95, np.random.default_rng(1))
    >>> play(game, crowd).counts[-1], play(game, crowd & (np.arange(50) < 20)).counts[-1]
    (50, 0)
    """
    joined = _first(game, start)
    if not 0.0 < awake <= 1.0:
        raise BadInput("awake is the share of people who reconsider in a round: above 0, at most 1")
    if awake < 1.0 and generator is None:
        raise BadInput("give a numpy Generator: who reconsiders is drawn at random")
    counts, variances = [int(joined.sum())], [game.variance(joined)]
    for _ in range(most):
        change = game.willing(joined) ^ joined
        if not change.any():
            return Rounds(tuple(counts), tuple(variances), joined, settled=True)
        if generator is not None and awake < 1.0:
            change &= generator.random(len(game)) < awake
        joined = joined ^ change
        counts.append(int(joined.sum()))
        variances.append(game.variance(joined))
    return Rounds(tuple(counts), tuple(variances), joined, settled=False)


def random_crowd(game: Game, share: float, generator: np.random.Generator) -> Members:
    """Draw a crowd in which each person is with this probability."""
    return np.asarray(generator.random(len(game)) < share)


def _first(game: Game, start: str | Members) -> Members:
    if isinstance(start, str):
        if start not in ("nobody", "everybody"):
            raise BadInput('start is "nobody", "everybody", or true or false for each person')
        return np.full(len(game), start == "everybody")
    joined = game.members(start)
    if joined.dtype != np.bool_ or joined.shape != (len(game),):
        raise BadInput("start must be true or false for each of the {count} people", count=len(game))
    return joined.copy()
