"""Signed notes (C2SP signed-note): a text, and under it one line for each signature. Keys are named, and written on one line."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field

from optin.errors import BadInput, PromiseBroken
from optin.wording.records import Brief

ED25519, COSIGNATURE = 1, 4
"""How a key signs: the text itself, or (a witness) the text with the time (C2SP tlog-cosignature)."""
KINDS = (ED25519, COSIGNATURE)
MOST_LETTERS = 2**16
"""A note is no longer than this; nobody's checkpoint is."""
DASH = "\N{EM DASH} "
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,200}")
_UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Letters that nothing is drawn for (Unicode's Default_Ignorable_Code_Point), and the blank of Braille."""
_ID, _PUBLIC = 4, 32
_WEAK = frozenset(
    (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        *(f"{last}{'ff' * 30}7f" for last in ("ec", "ed", "ee")),
    )
)
"""Points of small order (RFC 8032, 5.1), without their sign: one signature is good for every text, and so convicts nobody."""


def checked_name(name: str) -> str:
    """Refuse what cannot name a key or a log.

    >>> checked_name("example.org/survey")
    'example.org/survey'
    """
    if not _is_name(name):
        raise BadInput(
            "a log and a witness are named without spaces and plus signs, in 1 to 200 letters: example.org/survey"
        )
    return name


def _is_name(name: str) -> bool:
    """Tell whether a name can be read as it is written: letters that nobody sees would make two names look alike."""
    return _NAME.fullmatch(name) is not None and name.isprintable() and not _UNSEEN.search(name)


def decoded(text: str) -> bytes | None:
    """Read base64 as it is written in one way only; None if it is not."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if encoded(raw) == text else None


def encoded(data: bytes) -> str:
    """Write bytes as base64."""
    return base64.b64encode(data).decode()


@dataclass(frozen=True, repr=False)
class VerifierKey(Brief):
    """What a signature is checked with: whose it is, how they sign, and their public key."""

    name: str
    kind: int
    public: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """Four bytes that name the key beside its name."""
        return hashlib.sha256(f"{self.name}\n".encode() + bytes([self.kind]) + self.public).digest()[:_ID]

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key as it is written, in hex: what its words are taken from."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    def to_text(self) -> str:
        """Write the key on one line: name, id, and kind with public key."""
        return f"{self.name}+{self.id.hex()}+{encoded(bytes([self.kind]) + self.public)}"

    @classmethod
    def from_text(cls, text: str) -> VerifierKey:
        """Read a key; one whose id is not its own is refused."""
        name, _, rest = text.strip().partition("+")
        key_id, _, data = rest.partition("+")
        raw = decoded(data)
        if raw and len(raw) == 1 + _PUBLIC and raw[0] in KINDS and _is_name(name) and not _is_weak(raw[1:]):
            key = cls(name, raw[0], raw[1:])
            if key.id.hex() == key_id:
                return key
        raise BadInput(
            "this is not the public key of a log or a witness: it is one line, name+id+key, as optin wrote it"
        )


@dataclass(frozen=True, repr=False)
class Signature(Brief):
    """One line under a note: who signed, with which key, and the bytes."""

    name: str
    key_id: bytes = field(repr=False)
    data: bytes = field(repr=False)

    def to_line(self) -> str:
        """Write the line, with its end."""
        return f"{DASH}{self.name} {encoded(self.key_id + self.data)}\n"

    @classmethod
    def from_line(cls, line: str) -> Signature:
        """Read a line."""
        name, _, data = line.removeprefix(DASH).removesuffix("\n").partition(" ")
        raw = decoded(data)
        if not line.startswith(DASH) or not _is_name(name) or raw is None or len(raw) <= _ID:
            raise BadInput("this is not a signature's line as it stands under a checkpoint")
        return cls(name, raw[:_ID], raw[_ID:])

    def is_of(self, key: VerifierKey) -> bool:
        """Tell whether it claims to be made with this key; whether it was is another matter."""
        return (self.name, self.key_id) == (key.name, key.id)


@dataclass(frozen=True, repr=False)
class SignedNote(Brief):
    """A text that ends with its line, and the signatures under it."""

    text: str
    signatures: tuple[Signature, ...] = field(default=(), repr=False)

    def to_text(self) -> str:
        """Write text, an empty line, and the signatures."""
        return f"{self.text}\n{''.join(each.to_line() for each in self.signatures)}"

    @classmethod
    def from_text(cls, text: str) -> SignedNote:
        """Read a note: the text ends at its last empty line."""
        body, gap, lines = text.rpartition("\n\n")
        odd = any(letter < " " and letter != "\n" for letter in text) or not text.endswith("\n")
        if not gap or not lines or odd or len(text) > MOST_LETTERS or not _is_encodable(text):
            raise BadInput("this is not a signed checkpoint: give it as optin wrote it, its last line included")
        return cls(f"{body}\n", tuple(Signature.from_line(line) for line in lines.removesuffix("\n").split("\n")))

    def with_signature(self, *more: Signature) -> SignedNote:
        """Return the note with signatures added; each stands there once."""
        return SignedNote(self.text, tuple(dict.fromkeys((*self.signatures, *more))))

    def signed_by(self, key: VerifierKey) -> tuple[Signature, ...]:
        """List the signatures that claim to be of a key."""
        return tuple(each for each in self.signatures if each.is_of(key))


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_weak(public: bytes) -> bool:
    return (public[:-1] + bytes([public[-1] & 0x7F])).hex() in _WEAK


def expect(holds: bool, otherwise: str) -> None:
    """Raise PromiseBroken where something that a log promises does not hold."""
    if not holds:
        raise PromiseBroken("{otherwise}; keep all files: they are evidence", otherwise=otherwise)
