"""What a release prints: who joined, whether it was charged, what was dropped, and every published figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.wording.groups import shown_group, tens_in_words
from optin.wording.numbers import count
from optin.wording.telling import Telling, Told

if TYPE_CHECKING:
    from optin.releasing.record import Release


class ToldRelease(Told):
    """A release that prints its results; grains, sums and fingerprints stay in its file."""

    def telling(self: Release) -> Telling:  # type: ignore[misc]
        """List what a person wants to know: people, charge, what was dropped, and each figure with its interval."""
        if self.grouped:
            return _of_groups(self)
        lines = [
            ("joined", f"{self.joined_people:,} of {count(self.announcement.people)}"),
            ("charged", charged_words(self)),
            *((f'"{name}" not published', why) for name, why in self.dropped.items()),
        ]
        head = ("question", "answer", "estimate", "95 % interval")
        return Telling(f"Release {self.id}", tuple(lines), head, written_results(self), more="release.table()")


def _of_groups(release: Release) -> Telling:
    """List every figure of each group, and what was withheld; who joined of a group is counted in tens."""
    withheld = release.withheld
    dropped = {
        f'"{question}" of {shown_group(name)} not published': why
        for name, each in release.groups.items()
        if name not in withheld
        for question, why in each.dropped.items()
    }
    lines = [
        ("joined", f"{release.joined_people:,} of {count(release.announcement.people)}"),
        ("charged", charged_words(release)),
        *((f"group {shown_group(name)} withheld", why) for name, why in withheld.items()),
        *dropped.items(),
        *(("says nothing", words) for words in release.mostly_noise),
    ]
    head = ("group", "joined", "question", "answer", "estimate", "95 % interval")
    rows = tuple(
        (shown_group(name)[1:-1], tens_in_words(each.joined_people), *row)
        for name, each in release.groups.items()
        for row in written_results(each)
    )
    more = 'release.table(), release.groups["…"]'
    return Telling(f"Release {release.id}", tuple(lines), head, rows, numbers=4, more=more)


def charged_words(release: Release) -> str:
    """Say whether a ledger stands behind a release."""
    return f"as act {release.ledger_number} of a ledger" if release.charged else "no: no ledger stands behind it"


def written_results(release: Release) -> tuple[tuple[str, str, str, str], ...]:
    """Write every published figure as people read it: question, answer, estimate, 95 % interval."""
    return tuple(
        (name, each.answer, *each.written(release.sheet[name].unit))
        for name, result in release.results.items()
        for each in result.readings(0.95)
    )
