"""The public offer and what it gives one person."""

from optin.announcement.deal import Deal, explain
from optin.announcement.making import announce
from optin.announcement.offer import Announcement

__all__ = ["Announcement", "Deal", "announce", "explain"]
