"""A backup put in place on this machine, or another: checked before anyone is served from it, and what is missing is said."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete

from optin.database.connection import read
from optin.errors import BadInput, PromiseBroken
from optin.formats.atomic import AtomicWrite
from optin.ledger import Ledger
from optin.ledger.verification import OutsideCopy
from optin.web.operating.backups import Backup, Manifest, opened
from optin.web.operating.copies import expect_free, head_of, kind_of, loaded
from optin.web.operating.keys_here import KeysHere, key_mark, keys_here
from optin.web.schema import sessions
from optin.web.settings import WebSettings
from optin.web.transactions import change

_NO_KEY = (
    "the service's key is not here: set OPTIN_WEB_KEY as it was, or put environment.key into the folder of keys; the service "
    "does not start without it"
)
_NO_LOG_KEY = (
    "the key that signs the log is not here: put your copy of log.key into the folder of keys; where there is none, "
    "docs/how-to/log-keys.md says how another follows it"
)


@dataclass(frozen=True)
class Restored:
    """What was put in place, and which keys for it are here; ``key_is_same`` is None where one of the two is not known."""

    manifest: Manifest
    keys: KeysHere
    key_is_same: bool | None

    def advice(self) -> list[str]:
        """Say what is left to do."""
        since = (
            f"what was done after {self.manifest.made_at} is not in it: compare with the newest release you published, "
            "optin ledger verify --against release.json, before anyone is asked again"
        )
        return [since, *self._about_the_key(), *self._about_rounds()]

    def _about_the_key(self) -> list[str]:
        if not self.keys.wrapping:
            return [_NO_KEY]
        if self.key_is_same is False:
            return ["the key that is here is another than the one it was backed up with: bring that one back first"]
        return []

    def _about_rounds(self) -> list[str]:
        rounds = self.keys.unreadable_rounds
        lost = (
            f"answers of {rounds} running {'round' if rounds == 1 else 'rounds'} cannot be read here: their keys are in the "
            "folder of keys of the other machine, and in no backup. Bring that folder, or begin a new round of each"
        )
        return [*([lost] if rounds else []), *([] if self.keys.signs_log else [_NO_LOG_KEY])]


def restore(path: Path, settings: WebSettings, against: Sequence[OutsideCopy] = ()) -> Restored:
    """Put a backup in place, where there must be nothing: the ledger is verified first, and everyone is signed out."""
    with opened(path) as backup:
        _expect_kind(backup.manifest, settings)
        if settings.sqlite_path is not None:
            expect_free(settings.sqlite_path)
            with AtomicWrite(settings.sqlite_path, private=True) as place:
                place.write_by(lambda draft: _file(backup, draft, against, place.path))
        else:
            _load(backup, settings.ledger, against)
    with Ledger.open(settings.ledger) as ledger:
        here = keys_here(settings, ledger)
    mark = key_mark(settings)
    same = None if mark is None or not backup.manifest.key else mark == backup.manifest.key
    return Restored(backup.manifest, here, same)


def _expect_kind(manifest: Manifest, settings: WebSettings) -> None:
    if manifest.database != kind_of(settings):
        raise BadInput(
            "this is a backup of {theirs} and the service is to use {ours}: restore it into the kind it came from",
            theirs=manifest.database,
            ours=kind_of(settings),
        )


def _file(backup: Backup, draft: Path, against: Sequence[OutsideCopy], place: Path) -> None:
    backup.unpack(draft)
    _expect_good(str(draft), backup.manifest, against)
    expect_free(place)  # once more: a service that was started meanwhile has made a database of its own there


def _load(backup: Backup, url: str, against: Sequence[OutsideCopy]) -> None:
    with tempfile.TemporaryDirectory(prefix="optin-restore-") as folder:
        dump = Path(folder) / "database"
        backup.unpack(dump)
        with loaded(url, dump):
            _expect_good(url, backup.manifest, against)


def _expect_good(url: str, manifest: Manifest, against: Sequence[OutsideCopy]) -> None:
    """Verify the ledger, compare it with what the backup says of itself, and end every session of before."""
    with Ledger.open(url) as ledger:
        verification = ledger.verify(against)
        if not verification.ok:
            raise PromiseBroken("the restored ledger does not verify. {problems}", problems=verification)
        if read(ledger.engine, head_of) != manifest.head:
            raise PromiseBroken("the restored ledger ends with another act than the backup says: it was changed")
        change(ledger.engine, lambda connection: connection.execute(delete(sessions)))
