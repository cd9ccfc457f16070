"""The announcement: the public offer, of constant size, that freezes what everyone is promised (E12, E13)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, Description, PrivacyConstrained
from optin.agents.models import indifferent
from optin.announcement.naming import check_round, checked_campaign
from optin.errors import BadInput
from optin.formats import strict_json
from optin.grains.arrays import GRAIN, HIGHEST_EPSILON, FloatArray, GrainRule, Promises, everyone_grains, lowered
from optin.kernel.noise import LAPLACE, variance
from optin.kernel.rounding import exact_epsilon
from optin.planning.cautions import cautions
from optin.planning.reach import reach
from optin.questions.number import WIDEST

__all__ = ["PRIVACY_CONSTRAINED", "QUASI_LINEAR", "Announcement", "announced_eta", "exact_variance", "nearest"]

PRIVACY_CONSTRAINED = "privacy-constrained"
QUASI_LINEAR = "quasi-linear"
VERSION = 1
READABLE = (VERSION,)  # from version 2 on: (VERSION, VERSION - 1)


@dataclass(frozen=True)
class Announcement:
    """What is offered to everyone, in public: it names nobody and lists nobody's limit.

    From it and their own limit (or cost), each person computes what they are promised: ``optin.explain``. The sums of
    the promises and of their squares are exact, so a limit edited afterwards is noticed.
    """

    campaign: str
    round: int
    model: str
    people: int
    cap: float
    eta: float
    bounds: tuple[float, float]
    data_variance: float
    max_gap: float
    tilt: float
    variance: float
    promised_variance: float | None
    surplus: float | None
    benefit_name: str | None
    benefit_at_promise: float | None
    outside: float | None
    total_grains: int
    total_squared_grains: int
    cap_lowered: bool = False

    @property
    def id(self) -> str:
        """Name the one release this announcement allows: campaign and round."""
        return f"{self.campaign}-{self.round}"

    @property
    def width(self) -> float:
        """Return R, the upper bound minus the lower."""
        return self.bounds[1] - self.bounds[0]

    @property
    def noiseless(self) -> bool:
        """Say whether no noise is planned, because everyone who counts set no limit."""
        return math.isinf(self.eta)

    @property
    def largest_promise(self) -> int:
        """Return the most grains this announcement promises anybody: those of whoever reaches the cap."""
        return int(HIGHEST_EPSILON * GRAIN) if self.noiseless else int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise at full turnout, in the unit of the values."""
        return 1.0 / self.eta

    @property
    def standard_error(self) -> float:
        """Return the root of the variance at full turnout."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to ``max_gap`` (E15)."""
        return self.max_gap * self.tilt

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval that this offer leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.
        """
        squares = self.total_squared_grains / self.total_grains**2 / turnout
        scale, at_cap = 0.0 if self.noiseless else 1.0 / self.eta, self.largest_promise / self.total_grains
        people = self.people * turnout
        return reach(self, level, people=people, squares=squares, at_cap=at_cap / turnout, scale=scale / turnout)

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this offer, in sentences: nothing is refused for it (`Plan.warnings`)."""
        return cautions(
            standard_error=self.standard_error,
            half_width=self.half_width(),
            width=self.width,
            data_variance=self.data_variance,
            description=description if self.model == PRIVACY_CONSTRAINED else None,
        )

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of the canonical bytes of everything announced."""
        return strict_json.fingerprint(self.to_record())

    def grains(self, agents: Agents) -> NDArray[np.int64]:
        """List the promise of each of these people in grains of 2^-32, at most their limit, exactly."""
        return everyone_grains(self.grain_rule(agents))

    def promises(self, agents: Agents) -> Promises:
        """Join what is announced with people's limits, in memory or in an engine; nothing is computed yet."""
        if not hasattr(agents, "rows"):
            return self.grain_rule(agents)
        from optin.grains.engine import kept_rule

        self._expect_model(agents)
        return kept_rule(agents, surplus=self.surplus, cap=math.inf if self.noiseless else self.cap)

    def grain_rule(self, agents: Agents) -> GrainRule:
        """Join what is announced with limits in memory; nothing is computed yet."""
        return GrainRule(limits=self._limits(agents), people=len(agents), cap=math.inf if self.noiseless else self.cap)

    def _expect_model(self, agents: Agents) -> None:
        if agents.model != self.model:
            raise BadInput(f"this announcement was made for {self.model} people, these are {agents.model}")

    def _limits(self, agents: Agents) -> Callable[[slice], FloatArray]:
        self._expect_model(agents)
        if isinstance(agents, PrivacyConstrained):
            return agents.limits.__getitem__
        if self.surplus is not None:
            return _SharedSurplus(self.surplus, agents.costs)
        promised = cast("float", self.promised_variance)
        return lowered(agents.limits_at(promised, data_variance=self.data_variance)).__getitem__

    def to_record(self) -> dict[str, Any]:
        """Return the fields as JSON holds them, without the fingerprint."""
        return {
            "format": f"optin.announcement/{VERSION}",
            "campaign": self.campaign,
            "round": self.round,
            "model": self.model,
            "people": self.people,
            "cap": strict_json.real(self.cap),
            "cap_lowered": self.cap_lowered,
            "eta": strict_json.real(self.eta),
            "bounds": [float(self.bounds[0]), float(self.bounds[1])],
            "data_variance": strict_json.real(self.data_variance),
            "max_gap": strict_json.real(self.max_gap),
            "tilt": strict_json.real(self.tilt),
            "variance": strict_json.real(self.variance),
            "promised_variance": strict_json.real(self.promised_variance),
            "surplus": strict_json.real(self.surplus),
            "benefit_name": self.benefit_name,
            "benefit_at_promise": strict_json.real(self.benefit_at_promise),
            "outside": strict_json.real(self.outside),
            "total_grains": strict_json.wide(self.total_grains),
            "total_squared_grains": strict_json.wide(self.total_squared_grains),
        }

    def to_json(self) -> str:
        """Write the announcement, with its fingerprint, for everyone to read."""
        return json.dumps({**self.to_record(), "fingerprint": self.fingerprint}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Announcement:
        """Read an announcement; one that does not match its own fingerprint or sums is refused."""
        return cls.from_fields(strict_json.Fields.parse(text, "announcement", READABLE))

    @classmethod
    def from_fields(cls, fields: strict_json.Fields) -> Announcement:
        """Read an announcement from fields already parsed (a release embeds one)."""
        low, high = _bounds(fields.take("bounds"))
        found = cls(
            campaign=fields.take_text("campaign"),
            round=fields.take_int("round"),
            model=fields.take_text("model"),
            people=fields.take_int("people"),
            bounds=(low, high),
            benefit_name=fields.maybe("benefit_name", fields.take_text),
            total_grains=fields.take_int("total_grains"),
            total_squared_grains=fields.take_int("total_squared_grains"),
            cap_lowered=fields.take_bool("cap_lowered"),
            cap=fields.take_real("cap"),
            eta=fields.take_real("eta"),
            data_variance=fields.take_real("data_variance"),
            max_gap=fields.take_real("max_gap"),
            tilt=fields.take_real("tilt"),
            variance=fields.take_real("variance"),
            promised_variance=fields.maybe("promised_variance", fields.take_real),
            surplus=fields.maybe("surplus", fields.take_real),
            benefit_at_promise=fields.maybe("benefit_at_promise", fields.take_real),
            outside=fields.maybe("outside", fields.take_real),
        )
        stated = fields.take_text("fingerprint")
        fields.finish()
        _check_consistent(found, stated)
        return found


@dataclass(frozen=True)
class _SharedSurplus:
    """Limits of people who share one benefit and one outside option: surplus over cost (E9), rounded down."""

    surplus: float
    costs: FloatArray = field(repr=False)

    def __call__(self, rows: slice) -> FloatArray:
        return lowered(indifferent(np.asarray(self.surplus), self.costs[rows]))


def exact_variance(announcement: Announcement, total_grains: int, total_squared_grains: int) -> Fraction:
    """Compute E13's V_A = (sigma^2 sum A^2 + kappa R^2 2^64) / (sum A)^2 without rounding."""
    noise = 0 if announcement.noiseless else LAPLACE.constant(Fraction(announcement.width) * int(GRAIN))
    return variance(Fraction(announcement.data_variance), total_squared_grains, total_grains, noise)


def announced_eta(total_grains: int, width: float) -> float:
    """Return E3's eta = sum eps / R, from grains."""
    return nearest(exact_epsilon(total_grains) / Fraction(width))


def nearest(number: Fraction) -> float:
    """Round to the nearest float; past the largest one, infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _bounds(found: object) -> tuple[float, float]:
    if isinstance(found, list) and len(found) == 2:
        low, high = (strict_json.finite(end) for end in found)
        if low is not None and high is not None and 1 / WIDEST <= high - low <= WIDEST:
            return low, high
    raise BadInput('this announcement cannot be read: "bounds" is not a pair of usable numbers, the lower one first')


def _check_consistent(found: Announcement, stated: str) -> None:
    """Refuse what no plan could have announced, whether or not its fingerprint was made again."""
    if found.fingerprint != stated:
        raise BadInput("this announcement does not match its fingerprint: it was changed after it was written")
    if found.model not in (PRIVACY_CONSTRAINED, QUASI_LINEAR):
        raise BadInput('this announcement cannot be read: "model" is not one that optin knows')
    checked_campaign(found.campaign)
    if min(found.people, found.total_grains) < 1 or min(found.cap, found.eta) <= 0:
        raise BadInput("this announcement cannot be read: people, total_grains, cap and eta are positive")
    check_round(found.round)
    _check_ranges(found)
    _check_sums(found)
    _check_stated_promise(found)


def _check_ranges(found: Announcement) -> None:
    """Keep what the analyst declares within what the bounds allow."""
    ranges = {
        "max_gap": (found.max_gap, found.width),
        "data_variance": (found.data_variance, found.width * found.width / 4),
        "tilt": (found.tilt, nearest(Fraction(found.people - 1, found.people))),
        "cap": (found.cap, math.inf if found.noiseless else HIGHEST_EPSILON),
    }
    for name, (number, most) in ranges.items():
        if not 0.0 <= number <= most:
            raise BadInput(f'this announcement contradicts itself: its "{name}" is not possible with its bounds')
    if found.cap_lowered and (found.noiseless or found.cap != HIGHEST_EPSILON):
        raise BadInput('this announcement contradicts itself: "cap_lowered" fits no cap but the highest')


def _check_sums(found: Announcement) -> None:
    """Compare the sums with each other (Cauchy: S^2 <= n Q; nobody above the cap: Q <= S cap) and with what follows."""
    total, squares = found.total_grains, found.total_squared_grains
    if not total * total <= found.people * squares <= found.people * total * found.largest_promise:
        raise BadInput("this announcement contradicts itself: so many people, none above the cap, cannot have its sums")
    if not found.noiseless and announced_eta(total, found.width) != found.eta:
        raise BadInput("this announcement contradicts itself: its eta does not follow from its sums")
    if nearest(exact_variance(found, total, squares)) != found.variance:
        raise BadInput("this announcement contradicts itself: its variance does not follow from its sums")


def _check_stated_promise(found: Announcement) -> None:
    """Insist that people with costs, and only they, are promised a variance, and one that full turnout keeps."""
    promised, surplus, worth, otherwise = (
        *(found.promised_variance, found.surplus),
        *(found.benefit_at_promise, found.outside),
    )
    if found.model == PRIVACY_CONSTRAINED:
        kept = (promised, surplus, worth, otherwise, found.benefit_name) == (None,) * 5
    else:
        kept = promised is not None and found.variance <= promised < math.inf
        kept = kept and all(x is None or math.isfinite(x) for x in (surplus, worth, otherwise))
    if None not in (surplus, worth, otherwise):
        kept = kept and surplus == cast("float", worth) - cast("float", otherwise) >= 0.0
    if not kept:
        raise BadInput("this announcement contradicts itself: its promised variance or surplus does not follow")
