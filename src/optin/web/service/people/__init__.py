"""What people do: choose a step of the ladder, see their deal, join or decline, look at what is theirs, leave."""

from __future__ import annotations

from optin.web.service.people.allowing import lower_allowance, raise_allowance
from optin.web.service.people.doing import decline, join, register, withdraw
from optin.web.service.people.leaving import export, leave
from optin.web.service.people.looking import budget, campaign, checked, me, open_campaigns, receipt

__all__ = [
    "budget",
    "campaign",
    "checked",
    "decline",
    "export",
    "join",
    "leave",
    "lower_allowance",
    "me",
    "open_campaigns",
    "raise_allowance",
    "receipt",
    "register",
    "withdraw",
]
