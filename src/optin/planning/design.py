"""What was found for the people of a plan, or of one public group of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from optin.formats.strict_json import Fields, real
from optin.kernel.optimum import Design as Solution
from optin.kernel.optimum import tilt_of
from optin.kernel.pieces import Limits
from optin.planning.shared_numbers import PromisedVariance
from optin.planning.wish import Target


@dataclass(frozen=True)
class WeightSums:
    """Sums over the people of a design: of epsilons, of squared weights, of those at or above the cap, and E15's tilt."""

    people: int
    epsilon_total: float
    weight_squares: float
    pooled_people: int
    tilt: float


@dataclass(frozen=True)
class OfGroup:
    """What a plan finds for each group by itself (E27), and a plan of undivided people has once.

    ``merged`` are the labels of which a group is made, where several were too small.
    """

    merged: tuple[str, ...] = ()
    promise: PromisedVariance | None = None
    targets: tuple[Target | None, ...] = ()
    within_resolution: bool = False

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return {
            "merged": list(self.merged),
            "promise": None if self.promise is None else self.promise.to_record(),
            "targets": [None if target is None else asdict(target) for target in self.targets],
            "within_resolution": self.within_resolution,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> OfGroup:
        """Read what `to_record` wrote."""
        return cls(
            merged=fields.take_texts("merged"),
            promise=fields.maybe("promise", lambda name: PromisedVariance.from_fields(fields.take_object(name))),
            targets=fields.take_maybe_objects("targets", Target.from_fields),
            within_resolution=fields.take_bool("within_resolution"),
        )


ALONE = OfGroup()


@dataclass(frozen=True)
class Design:
    """One cap for everyone in a group, how each epsilon is shared among the questions, and what that leads to.

    ``group`` is None where people are not divided; ``shares`` and ``variances`` have an entry for each question.
    """

    group: str | None
    cap: float
    shares: tuple[float, ...]
    sums: WeightSums
    variances: tuple[float, ...]
    own: OfGroup = ALONE

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the people it is for: its own name, or those that were merged."""
        return self.own.merged or (() if self.group is None else (self.group,))

    def is_possible(self) -> bool:
        """Tell whether a design that was read could have been made: everything that is divided by is positive.

        Only a group may have people who all have a limit of 0.
        """
        positive = min(self.sums.people, *self.shares) > 0 and min(self.variances) >= 0
        if self.group is not None and self.cap == self.sums.epsilon_total == 0.0:
            return positive and not any(map(math.isfinite, self.variances))
        noiseless = math.isinf(self.sums.epsilon_total)
        return (
            positive and min(self.cap, self.sums.epsilon_total) > 0 and (self.sums.pooled_people > 0 or not noiseless)
        )

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it; what a group has of its own is there only where there are groups."""
        return self._numbers() | ({} if self.group is None else self.own.to_record())

    def _numbers(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "cap": real(self.cap),
            "shares": list(self.shares),
            "variances": [real(variance) for variance in self.variances],
            "people": self.sums.people,
            "epsilon_total": real(self.sums.epsilon_total),
            "weight_squares": real(self.sums.weight_squares),
            "pooled_people": self.sums.pooled_people,
            "tilt": real(self.sums.tilt),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Design:
        """Read what `to_record` wrote."""
        sums = WeightSums(
            people=fields.take_count("people"),
            epsilon_total=fields.take_real("epsilon_total"),
            weight_squares=fields.take_real("weight_squares"),
            pooled_people=fields.take_count("pooled_people"),
            tilt=fields.take_real("tilt"),
        )
        group = fields.maybe("group", fields.take_text)
        design = cls(
            group=group,
            cap=fields.take_real("cap"),
            shares=fields.take_reals("shares"),
            sums=sums,
            variances=fields.take_reals("variances"),
            own=ALONE if group is None else OfGroup.from_fields(fields),
        )
        fields.finish()
        return design


def design_of(
    solution: Solution,
    limits: Limits,
    *,
    cap: float,
    epsilon_total: float,
    shares: tuple[float, ...],
    variances: tuple[float, ...],
) -> Design:
    """Keep what the kernel found of people who are not divided; variances are those of answers."""
    sums = WeightSums(
        solution.people, epsilon_total, solution.weight_squares, solution.pooled, tilt_of(solution, limits)
    )
    return Design(None, cap, shares, sums, variances)
