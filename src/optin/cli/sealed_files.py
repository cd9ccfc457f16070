"""What is under seal: the private file beside a public one, which a release without a ledger needs, and ``optin ledger open``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.ledgers import open_ledger
from optin.cli.options import LedgerUrl, NewFile
from optin.cli.output import Output, read_record
from optin.errors import BadInput
from optin.formats.atomic import AtomicWrite

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.ledger import Ledger


def sealed_path(public: Path) -> Path:
    """Return where the sealed numbers of a public file are kept: beside announcement.json, announcement.sealed.json."""
    return public.with_name(f"{public.stem}.sealed{public.suffix}")


def write_sealed(public: Path, offer: Announcement) -> None:
    """Write the exact numbers of an announcement beside it, for its owner alone; where sums are public, nothing."""
    if offer.seal is not None:
        with AtomicWrite(sealed_path(public), private=True) as file:
            file.write(offer.to_sealed_json() + "\n")


def opened_offer(path: Path, offer: Announcement, ledger: Ledger | None) -> Announcement:
    """Return an announcement with its exact numbers: from the ledger, or from the private file beside the public one."""
    if offer.sealed is not None:
        return offer
    if ledger is None:
        return _beside(path, offer)
    from optin.campaign import with_seal_opened

    return with_seal_opened(offer, ledger)


def _beside(path: Path, offer: Announcement) -> Announcement:
    from optin.announcement import Announcement

    place = sealed_path(path)
    if not place.exists():
        raise BadInput(
            "{place} is missing: the exact sums of {path} are under seal, and a release needs them. Keep that file beside it, or"
            " write it again with optin ledger open",
            place=place,
            path=path,
        )
    sealed = read_record(place, Announcement.from_json)
    if sealed.fingerprint != offer.fingerprint or sealed.sealed is None:
        raise BadInput("{place} holds the sealed numbers of another announcement than {path}", place=place, path=path)
    return sealed


def open_act(
    act: Annotated[
        int, typer.Option("--act", metavar="N", min=1, help="The act's number: optin ledger show lists them.")
    ],
    ledger: LedgerUrl,
    output: NewFile,
) -> None:
    """Open an announcement or a release to an auditor: write it with the exact numbers that its public hash binds.

    Whoever reads the file (optin.Announcement.from_json, optin.Release.from_json) recomputes the hash, and every public number
    from the exact ones; what is published stays as it is. The exact sums can be solved for people's limits: hand the file to
    people who may see these. It is also the announcement.sealed.json that a release without a ledger needs.

    Example: optin ledger open --act 2 --ledger ledger.sqlite -o announcement.sealed.json
    """
    from optin.campaign import opened_act

    with Output(output, private=True, inputs=[ledger]) as file, open_ledger(ledger) as opened:
        file.write(opened_act(opened, act) + "\n")
    screen.note(
        f"wrote {output}; its exact numbers are those that the published hash binds, and what was published follows"
    )
