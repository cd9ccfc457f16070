"""From people to the optimal design: `plan` solves it, `Plan` records it, `Certificate` proves it."""

from optin.planning.certificate import Certificate
from optin.planning.record import Plan
from optin.planning.solve import plan

__all__ = ["Certificate", "Plan", "plan"]
