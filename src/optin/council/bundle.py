"""A bundle: everything public about one round in one file, with the proofs; nothing private is in it."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optin._version import __version__
from optin.announcement import Announcement
from optin.council.annex import annex
from optin.council.consent import consent_text
from optin.council.keeping import Keeping, keeping_named
from optin.council.promise import promise_text
from optin.council.sealed_acts import SealedAct
from optin.errors import BadInput
from optin.formats.strict_json import once
from optin.releasing import Release
from optin.transparency.public_log import PublicLog
from optin.wording.language import NOBODYS, speaking
from optin.wording.records import Brief

MOST_BYTES = 2**26
"""A log of some ten thousand checkpoints; a witness reads no larger one from a service either."""
_DERIVED = ("annex.html", "consent.json", "promise.json")
_ALWAYS = ("README.txt", "bundle.json", "announcement.json", "acts.json", "log.json", *_DERIVED)
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PLAIN = re.compile(r"[\w.][\w.-]{0,199}")
_WHEN = (1980, 1, 1, 0, 0, 0)
README = """What was asked, promised and published, with proofs. Check all of it, without the operator:

    pip install 'optin[trust]'
    optin check {name}

announcement.json  the offer, word for word        release.json  the result, once there is one
acts.json          where both stand in the ledger, and the way up to the signed checkpoint
log.json           signed checkpoints, and that each begins with the one before
annex.html         for an ethics board, to print   consent.json  a consent record (fields of ISO/IEC TS 27560)
promise.json       the privacy promise, for machines
"""


@dataclass(frozen=True, repr=False)
class Bundle(Brief):
    """The public files of one round; what follows from the offer (annex, records) is made again from it when it is checked.

    ``made_by`` is the version of optin that worded these: another one may word them otherwise, and then cannot compare them.
    """

    announcement: Announcement
    release: Release | None
    acts: tuple[SealedAct, ...] = field(repr=False)
    log: PublicLog = field(repr=False)
    keeping: Keeping = field(repr=False)
    made: dict[str, str] = field(default_factory=dict, repr=False)
    made_by: str | None = __version__
    readme: str = field(default=README.format(name="bundle.zip"), repr=False)

    @property
    def papers_agree(self) -> bool:
        """Whether annex and records are those that this version makes of the offer."""
        return self.made == self.derived()

    @property
    def introduced(self) -> bool:
        """Whether README.txt is as this version writes it: it tells people what to type."""
        before, after = README.split("{name}")
        name = self.readme.removeprefix(before).removesuffix(after)
        return self.readme == README.format(name=name) and _PLAIN.fullmatch(name) is not None

    def derived(self) -> dict[str, str]:
        """Write what follows from the offer."""
        return {
            "annex.html": annex(self.announcement, self.keeping),
            "consent.json": consent_text(self.announcement, self.keeping),
            "promise.json": promise_text(self.announcement, self.release),
        }

    def files(self, name: str = "bundle.zip") -> dict[str, str]:
        """Write what is in the bundle, by name: in English and in the sheet's own words, whoever asks."""
        with speaking(NOBODYS):
            return self._files(name)

    def _files(self, name: str) -> dict[str, str]:
        files = {
            "README.txt": README.format(name=name if _PLAIN.fullmatch(name) else "bundle.zip"),
            "bundle.json": json.dumps(
                {"optin": "bundle", "version": 2, "answers": self.keeping.name, "made_by": self.made_by}
            )
            + "\n",
            "announcement.json": self.announcement.to_json() + "\n",
            "acts.json": json.dumps({"optin": "acts", "acts": [act.to_record() for act in self.acts]}, indent=2) + "\n",
            "log.json": self.log.to_json() + "\n",
            **self.derived(),
        }
        if self.release is not None:
            files["release.json"] = self.release.to_json() + "\n"
        return files

    def proofs(self) -> str:
        """Write what a browser checks in one text: asked for one by one, log and acts could be of two moments."""
        return json.dumps({"log": json.loads(self.log.to_json()), "acts": [act.to_record() for act in self.acts]})

    def to_bytes(self, name: str = "bundle.zip") -> bytes:
        """Write the file; the same bundle gives the same bytes."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, text in self.files(name).items():
                archive.writestr(zipfile.ZipInfo(path, _WHEN), text, zipfile.ZIP_DEFLATED)
        return packed.getvalue()


def read_bundle(path: Path) -> Bundle:
    """Read a bundle that anyone may have written; what is in it is checked elsewhere."""
    files = _files(path)
    about, sealed = _json(files["bundle.json"], "bundle"), _json(files["acts.json"], "acts")
    known = about in _readable(about.get("answers"), about.get("made_by"))
    if not known or set(sealed) != {"optin", "acts"}:
        raise BadInput("{path} is not a bundle that this optin reads", path=path)
    return Bundle(
        Announcement.from_json(files["announcement.json"]),
        Release.from_json(files["release.json"]) if "release.json" in files else None,
        tuple(SealedAct.from_record(act) for act in _listed(sealed["acts"])),
        PublicLog.from_json(files["log.json"]),
        keeping_named(str(about["answers"])),
        {name: text for name, text in files.items() if name in _DERIVED},
        about.get("made_by"),
        files["README.txt"],
    )


def _readable(answers: object, made_by: object) -> tuple[dict[str, object], ...]:
    """List what a bundle may say of itself; one of version 1 does not say who made it."""
    old = {"optin": "bundle", "version": 1, "answers": answers}
    return old, old | {"version": 2, "made_by": made_by if isinstance(made_by, str) else ""}


def _files(path: Path) -> dict[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            held = archive.infolist()
            if _is_a_bundle(held):
                return {each.filename: _unpacked(archive, each) for each in held}
            reason = "it holds other files than a bundle does"
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
    ):  # the last: behind a password, or packed in another way
        reason = "it is not a zip file, or is damaged"
    except UnicodeDecodeError:
        reason = "it holds something that is not text"
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise BadInput("{path} cannot be read: {reason}", path=path, reason=reason)


def _is_a_bundle(held: list[zipfile.ZipInfo]) -> bool:
    """Tell whether these are the files of a bundle, each once, not too large, and packed as optin packs them."""
    names = [each.filename for each in held]
    known = set(names) - {"release.json"} == set(_ALWAYS) and len(names) == len(set(names))
    packed = all(each.compress_type in _PACKED for each in held)
    return known and packed and sum(each.file_size for each in held) <= MOST_BYTES


def _unpacked(archive: zipfile.ZipFile, each: zipfile.ZipInfo) -> str:
    """Unpack one file, and no more of it than it says that it has: a thousandfold may be packed where it says little."""
    with archive.open(each) as packed:
        return packed.read(each.file_size + 1).decode("utf-8")


def _json(text: str, kind: str) -> dict[str, Any]:
    try:
        record = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("optin") != kind:
        raise BadInput("this bundle's {kind}.json cannot be read", kind=kind)
    return record


def _listed(entries: object) -> list[object]:
    if not isinstance(entries, list) or len(entries) > 1000:
        raise BadInput("this bundle's acts.json cannot be read")
    return entries
