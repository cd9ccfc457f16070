"""The web service from Python: the same that its pages do, for analysts and for people, with typed responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optin.client.records import (
    Admission,
    CampaignStatus,
    JobStatus,
    LadderStep,
    LimitCell,
    LogLine,
    MyCampaignStatus,
    MyTotals,
    Outlook,
    PublishedCampaign,
)

if TYPE_CHECKING:
    from optin.client.visiting import Client

__all__ = [
    "Admission",
    "CampaignStatus",
    "Client",
    "JobStatus",
    "LadderStep",
    "LimitCell",
    "LogLine",
    "MyCampaignStatus",
    "MyTotals",
    "Outlook",
    "PublishedCampaign",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - as modules do
    """Load httpx for whoever visits a service; the service itself shares the records alone."""
    if name != "Client":
        raise AttributeError(f"module 'optin.client' has no attribute {name!r}")
    from optin.client.visiting import Client

    return Client
