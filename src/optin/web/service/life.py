"""The states of a campaign, the steps between them, and what would be lost by closing too early."""

from __future__ import annotations

from optin.announcement.making import MIN_PEOPLE
from optin.web.service.drafts import Draft
from optin.wording.language import _

FROM = {
    "open": ("draft",),
    "close-registration": ("registration",),
    "announce": ("planning",),
    "open-answers": ("announced",),
    "close": ("answers",),
    "release": ("closed",),
    "reopen-registration": ("planning",),
    "reopen-answers": ("closed",),
    "new-round": ("announced", "answers", "closed"),
    "cancel": ("draft", "registration", "planning", "announced", "answers", "closed"),
}
"""From which states each step may be taken."""
REACHED = {
    "open": "registration",
    "close-registration": "planning",
    "announce": "announced",
    "open-answers": "answers",
    "close": "closed",
    "release": "released",
    "reopen-registration": "registration",
    "reopen-answers": "answers",
    "new-round": "registration",
    "cancel": "cancelled",
}
"""Where each step leads."""


class Move(str):
    """A step by its name in files and requests; a page calls it what its button says."""


class State(str):
    """A state by its name in files and requests; a page calls it what it is called there."""


class Moves(tuple[Move, ...]):
    """Several steps, written in one line."""

    def __str__(self) -> str:
        return ", ".join(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def possible(state: str, *, sealed: bool, too_few: bool = False) -> tuple[str, ...]:
    """List the steps that may be taken from a state; sealed answers are all in before the announcement.

    Closed answers are opened again only where too few joined for a result.

    >>> possible("answers", sealed=False), possible("closed", sealed=False)
    (('close', 'new-round', 'cancel'), ('release', 'new-round', 'cancel'))
    """
    steps = [step for step, states in FROM.items() if state in states and (step != "reopen-answers" or too_few)]
    return ("close", *steps) if sealed and state == "announced" else tuple(steps)


def warning(draft: Draft, state: str, *, registered: int, joined: int) -> str | None:
    """Say what may be lost by closing now, if anything, from counts in tens.

    >>> warning(Draft(title="t", question="q", lower=0.0, upper=1.0, quorum_people=25), "answers", registered=30, joined=20)
    'at least 20 of the 25 needed joined so far, and nothing is published with fewer than 25'
    """
    least = max(MIN_PEOPLE, draft.quorum_people)
    few = _("and nothing is published with fewer than {people}", people=draft.quorum_people)
    if state == "registration" and registered < least:
        if registered < MIN_PEOPLE and draft.quorum_people < MIN_PEOPLE:
            few = _("and no plan can be announced to fewer than {people}", people=MIN_PEOPLE)
        return _("{progress} registered so far, {few}", progress=progress(registered, least), few=few)
    if state == "planning" and registered < least:
        return _("{progress} registered, {few}", progress=progress(registered, least), few=few)
    answering = state == "answers" or (state == "announced" and draft.sealed)
    if answering and joined < draft.quorum_people:
        return _("{progress} joined so far, {few}", progress=progress(joined, draft.quorum_people), few=few)
    return None


def progress(people: int, needed: int) -> str:
    """Say how far a count in tens is from what is needed.

    >>> progress(20, 25), progress(0, 25), progress(30, 25)
    ('at least 20 of the 25 needed', 'fewer than 10 of the 25 needed', 'at least 30, and 25 are needed')
    """
    if people >= needed:
        return _("at least {people:,}, and {needed:,} are needed", people=people, needed=needed)
    return (
        _("at least {people:,} of the {needed:,} needed", people=people, needed=needed)
        if people
        else _("fewer than 10 of the {needed:,} needed", needed=needed)
    )
