"""One act of the ledger as the chain hashes it."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass

VERSION = 1
SHEETS = 2
"""The version of announcements and releases over two questions or more, whose rows also hold what is split, and among which."""


GROUPS = 3
"""The version of announcements and releases to public groups, whose rows also hold whose group each person is in."""


def asks_several(version: object) -> bool:
    """Say whether rows of an act of this version say what is split among questions: there are several, or groups.

    In which format an act is hashed is another matter: whoever asks about questions asks here, and never for a version.

    >>> asks_several(VERSION), asks_several(SHEETS), asks_several(GROUPS)
    (False, True, True)
    """
    return version in (SHEETS, GROUPS)


def version_of(shares: tuple[int, ...], *, grouped: bool = False) -> int:
    """Say in which version an announcement with these shares, its release and their receipts are written.

    >>> version_of((2**20,)), version_of((2**19, 2**19)), version_of((2**20,), grouped=True)
    (1, 2, 3)
    """
    if grouped:
        return GROUPS
    return VERSION if len(shares) == 1 else SHEETS


def sealed(*fields: str | int | None) -> str:
    """Hash fields so that no two different lists of fields give the same text to hash.

    Each field is preceded by its kind and its length; without lengths ("ab", "c") and ("a", "bc") would collide.

    >>> sealed("ab", "c") == sealed("a", "bc")
    False
    >>> sealed(1) == sealed("1"), sealed(None) == sealed("")
    (False, False)
    """
    digest = hashlib.sha256()
    for field in fields:
        kind = b"n" if field is None else b"i" if isinstance(field, int) else b"s"
        data = b"" if field is None else str(field).encode()
        digest.update(kind + len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Seal:
    """The public fields of one act of the ledger, in the order in which the chain hashes them.

    ``fingerprint`` is the announcement's, ``result`` the release's, ``body`` the hash of the stored text, ``rows``
    stands for the act's rows (the Merkle root, for a release), ``joined`` for who took part, ``previous`` is the hash
    of the act before: whoever knows a later hash can tell whether any of this was changed.
    """

    version: int = VERSION
    number: int
    kind: str
    campaign: str | None = None
    round: int | None = None
    offer: int | None = None
    at: str
    fingerprint: str | None = None
    result: str | None = None
    body: str
    people: int
    rows: str
    joined: str | None = None
    previous: str

    @property
    def hash(self) -> str:
        """The hash of this act, and of the whole chain up to it."""
        return sealed(*(getattr(self, field.name) for field in dataclasses.fields(self)))
