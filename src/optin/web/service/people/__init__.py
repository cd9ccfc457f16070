"""What people do: choose a step of the ladder, see their deal, join or decline, look at what is theirs, leave."""

from __future__ import annotations

from optin.web.service.people.doing import decline, join, raise_allowance, register, withdraw
from optin.web.service.people.leaving import export, leave
from optin.web.service.people.looking import campaign, checked, me, open_campaigns, receipt

__all__ = [
    "campaign",
    "checked",
    "decline",
    "export",
    "join",
    "leave",
    "me",
    "open_campaigns",
    "raise_allowance",
    "receipt",
    "register",
    "withdraw",
]
