"""DuckDB's cheaper first scan of people in groups: checked and added up by label, and of each label a small sample is ranked.

Counting limits by label and bucket costs DuckDB three times as much. In a large group the cap lies low, and few people lie
below it: the sample says below which limit it surely is, the second scan fetches everyone below that, and from there on
nothing is estimated. Where the sample cannot tell, or few people are not few enough, buckets are counted after all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optin.engine.limits import SHARE, SMALL, EngineLimits
from optin.engine.sampled_limits import LARGE, counted
from optin.engine.session import Session, literal
from optin.kernel.pieces import Array, Outline, Pieces, Sums

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.survey import Survey

SAMPLE = 1 << 11
STEPS = 64
UNSURE = 2  # steps: more than four standard errors of a rank in such a sample, at every rank
RANKS = np.sin(np.pi * np.arange(1, STEPS) / (2 * STEPS)) ** 2
"""Shares of a sample, as far apart as a sample is unsure of each (its standard error is the root of q (1 - q) / size)."""
UNLIKE = 0.5  # of the sum: a sample so far off is none
Known = tuple[Array, NDArray[np.int64]]


class Unsure(Exception):
    """A sample does not say what is asked of a group: its buckets do."""


@dataclass(frozen=True)
class LabelGlance:
    """How many people have a label, the sum of their limits, and a sample's limits at `RANKS`."""

    people: int
    total: float
    ranks: Array

    @property
    def between(self) -> tuple[Array, Array]:
        """Say about how many people lie between two ranks, and where, in the middle."""
        return self.people * np.diff(RANKS, prepend=0.0), (
            self.ranks + np.concatenate((self.ranks[:1], self.ranks[:-1]))
        ) / 2

    @property
    def alike(self) -> bool:
        """Whether the sample adds up to about what everyone does, as one of sorted rows does not."""
        people, where = self.between
        return math.isinf(self.total) or abs(float(people @ where) - self.total) <= UNLIKE * self.total


Glances = Mapping[str, LabelGlance]


def glances(session: Session, table: ir.Table, *, about: str) -> Glances | None:
    """Scan limits ``tau`` and labels once, where the engine samples cheaply; None where it does not, or limits are odd."""
    sample_ranks = session.dialect.sample_ranks
    if sample_ranks is None:
        return None
    import ibis

    # DuckDB drops what the smallest and the largest number of a file answer; these leave NaN out, which the sum shows.
    usable = (table.tau >= literal(0.0)) & (table.tau <= literal(LARGE)) | (table.tau == literal(math.inf))
    query = table.group_by("label").agg(
        people=table.count(),
        usable=(usable | ibis.null("boolean")).count(),
        total=table.tau.sum(),
        ranks=sample_ranks(table.tau, RANKS.tolist(), SAMPLE),
    )
    rows = session.fetch(query, about=about).to_pylist()
    if any(row["usable"] != row["people"] or math.isnan(row["total"]) for row in rows):
        return None
    return {row["label"]: LabelGlance(row["people"], row["total"], np.array(row["ranks"])) for row in rows}


def merged_glances(glanced: Iterable[LabelGlance]) -> Outline:
    """Estimate the sums at every sampled limit, of people with any of these labels."""
    parts = list(glanced)
    edges = np.concatenate([each.ranks for each in parts])
    order = np.argsort(edges)
    order = order[np.isfinite(edges[order])]
    people, where = (np.concatenate(each)[order] for each in zip(*(each.between for each in parts), strict=True))
    counts, totals, squares = (np.cumsum(people * where**k) for k in range(3))
    return Outline(edges[order], counts, totals, squares, exact=False, margin=UNSURE * len(parts))


def expected_below(glanced: Glances, bounds: Mapping[str, float]) -> float:
    """Say about how many people have a limit below the bound of their label."""
    shares, parts = np.append(0.0, RANKS), ((glanced[label], bound) for label, bound in bounds.items())
    return sum(each.people * float(shares[np.searchsorted(each.ranks, bound)]) for each, bound in parts)


class SampledGroupLimits(EngineLimits):
    """The limits of one group, of which a sample is known, and once they were fetched all below a bound."""

    def __init__(self, people: int, sampled: Outline, known: KnownBelow) -> None:
        self.scale, self.ceiling, self._seen, self._fetched = 1.0, math.inf, _unsure, []
        self._people, self._sampled, self._known_below = people, sampled, known

    def __len__(self) -> int:
        return self._people

    @property
    def few_enough(self) -> int:
        """How many limits may be fetched: twice as many as elsewhere, since counting buckets of all groups costs more."""
        return max(SMALL, 2 * len(self) // SHARE)

    @property
    def least(self) -> float:
        """A float at or below the smallest positive limit; a sample says no more."""
        return 0.0

    def outline(self, low: float, high: float) -> Outline:
        """Estimate from the sample."""
        return self._sampled.between(low, high)

    def pieces(self, low: float, high: float) -> Pieces:
        """Have everyone below fetched, who must be few, and return those inside."""
        everyone = len(self) <= self.few_enough
        if not everyone and (math.isinf(high) or self._expected(high) > self.few_enough):
            raise Unsure
        return self._from_sample(low, high)

    def all_pieces(self, low: float, high: float) -> Pieces:
        """Do the same; a range that was not fetched is none that a sample may be asked about."""
        return self.pieces(low, high)

    def sums(self, bound: float) -> Sums:
        """Add up the limits at or below a bound that was fetched."""
        values, repeats = self._known_below(bound, ask=False)
        return _added_up(values, repeats, bound)

    def counts_at(self, bounds: Array) -> NDArray[np.int64]:
        """Leave it to buckets: no query is made for one group alone."""
        raise Unsure

    def _expected(self, bound: float) -> float:
        return float(self._sampled.sums_at(bound).count)

    def _from_sample(self, low: float, high: float) -> Pieces:
        values, repeats = self._known_below(high, ask=True)
        inside = (values > low) & (values < high)
        return Pieces(low, high, _added_up(values, repeats, low), values[inside], repeats[inside], len(self))


def _added_up(values: Array, repeats: NDArray[np.int64], bound: float) -> Sums:
    last = int(np.searchsorted(values, bound, side="right"))
    limits, people = values[:last], repeats[:last]
    totals = limits * people
    return Sums(int(people.sum()), float(totals.sum()), float((limits * totals).sum()))


class KnownBelow:
    """What was fetched of a group: distinct limits at or below a bound, and how often each occurs."""

    def __init__(self) -> None:
        self.bound = -1.0
        self.known: Known = (np.empty(0), np.empty(0, dtype=np.int64))

    def take(self, bound: float, listed: Array) -> None:
        """Keep what was fetched up to the bound, in order."""
        self.bound, self.known = bound, counted(np.sort(listed[listed <= bound]))

    def __call__(self, bound: float, *, ask: bool) -> Known:
        """Return what lies below a bound; what was not fetched yet is lacking, or nothing that a sample tells."""
        if bound <= self.bound:
            return self.known
        if ask:
            raise LackingBelow(bound)
        raise Unsure


class LackingBelow(Exception):
    """A group's plan lacks all limits at or below a bound."""

    def __init__(self, bound: float) -> None:
        super().__init__()
        self.bound = bound


def _unsure() -> Survey:
    raise Unsure
