"""The plan: a constant number of numbers, whatever the number of people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from optin._attached import METHODS
from optin.agents import Agents, Description
from optin.errors import BadInput
from optin.formats.strict_json import Fields
from optin.kernel.noise import LAPLACE
from optin.kernel.optimum import epsilons, shadow_prices
from optin.kernel.pieces import Array
from optin.planning.design import Design
from optin.planning.echo import echoed
from optin.planning.grouped import for_each_person, group_plans
from optin.planning.numbers import PlanNumbers
from optin.planning.telling import accuracy_words, plan_telling, rows, warnings_of
from optin.planning.telling_groups import PlanOfGroups
from optin.planning.version_1 import flat, read_version_1
from optin.planning.version_2 import read_version_2
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.planning.certificate import Certificate
    from optin.planning.group_certificates import CertificateByGroup
    from optin.planning.total import PlannedTotal
    from optin.planning.wrong_variance import WrongVariance

FORMAT = 2


@dataclass(frozen=True, repr=False)
class Plan(PlanNumbers, Told):
    """The optimal design: everyone gets epsilon min(limit, cap) and the weight that goes with it.

    Optimal among weighted means with fixed weights and Laplace noise. ``plan["hours"]`` is what it says of a question. Where
    people are in public groups, each has its own: ``plan.groups["ICU"]`` (E27).

    >>> import optin
    >>> plan = optin.plan(optin.PrivacyConstrained([1, 4, 9, 9]), bounds=(0, 1))
    >>> plan.cap, plan.eta, round(1 / plan.variance, 9)
    (5.0, 15.0, 12.0)
    """

    @cached_property
    def groups(self) -> Mapping[str, Plan]:
        """The plan of each public group, by its name: the very plan that its people would have alone (E27)."""
        return group_plans(self)

    @property
    def parts(self) -> tuple[Plan, ...]:
        """The plan of each group, or this one where there are none."""
        return tuple(self.groups.values()) if self.grouped else (self,)

    def total(self, question: str, population: Any = None) -> PlannedTotal:  # noqa: ANN401
        """Say how accurate the whole put together from groups will be, beside what one group would cost (E27).

        Each group counts by its people, or by what ``population`` says of it.
        """
        from optin.planning.total import planned_total

        return planned_total(self, question, population)

    def limits(self, agents: Agents) -> Array:
        """Return what each of these people accepts at most under this plan."""
        if self.grouped:
            return for_each_person(self, agents, Plan.limits)
        if agents.model != self.model:
            raise BadInput("this plan is for {model} people, not {other} ones", model=self.model, other=agents.model)
        return agents.in_memory().limits_at(self.promised_variance or 0.0, data_variance=self.data_variance)

    def epsilons(self, agents: Agents) -> Array:
        """Give each person the smaller of limit and cap (E2); for any people, planned for or not.

        Without noise everyone's value can be read off, so a positive epsilon is infinite there.
        """
        if self.grouped:
            return for_each_person(self, agents, Plan.epsilons)
        limits = self.limits(agents)
        return np.where(np.isinf(limits), np.inf, 0.0) if self.noiseless else epsilons(limits, self.cap)

    def weights(self, agents: Agents) -> Array:
        """Return the announced weights, epsilon / (R eta) (E4); those of each group add up to 1."""
        if self.grouped:
            return for_each_person(self, agents, Plan.weights)
        eps = self.epsilons(agents)
        if self.epsilon_total == 0.0:
            return eps
        return np.isinf(eps) / self.pooled_people if self.noiseless else eps / self.epsilon_total

    def shadow_prices(self, agents: Agents) -> Array:
        """Differentiate the optimal variance by each person's limit (E7): 0 for the pooled, negative for the others.

        At a given eta the weights alone answer. Quasi-linear people who allow a little more make the release better, and
        so everyone else's limits higher: the price is divided by 1 - M' (E11). Of several questions it is v that is
        differentiated, in declared variances (E18).

        >>> import optin
        >>> people = optin.QuasiLinear([1, 0.25], benefit=optin.LinearBenefit(base=3, slope=1))
        >>> plan = optin.plan(people, bounds=(0, 1))
        >>> bool((plan.shadow_prices(people) <= 0).all())
        True
        """
        if self.grouped:
            return for_each_person(self, agents, Plan.shadow_prices)
        self._expect_even("shadow prices are")
        prices = shadow_prices(self.limits(agents), self.design(), spread=self.spread) * self.asked.units.square
        return prices if self.model == "privacy-constrained" else echoed(self, agents, prices)

    def _expect_best(self, what: str) -> None:
        """Refuse what follows from E1 alone."""
        if self.model != "privacy-constrained" or self.eta_given:
            raise BadInput(
                "{what} defined for privacy-constrained plans over the best noise, with max_gap=0", what=what
            )
        self._expect_even(what)

    def _expect_even(self, what: str) -> None:
        """Refuse what is not known where a gap is declared, or questions differ in importance."""
        if self.asked.gapped:
            raise BadInput("{what} defined with max_gap=0", what=what)
        if self.asked.one_cap:
            raise BadInput("{what} defined where all questions are of the same importance", what=what)

    def if_variance(self, low: float, high: float, agents: Agents | None = None) -> WrongVariance:
        """Say what it costs if the true variance lies between these, and not where it was declared (E29).

        Both are in the unit of `Plan.data_variance`: of several questions they are multiples of what was declared, the same
        for all. What is certain needs no people; with those of the plan the loss itself is found too.

        >>> import optin
        >>> people = optin.PrivacyConstrained([1, 4, 9, 9])
        >>> answer = optin.plan(people, bounds=(0, 1)).if_variance(1 / 8, 1 / 4, people)
        >>> round(answer.loss * 7425, 6), round(answer.certified * 5625, 6), round(answer.declare, 4)
        (7553.0, 5893.0, 0.1768)
        """
        from optin.planning.wrong_variance import if_variance

        self._expect_best("what a wrong variance costs is")
        return if_variance(self, low, high, agents)

    def certificate(self, agents: Agents) -> Certificate | CertificateByGroup:
        """Prove that no limit is crossed and no other weights and Laplace noise are better, by recomputable numbers.

        Of people in groups there is one certificate for each group.
        """
        from optin.planning.certificate import certify
        from optin.planning.group_certificates import certify_groups

        return certify_groups(self, agents) if self.grouped else certify(self, agents)

    def announce(self, agents: Agents, *, campaign: str | None = None, round: int = 1, **options: Any) -> Announcement:  # noqa: A002, ANN401
        """Turn the plan into a public offer (`optin.announce`)."""
        made: Announcement = METHODS["announce"](self, agents, campaign=campaign, round=round, **options)
        return made

    def to_json(self) -> str:
        """Write the plan as JSON; its size depends on questions and groups, never on people."""
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
        """Return the numbers of the plan by name, without layers, for scripts; those of each group by its name."""
        return {"groups": {name: flat(each) for name, each in self.groups.items()}} if self.grouped else flat(self)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan written by `to_json`, of this or the previous version; other keys in it are left to their owners."""
        fields = Fields.parse(text, "plan", (FORMAT, 1))
        plan = cls(**(read_version_1(fields) if fields.version == 1 else read_version_2(fields)))
        if not plan._is_possible():
            fields.refuse("people, cap and epsilons are positive in a plan, and no variance is below 0")
        return plan

    def _is_possible(self) -> bool:
        """Tell whether a plan that was read could have been made: everything that is divided by is positive."""
        return all(map(Design.is_possible, self.designs))

    def warnings(self, description: Description | None = None) -> tuple[str, ...]:
        """List what is odd about this plan, in sentences: nothing is refused for it.

        A plan that was read from a file does not know limits; `optin.describe` tells whether they look like percentages.

        >>> import optin
        >>> people = optin.PrivacyConstrained([0.01, 0.02])
        >>> [sentence[:29] for sentence in optin.plan(people, bounds=(0, 1)).warnings()]
        ['The standard error, 47.1, is ']
        """
        stated = description if self.model == "privacy-constrained" else None
        return PlanOfGroups(self).warnings(stated) if self.grouped else warnings_of(self, stated)

    def rows(self) -> list[tuple[str, str]]:
        """Return the plan as labelled lines, for terminals and notebooks."""
        return PlanOfGroups(self).lines() if self.grouped else rows(self)

    def accuracy_words(self) -> str:
        """Say which exact mean is as accurate, in the same words wherever that is said."""
        return accuracy_words(self)

    def telling(self) -> Telling:
        """Say what a person wants to know of it."""
        return PlanOfGroups(self).telling() if self.grouped else plan_telling(self)
