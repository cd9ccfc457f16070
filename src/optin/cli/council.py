"""``optin ledger bundle``, ``optin annex``, and the check of several files together: what a council is handed, and checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.ledgers import open_ledger
from optin.cli.log_keys import sign_if_keyed
from optin.cli.options import AsJson, LedgerUrl, NewFile
from optin.cli.output import Output, read_record, read_text
from optin.errors import BadInput, PromiseBroken

if TYPE_CHECKING:
    from optin.transparency.trust import Trust


def write_bundle(
    ledger: LedgerUrl,
    campaign: Annotated[str, typer.Option(metavar="NAME", help="Which campaign.")],
    output: NewFile,
    round_number: Annotated[int, typer.Option("--round", metavar="N", help="Which round of it.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Write everything public about a round into one file, with proofs: anyone checks it with optin check.

    Example: optin ledger bundle --ledger ledger.sqlite --campaign survey -o bundle.zip
    """
    from optin.council.gathering import bundle_of
    from optin.council.keeping import FILES

    with Output(output, inputs=[ledger]) as file, open_ledger(ledger) as opened:
        sign_if_keyed(opened, ledger)
        bundle = bundle_of(opened, campaign, round_number, FILES)
        file.write(bundle.to_bytes(output.name))
    if as_json:
        told = {"announcement": bundle.announcement.fingerprint, "checkpoints": len(bundle.log.notes)}
        screen.print_json(told | {"release": bundle.release.fingerprint if bundle.release else None})
    screen.note(f"wrote {output}: everything in it is public")


def write_annex(
    announcement: Annotated[Path, typer.Argument(metavar="announcement.json", help="The published offer.")],
    output: NewFile,
    consent: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a consent record (fields of ISO/IEC TS 27560).")
    ] = None,
    promise: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the privacy promise as JSON.")
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Whose consent record it is: their receipt.")
    ] = None,
) -> None:
    """Write the annex for an ethics board: data flow, consent text, who sees what, retention, the last moment to withdraw.

    Example: optin annex announcement.json -o annex.html --consent consent.json --promise promise.json
    """
    from optin.cli.announcing import read_announcement
    from optin.council.annex import annex
    from optin.council.consent import consent_text
    from optin.council.keeping import FILES
    from optin.council.promise import promise_text
    from optin.receipts import Receipt

    offer = read_announcement(announcement)
    held = None if receipt is None else read_record(receipt, Receipt.from_json)
    if held is not None and held.fingerprint != offer.fingerprint:
        raise PromiseBroken("{receipt} is for another announcement", receipt=receipt)
    texts = {
        output: annex(offer, FILES),
        consent: consent_text(offer, FILES, held),
        promise: promise_text(offer),
    }
    for path, text in texts.items():
        if path is not None:
            with Output(path, private=path == consent and held is not None, inputs=[announcement, receipt]) as file:
                file.write(text)
    screen.note(f"wrote {', '.join(str(path) for path in texts if path is not None)}")


def check_together(files: list[Path], trust: Trust, *, as_json: bool) -> None:
    """Check bundles and receipts, each alone and all together."""
    from optin.council.bundle import read_bundle
    from optin.council.checking import Held, checked_together
    from optin.receipts import Receipt

    bundles = {str(path): read_bundle(path) for path in files if path.suffix == ".zip"}
    others = [path for path in files if path.suffix != ".zip"]
    for path in others:
        _expect_receipt(path)
    receipts = {str(path): read_record(path, Receipt.from_json) for path in others}
    if len(bundles) + len(receipts) < len(files):
        raise BadInput("a file is given twice")
    try:
        shown = checked_together(Held(receipts, bundles), trust)
    except PromiseBroken as error:
        if as_json:
            screen.print_json({"ok": False, "why": str(error)})
        raise
    if as_json:
        screen.print_json({"ok": True, "shown": list(shown)})
        return
    alone = "Everything in this file is good"
    if not all(bundle.papers_agree for bundle in bundles.values()):
        alone = "What could be compared in this file is good"
    screen.heading("Everything fits together" if len(files) > 1 else alone)
    for line in shown:
        screen.say(f"  {line}")


def _expect_receipt(path: Path) -> None:
    """Refuse a part of a bundle, which shows nothing by itself, and say what to give."""
    text = read_text(path)
    if '"optin": "receipt"' not in text and any(f'"{name}' in text for name in ('optin": "log"', 'format": "optin.')):
        raise BadInput(
            "{path} shows nothing by itself: give the bundle.zip that it is from, or a receipt with announcement.json and"
            " release.json (a log.json alone is checked by the page of optin check --page)",
            path=path,
        )


def write_page(path: Path) -> None:
    """Write the page that checks in a browser."""
    from optin.council.browser import check_page

    with Output(path) as file:
        file.write(check_page())
    screen.note(f"wrote {path}: open it in a browser, with or without a network")
