"""Where a campaign stands, as a row of stages for people and for analysts."""

from __future__ import annotations

from dataclasses import dataclass

from optin.web.service.records import PRIVACY_CONSTRAINED

__all__ = ["STATE_NAMES", "Stage", "analyst_stages", "person_stages", "stands"]

STATE_NAMES = {
    "draft": "draft",
    "registration": "registration open",
    "planning": "registration closed",
    "announced": "announced",
    "answers": "answers open",
    "closed": "answers closed",
    "released": "published",
    "cancelled": "cancelled",
}
_ORDER = tuple(STATE_NAMES)[:-1]


@dataclass(frozen=True)
class Stage:
    """One stage, which is now, past or still to come."""

    name: str
    now: bool
    past: bool


def analyst_stages(state: str) -> tuple[Stage, ...]:
    """List every stage of a campaign."""
    names = ("Draft", "Registration", "Plan", "Announced", "Answers", "Closed", "Published")
    return _stages(names, tuple(zip(_ORDER, strict=True)), state)


def person_stages(state: str, model: str) -> tuple[Stage, ...]:
    """List the four stages that matter to a person."""
    first = "Choose a limit" if model == PRIVACY_CONSTRAINED else "State a cost"
    states = (("registration",), ("planning", "announced"), ("answers", "closed"), ("released",))
    return _stages((first, "See your deal", "Join or decline", "Result"), states, state)


def _stages(names: tuple[str, ...], states: tuple[tuple[str, ...], ...], state: str) -> tuple[Stage, ...]:
    at = next((place for place, those in enumerate(states) if state in those), -1)
    return tuple(Stage(name, now=place == at, past=place < at) for place, name in enumerate(names))


_STANDS = {
    ("registration", None): ("open to you", "Registration is open: make your choice."),
    ("planning", None): ("being planned", "Your deal is being worked out."),
    ("announced", None): ("see your deal", "The offer is fixed. Answers open soon."),
    ("answers", None): ("join or decline", "Your deal is ready. Join or decline until answers close."),
    ("answers", "joined"): ("joined", "You joined. You can change your mind until answers close."),
    ("answers", "declined"): ("declined", "You declined. You can change your mind until answers close."),
    ("closed", "joined"): ("joined", "Answers are closed. The result comes next."),
    ("released", "joined"): ("published", "The result is out, and your receipt is ready."),
}


def stands(state: str, answer: str | None, *, stated: bool) -> tuple[str, str]:
    """Say in a word and a sentence where a campaign stands for one person."""
    if state == "registration" and stated:
        return "chosen", "You made your choice. Your deal comes when registration closes."
    if state == "cancelled":
        return "cancelled", "Nothing was published or spent."
    if state not in ("registration", "released") and not stated:
        return "without you", "You made no choice in this round."
    fallback = (
        ("published", "The result is out. You took no part.")
        if state == "released"
        else ("closed", "Answers are closed.")
    )
    return _STANDS.get((state, answer)) or _STANDS.get((state, None)) or fallback
