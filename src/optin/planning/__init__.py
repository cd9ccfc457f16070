"""From people to the optimal design: `plan` solves it, `Plan` records it, `Certificate` proves it."""

from optin.planning.certificate import Certificate
from optin.planning.record import Plan
from optin.planning.size import Size, size
from optin.planning.solve import plan
from optin.planning.wish import Target

__all__ = ["Certificate", "Plan", "Size", "Target", "plan", "size"]
