"""The release: what was drawn, where it was charged, and all that is needed to recompute what it says."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from dataclasses import InitVar, asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.announcement import Announcement
from optin.announcement.offer import READABLE as READABLE_ANNOUNCEMENTS
from optin.announcement.sealed import Seal, new_salt
from optin.errors import BadInput
from optin.formats import strict_json
from optin.releasing.answered import Answered
from optin.releasing.comparing import AcrossRelease
from optin.releasing.consistency import check_same
from optin.releasing.deciding import WHY
from optin.releasing.dividing import DividedRelease, GroupAnswered, group_statements
from optin.releasing.one_number import OneNumber
from optin.releasing.release_table import ReleaseTable, table_of
from optin.releasing.results import ByQuestion
from optin.releasing.sealed import SealedRelease, commitment_of, exact_records, is_opened, opened
from optin.releasing.telling import ToldRelease
from optin.releasing.version_1 import flat, read_version_1, statement_1

VERSION = 2
_NO_PLACE = '"charged" and "ledger_number"/"ledger_head" disagree; use the published file'
_WRONG_PLACE = '"ledger_number" or "ledger_head" is malformed; use the published file'
READABLE = (VERSION, VERSION - 1)
_Read = tuple[int, tuple[Answered, ...], tuple[GroupAnswered, ...]]


@dataclass(frozen=True)
class Versions:
    """What drew the release."""

    optin: str
    opendp: str
    mechanism: str


GrainSource = Callable[[], NDArray[np.int64]]
_SOURCES: dict[int, GrainSource] = {}
"""How to list the grains of each release drawn in this session, as long as it lives; by identity, for equal ones differ."""


@dataclass(frozen=True)
class Place:
    """Where a ledger charged a release: the number of the act, and the hash of the chain up to it once it is sealed."""

    number: int
    head: str | None = None


@dataclass(frozen=True, repr=False)
class Release(OneNumber, ByQuestion, DividedRelease, AcrossRelease, ToldRelease):
    """What is published: public, of constant size, without ids, and without anybody's grains in its JSON.

    ``answered`` holds, for each question, who is counted and what the public is told: estimates on a step of 1, 2 or 5 times a
    power of ten that is at most a fiftieth of the standard error, noise and squared weights up to two figures. The integers
    N + Z of E13, the only numbers that depend on the values, and the exact sums are in ``sealed``; the estimate of a mean is
    ``lo + R * noisy_total / (2^20 * total_grains)``, so whoever they are opened to recomputes it. ``seal`` is the salted hash
    that binds them, and None where they are public. ``place`` is where a ledger charged it, None where none stands behind it.
    ``version`` is that of the format it was written in. Where people are in public groups, ``parts`` holds for each of them
    what ``answered`` holds else, and ``release.groups["ICU"]`` says what was published of one;
    ``release.difference(question, "ICU", "ER")`` and ``release.total(question)`` put groups together.
    """

    announcement: Announcement
    joined_people: int
    answered: tuple[Answered, ...]
    versions: Versions
    place: Place | None = None
    version: int = VERSION
    parts: tuple[GroupAnswered, ...] = ()
    seal: Seal | None = None
    joined_exactly: int | None = field(default=None, compare=False)
    """How many joined of a group, where that is under seal and known."""
    grain_source: InitVar[GrainSource | None] = None

    def __post_init__(self, grain_source: GrainSource | None) -> None:
        """Remember where grains come from beside the record, not in it: a release is public, limits are not."""
        if grain_source is not None:
            _SOURCES[id(self)] = grain_source
            weakref.finalize(self, _SOURCES.pop, id(self), None).atexit = False

    @property
    def grains(self) -> NDArray[np.int64] | None:
        """List what each person lost, in grains (0 for those who stayed away), in the session that drew the release.

        This follows from limits, which are private to the analyst: it is not part of the published release. In one that
        was read from JSON, copied or unpickled it is None.
        """
        source = _SOURCES.get(id(self))
        return None if source is None else source()

    @property
    def id(self) -> str:
        """Name the release: campaign and round."""
        return self.announcement.id

    @property
    def dropped(self) -> dict[str, str]:
        """Why questions were dropped, by their names."""
        self.expect_undivided()
        questions = zip(self.sheet, self.answered, strict=True)
        return {question.name: WHY[each.dropped] for question, each in questions if each.dropped}

    @property
    def released(self) -> int:
        """Return the number in which the bit of every question is set that was published."""
        self.expect_undivided()
        return sum(1 << place for place, each in enumerate(self.answered) if not each.dropped)

    def table(self, level: float = 0.95) -> ReleaseTable:
        """List every published figure: question, answer, estimate, and the two ends of its interval."""
        return table_of(self, level)

    def to_pandas(self, level: float = 0.95) -> Any:  # noqa: ANN401 - pandas is loaded only when asked for
        """Return the same as a pandas data frame."""
        return self.table(level).to_pandas()

    @property
    def charged(self) -> bool:
        """Say whether a ledger stands behind it."""
        return self.place is not None

    @property
    def ledger_number(self) -> int | None:
        """Return the number of the act that charged it."""
        return None if self.place is None else self.place.number

    @property
    def ledger_head(self) -> str | None:
        """Return the hash of the chain up to that act."""
        return None if self.place is None else self.place.head

    @property
    def sealed(self) -> SealedRelease | None:
        """What was drawn, exactly, and all that follows; None where only the public file is known."""
        return SealedRelease(self) if is_opened(self) else None

    def expect_sealed(self) -> SealedRelease:
        """Return what was drawn; BadInput where it is not known."""
        sealed = self.sealed
        if sealed is None:
            raise BadInput(
                "this release is the public one, and what was drawn is under seal: `optin ledger open` writes it for whoever may"
                " see it"
            )
        return sealed

    def as_published(self) -> Release:
        """Return it as the public is told of it, with what was drawn under seal; where sums are public, as it is."""
        if self.announcement.seal is None or self.seal is not None:
            return self
        salt = new_salt()
        if self.grouped:
            pairs = zip(self.parts, self.announcement.parts, strict=True)
            told = replace(self, parts=tuple(part.under_seal(offer) for part, offer in pairs))
        else:
            announced = self.announcement.people
            questions = zip(self.answered, self.sheet, self.announcement.portions, strict=True)
            told = replace(
                self,
                answered=tuple(
                    each.under_seal(question, portion, announced=announced) for each, question, portion in questions
                ),
            )
        told = replace(told, seal=Seal("", salt))
        published = replace(told, seal=Seal(commitment_of(told, salt), salt))
        return published if (source := _SOURCES.get(id(self))) is None else replace(published, grain_source=source)

    def largest_total(self, place: int | None = None) -> int:
        """Bound what was given together, for one question or for all, by what is told: in grains."""
        parts = [part.answered for part in self.parts] if self.grouped else [self.answered]
        chosen = range(len(self.sheet)) if place is None else (place,)
        offers = zip(parts, self.announcement.parts, strict=False)
        return sum(answered[at].largest_total(offer.shares[at]) for answered, offer in offers for at in chosen)

    def charged_at(self, number: int, head: str | None = None) -> Release:
        """Return this release as a ledger charges it, at this act and (once it is sealed) this hash."""
        return self._restating(place=Place(number, head))

    def held_by(self, announcement: Announcement, source: GrainSource) -> Release:
        """Return it for whoever holds what was announced and can list grains."""
        return self._restating(announcement=announcement, grain_source=source)

    def _restating(self, **changes: Any) -> Release:  # noqa: ANN401
        """Change what results do not depend on: their intervals take long, and are not computed again."""
        changed = replace(self, **changes)
        vars(changed)["_stated"] = self._stated
        return changed

    @property
    def drawn_fingerprint(self) -> str:
        """Return the SHA-256, in hex, of what was drawn and the act that charged it: what the ledger seals."""
        return strict_json.fingerprint(self._drawn())

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of what was drawn and its place in the ledger, the hash included.

        That hash exists only once the act is sealed; without it, and in version 1, this is what the ledger seals.
        """
        return self._fingerprint(self._drawn())

    def _fingerprint(self, drawn: dict[str, Any]) -> str:
        if self.version == 1 or self.ledger_head is None:
            return strict_json.fingerprint(drawn)
        return strict_json.fingerprint(drawn | {"ledger_head": self.ledger_head})

    def to_json(self) -> str:
        """Write the release for the public; per-person grains are not in it, nor what is under seal."""
        return json.dumps(self._record(), indent=2, allow_nan=False)

    def to_sealed_json(self) -> str:
        """Write it with what was drawn and the salt that opens the seal: for the ledger, and for auditors, not for the public."""
        self.expect_sealed()
        return json.dumps(self._record(opened=True), indent=2, allow_nan=False)

    def _record(self, *, opened: bool = False) -> dict[str, Any]:
        """Return what is written, as JSON holds it, with its fingerprint: for the public, or with the seal opened."""
        drawn, seal = self._drawn(), self.seal
        sealed = {"sealed": {"salt": seal.salt, **exact_records(self)}} if opened and seal is not None else {}
        record = {**drawn, **sealed, "id": self.id, **self._stated, "ledger_head": self.ledger_head}
        return {**record, "fingerprint": self._fingerprint(drawn)}

    def _drawn(self) -> dict[str, Any]:
        """Return what everything else follows from; the ledger's hash is not known yet when this is sealed."""
        record = {
            "format": f"optin.release/{self.version}",
            "announcement": self.announcement.to_public_record(),
            "versions": asdict(self.versions),
            "charged": self.charged,
            "ledger_number": self.ledger_number,
        }
        if self.version == 1:
            return record | flat(self)
        kind, parts = ("groups", self.parts) if self.grouped else ("questions", self.answered)
        told = [each.public(sealed=self.seal is not None) for each in parts]
        record |= {"public": {"joined_people": self.joined_people, kind: told}}
        if self.seal is not None:
            return record | {"commitment": self.seal.commitment}
        return record | {"sealed": {kind: [each.exact_record() for each in parts]}}

    @cached_property
    def _stated(self) -> dict[str, Any]:
        if self.version == 1:
            return statement_1(self.only)
        if self.grouped:
            return {"results": group_statements(self.groups)}
        return {"results": [{"question": name, **each.statement()} for name, each in self.results.items()]}

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release; one that does not match its fingerprint, or whose estimate does not follow, is refused."""
        return cls._read(text, sealed=False)

    @classmethod
    def from_sealed(cls, text: str, head: str) -> Release:
        """Read a release as the ledger keeps it, written before its act had a hash, and tell it the hash."""
        release = cls._read(text, sealed=True)
        return release.charged_at(release.ledger_number or 0, head)

    @classmethod
    def _read(cls, text: str, *, sealed: bool) -> Release:
        fields = strict_json.Fields.parse(text, "release", READABLE)
        offer = strict_json.Fields(fields.take("announcement"), "announcement", READABLE_ANNOUNCEMENTS)
        seal = Seal(fields.take_fingerprint("commitment")) if fields.has("commitment") else None
        people, answered, parts = _answered_in(fields, seal)
        release = cls(
            announcement=Announcement.from_fields(offer),
            joined_people=people,
            answered=answered,
            parts=parts,
            versions=_versions(fields.take("versions")),
            place=_place(fields),
            version=fields.version,
            seal=seal,
        )
        if seal is not None and fields.has("sealed"):
            release = opened(release, fields.take_object("sealed"))
        if (release.charged and (release.ledger_head is None) != sealed) or (sealed and not release.charged):
            raise BadInput(_NO_PLACE)
        check_same(release, text, release._record)
        return release


def _answered_in(fields: strict_json.Fields, seal: Seal | None) -> _Read:
    """Read who is counted and what is told of each question; where sums are public, the integers too."""
    if fields.version == 1:
        return (*read_version_1(fields), ())
    return _read_answered(fields) if seal is None else _read_told(fields.take_object("public"))


def _read_told(public: strict_json.Fields) -> _Read:
    """Read what is told of each question, or of each question of each group, where sums are under seal."""
    people, grouped = public.take_count("joined_people"), public.has("groups")
    parts = public.take_objects("groups" if grouped else "questions")
    public.finish()
    if grouped:
        return people, (), tuple(GroupAnswered.from_public(each) for each in parts)
    return people, tuple(Answered.from_public(each) for each in parts), ()


def _read_answered(fields: strict_json.Fields) -> _Read:
    """Read who is counted, and the integers of each question, or of each question of each group."""
    public, sealed = fields.take_object("public"), fields.take_object("sealed")
    people, kind = public.take_count("joined_people"), "groups" if public.has("groups") else "questions"
    parts = public.take_objects(kind), sealed.take_objects(kind)
    if len(parts[0]) != len(parts[1]):
        fields.refuse(f"it has public and sealed numbers of different {kind}")
    public.finish()
    sealed.finish()
    pairs = zip(*parts, strict=True)
    if kind == "groups":
        return people, (), tuple(GroupAnswered.from_fields(*each) for each in pairs)
    return people, tuple(Answered.from_fields(*each) for each in pairs), ()


def _place(fields: strict_json.Fields) -> Place | None:
    """Read where it was charged: nowhere, or at an act that a ledger can have."""
    charged, number = fields.take_bool("charged"), fields.maybe("ledger_number", fields.take_int)
    head = fields.maybe("ledger_head", fields.take_text)
    if charged != (number is not None) or (head is not None and number is None):
        raise BadInput(_NO_PLACE)
    if number is None:
        return None
    if not 1 <= number < 2**63 or (head is not None and not strict_json.is_fingerprint(head)):
        raise BadInput(_WRONG_PLACE)
    return Place(number, head)


def _versions(versions: object) -> Versions:
    names = ("optin", "opendp", "mechanism")
    if (
        not isinstance(versions, dict)
        or sorted(versions) != sorted(names)
        or not all(type(v) is str for v in versions.values())
    ):
        raise BadInput('this release cannot be read: "versions" does not name optin, opendp and mechanism')
    return Versions(**versions)
