"""``optin web``: what whoever runs a service does beside serving."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optin.cli import screen
from optin.cli.ledger import outside_copy
from optin.cli.options import AsJson
from optin.cli.serve import Keys, Origin, ServiceLedger, web_settings
from optin.errors import BadInput

if TYPE_CHECKING:
    from optin.web.settings import WebSettings


def show_status(ledger: ServiceLedger = None, keys: Keys = None, as_json: AsJson = False) -> None:
    """Say how a service stands: storage, campaigns by stage, jobs, keys, the age of its backup; nobody is named but analysts.

    Works beside a service that is serving, and changes nothing.

    Example: optin web status --ledger optin-web.sqlite
    """
    settings = _settings(ledger, keys)
    from optin.ledger import Ledger
    from optin.web.operating.status import status_of

    with Ledger.open(settings.ledger) as opened:
        found = status_of(settings, opened)
    now = time.time()
    if as_json:
        screen.print_json(asdict(found) | {"to_do": found.advice(now)})
        return
    screen.rows("Service", [(name, words) for name, words in found.rows(now)])
    for line in found.advice(now):
        screen.note(line, bad=True)


def write_backup(
    place: Annotated[Path, typer.Argument(metavar="PLACE", help="The file to write, or a folder to write it in.")],
    ledger: ServiceLedger = None,
    keys: Keys = None,
    as_json: AsJson = False,
) -> None:
    """Copy a service into one file while it serves; keys are not in it, see docs/how-to/backup.md.

    The file is readable for you alone. It holds everyone's limits, and answers only as ciphertext.

    Example: optin web backup backups/ --ledger optin-web.sqlite
    """
    settings = _settings(ledger, keys)
    from optin.web.operating.backups import back_up

    with screen.working("copying"):
        path, manifest = back_up(settings, place)
    if as_json:
        screen.print_json({"file": str(path), **asdict(manifest)})
        return
    screen.say(f"{path}: the database as of {manifest.made_at}, {manifest.head.acts:,} acts")
    screen.note("keys are not in it: keep the service's key apart from it, and no copy of the keys of rounds")


def restore_backup(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that optin web backup wrote.")],
    ledger: ServiceLedger = None,
    keys: Keys = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against", metavar="FILE", help="A release.json or receipt kept outside; may be given several times."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a backup where a service will find it, verify its ledger, and say which keys are missing.

    There must be nothing in that place yet. Everyone is signed out.

    Example: optin web restore backups/optin-20261118T070000Z.zip --ledger optin-web.sqlite --against release.json
    """
    settings = web_settings(ledger=ledger, keys=keys)
    from optin.web.operating.restoring import restore

    with screen.working("restoring"):
        found = restore(backup, settings, [outside_copy(path) for path in against or []])
    if as_json:
        screen.print_json({**asdict(found), "to_do": found.advice()})
        return
    screen.say(f"restored as of {found.manifest.made_at}: {found.manifest.head.acts:,} acts, every hash agrees")
    for line in found.advice():
        screen.note(line)


def reset_password(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The analyst's name.")],
    ledger: ServiceLedger = None,
    keys: Keys = None,
    origin: Origin = None,
) -> None:
    """Print a link with which an analyst chooses a new password: once, within a day.

    Example: optin web reset ada
    """
    settings = _settings(ledger, keys, origin=origin)
    from optin.web.app import open_service
    from optin.web.service.resets import reset_link

    service, _ = open_service(settings)
    try:
        secret = reset_link(service, name)
    finally:
        service.ledger.close()
    screen.say(f"{settings.origin or f'http://{settings.host}:{settings.port}'}/new-password#{secret}")
    screen.note("it works once, within a day; give it to nobody else")


def _settings(ledger: str | None, keys: Path | None, *, origin: str | None = None) -> WebSettings:
    """Read where a service is; one that is not there is not made."""
    settings = web_settings(ledger=ledger, keys=keys, origin=origin)
    if settings.sqlite_path is not None and not settings.sqlite_path.exists():
        raise BadInput("there is no service at {path}; say where it is: --ledger", path=settings.sqlite_path)
    return settings
