"""The web service from Python: the same that its pages do, for analysts and for people, with typed responses."""

from __future__ import annotations

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
