"""What happens by itself, and when, in the words that analysts and people read."""

from __future__ import annotations

from optin.web.pages.stages import date, day
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.records import Campaign
from optin.wording.language import N_, _
from optin.wording.numbers import count, hours

_NEXT = {
    "close-registration": N_("Registration closes and the plan is announced"),
    "announce": N_("The plan is announced"),
    "open-answers": N_("Answers open"),
    "close": N_("Answers close and the result is published"),
    "release": N_("The result is published"),
}
_LESS = {
    "close-registration": N_(
        "nothing is announced: you then open registration again, with a later last day, or cancel"
    ),
    "close": N_(
        "nothing is published and nobody is charged: you then open answers again, begin a new round, or cancel"
    ),
}


_AGAIN = N_("What stood in its way may be gone by then. You need not wait: every step can be taken by hand.")


def closing_time(draft: Draft) -> str:
    """Say when the last day to answer ends.

    >>> closing_time(Draft(answer_by="2026-03-04"))
    'the end of 4 March 2026 (24:00 UTC)'
    """
    last = last_moment(draft)
    return "" if last is None else _("the end of {day} (24:00 UTC)", day=date(last - 1.0))


def last_day(draft: Draft) -> str:
    """Say which day is the last to answer.

    >>> last_day(Draft(answer_by="2026-03-04"))
    '4 March 2026 (24:00 UTC)'
    """
    last = last_moment(draft)
    return "" if last is None else _("{day} (24:00 UTC)", day=date(last - 1.0))


def plan_of_times(draft: Draft) -> str:
    """Say beforehand what a campaign that runs by itself does, and what it does where too few people come.

    >>> plan_of_times(Draft(answer_by="2026-03-04", window_hours=48.0, automatic=True)).split(". ")[0]
    'At the end of 4 March 2026 (24:00 UTC) registration closes and the plan is announced'
    """
    if not draft.automatic:
        return ""
    least = count(draft.quorum_people)
    return _(
        "At {closing_time} registration closes and the plan is announced. People then have "
        "{hours} to look at their deal; after that answers close and the result is "
        "published. With fewer than {least} nothing is published, and nothing more happens by itself.",
        closing_time=closing_time(draft),
        hours=hours(draft.window_hours),
        least=least,
    )


def told_to_people(draft: Draft) -> str:
    """Say to someone who is asked what happens after the last day.

    >>> told_to_people(Draft(answer_by="2026-03-04", window_hours=48.0, automatic=True, quorum_people=25)).split("; ")[1]
    'after that the result is published, if 25 people or more take part.'
    """
    if not draft.automatic:
        return ""
    return _(
        "Then you see your deal and have {hours} to change your mind; after that the "
        "result is published, if {quorum_people} or more take part.",
        hours=hours(draft.window_hours),
        quorum_people=count(draft.quorum_people),
    )


def next_words(campaign: Campaign) -> tuple[str, str]:
    """Say, as a heading and a sentence, what happens next by itself; nothing where its analyst decides."""
    if campaign.next_step is None:
        return "", ""
    if campaign.job is not None and campaign.job.state == "failed" and campaign.job.kind == campaign.next_step:
        return _("Tried again by itself: {day}", day=day(campaign.next_at)), _(_AGAIN)
    few = _LESS.get(campaign.next_step)
    fewer = (
        _(
            "With fewer than {quorum_people} by then {few}. ",
            quorum_people=count(campaign.draft.quorum_people),
            few=_(few),
        )
        if few
        else ""
    )
    soon = _("If the service is not running at that moment, it is done when it is back.")
    return _("{next} by itself: {day}", next=_(_NEXT[campaign.next_step]), day=day(campaign.next_at)), f"{fewer}{soon}"


def missed_words(campaign: Campaign) -> str:
    """Say that a campaign that ran by itself stopped, and what can be done."""
    working = campaign.job is not None and campaign.job.unfinished
    if not campaign.draft.automatic or campaign.next_step is not None or working:
        return ""
    if campaign.state == "planning":
        return _("It went on by itself up to here. Nothing is announced or published before you decide.")
    if campaign.state == "closed":
        return _("It went on by itself up to here. Nothing is published and nobody is charged before you decide.")
    return ""
