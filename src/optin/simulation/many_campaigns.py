"""Campaigns by the thousand: drawn in blocks that fit the processor's cache, on all cores, the same for the same seed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from optin.baselines import Baseline, SimulatedValues, ValueLaw
from optin.kernel.pieces import Array

CELLS = 2**16
"""Values in a block: half a megabyte stays near the processor, and threads have enough to do between handovers."""


@dataclass(frozen=True)
class Block:
    """Some campaigns: by design the estimates in data units, sums of epsilons and of squares, and tilts; who joined.

    Tilts are 0 unless a gap was declared, which is the only use for them.
    """

    estimates: Array
    totals: Array
    squares: Array
    tilts: Array
    joined: Array


@dataclass(frozen=True)
class CampaignRuns:
    """Campaigns to run: how values are drawn, for whom, and which designs publish."""

    law: ValueLaw
    limits: Array
    designs: Sequence[Baseline]

    def run(
        self,
        campaigns: int,
        generator: np.random.Generator,
        *,
        workers: int,
        progress: Callable[[int, int], None] | None,
    ) -> Block:
        """Run all campaigns. Blocks and their generators do not depend on the number of workers, and so nothing does."""
        sizes = self._sizes(campaigns)
        tasks = zip(sizes, generator.spawn(len(sizes)), strict=True)
        done: list[Block] = []
        for block in self._blocks(list(tasks), workers):
            done.append(block)
            if progress is not None:
                progress(sum(sizes[: len(done)]), campaigns)
        parts = zip(*((b.estimates, b.totals, b.squares, b.tilts, b.joined) for b in done), strict=True)
        return Block(*(np.concatenate(part, axis=-1) for part in parts))

    def _sizes(self, campaigns: int) -> list[int]:
        size = max(CELLS // len(self.limits), 1)
        return [min(size, campaigns - start) for start in range(0, campaigns, size)]

    def _blocks(self, tasks: Sequence[tuple[int, np.random.Generator]], workers: int) -> Iterator[Block]:
        """Run blocks in order; numpy lets go of the interpreter while it draws and adds, so threads are enough."""
        if workers == 1:
            yield from (self.block(*task) for task in tasks)
            return
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda task: self.block(*task), tasks)

    def block(self, campaigns: int, generator: np.random.Generator) -> Block:
        """Draw values once and publish with every design; where nobody with a weight joined, the estimate is NaN."""
        values = SimulatedValues(self.law, self.limits, campaigns=campaigns, generator=generator)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates = np.array([design.draw(values, generator) for design in self.designs])
        counted = [_counted(design, self.limits) for design in self.designs]
        totals = np.array([values.joined_sums(eps) for eps in counted])
        squares = np.array([values.joined_sums(eps * eps) for eps in counted])
        tilts = np.array([self._tilts(*each, values) for each in zip(self.designs, counted, totals, strict=True)])
        everyone = values.joined_sums(np.ones(len(self.limits)))
        asks_nobody = np.array([[not eps.any()] for eps in counted])  # then there is an answer whoever joins
        return Block(np.where((totals > 0) | asks_nobody, estimates, np.nan), totals, squares, tilts, everyone)

    def _tilts(self, design: Baseline, eps: Array, totals: Array, values: SimulatedValues) -> Array:
        """Measure how far the weights of those who joined are from equal weights for all (E15)."""
        if design.max_gap == 0.0:
            return np.zeros(values.campaigns)
        if values.everyone:
            return np.full(values.campaigns, design.tilt)
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 - values.joined_sums_below(eps, totals / len(eps)) / totals


def _counted(design: Baseline, limits: Array) -> Array:
    """Return what weights are in proportion to: epsilons, or 1 for people who count without any noise."""
    eps = design.epsilons(limits)
    return np.where(np.isinf(eps), 1.0, eps)


def usable_cores() -> int:
    """Count the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
