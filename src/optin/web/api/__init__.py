"""The JSON interface: thin handlers over the service."""

from __future__ import annotations

from fastapi import APIRouter

from optin.web.api import campaigns, entrance, health, people, public
from optin.web.api.responses import FAILURES

__all__ = ["router"]

router = APIRouter(responses=FAILURES)
for _part in (entrance, campaigns, people, public, health):
    router.include_router(_part.router)  # each has its whole prefix: logs show a route as it stands there
