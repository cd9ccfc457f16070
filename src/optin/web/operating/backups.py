"""A backup of a service in one file: its database at one moment, and what a restored one is compared with. No keys are in it.

An answer is readable only with its round's key, which is destroyed with the round: a copy of it would undo that.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from optin._version import __version__
from optin.errors import BadInput
from optin.formats.atomic import AtomicWrite
from optin.formats.strict_json import Fields
from optin.ledger import Ledger
from optin.web.operating.copies import Head, copy_to, kind_of
from optin.web.operating.keys_here import key_mark
from optin.web.service.core import log_event
from optin.web.settings import WebSettings
from optin.web.transactions import change

BACKED_UP = "backed up"
"""The kind of the event that tells when a backup was made."""
_MANIFEST, _DATABASE, _FORMAT = "backup.json", "database", "optin.backup/1"


@dataclass(frozen=True)
class Manifest:
    """What stands beside a copied database: its kind, when it was made, its newest act, and a mark of the service's key."""

    database: str
    made_at: str
    head: Head
    key: str
    optin: str

    def to_json(self) -> str:
        """Write it."""
        return json.dumps({"format": _FORMAT, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read it."""
        fields = Fields.parse(text, "backup", (1,))
        head = fields.take_object("head")
        names = ("database", "made_at", "key", "optin")
        texts = {name: fields.take_text(name) for name in names}
        fields.finish()
        return cls(**texts, head=Head(head.take_count("acts"), head.take_text("hash")))


def back_up(settings: WebSettings, place: str | Path) -> tuple[Path, Manifest]:
    """Copy a service that may be serving into one file that its owner alone can read, and write down that this was done.

    ``place`` is the file to be, or a folder in which it is named by the time: one that is there, or a name that ends with a
    slash, whose folder is made.
    """
    _expect_database(settings)
    now = datetime.now(UTC)
    path = _file_at(place, now)
    if path.exists():
        raise BadInput(
            "{path} exists; a backup is never put over another: name a folder, in which each is named by its time",
            path=path,
        )
    with AtomicWrite(path, private=True) as file:
        made: list[Manifest] = []
        file.write_by(lambda draft: made.append(_written(settings, draft, now)))
    with Ledger.open(settings.ledger) as ledger:
        change(ledger.engine, lambda link: log_event(link, now.timestamp(), BACKED_UP, "the database was backed up"))
    return path, made[0]


def _file_at(place: str | Path, now: datetime) -> Path:
    """Say which file to write: a path forgets the slash at its end, so the words that were given are looked at."""
    path = Path(place)
    if not (path.is_dir() or str(place).endswith(("/", os.sep))):
        return path
    _make_folder(path)
    return path / f"optin-{now:%Y%m%dT%H%M%SZ}.zip"


def _make_folder(folder: Path) -> None:
    """Make a folder for backups that is not there yet, which nobody else can look into."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "it cannot be made"
    else:
        return
    raise BadInput("{path}: {reason}", path=folder, reason=reason)


def _expect_database(settings: WebSettings) -> None:
    """Refuse to make a new, empty service only to copy it."""
    if settings.sqlite_path is not None and not settings.sqlite_path.exists():
        raise BadInput("there is no service at {path}; say where it is: --ledger", path=settings.sqlite_path)


def _written(settings: WebSettings, draft: Path, now: datetime) -> Manifest:
    copy = draft.with_name("database")
    head = copy_to(settings, copy)
    manifest = Manifest(kind_of(settings), f"{now:%Y-%m-%dT%H:%M:%SZ}", head, key_mark(settings) or "", __version__)
    with zipfile.ZipFile(draft, "x", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_MANIFEST, manifest.to_json())
        archive.write(copy, _DATABASE)
    copy.unlink()
    return manifest


@dataclass(frozen=True)
class Backup:
    """A backup that is open to be read."""

    manifest: Manifest
    archive: zipfile.ZipFile

    def unpack(self, place: Path) -> None:
        """Write the database that was copied; a damaged file is refused."""
        try:
            with self.archive.open(_DATABASE) as source, place.open("xb") as target:
                place.chmod(0o600)
                while part := source.read(1 << 20):
                    target.write(part)
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError):
            broken = True
        else:
            broken = False
        if broken:
            raise BadInput("this backup is damaged: take another copy of it")


@contextmanager
def opened(path: Path) -> Iterator[Backup]:
    """Open a backup and read what it says of itself."""
    try:
        archive = zipfile.ZipFile(path)
        text = archive.read(_MANIFEST).decode()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError, RuntimeError):
        reason = "it is no backup that `optin web backup` wrote, or it is damaged"
    else:
        with archive:
            yield Backup(Manifest.from_json(text), archive)
        return
    raise BadInput("{path}: {reason}", path=path, reason=reason)
