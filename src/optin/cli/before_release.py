"""What is said before a release is drawn, because it cannot be taken back: who counts as joined, and a forgotten option."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from optin.cli import screen
from optin.errors import Argument, BadInput, OptinError
from optin.tables.how_read import AS_FOUND, HowRead
from optin.wording.answers import NO_ANSWER, NO_OPTION, NO_SET

if TYPE_CHECKING:
    from optin.announcement import Announcement

JOINING = (
    *("agreed", "agrees", "consent", "consented", "join", "joined", "joins", "optedin", "optin"),
    *("participated", "participates", "participating", "takespart", "tookpart"),
)
"""Names of columns, letters alone, that seem to say who joined."""


def looks_like_joining(names: Collection[str]) -> str | None:
    """Find a column that seems to say who joined.

    >>> looks_like_joining(["id", "limit", "Opted_in"]), looks_like_joining(["id", "limit"])
    ('Opted_in', None)
    """
    return next((name for name in names if "".join(filter(str.isalpha, name)).lower() in JOINING), None)


def say_who_counts(people: str, joined: str | None, how: HowRead = AS_FOUND) -> None:
    """Say that everyone counts as joined, where a column that nobody named seems to know better."""
    column = None if joined is not None else looks_like_joining(_names(people, how))
    if column is None:
        return
    words = (
        "everyone announced is counted as joined, and charged; --joined COL names a column that says who did, and this"
    )
    screen.warn([f'{words} table has one called "{column}"'])


def _names(people: str, how: HowRead) -> list[str]:
    """List the columns of a table; one that cannot be read is refused in its own words, a moment later."""
    from optin.tables import names_in

    with suppress(OptinError):
        return names_in(people, how)
    return []


@contextmanager
def forgotten_options(path: Path, offer: Announcement, ledger: str | None) -> Iterator[None]:
    """Tell whoever announced a question without one of its options how to begin again: an announcement is never mended."""
    try:
        yield
    except BadInput as error:
        if not any(words in error.template for words in (NO_ANSWER, NO_OPTION, NO_SET)):
            raise
        template, data = error.template + ". A word for nothing, such as NA, is said with {missing}", dict(error.data)
    else:
        return
    data["missing"] = Argument("missing", "NA")
    if NO_ANSWER in template:
        raise BadInput(template, **data)
    way_back = "" if ledger is None else f"give every promise back with optin ledger cancel {path} --ledger {ledger}, "
    raise BadInput(
        template
        + ". If the announced question lacks an option that was asked: nothing is drawn or charged yet; {kept}mend"
        " the sheet, plan again, and announce with --campaign {campaign} --round {round}",
        **data,
        kept=way_back,
        campaign=offer.campaign,
        round=offer.round + 1,
    )
