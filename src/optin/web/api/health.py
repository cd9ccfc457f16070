"""Whether the service is there, and whether it can work."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy import text

from optin.web.api.given import Health
from optin.web.doors import ServiceOf

router = APIRouter(tags=["health"])


@router.get("/health")
async def health() -> Health:
    """Say that the process answers."""
    return Health(status="ok")


@router.get("/ready")
def ready(service: ServiceOf) -> Health:
    """Say that the database answers and the folder of keys can be read; 503 if not."""
    service.read(lambda connection: connection.execute(text("SELECT 1")).one())
    service.keys.stored_rounds()
    return Health(status="ok")
