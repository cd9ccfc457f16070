"""The states of a campaign, the steps between them, and what would be lost by closing too early."""

from __future__ import annotations

from optin.announcement.making import MIN_PEOPLE
from optin.web.service.drafts import Draft

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


def possible(state: str, *, sealed: bool, too_few: bool = False) -> tuple[str, ...]:
    """List the steps that may be taken from a state; sealed answers are all in before the announcement.

    Closed answers are opened again only where too few joined for a result.

    >>> possible("answers", sealed=False), possible("closed", sealed=False)
    (('close', 'new-round', 'cancel'), ('release', 'new-round', 'cancel'))
    """
    steps = [step for step, states in FROM.items() if state in states and (step != "reopen-answers" or too_few)]
    return ("close", *steps) if sealed and state == "announced" else tuple(steps)


def warning(draft: Draft, state: str, *, registered: int, joined: int) -> str | None:
    """Say what would be lost by closing now, if anything.

    >>> warning(Draft(title="t", question="q", lower=0.0, upper=1.0), "answers", registered=30, joined=3)
    '3 joined so far, and nothing is published with fewer than 20'
    """
    if state == "registration" and registered < max(MIN_PEOPLE, draft.quorum_people):
        if registered < MIN_PEOPLE:
            return f"{registered} registered so far, and no plan can be announced to fewer than {MIN_PEOPLE}"
        return f"{registered} registered so far, and nothing is published with fewer than {draft.quorum_people}"
    answering = state == "answers" or (state == "announced" and draft.sealed)
    if answering and joined < draft.quorum_people:
        return f"{joined} joined so far, and nothing is published with fewer than {draft.quorum_people}"
    return None
