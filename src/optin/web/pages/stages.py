"""Where a campaign stands, as a row of stages for people and for analysts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from optin.web.service.drafts import PRIVACY_CONSTRAINED
from optin.web.service.records import MyCampaign

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


def person_stages(state: str, model: str, *, sealed: bool = False) -> tuple[Stage, ...]:
    """List the four stages that matter to a person."""
    if sealed:
        visit = (("registration",), ("planning",), ("announced", "answers", "closed"), ("released",))
        return _stages(("Answer", "Plan", "Deal: change or withdraw", "Result"), visit, state)
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
    ("announced", "joined"): (
        "see your deal",
        "The offer is fixed, and your sealed answers count unless you withdraw.",
    ),
    ("announced", "declined"): ("declined", "You declined. You can still join when answers open."),
    ("answers", "joined"): ("joined", "You joined. You can change your mind until answers close."),
    ("answers", "declined"): ("declined", "You declined. You can change your mind until answers close."),
    ("closed", "joined"): ("joined", "Answers are closed. The result comes next."),
    ("released", "joined"): ("published", "The result is out, and your receipt is ready."),
}


def day(seconds: float | None) -> str:
    """Write a moment as people read it.

    >>> day(0.0)
    '1 January 1970, 00:00 UTC'
    """
    if seconds is None:
        return ""
    found = datetime.fromtimestamp(seconds, UTC)
    return f"{found.day} {found:%B %Y, %H:%M UTC}"


def date(seconds: float | None) -> str:
    """Write the day of a moment.

    >>> date(0.0)
    '1 January 1970'
    """
    return day(seconds).partition(",")[0]


def fresh_round(mine: MyCampaign) -> str:
    """Tell whoever comes back to a later round what became of the one before; nothing once they answered in this one."""
    if (
        mine.round == 1
        or mine.answer is not None
        or mine.state not in ("registration", "planning", "announced", "answers")
    ):
        return ""
    over = (
        "The round before ended without a result: nothing was published, nothing was spent, and the answers given in it are "
        "destroyed."
    )
    return f"{over} {_asked_again(mine)}"


def _asked_again(mine: MyCampaign) -> str:
    """Say what someone has to do in a new round, if they want to take part."""
    what = "limit" if mine.draft.model == PRIVACY_CONSTRAINED else "cost"
    if mine.state != "registration" and mine.stated is None:
        return ""
    if mine.draft.sealed and mine.stated is None:
        return f"Your {what} went with your answer: to take part again, give both below."
    if mine.stated is None:
        return "You can take part in this one."
    kept = f"Your {what} was kept, and you can change it below. " if mine.state == "registration" else ""
    if mine.state == "answers":
        return "To take part, give your answer again below."
    return f"{kept}You will be asked for your answer again, and decide then."


def stands(state: str, answer: str | None, *, stated: bool, round: int = 1) -> tuple[str, str]:  # noqa: A002
    """Say in a word and a sentence where a campaign stands for one person."""
    if state == "registration" and stated and round > 1:
        return "new round", "The round before ended without a result, and its answers are gone. Your choice was kept."
    if state == "registration" and stated and answer == "joined":
        return "sent", "Your answers are in. Your deal comes when registration closes."
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
