"""``optin ledger``: what was done, whether the ledger still says so, and giving promises back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.ledgers import open_ledger
from optin.cli.log_keys import sign_if_keyed
from optin.cli.options import AsJson, LedgerUrl
from optin.cli.output import read_text
from optin.cli.people_files import named
from optin.errors import BadInput, PromiseBroken

if TYPE_CHECKING:
    from optin.ledger.verification import OutsideCopy


def show_acts(ledger: LedgerUrl, as_json: AsJson = False) -> None:
    """List what was done, oldest first; nobody is named.

    Example: optin ledger show --ledger ledger.sqlite
    """
    with open_ledger(ledger) as opened:
        acts = opened.acts()
    if as_json:
        screen.print_json([asdict(act) for act in acts])
        return
    screen.columns(
        f"{len(acts)} acts",
        ("act", "number", "people", "campaign", "round", "at", "hash"),
        [
            (a.kind, str(a.number), f"{a.people:,}", a.campaign or "", str(a.round or ""), a.at[:19], a.hash[:12])
            for a in acts
        ],
    )


def verify_ledger(
    ledger: LedgerUrl,
    against: Annotated[
        list[Path] | None,
        typer.Option("--against", metavar="FILE", help="A release.json or receipt kept outside; more may follow."),
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(metavar="FILE", hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute every hash of the chain, and compare with copies kept outside.

    Without an outside copy acts cut off at the end cannot be seen. Exit code 4 if anything is wrong.

    Example: optin ledger verify --ledger ledger.sqlite --against release.json receipt.json
    """
    copies = [outside_copy(path) for path in [*(against or []), *(more or [])]]
    with screen.working("verifying"), open_ledger(ledger) as opened:
        verification = opened.verify(copies)
    if as_json:
        screen.print_json(asdict(verification) | {"ok": verification.ok})
    elif verification.ok:
        screen.say(str(verification))
    if not verification.ok:
        raise PromiseBroken("the ledger does not verify. {problems}", problems=verification)


def decline_offer(
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    ledger: LedgerUrl,
    person: Annotated[list[str], typer.Option("--id", metavar="ID", help="Who declines; may be given several times.")],
    as_json: AsJson = False,
) -> None:
    """Write down that someone declines: what was held for them is theirs again. Final for this round.

    Example: optin ledger decline announcement.json --id p0012 --ledger ledger.sqlite
    """
    from optin import campaign
    from optin.cli.announcing import read_announcement

    offer = read_announcement(announcement)
    declining = dict.fromkeys(person, False)
    with open_ledger(ledger) as opened, named(list(declining)):
        standing = campaign.answer(offer, declining, ledger=opened)
        sign_if_keyed(opened, ledger)
    if as_json:
        screen.print_json({"campaign": offer.campaign, "round": offer.round, "standing": int(standing.sum())})
    screen.note("written down: what was held for them is theirs again")


def cancel_offer(
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    ledger: LedgerUrl,
    as_json: AsJson = False,
) -> None:
    """Close a round without a release: everything held for it is given back, and nobody is charged.

    Example: optin ledger cancel announcement.json --ledger ledger.sqlite
    """
    from optin import campaign
    from optin.cli.announcing import read_announcement

    offer = read_announcement(announcement)
    with open_ledger(ledger) as opened:
        campaign.cancel(offer, ledger=opened)
        sign_if_keyed(opened, ledger)
    if as_json:
        screen.print_json({"campaign": offer.campaign, "round": offer.round, "cancelled": True})
    screen.note("cancelled: every promise of this round is given back")


def outside_copy(path: Path) -> OutsideCopy:
    """Read a release or a receipt that was kept outside the ledger."""
    from optin.receipts import Receipt
    from optin.releasing import Release

    text = read_text(path)
    try:
        record = json.loads(text)
        is_receipt = isinstance(record, dict) and record.get("optin") == "receipt"
        return Receipt.from_json(text) if is_receipt else Release.from_json(text)
    except (ValueError, BadInput) as error:
        reason = str(error) if isinstance(error, BadInput) else "it is not JSON"
    raise BadInput("{path} is neither a release nor a receipt: {reason}", path=path, reason=reason)
