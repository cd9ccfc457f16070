"""Public records as JSON, and the canonical bytes that fingerprints are taken over.

Canonical bytes are the record's JSON with keys sorted, no spaces, ASCII only, every real number in Python's shortest
form that reads back unchanged (``0.1``, ``1.0``, ``1e-07``), infinity as the text ``"inf"``, and every count that can
pass 2^53 as decimal text. A fingerprint is the SHA-256 of those bytes in hex.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

from optin.errors import BadInput

_WIDEST = 10**100
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
Taken = TypeVar("Taken")


def canonical_bytes(record: Mapping[str, Any]) -> bytes:
    """Write a record the one way its fingerprint is taken.

    >>> canonical_bytes({"b": real(math.inf), "a": wide(2**70)})
    b'{"a":"1180591620717411303424","b":"inf"}'
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def fingerprint(record: Mapping[str, Any]) -> str:
    """Take the SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(canonical_bytes(record)).hexdigest()


def is_fingerprint(value: object) -> bool:
    """Tell whether something is written as every hash in a record is: a SHA-256 in hex.

    >>> is_fingerprint(fingerprint({})), is_fingerprint(fingerprint({}).upper()), is_fingerprint(None)
    (True, False, False)
    """
    return isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None


def real(number: float | None) -> float | str | None:
    """Write a real number for JSON, which knows no infinity."""
    if number is None:
        return None
    return "inf" if math.isinf(number) and number > 0 else float(number)


def finite(value: object) -> float | None:
    """Read a JSON number that a float can hold; None for anything else, a whole number of 400 digits included.

    >>> finite(3), finite(10**400), finite(True), finite("3")
    (3.0, None, None, None)
    """
    if type(value) not in (int, float):
        return None
    try:
        number = float(cast("float", value))
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def wide(number: int) -> str:
    """Write an integer that readers with 53-bit numbers would damage."""
    return str(number)


class Fields:
    """Read the fields of one JSON object strictly: each exactly once, of the stated kind, none left over."""

    version = 0
    """The version in which the record is written; 0 for a part of another record."""

    def __init__(self, record: object, kind: str, versions: Iterable[int] = ()) -> None:
        self._kind = kind
        if not isinstance(record, dict):
            self.refuse("it is not a JSON object")
        self._record: dict[str, Any] = dict(record)
        if versions:
            stated, known = (
                self._record.pop("format", None),
                {f"optin.{kind}/{version}": version for version in versions},
            )
            if not isinstance(stated, str) or stated not in known:
                self.refuse(f'its "format" is not an optin.{kind} of a version that this optin reads')
            self.version = known[stated]
            self._written = {name: value for name, value in self._record.items() if name != "fingerprint"}

    @classmethod
    def parse(cls, text: str, kind: str, versions: Iterable[int]) -> Fields:
        """Read JSON text, refusing what JSON does not have (NaN, Infinity) and repeated keys."""
        try:
            record = json.loads(text, parse_constant=_no_constant, object_pairs_hook=once)
        except (ValueError, RecursionError):
            raise BadInput("this is not the JSON of an optin {kind}: give it as optin wrote it", kind=kind) from None
        return cls(record, kind, versions)

    def has(self, name: str) -> bool:
        """Tell whether a field is there."""
        return name in self._record

    def take(self, name: str) -> object:
        """Take one field, whatever it is."""
        if name not in self._record:
            self.refuse(f'"{name}" is missing')
        return self._record.pop(name)

    def take_real(self, name: str) -> float:
        """Take a finite number, or infinity."""
        value = self.take(name)
        if value == "inf":
            return math.inf
        number = finite(value)
        if number is None:
            self.refuse(f'"{name}" is not a number')
        return number

    def take_int(self, name: str) -> int:
        """Take a whole number, written as a number or as decimal text."""
        value = self.take(name)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii() and len(value) <= 100:
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= _WIDEST:
            self.refuse(f'"{name}" is not a whole number, or is too long')
        return int(value)

    def take_text(self, name: str) -> str:
        """Take text."""
        value = self.take(name)
        if not isinstance(value, str):
            self.refuse(f'"{name}" is not text')
        return str(value)

    def take_fingerprint(self, name: str) -> str:
        """Take a SHA-256 in hex."""
        value = self.take_text(name)
        if not is_fingerprint(value):
            self.refuse(f'"{name}" is no SHA-256')
        return value

    def take_bool(self, name: str) -> bool:
        """Take true or false."""
        value = self.take(name)
        if not isinstance(value, bool):
            self.refuse(f'"{name}" is not true or false')
        return bool(value)

    def take_count(self, name: str) -> int:
        """Take a whole number of 0 or more."""
        value = self.take_int(name)
        if value < 0:
            self.refuse(f'"{name}" is below 0')
        return value

    def take_reals(self, name: str) -> tuple[float, ...]:
        """Take a list of numbers."""
        return tuple(Fields({name: each}, self._kind).take_real(name) for each in self._take_list(name))

    def take_counts(self, name: str) -> tuple[int, ...]:
        """Take a list of whole numbers of 0 or more."""
        return tuple(Fields({name: each}, self._kind).take_count(name) for each in self._take_list(name))

    def take_texts(self, name: str) -> tuple[str, ...]:
        """Take a list of texts."""
        return tuple(Fields({name: each}, self._kind).take_text(name) for each in self._take_list(name))

    def take_integers(self, name: str) -> tuple[int, ...]:
        """Take a list of whole numbers."""
        return tuple(Fields({name: each}, self._kind).take_int(name) for each in self._take_list(name))

    def take_object(self, name: str) -> Fields:
        """Take an object within the object, to be read as strictly."""
        return Fields(self.take(name), f'{self._kind}\'s "{name}"')

    def take_objects(self, name: str) -> list[Fields]:
        """Take a list of objects."""
        return [Fields(each, f'{self._kind}\'s "{name}"') for each in self._take_list(name)]

    def take_maybe_objects(self, name: str, read: Callable[[Fields], Taken]) -> tuple[Taken | None, ...]:
        """Take a list of objects of which some may be null."""
        kind = f'{self._kind}\'s "{name}"'
        return tuple(None if each is None else read(Fields(each, kind)) for each in self._take_list(name))

    def _take_list(self, name: str) -> list[object]:
        value = self.take(name)
        if not isinstance(value, list):
            self.refuse(f'"{name}" is not a list')
        return value

    def maybe(self, name: str, take: Callable[[str], Taken]) -> Taken | None:
        """Take a field that may be null."""
        if self._record.get(name, name) is None:
            del self._record[name]
            return None
        return take(name)

    def expect_fingerprint(self, *, without: Sequence[str] = ()) -> str:
        """Take the fingerprint of a whole record but for some fields, and refuse any other record than it was taken of."""
        stated = self.take_text("fingerprint")
        written = {name: value for name, value in self._written.items() if name not in without}
        try:
            computed = fingerprint(written | {"format": f"optin.{self._kind}/{self.version}"})
        except (ValueError, RecursionError):  # 1e999 reads as a number that JSON cannot hold
            self.refuse_changed()
        if computed != stated:
            self.refuse_changed()
        return stated

    def refuse_changed(self) -> NoReturn:
        """Say that a record and its fingerprint differ."""
        raise BadInput(
            "this {kind} does not match its fingerprint: it was changed after it was written", kind=self._kind
        )

    def finish(self) -> None:
        """Refuse fields nobody asked for: they would not be covered by the fingerprint."""
        if self._record:
            self.refuse(f'"{min(self._record)}" is not one of its fields')

    def refuse(self, why: str) -> NoReturn:
        """Say why this cannot be read."""
        raise BadInput("this {kind} cannot be read: {why}", kind=self._kind, why=why)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object, refusing a key given twice: readers would differ on which one counts."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError
    return record
