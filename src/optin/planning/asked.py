"""Everything about a plan that is not people: the sheet, and what was wished for, checked once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optin.agents import Agents, Constrained, Weighing
from optin.errors import Argument, BadInput
from optin.kernel.noise import LAPLACE
from optin.planning.promise import OneQuestion
from optin.planning.wish import Wish
from optin.questions import Number, Question, Sheet
from optin.questions.number import WIDEST, number


@dataclass(frozen=True)
class Asked(OneQuestion):
    """A sheet and a wish, in the units that the solver counts in."""

    sheet: Sheet
    wish: Wish

    @property
    def kappa(self) -> float:
        """The noise's variance at scale 1."""
        return float(LAPLACE.kappa)

    @property
    def inflate(self) -> float:
        """What turns a design's unit variance into the variance that is promised."""
        return self.width**2 * (1 + self.wish.slack)

    @property
    def reach(self) -> float | None:
        """R eta, the sum of epsilons that a given eta asks for."""
        return None if self.wish.eta is None else self.width * self.wish.eta


def value_sheet(
    *,
    bounds: tuple[float, float],
    data_variance: float | None = None,
    data_sd: float | None = None,
    max_gap: float = 0.0,
) -> Sheet:
    """Make the sheet of one number called "value" that a plan from bounds alone is about."""
    return Sheet(Number("value", bounds=bounds, data_variance=data_variance, sd=data_sd, max_gap=max_gap))  # type: ignore[arg-type]


def as_sheet(given: Sheet | Sequence[Question] | Question) -> Sheet:
    """Take a sheet, a list of questions or a single one for a sheet; more than one question is refused yet."""
    sheet = given if isinstance(given, Sheet) else Sheet(given)
    assert sheet.only  # noqa: S101 - raises BadInput for two or more
    return sheet


def expect_agents(agents: object) -> None:
    """Refuse what is neither of the two models."""
    if not isinstance(agents, Constrained | Weighing):
        raise BadInput("agents must be optin.PrivacyConstrained(limits) or optin.QuasiLinear(costs, benefit=…)")


def asked_of(agents: Agents, sheet: Sheet, *, eta: float | None = None, slack: float = 0.0) -> Asked:
    """Check what is wished for against the sheet and the people."""
    expect_agents(agents)
    width = sheet.only.width
    if eta is not None and not 0 < number(eta, "eta") < math.inf:
        raise BadInput(
            "{eta} must be a positive finite number (the Laplace rate in data units); leave it out for the best one",
            eta=Argument("eta"),
        )
    if eta is not None and not 1 / WIDEST < eta * width < WIDEST:
        raise BadInput(
            "{eta} times the width of the bounds must lie between {least:.0e} and {most:.0e}",
            eta=Argument("eta"),
            least=1 / WIDEST,
            most=WIDEST,
        )
    room = number(slack, "slack")
    if not 0 <= room < math.inf:
        raise BadInput(
            "{slack} must be 0 or more: 0.1 leaves room for a variance 10 % above the design's", slack=Argument("slack")
        )
    _fits_model(agents, sheet.only.max_gap, room)
    return Asked(sheet, Wish(None if eta is None else float(eta), room))


def _fits_model(agents: Agents, gap: float, room: float) -> None:
    if gap > 0 and isinstance(agents, Weighing):
        raise BadInput(
            "{max_gap} is available for people with limits only; plan people who weigh costs with {none}",
            max_gap=Argument("max_gap"),
            none=Argument("max_gap", 0),
        )
    if room > 0 and isinstance(agents, Constrained):
        raise BadInput(
            "{slack} is for people who weigh costs; people with limits are promised no variance",
            slack=Argument("slack"),
        )
