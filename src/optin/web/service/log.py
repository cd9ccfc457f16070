"""The service's log: signed after every announcement, release and cancellation; what the council is shown of a round."""

from __future__ import annotations

import hmac
import logging
import secrets

from sqlalchemy import Connection

from optin.council.bundle import Bundle
from optin.council.gathering import bundle_of
from optin.council.keeping import SERVICE
from optin.council.sealed_acts import KINDS
from optin.errors import LedgerUnavailable, OptinError
from optin.ledger import Log
from optin.transparency.keys import SigningKey, read_key, write_key
from optin.web.service.core import Service
from optin.web.service.deadlines import Deadline, deadline
from optin.web.service.failures import NotFound
from optin.web.service.lookups import campaign_row
from optin.web.service.published import as_published
from optin.web.service.records import Published

LOGGER = logging.getLogger("optin.web")
OPEN = "public"
"""What stands in the address of the council's page where a campaign was open to everyone; else there is a secret."""


def sign_log(service: Service) -> None:
    """Sign the log if something public was done since; what was done stands whether or not this succeeds.

    What people do in between waits for the next announcement, release or cancellation: a log that grew with every decline
    would tell when one came.
    """
    try:
        if Log(service.ledger).lags(KINDS):
            key = _key(service)
            if key is not None:
                Log(service.ledger).sign(key)
    except LedgerUnavailable:
        raise
    except OptinError as error:
        LOGGER.warning("the log is not signed", extra={"reason": str(error)})


def _key(service: Service) -> SigningKey | None:
    """Read the key that signs, or make it once; one that is lost is the operator's to replace."""
    place = service.keys.log_key
    if not place.exists():
        if Log(service.ledger).signer() is not None:
            LOGGER.warning(
                "the log is not signed", extra={"reason": f"{place} is missing; see docs/how-to/log-keys.md"}
            )
            return None
        write_key(place, SigningKey.new(f"optin-ledger-{secrets.token_hex(6)}"))
    return read_key(place)


def council_address(service: Service, campaign: str, *, public: bool) -> str:
    """Say where the council's page of a campaign is; of one by invitation the address itself lets in, and changes nothing."""
    return f"/council/{campaign}/{OPEN if public else _secret(service, campaign)}"


def _secret(service: Service, campaign: str) -> str:
    return service.keys.digest("council", campaign)[:32]


def shown_to_council(service: Service, campaign: str, secret: str) -> Published:
    """Show an announced campaign to whoever has its address; to others it does not exist."""

    def look(connection: Connection) -> Published:
        row = campaign_row(connection, campaign)
        lets_in = (secret == OPEN and bool(row.public)) or hmac.compare_digest(
            secret.encode(), _secret(service, campaign).encode()
        )
        if not row.announcement or not lets_in:
            raise NotFound
        return as_published(row)

    return service.read(look)


def due_of(service: Service, campaign: str) -> Deadline | None:
    """Say what a campaign has to reach next, and until when; its page for the council is shown by its address alone."""
    return service.read(lambda connection: deadline(service, connection, campaign_row(connection, campaign)))


def bundle(service: Service, campaign: str, secret: str) -> Bundle:
    """Gather everything public about a campaign's round; before the first checkpoint there is none."""
    shown = shown_to_council(service, campaign, secret)
    if not Log(service.ledger).checkpoints():
        raise NotFound
    return bundle_of(service.ledger, campaign, shown.round, SERVICE)
