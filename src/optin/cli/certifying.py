"""What ``optin plan --certify`` adds: the plan computed again from the people, and how far it is from anything at all (E30)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.wording.groups import shown_group

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.planning import Certificate, Plan

NUMBERS = (
    "holds",
    "broken_limits",
    "weight_error",
    "claim_error",
    "objective",
    "lower_bound",
    "any_mechanism",
    "factor",
)
HEAD = ("group", "holds", "limits crossed", "objective", "any mechanism", "factor")
MEANINGS = (
    "objective: the worst squared error to expect, in squared ranges (of several questions the largest v); any mechanism: what"
    " no private one of any kind can beat, as far as is shown; factor: how many times that a group's plan has"
)


@dataclass(frozen=True)
class Certified:
    """The certificate of a plan, or those of its groups by name; nothing where none was asked for."""

    undivided: Certificate | None = None
    groups: dict[str, Certificate] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return numbers for scripts."""
        if self.undivided is not None:
            return {"certificate": _numbers(self.undivided)}
        told = {name: _numbers(each) for name, each in self.groups.items()}
        return {"certificate": {"groups": told}} if told else {}

    def show(self, *, silent: bool = False) -> None:
        """Print what was computed again, and the factor between the plan and what no mechanism beats."""
        if silent or not self.as_dict():
            return
        screen.say()
        if self.undivided is not None:
            screen.rows("The certificate", [*self.undivided.telling().lines, ("of any kind", self.undivided.beyond)])
            return
        screen.columns("The certificates", HEAD, [_row(name, each) for name, each in self.groups.items()], texts=2)
        screen.say(MEANINGS)


NOT_ASKED = Certified()


def certified(plan: Plan, agents: Agents) -> Certified:
    """Compute everything again from the people a plan was made for."""
    from optin.planning import Certificate

    with screen.working("certifying"):
        certificate = plan.certificate(agents)
        undivided = certificate if isinstance(certificate, Certificate) else None
        made = Certified(undivided, {} if isinstance(certificate, Certificate) else dict(certificate.groups))
        made.as_dict()  # the bound for every mechanism is computed here, once
    return made


def _numbers(certificate: Certificate) -> dict[str, Any]:
    told = {name: getattr(certificate, name) for name in NUMBERS}
    return told | {"shown": certificate.claim, "of_any_kind": certificate.beyond}


def _row(name: str, certificate: Certificate) -> tuple[str, ...]:
    bound, factor = certificate.any_mechanism, certificate.factor
    return (
        shown_group(name)[1:-1],
        "yes" if certificate.holds else "no",
        f"{certificate.broken_limits:,}",
        f"{certificate.objective:.4g}",
        "-" if bound is None else f"{bound:.4g}",
        "-" if factor is None else f"{factor:.3g}",
    )
