"""The release: the noisy estimate, how far it may be off, and all that is needed to recompute it."""

from __future__ import annotations

import json
import math
import re
import weakref
from collections.abc import Callable
from dataclasses import InitVar, asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.agents import Description
from optin.announcement import Announcement
from optin.announcement.offer import PRIVACY_CONSTRAINED, exact_variance, nearest
from optin.announcement.offer import READABLE as READABLE_ANNOUNCEMENTS
from optin.errors import BadInput
from optin.formats import strict_json
from optin.kernel.halfwidth import Weighing, half_width, heaviest_weight
from optin.kernel.noise import LAPLACE
from optin.kernel.rounding import GRAIN
from optin.kernel.tails import laplace_reach
from optin.planning.cautions import assumption, cautions
from optin.planning.reach import check_level
from optin.releasing.earlier import earlier_statements
from optin.releasing.intervals import Interval

__all__ = ["Release", "Versions"]

VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}")
READABLE = (VERSION,)  # from version 2 on: (VERSION, VERSION - 1)


@dataclass(frozen=True)
class Versions:
    """What drew the release."""

    optin: str
    opendp: str
    mechanism: str


GrainSource = Callable[[], NDArray[np.int64]]
_SOURCES: dict[int, GrainSource] = {}
"""How to list the grains of each release drawn in this session, as long as it lives; by identity, for equal ones differ."""


@dataclass(frozen=True)
class Release:
    """A published mean: public, of constant size, without ids, and without anybody's grains in its JSON.

    ``noisy_total`` is the integer N + Z of E13, the only number here that depends on the values; the estimate is
    ``lo + R * noisy_total / (2^20 * total_grains)``, so anyone recomputes it. ``charged`` says whether a ledger stands
    behind it.
    """

    announcement: Announcement
    joined_people: int
    total_grains: int
    total_squared_grains: int
    noisy_total: int
    tilt: float
    versions: Versions
    charged: bool = False
    ledger_number: int | None = None
    ledger_head: str | None = None
    grain_source: InitVar[GrainSource | None] = None

    def __post_init__(self, grain_source: GrainSource | None) -> None:
        """Remember where grains come from beside the record, not in it: a release is public, limits are not."""
        if grain_source is not None:
            _SOURCES[id(self)] = grain_source
            weakref.finalize(self, _SOURCES.pop, id(self), None).atexit = False

    @property
    def grains(self) -> NDArray[np.int64] | None:
        """List what each person lost, in grains (0 for those who stayed away), in the session that drew the release.

        This follows from limits, which are private to the analyst: it is not part of the published release. In one that
        was read from JSON, copied or unpickled it is None.
        """
        source = _SOURCES.get(id(self))
        return None if source is None else source()

    @property
    def id(self) -> str:
        """Name the release: campaign and round."""
        return self.announcement.id

    @property
    def estimate(self) -> float:
        """Return the estimated mean, unclamped: clamping it would bias it."""
        low, width = Fraction(self.announcement.bounds[0]), Fraction(self.announcement.width)
        return nearest(low + width * Fraction(self.noisy_total, 2**20 * self.total_grains))

    @property
    def variance(self) -> float:
        """Return E13's variance of the estimate, with the declared variance of the values."""
        return nearest(exact_variance(self.announcement, self.total_grains, self.total_squared_grains))

    @property
    def standard_error(self) -> float:
        """Return the root of the variance."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """Return the largest bias if people's means differ by up to the announced gap (E15)."""
        return self.announcement.max_gap * self.tilt

    @property
    def noise_scale(self) -> float:
        """Return the scale of the Laplace noise in the unit of the values; 0 without noise."""
        if self.announcement.noiseless:
            return 0.0
        return nearest(Fraction(self.announcement.width) * int(GRAIN) / self.total_grains)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise (E0)."""
        return float(LAPLACE.variance(self.noise_scale))

    @property
    def rounding(self) -> float:
        """Return the most that rounding values to levels can move the estimate, R * 2^-21."""
        return self.announcement.width * 2.0**-21

    @property
    def sum_squared_weights(self) -> float:
        """Return the sum of squared weights; its inverse is the number of effective people."""
        return nearest(Fraction(self.total_squared_grains, self.total_grains**2))

    @property
    def weighing(self) -> Weighing:
        """Return what E22's half-widths depend on; the largest weight is bounded by what the release says in public."""
        offer = self.announcement
        at_cap = nearest(Fraction(offer.largest_promise, self.total_grains))
        heaviest = float(heaviest_weight(self.joined_people, self.sum_squared_weights, at_cap))
        return Weighing(offer.width, offer.data_variance, self.sum_squared_weights, heaviest, self.noise_scale)

    def half_width(self, level: float = 0.95) -> float:
        """Return half of the total interval before it is cut at the bounds: what stands behind ± where level is 0.95."""
        return self._half_width(level)[0]

    def _half_width(self, level: float) -> tuple[float, str]:
        half, method = half_width(check_level(level), self.weighing)
        return half + self.rounding + self.bias_bound, method

    @property
    def breakdown_gap(self) -> float:
        """Return how far apart means of cautious and open people make an error as large as ±, which counts none of it (E22)."""
        return self.half_width(0.95) / self.tilt if self.tilt > 0 else math.inf

    def assumption(self, guard: str = "") -> str:
        """Say what the total interval leaves out if values go with limits, and what would guard against it (E22)."""
        offer = self.announcement
        guard = guard if offer.model == PRIVACY_CONSTRAINED else ""
        return assumption(
            self.breakdown_gap,
            width=offer.width,
            max_gap=offer.max_gap,
            tilt=self.tilt,
            planned_tilt=offer.tilt,
            guard=guard,
        )

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this release, in sentences that depend on no value (`Plan.warnings`)."""
        offer = self.announcement
        return cautions(
            standard_error=self.standard_error,
            half_width=self.half_width(),
            width=offer.width,
            data_variance=offer.data_variance,
            description=description if offer.model == PRIVACY_CONSTRAINED else None,
        )

    def noise_interval(self, level: float = 0.95) -> Interval:
        """Bound the weighted mean of these people's clamped values (weights: grains over their sum)."""
        half = laplace_reach(check_level(level), scale=self.noise_scale) + self.rounding
        return self._around(half, level, "Laplace quantile, rounding added")

    def total_interval(self, level: float = 0.95) -> Interval:
        """Bound the population mean, with the declared variance, also where values are skewed (E22).

        The least of three half-widths that hold. The bias bound is added when a gap was announced; with none announced
        nothing is added for values that go with limits, and coverage falls with such a link: see `breakdown_gap`.
        """
        half, method = self._half_width(level)
        return self._around(half, level, method)

    def _around(self, half: float, level: float, method: str) -> Interval:
        return Interval.around(self.estimate, half, bounds=self.announcement.bounds, level=level, method=method)

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of the canonical bytes of what was drawn and where it was charged."""
        return strict_json.fingerprint(self._drawn())

    def to_json(self) -> str:
        """Write the release for the public; per-person grains are not in it."""
        record = {
            **self._drawn(),
            "id": self.id,
            "estimate": strict_json.real(self.estimate),
            "variance": strict_json.real(self.variance),
            "bias_bound": strict_json.real(self.bias_bound),
            "noise_interval_95": list(self.noise_interval(0.95)),
            "total_interval_95": list(self.total_interval(0.95)),
            "total_interval_method": self.total_interval(0.95).method,
            "ledger_head": self.ledger_head,
            "fingerprint": self.fingerprint,
        }
        return json.dumps(record, indent=2, allow_nan=False)

    def _drawn(self) -> dict[str, Any]:
        return {
            "format": f"optin.release/{VERSION}",
            "announcement": json.loads(self.announcement.to_json()),
            "joined_people": self.joined_people,
            "total_grains": strict_json.wide(self.total_grains),
            "total_squared_grains": strict_json.wide(self.total_squared_grains),
            "noisy_total": strict_json.wide(self.noisy_total),
            "tilt": strict_json.real(self.tilt),
            "versions": asdict(self.versions),
            "charged": self.charged,
            "ledger_number": self.ledger_number,
        }

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release; one that does not match its fingerprint, or whose estimate does not follow, is refused."""
        fields = strict_json.Fields.parse(text, "release", READABLE)
        offer = strict_json.Fields(fields.take("announcement"), "announcement", READABLE_ANNOUNCEMENTS)
        found = cls(
            announcement=Announcement.from_fields(offer),
            joined_people=fields.take_int("joined_people"),
            total_grains=fields.take_int("total_grains"),
            total_squared_grains=fields.take_int("total_squared_grains"),
            noisy_total=fields.take_int("noisy_total"),
            tilt=fields.take_real("tilt"),
            versions=_versions(fields.take("versions")),
            charged=fields.take_bool("charged"),
            ledger_number=fields.maybe("ledger_number", fields.take_int),
            ledger_head=fields.maybe("ledger_head", fields.take_text),
        )
        _check_same(found, text)
        return found


