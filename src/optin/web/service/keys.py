"""Keys outside the database: one for each round and each list of people, wrapped by the environment's key, destroyed with them.

Deleting rows does not delete bytes: databases keep them in their files, logs and backups. A value is therefore stored only
as ciphertext, under a key that lives in a file of its own; when that file is gone nobody can read the value again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import struct
import threading
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from optin.errors import BadInput, LedgerUnavailable

_NONCE = 12
_NAME = re.compile(r"([0-9a-f]{32})-(\d{1,10})\.key")
LISTS = 0
"""In place of a round: the key of a campaign's lists of people, which goes when the campaign is over."""


class Keyring:
    """The folder of wrapped keys, and the environment's key that unwraps them.

    >>> import tempfile
    >>> ring = Keyring(Path(tempfile.mkdtemp()) / "keys", bytes(32))
    >>> ring.ensure("ab" * 16, 1)
    >>> sealed = ring.seal([0.5, 3.0], campaign="ab" * 16, round=1, person="p")
    >>> ring.unseal(sealed, campaign="ab" * 16, round=1, person="p")
    (0.5, 3.0)
    >>> ring.destroy("ab" * 16, 1)
    >>> ring.stored_rounds()
    []
    """

    def __init__(self, folder: Path, environment_key: bytes, *, make: bool = True) -> None:
        """Open the folder; with ``make=False``, for those who only look, it is neither made nor given other rights."""
        if len(environment_key) != 32:
            raise BadInput("the environment's key must be 32 bytes in base64; make one with: openssl rand -base64 32")
        self._folder = folder
        self._outer = AESGCM(hashlib.sha256(b"optin wrap 1" + environment_key).digest())
        self._pepper = hashlib.sha256(b"optin pepper 1" + environment_key).digest()
        self._open: dict[str, AESGCM] = {}
        self._guard = threading.Lock()
        if make:
            _make_folder(folder)

    def __repr__(self) -> str:
        return "<Keyring>"

    @property
    def log_key(self) -> Path:
        """Where the key is kept that signs the log; it is no secret of people's, and stays when rounds end."""
        return self._folder / "log.key"

    def digest(self, purpose: str, text: str) -> str:
        """Hash a text so that only this service can, for tokens that are derived rather than stored."""
        return hmac.new(self._pepper, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    def hidden(self, text: str, *, bound: str, campaign: str | None = None) -> bytes:
        """Encrypt a text that the service itself has to read again, such as an address; bound to where it stands.

        A campaign's is read under a key of its lists, which goes with it: also from copies of the database.
        """
        key = self._outer
        if campaign is not None:
            self.ensure(campaign, LISTS)
            key = self._key(campaign, LISTS)
        nonce = secrets.token_bytes(_NONCE)
        return nonce + key.encrypt(nonce, text.encode(), _bound_text(bound))

    def shown(self, hidden: bytes, *, bound: str, campaign: str | None = None) -> str:
        """Decrypt what `hidden` wrote; before lists had keys of their own, theirs was the environment's."""
        listed = campaign is not None and self._path(campaign, LISTS).exists()
        for key in (*([self._key(str(campaign), LISTS)] if listed else ()), self._outer):
            with contextlib.suppress(InvalidTag):
                return str(key.decrypt(hidden[:_NONCE], hidden[_NONCE:], _bound_text(bound)), "utf-8")
        raise LedgerUnavailable(
            "a stored address does not open with its key: the key is gone, or the database was changed"
        )

    def ensure(self, campaign: str, round: int) -> None:  # noqa: A002 - the word of the contract
        """Make a round's key unless it is there; it is on disk, whole, when this returns."""
        path = self._path(campaign, round)
        if path.exists():
            return
        nonce = secrets.token_bytes(_NONCE)
        wrapped = nonce + self._outer.encrypt(nonce, secrets.token_bytes(32), path.name.encode())
        beside = path.with_suffix(f".{secrets.token_hex(8)}.new")
        _write_through(beside, wrapped)
        try:
            os.link(beside, path)  # of two makers one wins, and both use what it made
        except FileExistsError:
            pass
        finally:
            beside.unlink()
        self._sync_folder()

    def seal(self, codes: Sequence[float], *, campaign: str, round: int, person: str) -> bytes:  # noqa: A002
        """Encrypt the codes of a sheet's answers, bound to campaign, person and round; all sheets have the same length."""
        nonce = secrets.token_bytes(_NONCE)
        key = self._key(campaign, round)
        return nonce + key.encrypt(nonce, struct.pack(f">{len(codes)}d", *codes), _bound(campaign, person, round))

    def unseal(self, sealed: bytes, *, campaign: str, round: int, person: str) -> tuple[float, ...]:  # noqa: A002
        """Decrypt the codes of one sheet; one that was moved to another person, round or campaign does not open."""
        key = self._key(campaign, round)
        try:
            plain = key.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound(campaign, person, round))
        except InvalidTag:
            plain = None
        if plain is None:
            raise LedgerUnavailable("a stored answer does not open with this round's key: the database was changed")
        return struct.unpack(f">{len(plain) // 8}d", plain)

    def destroy(self, campaign: str, round: int) -> None:  # noqa: A002
        """Overwrite and remove a round's key; what was sealed under it is gone for good."""
        path = self._path(campaign, round)
        with self._guard:
            self._open.pop(path.name, None)
        if not path.exists():
            return
        _write_through(path, secrets.token_bytes(path.stat().st_size), fresh=False)
        path.unlink(missing_ok=True)
        self._sync_folder()

    def stored_rounds(self) -> list[tuple[str, int]]:
        """List the rounds whose key is there."""
        try:
            names = os.listdir(self._folder)
        except OSError as error:
            reason = error.strerror
        else:
            return sorted((match[1], int(match[2])) for match in map(_NAME.fullmatch, names) if match)
        raise LedgerUnavailable(
            "the folder of keys cannot be read: {reason}; check the place and its rights", reason=reason
        )

    def opens(self, campaign: str, round: int) -> bool:  # noqa: A002
        """Say whether a round's key, if it is there, was wrapped by this environment's key."""
        path = self._path(campaign, round)
        try:
            self._unwrapped(path)
        except LedgerUnavailable:
            return not path.exists()
        return True

    def _path(self, campaign: str, round: int) -> Path:  # noqa: A002
        path = self._folder / f"{campaign}-{round}.key"
        if not _NAME.fullmatch(path.name):
            raise BadInput("a key belongs to a campaign of this service and a round")
        return path

    def _key(self, campaign: str, round: int) -> AESGCM:  # noqa: A002
        path = self._path(campaign, round)
        with self._guard:
            if path.name not in self._open:
                self._open[path.name] = AESGCM(self._unwrapped(path))
            return self._open[path.name]

    def _unwrapped(self, path: Path) -> bytes:
        try:
            wrapped = path.read_bytes()
            return self._outer.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], path.name.encode())
        except (OSError, InvalidTag, ValueError):
            pass
        raise LedgerUnavailable("the key of this round is missing or was wrapped by another environment's key")

    def _sync_folder(self) -> None:
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _make_folder(folder: Path) -> None:
    """Make a folder that its owner alone can look into."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise BadInput(
            "the folder of keys cannot be used: {strerror}; check the place and its rights", strerror=error.strerror
        ) from None


def _bound(campaign: str, person: str, round: int) -> bytes:  # noqa: A002
    return f"optin answer 1:{campaign}:{person}:{round}".encode()


def _bound_text(bound: str) -> bytes:
    return f"optin text 1:{bound}".encode()


def _write_through(path: Path, data: bytes, *, fresh: bool = True) -> None:
    """Write bytes and wait for the disk; over the old ones, or into a new file that its owner alone can read."""
    handle = os.open(path, os.O_WRONLY | (os.O_CREAT | os.O_EXCL if fresh else 0), 0o600)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
