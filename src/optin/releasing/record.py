"""The release: what was drawn, where it was charged, and all that is needed to recompute what it says."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable
from dataclasses import InitVar, asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.announcement import Announcement
from optin.announcement.numbers import ExactSums
from optin.announcement.offer import READABLE as READABLE_ANNOUNCEMENTS
from optin.announcement.one_question import place_of_question
from optin.errors import BadInput
from optin.formats import strict_json
from optin.questions import Sheet
from optin.questions.counted import Counted
from optin.questions.kinds import QuestionResult
from optin.releasing.answered import Answered
from optin.releasing.comparing import AcrossRelease
from optin.releasing.consistency import check_same
from optin.releasing.deciding import WHY
from optin.releasing.dividing import DividedRelease, GroupAnswered, group_statements
from optin.releasing.one_number import OneNumber
from optin.releasing.table import ReleaseTable, table_of
from optin.releasing.telling import ToldRelease
from optin.releasing.version_1 import flat, read_version_1, statement_1

VERSION = 2
_HASH = re.compile(r"[0-9a-f]{64}")
_NO_PLACE = '"charged" and "ledger_number"/"ledger_head" disagree; use the published file'
_WRONG_PLACE = '"ledger_number" or "ledger_head" is malformed; use the published file'
READABLE = (VERSION, VERSION - 1)


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
class Release(OneNumber, DividedRelease, AcrossRelease, ToldRelease):
    """What is published: public, of constant size, without ids, and without anybody's grains in its JSON.

    ``answered`` holds, for each question, who is counted and the integers N + Z of E13, the only numbers here that depend on
    the values; the estimate of a mean is ``lo + R * noisy_total / (2^20 * total_grains)``, so anyone recomputes it.
    ``place`` is where a ledger charged it, None where none stands behind it. ``version`` is that of the format it was
    written in. Where people are in public groups, ``parts`` holds for each of them what ``answered`` holds else, and
    ``release.groups["ICU"]`` says what was published of one; ``release.difference(question, "ICU", "ER")`` and
    ``release.total(question)`` put groups together.
    """

    announcement: Announcement
    joined_people: int
    answered: tuple[Answered, ...]
    versions: Versions
    place: Place | None = None
    version: int = VERSION
    parts: tuple[GroupAnswered, ...] = ()
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
    def sheet(self) -> Sheet:
        """What was asked."""
        return self.announcement.sheet

    @property
    def results(self) -> dict[str, QuestionResult]:
        """One result for each question that was published, by its name."""
        self.expect_undivided()
        questions = zip(self.sheet, self.answered, strict=True)
        return {question.name: self[question.name] for question, each in questions if not each.dropped}

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

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - what it can be asked for depends on the kind of question
        self.expect_undivided()
        place = place_of_question(self.sheet, name)
        answered, offer = self.answered[place], self.announcement
        if answered.dropped:
            raise BadInput(
                'question "{question}" was not published, and nobody was charged for it: {why}',
                question=name,
                why=WHY[answered.dropped],
            )
        question = self.sheet.questions[place]
        counted = Counted(
            people=answered.people,
            grains=answered.sums.total_grains,
            squares=answered.sums.total_squared_grains,
            most=offer.largest_parts[place],
            noisy=answered.noisy_totals,
            noiseless=offer.noiseless,
            tilt=answered.tilt,
            max_gap=question.max_gap,
        )
        return question.result(counted)

    def table(self, level: float = 0.95) -> ReleaseTable:
        """List every published figure: question, answer, estimate, and the two ends of its interval."""
        return table_of(self, level)

    def to_pandas(self, level: float = 0.95) -> Any:  # noqa: ANN401 - pandas is loaded only when asked for
        """Return the same as a pandas data frame."""
        return self.table(level).to_pandas()

    @property
    def noisy_total(self) -> int:
        """Return N + Z of E13, where the sheet is one number."""
        return self.answered[0].noisy_totals[0]

    @property
    def question_people(self) -> tuple[int, ...]:
        """Return how many people answered each question."""
        self.expect_undivided()
        return tuple(each.people for each in self.answered)

    @property
    def question_sums(self) -> tuple[ExactSums | None, ...]:
        """Return the exact sums of each question over those who answered it; None where it was dropped."""
        self.expect_undivided()
        return tuple(None if each.dropped else each.sums for each in self.answered)

    @property
    def tilt(self) -> float:
        """Return how far the weights are from equal shares of everyone announced, the largest over the questions (E15)."""
        self.expect_undivided()
        return max(each.tilt for each in self.answered)

    @property
    def total_grains(self) -> int:
        """Return the exact sum of the grains that were charged, over all questions and groups."""
        parts = self.parts or (GroupAnswered(self.joined_people, self.answered),)
        return sum(part.total_grains for part in parts)

    @property
    def total_squared_grains(self) -> int:
        """Return the exact sum of their squares, where there is one question."""
        (only,) = self.answered
        return only.sums.total_squared_grains

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

    def charged_at(self, number: int, head: str | None = None) -> Release:
        """Return this release as a ledger charges it, at this act and (once it is sealed) this hash."""
        return replace(self, place=Place(number, head))

    @property
    def drawn_fingerprint(self) -> str:
        """Return the SHA-256, in hex, of what was drawn and the act that charged it: what the ledger seals."""
        return strict_json.fingerprint(self._drawn())

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256, in hex, of what was drawn and its place in the ledger, the hash included.

        That hash exists only once the act is sealed; without it, and in version 1, this is what the ledger seals.
        """
        if self.version == 1 or self.ledger_head is None:
            return self.drawn_fingerprint
        return strict_json.fingerprint(self._drawn() | {"ledger_head": self.ledger_head})

    def to_json(self) -> str:
        """Write the release for the public; per-person grains are not in it."""
        record = {**self._drawn(), "id": self.id, **self._statements(), "ledger_head": self.ledger_head}
        return json.dumps({**record, "fingerprint": self.fingerprint}, indent=2, allow_nan=False)

    def _drawn(self) -> dict[str, Any]:
        """Return what everything else follows from; the ledger's hash is not known yet when this is sealed."""
        record = {
            "format": f"optin.release/{self.version}",
            "announcement": json.loads(self.announcement.to_json()),
            "versions": asdict(self.versions),
            "charged": self.charged,
            "ledger_number": self.ledger_number,
        }
        if self.version == 1:
            return record | flat(self)
        if self.grouped:
            public = {"joined_people": self.joined_people, "groups": [part.public() for part in self.parts]}
            return record | {"public": public, "sealed": {"groups": [part.sealed() for part in self.parts]}}
        public = {"joined_people": self.joined_people, "questions": [each.public() for each in self.answered]}
        return record | {"public": public, "sealed": {"questions": [each.sealed() for each in self.answered]}}

    def _statements(self) -> dict[str, Any]:
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
        found = cls._read(text, sealed=True)
        return found.charged_at(found.ledger_number or 0, head)

    @classmethod
    def _read(cls, text: str, *, sealed: bool) -> Release:
        fields = strict_json.Fields.parse(text, "release", READABLE)
        offer = strict_json.Fields(fields.take("announcement"), "announcement", READABLE_ANNOUNCEMENTS)
        read = (*read_version_1(fields), ()) if fields.version == 1 else _read_answered(fields)
        people, answered, parts = read
        found = cls(
            announcement=Announcement.from_fields(offer),
            joined_people=people,
            answered=answered,
            parts=parts,
            versions=_versions(fields.take("versions")),
            place=_place(fields),
            version=fields.version,
        )
        if (found.charged and (found.ledger_head is None) != sealed) or (sealed and not found.charged):
            raise BadInput(_NO_PLACE)
        check_same(found, text)
        return found


def _read_answered(
    fields: strict_json.Fields,
) -> tuple[int, tuple[Answered, ...], tuple[GroupAnswered, ...]]:
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
    if not 1 <= number < 2**63 or (head is not None and not _HASH.fullmatch(head)):
        raise BadInput(_WRONG_PLACE)
    return Place(number, head)


def _versions(found: object) -> Versions:
    names = ("optin", "opendp", "mechanism")
    if not isinstance(found, dict) or sorted(found) != sorted(names) or not all(type(v) is str for v in found.values()):
        raise BadInput('this release cannot be read: "versions" does not name optin, opendp and mechanism')
    return Versions(**found)
