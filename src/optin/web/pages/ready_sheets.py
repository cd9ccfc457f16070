"""Sheets to begin from: real ones, that are changed and not filled in, each with the words that go with it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from optin.questions import Sheet
from optin.web.languages import language, tags
from optin.wording.language import N_, spoken_here

_FOLDER = Path(__file__).parent.parent / "sheets"
_SUPPORT = N_(
    "Whatever you answer: if you want to talk to someone, write here whom to call, when, and that it "
    "costs nothing. In danger, call the emergency number."
)
_PLACE = N_("write here whom to call")
"""What of the text above is to be replaced; each language says it as its translation of the whole does."""


@dataclass(frozen=True)
class Ready:
    """A sheet to begin from: its file, what it is for, and a text that everyone is shown."""

    name: str
    title: str
    words: str
    support: str = ""

    @property
    def sheet(self) -> Sheet:
        """Read the sheet itself, in the language of whoever begins with it if it was written in that."""
        own = _FOLDER / spoken_here().tag / f"{self.name}.toml"
        return Sheet.from_toml(own if own.exists() else _FOLDER / f"{self.name}.toml")


@functools.cache
def _places_to_fill() -> tuple[str, ...]:
    """List what a text of support says where an analyst writes in their own, in every language."""
    return tuple(language(tag).messages.get(_PLACE, (_PLACE,))[0] for tag in tags())


def is_unfinished(support: str) -> bool:
    """Say whether a text for everyone still has the place that its analyst is to fill in.

    >>> is_unfinished(_SUPPORT), is_unfinished("If you want to talk: 555 0100, every day, for free.")
    (True, False)
    """
    plain = " ".join(support.split())
    return any(place in plain for place in _places_to_fill())


READY = {
    each.name: each
    for each in (
        Ready("pulse", N_("Pulse survey"), N_("Four short questions, asked every month or two.")),
        Ready(
            "health",
            N_("Health screening"),
            N_("A score of nine items. A text of support is shown to everyone, whatever they answer."),
            support=_SUPPORT,
        ),
        Ready("pay-gap", N_("Pay gap"), N_("Pay, a bonus and fairness, to be asked by group.")),
    )
}
