"""Names of campaigns and numbers of rounds: together they name the one release an announcement allows."""

from __future__ import annotations

import secrets

from optin.errors import BadInput

LARGEST_ROUND = 2**31 - 1
"""What every database holds as an integer."""
_LONGEST_NAME = 128


def new_campaign() -> str:
    """Make a campaign name of 128 random bits."""
    return secrets.token_hex(16)


def checked_campaign(campaign: object) -> str:
    """Return a campaign's name if it can be shown on one line, as it is."""
    if not isinstance(campaign, str) or not campaign.strip() or not campaign.isprintable():
        raise BadInput("campaign must be printable text that is not blank")
    if campaign != campaign.strip() or len(campaign) > _LONGEST_NAME:
        raise BadInput(
            "campaign must have no spaces at its ends and at most {longest} characters", longest=_LONGEST_NAME
        )
    return campaign


def check_round(number: object) -> None:
    """Refuse a round that is no whole number from 1 up, or that some database could not hold."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LARGEST_ROUND:
        raise BadInput("round must be a whole number from 1 to {most}", most=LARGEST_ROUND)
