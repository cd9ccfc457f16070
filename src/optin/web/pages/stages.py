"""Where a campaign stands, as a row of stages for people and for analysts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from optin.web.service.drafts import PRIVACY_CONSTRAINED
from optin.web.service.records import MyCampaign
from optin.wording.language import N_, _, written_day

STATE_NAMES = {
    "draft": N_("draft"),
    "registration": N_("registration open"),
    "planning": N_("registration closed"),
    "announced": N_("announced"),
    "answers": N_("answers open"),
    "closed": N_("answers closed"),
    "released": N_("published"),
    "cancelled": N_("cancelled"),
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
    names = (_("Draft"), _("Registration"), _("Plan"), _("Announced"), _("Answers"), _("Closed"), _("Published"))
    return _stages(names, tuple(zip(_ORDER, strict=True)), state)


def person_stages(state: str, model: str, *, sealed: bool = False) -> tuple[Stage, ...]:
    """List the four stages that matter to a person."""
    if sealed:
        visit = (("registration",), ("planning",), ("announced", "answers", "closed"), ("released",))
        return _stages((_("Answer"), _("Plan"), _("Deal: change or withdraw"), _("Result")), visit, state)
    first = _("Choose a limit") if model == PRIVACY_CONSTRAINED else _("State a cost")
    states = (("registration",), ("planning", "announced"), ("answers", "closed"), ("released",))
    return _stages((first, _("See your deal"), _("Join or decline"), _("Result")), states, state)


def _stages(names: tuple[str, ...], states: tuple[tuple[str, ...], ...], state: str) -> tuple[Stage, ...]:
    at = next((place for place, those in enumerate(states) if state in those), -1)
    return tuple(Stage(name, now=place == at, past=place < at) for place, name in enumerate(names))


_STANDS = {
    ("registration", None): (N_("open to you"), N_("Registration is open: make your choice.")),
    ("planning", None): (N_("being planned"), N_("Your deal is being worked out.")),
    ("announced", None): (N_("see your deal"), N_("The offer is fixed. Answers open soon.")),
    ("answers", None): (N_("join or decline"), N_("Your deal is ready. Join or decline until answers close.")),
    ("announced", "joined"): (
        N_("see your deal"),
        N_("The offer is fixed, and your sealed answers count unless you withdraw."),
    ),
    ("announced", "declined"): (N_("declined"), N_("You declined. You can still join when answers open.")),
    ("answers", "joined"): (N_("joined"), N_("You joined. You can change your mind until answers close.")),
    ("answers", "declined"): (N_("declined"), N_("You declined. You can change your mind until answers close.")),
    ("closed", "joined"): (N_("joined"), N_("Answers are closed. The result comes next.")),
    ("released", "joined"): ("published", N_("The result is out, and your receipt is ready.")),
}


def day(seconds: float | None) -> str:
    """Write a moment as people read it.

    >>> day(0.0)
    '1 January 1970, 00:00 UTC'
    """
    if seconds is None:
        return ""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{written_day(moment)}, {moment:%H:%M} UTC"


def date(seconds: float | None) -> str:
    """Write the day of a moment.

    >>> date(0.0)
    '1 January 1970'
    """
    return "" if seconds is None else written_day(datetime.fromtimestamp(seconds, UTC))


def fresh_round(mine: MyCampaign) -> str:
    """Tell whoever comes back to a later round what became of the one before; nothing once they answered in this one."""
    if (
        mine.round == 1
        or mine.answer is not None
        or mine.state not in ("registration", "planning", "announced", "answers")
    ):
        return ""
    over = _(
        "The round before ended without a result: nothing was published, nothing was spent, and the "
        "answers given in it are destroyed."
    )
    return f"{over} {_asked_again(mine)}"


def _asked_again(mine: MyCampaign) -> str:
    """Say what someone has to do in a new round, if they want to take part."""
    if mine.state != "registration" and mine.stated is None:
        return ""
    if mine.draft.sealed and mine.stated is None:
        if mine.draft.model == PRIVACY_CONSTRAINED:
            return _("Your limit went with your answer: to take part again, give both below.")
        return _("Your cost went with your answer: to take part again, give both below.")
    if mine.stated is None:
        return _("You can take part in this one.")
    if mine.state == "answers":
        return _("To take part, give your answer again below.")
    again = _("You will be asked for your answer again, and decide then.")
    return f"{_choice_stands(mine)} {again}" if mine.state == "registration" else again


def _choice_stands(mine: MyCampaign) -> str:
    if mine.draft.model == PRIVACY_CONSTRAINED:
        return _("Your limit was kept, and you can change it below.")
    return _("Your cost was kept, and you can change it below.")


def stands(state: str, answer: str | None, *, stated: bool, round: int = 1) -> tuple[str, str]:  # noqa: A002
    """Say in a word and a sentence where a campaign stands for one person."""
    if state == "registration" and stated and round > 1:
        return _("new round"), _(
            "The round before ended without a result, and its answers are gone. Your choice was kept."
        )
    if state == "registration" and stated and answer == "joined":
        return _("sent"), _("Your answers are in. Your deal comes when registration closes.")
    if state == "registration" and stated:
        return _("chosen"), _("You made your choice. Your deal comes when registration closes.")
    if state == "cancelled":
        return _("cancelled"), _("Nothing was published or spent.")
    if state not in ("registration", "released") and not stated:
        return _("without you"), _("You made no choice in this round.")
    fallback = (
        (_("published"), _("The result is out. You took no part."))
        if state == "released"
        else (_("closed"), _("Answers are closed."))
    )
    words = _STANDS.get((state, answer)) or _STANDS.get((state, None))
    return (_(words[0]), _(words[1])) if words else fallback