def _versions(found: object) -> Versions:
    names = ("optin", "opendp", "mechanism")
    if not isinstance(found, dict) or sorted(found) != sorted(names) or not all(type(v) is str for v in found.values()):
        raise BadInput('this release cannot be read: "versions" does not name optin, opendp and mechanism')
    return Versions(**found)


def _check_same(found: Release, text: str) -> None:
    """Compare with what this release itself would write: every derived number must follow, and nothing be added."""
    offer = found.announcement
    if not (1 <= found.total_grains <= offer.total_grains and 1 <= found.joined_people <= offer.people):
        raise BadInput("this release contradicts its announcement: more was spent than promised")
    if not found.charged == (found.ledger_number is not None) == (found.ledger_head is not None):
        raise BadInput('"charged" and "ledger_number"/"ledger_head" disagree; use the published file')
    if found.charged and not (_is_place(found.ledger_number) and _HASH.fullmatch(found.ledger_head or "")):
        raise BadInput('"ledger_number" or "ledger_head" is malformed; use the published file')
    ours, theirs = json.loads(found.to_json()), json.loads(text)
    wrong = _differing(ours, theirs, offer.width)
    if wrong is not None and _differing(ours | earlier_statements(found), theirs, offer.width) is not None:
        raise BadInput(f'this release was changed after it was written: its "{wrong}" does not follow from the rest')


def _differing(ours: dict[str, Any], theirs: dict[str, Any], width: float) -> str | None:
    """Name a field in which two records differ; None if they are the same."""
    for name in ("noise_interval_95", "total_interval_95"):
        if not _close(ours[name], theirs.get(name), width):
            return name
    others = {*ours, *theirs} - {"noise_interval_95", "total_interval_95"}
    return min((name for name in others if ours.get(name) != theirs.get(name)), default=None)


def _is_place(number: int | None) -> bool:
    return number is not None and 1 <= number < 2**63


def _close(mine: list[float], other: object, width: float) -> bool:
    """Compare intervals up to the last digits: logarithms differ between machines, integers do not."""
    if not isinstance(other, list) or len(other) != 2:
        return False
    ends = zip(mine, map(strict_json.finite, other), strict=True)
    return all(b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * width) for a, b in ends)
