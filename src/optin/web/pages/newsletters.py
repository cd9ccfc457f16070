"""Results to be passed on: every figure as CSV, and a draft of a text that states interval and privacy as they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from optin.announcement.terms import PRIVACY_CONSTRAINED
from optin.releasing import Release
from optin.wording.groups import shown_group
from optin.wording.numbers import count

_RANGES = (
    "Each range holds what the whole population would have answered in 95 of 100 cases, one figure at a time; it counts both the "
    "luck of who was asked and the noise that was added. Where two ranges overlap, do not speak of a difference."
)
_FIRST = ("question", "answer", "estimate", "low", "high")


def results_csv(release: Release) -> str:
    """Write every published figure with the two ends of its 95 % interval, unrounded."""
    found, out = release.table(0.95), io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("group", *_FIRST) if found.groups else _FIRST)
    for at, row in enumerate(found.rows):
        writer.writerow((found.groups[at], *row) if found.groups else row)
    return out.getvalue()


def newsletter(release: Release, public: bool) -> str:
    """Draft a text for people who were not there: what was asked, by whom, of how many, with which intervals and what noise."""
    offer, sheet = release.announcement, release.sheet
    title = sheet.title or "Results"
    asked = f"{sheet.asked_by} asked" if sheet.asked_by else "We asked"
    parts = [
        title,
        f"{asked} {count(offer.people)}; {release.joined_people:,} took part. {sheet.purpose}".strip(),
        "\n".join(_lines(release)),
        _RANGES,
        _privacy(release),
        "" if public else "The results were published to those who were invited.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _lines(release: Release) -> Iterator[str]:
    parts = release.groups.items() if release.grouped else (("", release),)
    for question in release.sheet:
        yield f"{question.text or question.name}"
        for name, part in parts:
            where = f"{shown_group(name)}, " if name else ""
            if question.name in part.dropped:
                yield f"- {where}not published: {part.dropped[question.name]}"
                continue
            for each in part[question.name].readings(0.95):
                estimate, ends = each.written(question.unit)[:2]
                yield f"- {where}{each.answer}: {estimate} ({ends})"
    for name, why in release.withheld.items():
        yield f"- {shown_group(name)}: not published ({why})"


def _privacy(release: Release) -> str:
    if release.announcement.noiseless:
        return "No noise was added: nobody who counts set a limit."
    whose = "a limit of their own" if release.announcement.model == PRIVACY_CONSTRAINED else "a cost of their own"
    return (
        f"Everyone stated {whose} beforehand. Noise was added so that nobody gave away more than was promised to them."
    )
