"""``optin receipt`` and ``optin check``: what one person can hold against the operator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.announcing import read_announcement
from optin.cli.council import check_together, write_page
from optin.cli.ledgers import open_ledger
from optin.cli.log_keys import sign_if_keyed, trusted
from optin.cli.options import AsJson, LedgerUrl, NewFile
from optin.cli.output import Output, read_record, read_text
from optin.cli.people_files import named
from optin.errors import BadInput, PromiseBroken
from optin.wording.numbers import count

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.receipts import Receipt
    from optin.releasing import Release
    from optin.transparency.trust import Trust


def write_receipt(
    ledger: LedgerUrl,
    person: Annotated[str, typer.Option("--id", metavar="ID", help="Whose receipt.")],
    output: NewFile,
    campaign: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which campaign.", show_default="this person's newest release")
    ] = None,
    round_number: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Which round of it.", show_default="the newest released")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one person's receipt: what was promised, what was spent (and on which questions), what remains, and the proof.

    Example: optin receipt --ledger ledger.sqlite --id p0007 -o receipt.json
    """
    from optin.campaign.history import release_of

    if round_number is not None and campaign is None:
        raise BadInput("--round is of a campaign: name it with --campaign, or leave both out for the newest release")
    with Output(output, private=True, inputs=[ledger]) as file:
        with open_ledger(ledger) as opened, named([person]):
            sign_if_keyed(opened, ledger)
            receipt = opened.receipt(person, campaign=campaign, round=round_number)
            drawn = release_of(opened, receipt.campaign, receipt.round)
        text = receipt.to_json()
        file.write(text + "\n")
    if as_json:
        typer.echo(text)
    else:
        screen.rows("Receipt", _receipt_rows(receipt))
        _show_took(receipt, drawn)
    screen.note(f"wrote {output}: for this person's eyes only")


def check_receipt(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="receipt.json announcement.json release.json; or a bundle.zip; or receipts and bundles to compare.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key", metavar="KEY", help="A public key that you know, or a file with such: of the log, of witnesses."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the page that checks receipts and logs in a browser, without a network."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt against the published files alone; no ledger and no network is needed. Exit code 4 if it fails.

    A bundle is checked whole. Receipts and bundles of several people are compared: two that contradict each other show that
    the operator keeps two ledgers.

    Example: optin check receipt.json announcement.json release.json

    Example: optin check mine.json yours.json bundle.zip --key council-keys.txt
    """
    if page is not None:
        write_page(page)
        return
    if not files:
        raise BadInput("name the files to check: receipt.json announcement.json release.json, or a bundle.zip")
    trust = trusted(key)
    if not _is_one_receipt(files):
        check_together(files, trust, as_json=as_json)
        return
    _check_one(files, trust, as_json=as_json)


def _is_one_receipt(files: list[Path]) -> bool:
    """Tell a receipt with its two published files from things to compare, which are receipts and bundles."""
    if len(files) != 3 or any(path.suffix == ".zip" for path in files):
        return False
    return sum('"optin": "receipt"' in read_text(path) for path in files) <= 1


def _place(path: Path) -> int:
    """Say which of the three files this is, in whatever order they are named; one that does not tell stays where it was."""
    text = read_text(path)
    if '"optin": "receipt"' in text:
        return 0
    return 2 if '"format": "optin.release' in text else 1


def _check_one(files: list[Path], trust: Trust, *, as_json: bool) -> None:
    from optin.receipts import Receipt, check
    from optin.releasing import Release

    receipt, announcement, release = sorted(files, key=_place)
    offer, drawn = read_announcement(announcement), read_record(release, Release.from_json)
    held = read_record(receipt, Receipt.from_json)
    try:
        shown = check(held, offer, drawn, trust=trust)
    except PromiseBroken as error:
        if as_json:
            screen.print_json({"ok": False, "why": str(error)})
        raise
    if as_json:
        took = [asdict(each) for each in taken(held, drawn)]
        screen.print_json({"ok": True, "shown": list(shown)} | ({"questions": took} if took else {}))
        return
    screen.heading("This receipt is good")
    for line in shown:
        screen.say(f"  {line}")
    screen.rows("In words, to compare with others", _words(offer, drawn))
    _show_took(held, drawn)


def _words(offer: Announcement, drawn: Release) -> list[tuple[str, str]]:
    from optin.wording.spoken import spoken

    return [("the offer", spoken(offer.fingerprint)), ("the result", spoken(drawn.fingerprint))]


def _receipt_rows(receipt: Receipt) -> list[tuple[str, str]]:
    from optin.kernel.rounding import epsilon_of
    from optin.receipts import outcome

    left = "without limit" if receipt.remaining is None else f"{epsilon_of(receipt.remaining):.9g}"
    return [
        ("release", f"{receipt.campaign}, round {receipt.round}"),
        ("promised", f"epsilon {epsilon_of(receipt.promised):.9g}"),
        ("spent", f"epsilon {epsilon_of(receipt.spent):.9g}" + ("" if receipt.spent else f": {outcome(receipt)}")),
        ("remaining", left if receipt.remaining is None else f"epsilon {left}"),
        ("sealed in", f"act {receipt.ledger_number} of the ledger, {_among(receipt)}"),
        *([] if receipt.log is None else [("logged", _logged(receipt))]),
    ]


def _logged(receipt: Receipt) -> str:
    """Say which checkpoint covers a receipt, and how many witnesses saw it; who they are is for the check to say."""
    from optin.transparency.note import COSIGNATURE

    assert receipt.log is not None  # noqa: S101
    witnesses = [key for key in receipt.log.keys if key.kind == COSIGNATURE and receipt.log.note.signed_by(key)]
    seen = f"seen by {count(len(witnesses), 'witness', 'witnesses')}" if witnesses else "seen by no witness yet"
    return f"in the signed checkpoint of {receipt.log.checkpoint.size} acts, {seen}"


def _among(receipt: Receipt) -> str:
    """Say whether this person is one of those charged: an entry of nothing is one, for whoever joined with nothing to give."""
    if receipt.index is None:
        return f"not one of its {receipt.charged_people:,} charges"
    return f"one of {receipt.charged_people:,} charges" + ("" if receipt.spent else ", of nothing")


@dataclass(frozen=True)
class Taken:
    """What one question took of one person, and why it took nothing."""

    name: str
    grains: int
    epsilon: float
    why: str


def taken(receipt: Receipt, drawn: Release) -> list[Taken]:
    """List what each question of a sheet took; nothing where one question was asked, or where nothing was charged."""
    from optin.kernel.rounding import epsilon_of

    if receipt.answered is None:
        return []
    if drawn.grouped:
        drawn = list(drawn.groups.values())[receipt.design or 0]
    took = receipt.question_grains(drawn.announcement.shares)
    answered = (bool(receipt.answered >> place & 1) for place in range(len(took)))
    return [
        Taken(question.name, grains, epsilon_of(grains), _why(question.name, drawn, answered=yes))
        for question, grains, yes in zip(drawn.sheet, took, answered, strict=True)
    ]


def _why(name: str, drawn: Release, *, answered: bool) -> str:
    """Say how a question came by what it took; dropped ones are charged to nobody, whether or not they were answered."""
    if name in drawn.dropped:
        return f"not published: {drawn.dropped[name]}"
    return "answered" if answered else "skipped: no answer, nothing taken"


def _show_took(receipt: Receipt, drawn: Release | None) -> None:
    lines = [] if drawn is None else taken(receipt, drawn)
    if not lines:
        return
    screen.say()
    screen.rows("What each question took", [(each.name, f"epsilon {each.epsilon:.9g}, {each.why}") for each in lines])
