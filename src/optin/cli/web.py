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
from optin.cli.serve import Keys, Origin, Port, ServiceLedger, web_settings
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
        status = status_of(settings, opened)
    now = time.time()
    if as_json:
        screen.print_json(asdict(status) | {"to_do": status.advice(now)})
        return
    screen.rows("Service", [(name, words) for name, words in status.rows(now)])
    for line in status.advice(now):
        screen.note(line, bad=True)


def write_backup(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE", help="The file to write, or a folder to write it in; NAME/ is a folder, made if need be."
        ),
    ],
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
    screen.note(
        "keys are not in it: keep copies of the service's key and of log.key apart from it, and none of the keys of rounds"
    )


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
        restored = restore(backup, settings, [outside_copy(path) for path in against or []])
    if as_json:
        screen.print_json({**asdict(restored), "to_do": restored.advice()})
        return
    screen.say(f"restored as of {restored.manifest.made_at}: {restored.manifest.head.acts:,} acts, every hash agrees")
    for line in restored.advice():
        screen.note(line)


def reset_password(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The analyst's name.")],
    ledger: ServiceLedger = None,
    keys: Keys = None,
    origin: Origin = None,
    port: Port = None,
) -> None:
    """Print a link with which an analyst chooses a new password: once, within a day.

    Which address people use is not kept anywhere: give the --origin or --port with which the service is started.

    Example: optin web reset ada
    """
    settings = _settings(ledger, keys, origin=origin, port=port)
    from optin.database.connection import read
    from optin.ledger import Ledger
    from optin.web.app import open_service
    from optin.web.service.resets import analyst_named, reset_link

    with Ledger.open(settings.ledger) as opened:  # before a key is made for a database that never served
        read(opened.engine, lambda connection: analyst_named(connection, name))
    service, _ = open_service(settings)
    try:
        secret = reset_link(service, name)
    finally:
        service.ledger.close()
    screen.say(f"{settings.seen_at}/new-password#{secret}")
    screen.note("it works once, within a day; give it to nobody else")
    if not settings.model_fields_set & {"origin", "port"}:
        screen.note(
            f"a service that is started with --port or --origin is not at port {settings.port}: give both the same"
        )


def _settings(ledger: str | None, keys: Path | None, **seen_at: str | int | None) -> WebSettings:
    """Read where a service is, and at which address people see it; one that is not there is not made, nor its tables changed."""
    settings = web_settings(ledger=ledger, keys=keys, **seen_at)
    if settings.sqlite_path is not None and not settings.sqlite_path.exists():
        raise BadInput("there is no service at {path}; say where it is: --ledger", path=settings.sqlite_path)
    from optin.web.operating.copies import expect_own_version

    expect_own_version(settings)
    return settings
