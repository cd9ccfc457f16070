"""``optin witness``: remember where a log stood, sign only what begins with it, and raise the alarm otherwise."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.log_keys import trusted
from optin.cli.options import AsJson
from optin.cli.output import Output, read_text
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.transparency.public_log import PublicLog
    from optin.transparency.witness import Witness

SECONDS = 30


def witness_log(
    source: Annotated[
        str,
        typer.Argument(metavar="URL", help="Where the log is: https://… of the service, a bundle.zip or a log.json."),
    ],
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where this witness keeps its key and what it remembers.")
    ] = Path("optin-witness"),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What this witness is called.", show_default="drawn once")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option("--key", metavar="KEY", help="The log's public key, or a file with it.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write what was signed to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """See a log: if its newest checkpoint begins with the one seen before, sign it and send the signature back.

    Run it now and then, on a machine that the operator has no hand in. A log that was rolled back, rewritten or forked is
    not signed: exit code 4, with both checkpoints as evidence. The first time, compare the key's words, or give --key.

    Example: optin witness https://survey.example.org --folder my-witness
    """
    from optin.transparency.witness import Witness, written_cosignature

    watching = Witness(folder, name=name)
    log = _log_at(source)
    done = watching.see(log, time=int(time.time()), trust=trusted(key) if key else None)
    text = written_cosignature(watching.verifier, done.signature)
    if output is not None:
        with Output(output) as file:
            file.write(text)
    sent = _is_address(source) and _send(source, text)
    _show(watching, done.opened, first=done.first, sent=sent, as_json=as_json)


def _show(watching: Witness, opened: object, *, first: bool, sent: bool, as_json: bool) -> None:
    from optin.transparency.trust import Opened
    from optin.wording.spoken import spoken

    assert isinstance(opened, Opened)  # noqa: S101
    at = opened.checkpoint
    if as_json:
        told = {"origin": at.origin, "size": at.size, "root": at.root, "first": first, "sent": sent}
        screen.print_json(told | {"witness": watching.verifier.to_text(), "log": opened.signer.to_text()})
        return
    seen = "seen for the first time" if first else "begins with what was seen before"
    screen.rows(
        "Signed",
        [
            ("log", f"{at.origin}, {at.size} acts: {seen}"),
            ("its key", spoken(opened.signer.fingerprint)),
            ("this witness", watching.verifier.to_text()),
        ],
    )
    if first:
        screen.note("compare the words of its key with the operator and with others before you rely on it")
    screen.note("sent to the log" if sent else "not sent: give it to the operator, for optin ledger cosign")


def _log_at(source: str) -> PublicLog:
    """Read a log from a service, from a bundle, or from its file."""
    from optin.transparency.public_log import PublicLog

    if _is_address(source):
        return PublicLog.from_json(_asked(source, "/log.json").decode("utf-8", "replace"))
    if source.endswith(".zip"):
        from optin.council.bundle import read_bundle

        return read_bundle(Path(source)).log
    return PublicLog.from_json(read_text(source))


def _is_address(source: str) -> bool:
    return source.startswith(("https://", "http://"))


def _asked(source: str, path: str, body: bytes | None = None) -> bytes:
    """Ask a service; over plain HTTP only what is on this machine or forgiven by whoever typed it."""
    from http.client import HTTPException
    from urllib.error import URLError
    from urllib.parse import urlsplit
    from urllib.request import Request, urlopen

    try:
        place = urlsplit(source)
        headers = {"Origin": f"{place.scheme}://{place.netloc}", "Content-Type": "text/plain; charset=utf-8"}
        request = Request(source.rstrip("/") + path, data=body, headers=headers)  # noqa: S310 - http and https alone
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return bytes(answer.read(2**26))
    except (HTTPException, URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
    raise BadInput("{source}{path} cannot be reached: {reason}", source=source.rstrip("/"), path=path, reason=reason)


def _send(source: str, text: str) -> bool:
    try:
        _asked(source, "/log/cosignatures", text.encode())
    except BadInput as error:
        screen.note(f"signed, and the service did not take it: {error}", bad=True)
        return False
    return True
