"""The plan: a constant number of numbers, whatever the number of people."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from optin._attached import METHODS
from optin.agents import Agents, Description
from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.kernel.ladder import Array
from optin.kernel.noise import LAPLACE, variance
from optin.kernel.optimum import Design as Solution
from optin.kernel.optimum import epsilons, shadow_prices
from optin.planning.asked import Asked
from optin.planning.cautions import cautions
from optin.planning.design import Design
from optin.planning.promise import OneQuestion, PromisedVariance, Promising
from optin.planning.reach import reach
from optin.planning.version_1 import flat, read_version_1
from optin.planning.version_2 import read_version_2
from optin.planning.wish import Target, Wish
from optin.questions import Sheet
from optin.wording.numbers import as_accurate_as, plus_minus

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.planning.certificate import Certificate

FORMAT = 2
N = TypeVar("N", float, Array)


@dataclass(frozen=True, repr=False)
class Plan(OneQuestion, Promising):
    """The optimal design: everyone gets epsilon min(limit, cap) and the weight that goes with it.

    Optimal among weighted means with fixed weights and one Laplace noise.

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1))
    >>> plan.cap, plan.eta, round(1 / plan.variance, 9)
    (5.0, 15.0, 12.0)
    """

    sheet: Sheet
    model: str
    designs: tuple[Design, ...]
    wish: Wish = field(default_factory=Wish)
    promise: PromisedVariance | None = None
    within_resolution: bool = False
    high_limits: bool = field(default=False, compare=False)
    """Whether people in memory had limits above 10 when this was planned; not part of what is written."""

    @property
    def asked(self) -> Asked:
        """Sheet and wish, as the planner was asked."""
        return Asked(self.sheet, self.wish)

    @property
    def _design(self) -> Design:
        (only,) = self.designs
        return only

    @property
    def people(self) -> int:
        """How many people were planned for."""
        return self._design.sums.people

    @property
    def cap(self) -> float:
        """x: nobody gives more epsilon than this; inf without noise."""
        return self._design.cap

    @property
    def epsilon_total(self) -> float:
        """The sum of all epsilons, R eta."""
        return self._design.sums.epsilon_total

    @property
    def eta(self) -> float:
        """The Laplace rate in data units: the one given, or the sum of epsilons over R."""
        return self.epsilon_total / self.width if self.wish.eta is None else self.wish.eta

    @property
    def eta_given(self) -> bool:
        """Whether the Laplace rate was given, and not found."""
        return self.wish.eta is not None

    @property
    def slack(self) -> float:
        """Room for decliners (E12)."""
        return self.wish.slack

    @property
    def target(self) -> Target | None:
        """What a wanted standard error would take, where one was wanted."""
        return self.wish.target

    @property
    def noise_constant(self) -> float:
        """kappa, the variance of the noise at scale 1 (E0)."""
        return float(LAPLACE.kappa)

    @property
    def variance(self) -> float:
        """E0's variance of the mean, in data units."""
        return self._design.variances[0]

    @property
    def tilt(self) -> float:
        """How far the weights are from equal (TV of E15)."""
        return self._design.sums.tilt

    @property
    def pooled_people(self) -> int:
        """How many people have a limit at or above the cap."""
        return self._design.sums.pooled_people

    @property
    def weight_squares(self) -> float:
        """The sum of squared weights."""
        return self._design.sums.weight_squares

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise in data units, 1 / eta."""
        return 1.0 / self.eta

    @property
    def noise_variance(self) -> float:
        """The noise's part of the variance, kappa / eta^2 (E0)."""
        return float(LAPLACE.variance(self.noise_scale))

    def variance_left(self, total: N, squares: N) -> N:
        """Return the variance that promises of these sums leave once they are frozen (E12): floats or arrays of them."""
        noise = 0.0 if math.isinf(self.eta) else LAPLACE.constant(self.width)
        return variance(self.data_variance, squares, total, noise)

    @property
    def standard_error(self) -> float:
        """The root of the variance, in data units."""
        return math.sqrt(self.variance)

    @property
    def bias_bound(self) -> float:
        """The largest bias if people's means may lie max_gap apart (E15)."""
        return self.max_gap * self.tilt

    def half_width(self, level: float = 0.95, *, turnout: float = 1.0) -> float:
        """Return half of the interval for the population's mean that this plan leads to: at 0.95, what ± means (E22).

        ``turnout`` is the share of people who join; whoever they are, sums are taken at their average.

        >>> import optin
        >>> plan = optin.plan(optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230), bounds=(0, 1))
        >>> round(plan.half_width(), 4)
        0.0368
        """
        at_cap = self.cap / self.epsilon_total if math.isfinite(self.eta) else self.pooled_weight
        people, squares, scale = self.people * turnout, self.weight_squares / turnout, self.noise_scale / turnout
        return reach(self, level, people=people, squares=squares, at_cap=at_cap / turnout, scale=scale)

    @property
    def worst_case_mse(self) -> float:
        """Variance + bias_bound^2."""
        return self.variance + self.bias_bound**2

    @property
    def pooled_weight(self) -> float:
        """W: the weight of everyone whose limit is at least the cap."""
        return 1.0 / self.pooled_people if math.isinf(self.eta) else self.cap / self.epsilon_total

    @property
    def tail_constant(self) -> float | None:
        """K: weights are min(W, K limit), or min(W, K / cost); None where everyone has their own surplus."""
        if self.model == "privacy-constrained":
            return 1.0 / self.epsilon_total
        return None if self.surplus is None else self.surplus / self.epsilon_total

    @property
    def effective_people(self) -> float:
        """How many people a noiseless mean of the same accuracy would take."""
        return self.data_variance / self.variance if self.variance > 0 else math.inf

    @property
    def worst_case_people(self) -> float:
        """The same with the largest bias at the declared gap counted in."""
        return self.data_variance / self.worst_case_mse if self.worst_case_mse > 0 else math.inf

    def limits(self, agents: Agents) -> Array:
        """Return what each of these people accepts at most under this plan."""
        if agents.model != self.model:
            raise BadInput("this plan is for {model} people, not {other} ones", model=self.model, other=agents.model)
        return agents.in_memory().limits_at(self.promised_variance or 0.0, data_variance=self.data_variance)

    def epsilons(self, agents: Agents) -> Array:
        """Give each person the smaller of limit and cap (E2); for any people, planned for or not.

        Without noise everyone's value can be read off, so a positive epsilon is infinite there.
        """
        limits = self.limits(agents)
        return epsilons(limits, self.cap) if math.isfinite(self.eta) else np.where(np.isinf(limits), math.inf, 0.0)

    def weights(self, agents: Agents) -> Array:
        """Return the announced weights, epsilon / (R eta) (E4)."""
        eps = self.epsilons(agents)
        return eps / self.epsilon_total if math.isfinite(self.eta) else np.isinf(eps) / self.pooled_people

    def shadow_prices(self, agents: Agents) -> Array:
        """Differentiate the optimal variance by each person's limit (E7): 0 for the pooled, negative for the others."""
        if self.model != "privacy-constrained" or self.eta_given or self.max_gap > 0:
            raise BadInput(
                "shadow prices are defined for privacy-constrained plans over the best noise, with max_gap=0"
            )
        return shadow_prices(self.limits(agents), self.design(), spread=self.spread) * self.width**2

    def design(self) -> Solution:
        """Return the kernel's view of this plan, in units of the range."""
        reach = self.epsilon_total
        unit = self.variance / self.width**2
        return Solution(self.people, self.cap, reach, self.weight_squares * reach * reach, self.pooled_people, unit)

    def certificate(self, agents: Agents) -> Certificate:
        """Prove that no limit is crossed and no other weights and Laplace noise are better, by recomputable numbers."""
        from optin.planning.certificate import certify

        return certify(self, agents)

    def announce(self, agents: Agents, *, campaign: str | None = None, round: int = 1, **options: Any) -> Announcement:  # noqa: A002, ANN401
        """Turn the plan into a public offer (`optin.announce`)."""
        made: Announcement = METHODS["announce"](self, agents, campaign=campaign, round=round, **options)
        return made

    def to_json(self) -> str:
        """Write the plan as JSON of constant size."""
        record = {
            "format": f"optin.plan/{FORMAT}",
            "model": self.model,
            "sheet": self.sheet.to_record(),
            "wish": self.wish.to_record(),
            "noise": LAPLACE.name,
            "designs": [design.to_record() for design in self.designs],
            "promise": None if self.promise is None else self.promise.to_record(),
            "within_resolution": self.within_resolution,
        }
        return json.dumps(record, indent=1, allow_nan=False)

    def flat(self) -> dict[str, Any]:
        """Return the numbers of the plan by name, without layers, for scripts."""
        return flat(self)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan written by `to_json`, of this or the previous version; other keys in it are left to their owners."""
        fields = Fields.parse(text, "plan", (FORMAT, 1))
        found = cls(**(read_version_1(fields) if fields.version == 1 else read_version_2(fields)))
        if not found._is_possible():
            fields.refuse("people, cap and epsilons are positive in a plan, and no variance is below 0")
        return found

    def _is_possible(self) -> bool:
        """Tell whether a plan that was read could have been made: everything that is divided by is positive."""
        positive = min(self.people, self.cap, self.epsilon_total, self.eta) > 0 and self.variance >= 0
        return positive and (self.pooled_people > 0 or math.isfinite(self.eta))

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this plan, in sentences: nothing is refused for it.

        A plan that was read from a file does not know limits; `optin.describe` tells whether they look like percentages.

        >>> import optin
        >>> people = optin.PrivacyConstrained([0.01, 0.02])
        >>> [sentence[:29] for sentence in optin.plan(people, bounds=(0, 1)).warnings()]
        ['The standard error, 47.1, is ']
        """
        return cautions(
            standard_error=self.standard_error,
            half_width=self.half_width(),
            width=self.width,
            data_variance=self.data_variance,
            high_limits=self.high_limits,
            description=description if self.model == "privacy-constrained" else None,
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return the plan as labelled lines, for terminals and notebooks."""
        lines = [
            ("people", f"{self.people:,} ({self.model})"),
            ("cap on epsilon", f"{self.cap:.6g} ({self.pooled_people:,} people have a limit at or above it)"),
            ("Laplace noise scale", f"{self.noise_scale:.6g}"),
            ("standard error", f"{self.standard_error:.6g}"),
            ("95 % interval", plus_minus(self.half_width(), 6)),
            ("as accurate as", self.accuracy_words()),
            ("tilt of the weights", f"{self.tilt:.4g}"),
        ]
        if self.max_gap > 0:
            lines.append(("largest bias", f"{self.bias_bound:.6g}"))
        if self.promised_variance is not None:
            lines.append(("promised variance", f"{self.promised_variance:.6g}"))
        if self.surplus is not None:
            lines.append(("surplus over the outside option", f"{self.surplus:.6g}"))
        if self.target is not None:
            people = "no number of" if self.target.people_needed is None else f"{self.target.people_needed:,}"
            lines.append((f"for a standard error of {self.target.error:g}", f"{people} people like these"))
        return lines

    def accuracy_words(self) -> str:
        """Say which exact mean is as accurate, in the same words wherever that is said."""
        return as_accurate_as(self.effective_people, self.worst_case_people if self.max_gap > 0 else None)

    def __repr__(self) -> str:
        lines = self._told()
        width = max(len(label) for label, _ in lines)
        return "Plan\n" + "\n".join(f"  {label:<{width}}  {text}" for label, text in lines)

    def _told(self) -> list[tuple[str, str]]:
        return [*self.rows(), *(("warning", sentence) for sentence in self.warnings())]

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{label}</th><td>{text}</td></tr>" for label, text in self._told()
        )
        return f"<table><caption>Plan</caption>{cells}</table>"
