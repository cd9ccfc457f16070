"""The JSON interface: thin handlers over the service."""

from __future__ import annotations

from fastapi import APIRouter

from optin.web.api import campaigns, entrance, health, people, public
from optin.web.api.responses import FAILURES

__all__ = ["router"]

router = APIRouter(responses=FAILURES)
for _part in (entrance, campaigns, people, public):
    router.include_router(_part.router, prefix="/api")
router.include_router(health.router)
