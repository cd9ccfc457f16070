"""Keys that sign (Ed25519, RFC 8032, by ``cryptography``), the files they are kept in, and how signatures are checked."""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from optin.errors import BadInput
from optin.extras import expect as expect_extra
from optin.formats.atomic import write_once
from optin.transparency.note import (
    COSIGNATURE,
    ED25519,
    Signature,
    SignedNote,
    VerifierKey,
    checked_name,
    decoded,
    encoded,
    expect,
)
from optin.wording.records import OneLine

WHAT = "signing a checkpoint, or checking who signed it,"
_PREFIX = "PRIVATE+KEY+"
_TIME, _SIGNED = 8, 64
LAST_SECOND = 253_402_300_799
"""The end of the year 9999: a witness who signs later has no clock, and its time could not be written down."""


@dataclass(frozen=True, repr=False)
class SigningKey(OneLine):
    """A private key with the name it signs under; it prints its name and nothing of itself."""

    name: str
    kind: int
    seed: bytes = field(repr=False)

    def __repr__(self) -> str:
        return f"<SigningKey of {self.name}>"

    @classmethod
    def new(cls, name: str, *, witness: bool = False) -> SigningKey:
        """Draw a key for a log, or for a witness."""
        return cls(checked_name(name), COSIGNATURE if witness else ED25519, secrets.token_bytes(32))

    @cached_property
    def verifier(self) -> VerifierKey:
        """What others check with."""
        expect_extra("trust", WHAT)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        public = Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()
        return VerifierKey(self.name, self.kind, public)

    def signed(self, text: str, *, time: int = 0) -> Signature:
        """Sign the text of a note; a witness signs it with the time."""
        expect_extra("trust", WHAT)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        stamp = time.to_bytes(_TIME, "big") if self.kind == COSIGNATURE else b""
        made = Ed25519PrivateKey.from_private_bytes(self.seed).sign(_message(text, self.kind, time))
        return Signature(self.name, self.verifier.id, stamp + made)

    def to_text(self) -> str:
        """Write the private key on one line, for a file that only its owner reads."""
        return f"{_PREFIX}{self.name}+{self.verifier.id.hex()}+{encoded(bytes([self.kind]) + self.seed)}"

    @classmethod
    def from_text(cls, text: str) -> SigningKey:
        """Read a private key; nothing of it is repeated where it cannot be read."""
        name, _, rest = text.strip().removeprefix(_PREFIX).partition("+")
        key_id, _, data = rest.partition("+")
        raw = decoded(data)
        if text.startswith(_PREFIX) and raw and len(raw) == 33 and raw[0] in (ED25519, COSIGNATURE):
            key = cls(checked_name(name), raw[0], raw[1:])
            if key.verifier.id.hex() == key_id:
                return key
        raise BadInput("this file does not hold a private key as optin writes it")


def _message(text: str, kind: int, time: int) -> bytes:
    """Write what is signed: the text, or of a witness the time before it (C2SP tlog-cosignature)."""
    return (f"cosignature/v1\ntime {time}\n{text}" if kind == COSIGNATURE else text).encode()


def time_of(signature: Signature) -> int:
    """Read when a witness signed, in seconds since 1970."""
    return int.from_bytes(signature.data[:_TIME], "big")


def _is_good(signature: Signature, key: VerifierKey, text: str) -> bool:
    expect_extra("trust", WHAT)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stamp = _TIME if key.kind == COSIGNATURE else 0
    time = time_of(signature) if stamp else 0
    if len(signature.data) != stamp + _SIGNED or time > LAST_SECOND:
        return False
    message = _message(text, key.kind, time)
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature.data[stamp:], message)
    except (InvalidSignature, ValueError):
        return False
    return True


def good_signature(note: SignedNote, key: VerifierKey) -> Signature | None:
    """Find a key's signature on a note, and check it; None without one; PromiseBroken if one is not good."""
    claimed = note.signed_by(key)
    if not claimed:
        return None
    good = all(_is_good(each, key, note.text) for each in claimed)
    expect(good, f"a signature of {key.name} is not good: it was forged, or the checkpoint was changed")
    return claimed[-1]


def write_key(path: Path, key: SigningKey) -> None:
    """Write a private key to a new file that its owner alone can read: whole or not at all, and never over an old one."""
    try:
        write_once(path, key.to_text() + "\n")
    except FileExistsError:
        reason = "there is a file already, and a key is never replaced"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    else:
        return
    raise BadInput("{path} cannot be written: {reason}", path=path, reason=reason)


def read_key(path: Path) -> SigningKey:
    """Read a private key, refusing a file that others can read."""
    try:
        mode, text = stat.S_IMODE(path.stat().st_mode), path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "it is not text"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    else:
        if os.name == "posix" and mode & 0o077:
            raise BadInput("others on this machine can read the key in {path}: run chmod 600 on it", path=path)
        return SigningKey.from_text(text)
    raise BadInput("the key in {path} cannot be read: {reason}", path=path, reason=reason)
