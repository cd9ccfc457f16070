"""What others do: reference points to stand beside a plan, each with the noise that suits it best.

All of them are unbiased for independent values and cross nobody's limit, so they compare by variance alone; where a gap
between people's means was declared, each has its own largest bias, the gap times its tilt (E15). They are computed
from people, or from a `Description`, which is enough to draw reports without any person's limit at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Bucket, Description
from optin.agents.protocols import LimitTable
from optin.baselines.ruler import ruler_of
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array, Pieces
from optin.kernel.ranks import at_rank, bucket_at
from optin.planning import Plan
from optin.planning.by_rank import limit_table
from optin.wording.language import _
from optin.wording.records import Brief


@dataclass(frozen=True, repr=False)
class Reference(Brief):
    """A way to publish the mean: whose values count, what each of them loses at most, and the parts of its error.

    ``bias`` is the largest there can be: the declared gap times the tilt, which is the share of people left out (E15).
    """

    name: str
    people: int
    epsilon: float
    sampling: float
    noise: float
    sentence: str
    bias: float = 0.0

    @property
    def variance(self) -> float:
        """Return the expected squared error, in squared data units (E0)."""
        return self.sampling + self.noise

    @property
    def standard_error(self) -> float:
        """Return the root of the variance, in data units."""
        return math.sqrt(self.variance)

    @property
    def worst_case_mse(self) -> float:
        """Return the expected squared error with the largest bias (E15)."""
        return self.variance + self.bias**2

    @property
    def effective_people(self) -> float:
        """Return how many people would be as accurate without noise and bias; of several questions, on each (E18)."""
        return self.people * self.sampling / self.worst_case_mse if self.worst_case_mse > 0 else math.inf


def references(plan: Plan, people: Agents | Description) -> tuple[Reference, Reference, Reference]:
    """Compute the three reference points of a plan: no privacy at all, best single threshold, strictest limit for all.

    Quasi-linear people are taken at the limits they have under the plan's promise. For a sheet of several questions
    variances are v, the same for each question: one over effective people (E18). `comparable` says where that is so.

    >>> import optin
    >>> people = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    >>> [round(r.variance * 1e4, 3) for r in references(optin.plan(people, bounds=(0, 1)), people)]
    [2.5, 3.972, 4.5]
    >>> two = optin.plan(people, [optin.YesNo("break"), optin.YesNo("late")])
    >>> [round(r.effective_people) for r in references(two, people)]
    [1000, 553, 238]
    """
    return no_privacy(plan), best_threshold(plan, people), strictest(plan, people)


def no_privacy(plan: Plan) -> Reference:
    """Publish the plain mean of everyone: only the luck of who was asked remains."""
    return Reference(
        name=_("no privacy at all"),
        people=plan.people,
        epsilon=math.inf,
        sampling=plan.data_variance / plan.people,
        noise=0.0,
        sentence=_("The plain mean of everyone, without noise: nobody's limit is respected."),
    )


def strictest(plan: Plan, people: Agents | Description) -> Reference:
    """Treat everyone as if they had the lowest limit of all: sigma^2/n + kappa R^2 / (n min tau)^2."""
    limit = _least(people) if isinstance(people, Description) else at_rank(limit_table(plan, people), 1)
    sentence = _("Everyone counts alike and loses no more than the strictest person allows.")
    if limit == 0:
        sentence = _("Someone allows nothing, so treating everyone alike leaves nothing to publish.")
    return _alike(plan, _("everyone at the strictest limit"), plan.people, limit, sentence)


def best_threshold(plan: Plan, people: Agents | Description) -> Reference:
    """Leave out everyone below one limit and treat the rest alike: min over t of sigma^2/m + kappa R^2 / (m t)^2.

    A declared gap adds the square of gap (1 - m/n), for that is how far equal weights on m people are from all n (E15).
    Everyone at or above the threshold is kept: with ties, keeping only some of them would be worse in every term.

    >>> import optin
    >>> people = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    >>> [best_threshold(optin.plan(people, bounds=(0, 1), max_gap=gap), people).people for gap in (0, 0.1)]
    [660, 1000]
    """
    if isinstance(people, Description):
        _error, limit, m = _best_of(plan, *_thresholds(people))
    else:
        limit, m = _best_in(plan, limit_table(plan, people))
    sentence = (
        _(
            "The {left_out:,} strictest people are left out; the other {others:,} count alike.",
            left_out=plan.people - m,
            others=m,
        )
        if m < plan.people
        else _("Leaving people out does not pay here: everyone counts alike, at the strictest limit.")
    )
    return _alike(plan, _("best single threshold"), m, limit, sentence)


def _alike(plan: Plan, name: str, m: int, limit: float, sentence: str) -> Reference:
    with np.errstate(divide="ignore", over="ignore"):
        noise = float(_noise(plan, np.float64(m * limit)))
    bias = float(_largest_bias(plan, np.float64(m)))
    return Reference(name, m, limit, plan.data_variance / m, noise, sentence, bias)


def _largest_bias(plan: Plan, kept: Array | np.float64) -> Array:
    """Return gap * TV of equal weights on ``kept`` of all people: kept (1/kept - 1/n) = 1 - kept/n (E15)."""
    return np.asarray(ruler_of(plan).max_gap * (1.0 - kept / plan.people))


def _noise(plan: Plan, reach: Array | np.float64) -> Array:
    return np.asarray(noise_variance(ruler_of(plan).noise, np.asarray(reach)))


def _errors(plan: Plan, limits: Array, kept: Array) -> Array:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        errors = plan.data_variance / kept + _noise(plan, kept * limits) + _largest_bias(plan, kept) ** 2
    return np.asarray(np.where(kept > 0, errors, np.inf))


def _best_of(plan: Plan, limits: Array, kept: Array) -> tuple[float, float, int]:
    """Return the least error among thresholds, and of equal ones the highest."""
    errors = _errors(plan, limits, kept)
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))
    return float(errors[best]), float(limits[best]), int(kept[best])


def _best_in(plan: Plan, table: LimitTable) -> tuple[float, int]:
    """Find the best threshold among everyone's limits, looking only where it may lie.

    Within a bucket nobody's threshold is better than its upper edge with everyone above its lower edge kept, for the error
    falls in the limit and in the kept people; and the lower edge itself, with these people, can be had. So only buckets
    whose best case is not beaten by what can be had are looked into.
    """
    outline, people = table.buckets(), len(table)
    kept = people - np.concatenate(([float(table.zeros)], outline.counts))
    _, limit, m = _best_of(plan, np.array([0.0, math.inf]), np.array([float(people), float(table.infinite)]))
    if len(outline.edges) == 0:
        return limit, m
    edges = outline.edges / table.scale
    had = float(_errors(plan, np.append(edges, limit), np.append(kept[1:], float(m))).min())
    hopeful = np.flatnonzero((kept[:-1] > kept[1:]) & (_errors(plan, edges, kept[:-1]) <= had * (1 + 1e-12)))
    pairs = [(limit, float(m))]
    for pieces in _pieces_of(table, hopeful):
        pairs += zip(pieces.inside / table.scale, (people - pieces.counts[:-1]).astype(np.float64), strict=True)
    limits, counts = np.array(sorted(pairs)).T
    _, limit, m = _best_of(plan, limits, counts)
    return limit, m


def _pieces_of(table: LimitTable, buckets: NDArray[np.intp]) -> list[Pieces]:
    """Fetch the limits of neighbouring buckets at once where they are not too many, else bucket by bucket."""
    if len(buckets) == 0:
        return []
    edges, first, last = table.buckets().edges, int(buckets[0]), int(buckets[-1])
    low, high = float(edges[first - 1]) if first else 0.0, float(np.nextafter(edges[last], np.inf))
    together = table.pieces(low, high)
    return [bucket_at(table, int(each)) for each in buckets] if together is None else [together]


def _thresholds(description: Description) -> tuple[Array, Array]:
    """Pair a limit that everyone in a bucket allows with the number of people from that bucket on."""
    least = [0.0] * bool(description.zeros) + [least_in(b) for b in description.buckets] + [math.inf]
    counts = [description.zeros] * bool(description.zeros) + [b.count for b in description.buckets]
    kept = np.cumsum([*counts, description.infinite][::-1])[::-1].astype(np.float64)
    some = kept > 0
    return np.asarray(least)[some], kept[some]


def _least(description: Description) -> float:
    if description.zeros:
        return 0.0
    if not description.buckets:
        return math.inf
    return math.nextafter(description.buckets[0].low, math.inf)  # the first bucket is open just below the least limit


def least_in(bucket: Bucket) -> float:
    """Bound the lowest limit in a bucket from below: its edge, or Samuelson's mean - sd sqrt(count - 1) if that is higher.

    Both hold, up to rounding, for every table with these sums. For equal limits the second is the limit itself.
    """
    mean = bucket.total / bucket.count
    variance = max(bucket.squares / bucket.count - mean * mean, 0.0)
    return max(bucket.low, mean - math.sqrt(variance * (bucket.count - 1)))
