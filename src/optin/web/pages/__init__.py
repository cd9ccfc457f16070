"""The pages: thin handlers that call the service and fill templates; every one works with a keyboard and a screen reader."""

from fastapi import APIRouter

from optin.web.pages import (
    administration,
    answering,
    council,
    desk,
    drafting,
    entrance,
    front,
    hosting,
    inviting,
    language_choice,
    mine,
    plans,
    recovery,
    resetting,
    results,
    sheet_drafting,
    trying,
    visit,
    years,
)

__all__ = ["ROOMS", "router"]

ROOMS = (
    front,
    hosting,
    language_choice,
    entrance,
    visit,
    recovery,
    resetting,
    mine,
    answering,
    results,
    council,
    desk,
    drafting,
    sheet_drafting,
    trying,
    inviting,
    plans,
    years,
    administration,
)
router = APIRouter(include_in_schema=False)
for _room in ROOMS:
    router.include_router(_room.router)
