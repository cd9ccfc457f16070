"""The web service from Python: the same that its pages do, for analysts and for people, with typed responses."""

from __future__ import annotations

from optin.client.records import (
    CampaignStatus,
    Admission,
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
    "CampaignStatus",
    "Client",
    "Admission",
    "JobStatus",
    "LadderStep",
    "LimitCell",
    "LogLine",
    "MyCampaignStatus",
    "MyTotals",
    "Outlook",
    "PublishedCampaign",
]
