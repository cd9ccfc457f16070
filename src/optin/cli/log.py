"""``optin ledger key``, ``sign``, ``log`` and ``cosign``: the log over a ledger's acts, and who signs it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.ledgers import ledger_exists, open_ledger
from optin.cli.log_keys import key_place, log_key
from optin.cli.options import AsJson, LedgerUrl
from optin.cli.output import read_text
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.transparency.note import VerifierKey

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", metavar="FILE", help="The private key that signs.", show_default="beside the SQLite file: *.log-key"
    ),
]


def make_key(
    ledger: LedgerUrl,
    key: KeyFile = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the log is called: example.org/survey.", show_default="drawn"),
    ] = None,
    rotate: Annotated[bool, typer.Option("--rotate", help="Make a new key that follows the old one.")] = False,
    lost: Annotated[bool, typer.Option("--lost", help="The old key is lost: let a new one sign without it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the key that signs the ledger's log, once, and sign what is there; or let a new key follow it.

    The private key is written to a file of its own that only its owner can read, never into the ledger. From then on every
    command that writes to the ledger signs a checkpoint. Give the public key and its words to everyone who will check.

    Example: optin ledger key --ledger ledger.sqlite --name example.org/survey
    """
    from optin.ledger import Log
    from optin.transparency.keys import SigningKey, write_key

    if rotate or lost:
        _follow(ledger, key_place(ledger, key), lost=lost, as_json=as_json)
        return
    place = key_place(ledger, key)
    signing = SigningKey.new(name or f"optin-ledger-{secrets.token_hex(6)}")
    if ledger_exists(ledger):
        with open_ledger(ledger) as opened:
            if Log(opened).signer() is not None:
                raise BadInput("a key signs for this ledger already; let a new one follow it with --rotate, or --lost")
            write_key(place, signing)
            if opened.acts():
                Log(opened).sign(signing)
    else:
        write_key(place, signing)
    _show_key(place, signing, as_json=as_json)


def _follow(ledger: str, place: Path, *, lost: bool, as_json: bool) -> None:
    """Draw a new key, have it follow the old one, and put it in the old one's place, which is kept beside it.

    The new key is in a file before the ledger knows of it, so that it is there whenever this is cut short: doing it again puts
    that one in its place.
    """
    from optin.ledger import Log
    from optin.transparency.keys import SigningKey, read_key, write_key
    from optin.transparency.succession import Succession

    with open_ledger(ledger) as opened:
        log = Log(opened)
        signer = log.signer()
        if signer is None:
            raise BadInput("no key signs for this ledger yet: make one without --rotate")
        if not (log.successions() and _beside(place, signer).exists()):
            old, new = None if lost else read_key(place), SigningKey.new(signer.name)
            write_key(_beside(place, new.verifier), new)
            log.rotate(new, old)
        succession = Succession.from_note(log.successions()[-1])
        if place.exists():
            place.rename(_beside(place, succession.old))
        _beside(place, succession.new).rename(place)
        signing = read_key(place)
        log.sign(signing)
    _show_key(place, signing, as_json=as_json)
    screen.note(
        "give the new public key to everyone who checks" + ("; witnesses have to accept it by hand" if lost else "")
    )


def _beside(place: Path, key: VerifierKey) -> Path:
    """Say where a key is while it is not the one that signs: beside that one, with its id at the end of its name."""
    return place.with_name(f"{place.name}.{key.id.hex()}")


def _show_key(place: Path, key: object, *, as_json: bool) -> None:
    from optin.transparency.keys import SigningKey
    from optin.wording.spoken import spoken

    assert isinstance(key, SigningKey)  # noqa: S101
    public = key.verifier
    if as_json:
        screen.print_json({"name": public.name, "public": public.to_text(), "words": spoken(public.fingerprint)})
    else:
        told = [("log", public.name), ("public key", public.to_text()), ("in words", spoken(public.fingerprint))]
        screen.rows("The key of this ledger's log", told)
    screen.note(f"wrote the private key to {place}, for its owner's eyes only: keep a copy, it is not in the ledger")


def sign_log(ledger: LedgerUrl, key: KeyFile = None, as_json: AsJson = False) -> None:
    """Sign a checkpoint of the log as it stands; what was signed before is never contradicted.

    Example: optin ledger sign --ledger ledger.sqlite
    """
    from optin.ledger import Log

    signing = log_key(ledger, key)
    if signing is None:
        raise BadInput("there is no key yet: make one with optin ledger key --ledger {ledger}", ledger=ledger)
    with open_ledger(ledger) as opened:
        note = Log(opened).sign(signing)
    _print_note(note.to_text(), as_json=as_json)


def show_log(ledger: LedgerUrl, as_json: AsJson = False) -> None:
    """List the signed checkpoints and the witnesses who saw each.

    Example: optin ledger log --ledger ledger.sqlite
    """
    from optin.ledger import Log
    from optin.transparency.trust import opened as opened_note
    from optin.wording.spoken import spoken

    with open_ledger(ledger) as opened:
        log = Log(opened)
        notes, keys = log.checkpoints(), log.keys()
    checkpoints = [opened_note(note, keys) for note in notes]
    if as_json:
        screen.print_json({"keys": [key.to_text() for key in keys], "checkpoints": [note.to_text() for note in notes]})
        return
    screen.columns(
        f"{len(notes)} checkpoints" + (f" of {checkpoints[-1].checkpoint.origin}" if checkpoints else ""),
        ("acts", "root", "witnesses"),
        [
            (str(one.checkpoint.size), one.checkpoint.root[:12], ", ".join(seen.key.name for seen in one.witnesses))
            for one in checkpoints
        ],
    )
    screen.rows("Keys", [(key.name, spoken(key.fingerprint)) for key in keys])


def keep_cosignature(
    cosignature: Annotated[Path, typer.Argument(metavar="FILE", help="What optin witness wrote.")],
    ledger: LedgerUrl,
    as_json: AsJson = False,
) -> None:
    """Keep what a witness signed; receipts then say who saw their checkpoint.

    Example: optin ledger cosign witness.txt --ledger ledger.sqlite
    """
    from optin.ledger import Log
    from optin.transparency.witness import read_cosignature

    key, line = read_cosignature(read_text(cosignature))
    with open_ledger(ledger) as opened:
        new = Log(opened).cosign(line, key)
    if as_json:
        screen.print_json({"witness": key.name, "new": new})
    screen.note(f"kept what {key.name} signed" if new else f"{key.name} had signed this before: nothing changed")


def _print_note(text: str, *, as_json: bool) -> None:
    if as_json:
        screen.print_json({"checkpoint": text})
    else:
        typer.echo(text, nl=False)
