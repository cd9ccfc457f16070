"""What happens by itself, and when, in the words that analysts and people read."""

from __future__ import annotations

from optin.web.pages.stages import day
from optin.web.service.drafts import Draft, last_moment
from optin.web.service.records import Campaign
from optin.wording.numbers import count

_NEXT = {
    "close-registration": "Registration closes and the plan is announced",
    "announce": "The plan is announced",
    "open-answers": "Answers open",
    "close": "Answers close and the result is published",
    "release": "The result is published",
}
_LESS = {
    "close-registration": "nothing is announced: you then open registration again, with a later last day, or cancel",
    "close": "nothing is published and nobody is charged: you then open answers again, begin a new round, or cancel",
}


_AGAIN = "What stood in its way may be gone by then. You need not wait: every step can be taken by hand."


def closing_time(draft: Draft) -> str:
    """Say when the last day to answer ends.

    >>> closing_time(Draft(answer_by="2026-03-04"))
    'the end of 4 March 2026 (24:00 UTC)'
    """
    last = last_moment(draft)
    return "" if last is None else f"the end of {day(last - 1.0).partition(',')[0]} (24:00 UTC)"


def plan_of_times(draft: Draft) -> str:
    """Say beforehand what a campaign that runs by itself does, and what it does where too few people come.

    >>> plan_of_times(Draft(answer_by="2026-03-04", window_hours=48.0, automatic=True)).split(". ")[0]
    'At the end of 4 March 2026 (24:00 UTC) registration closes and the plan is announced'
    """
    if not draft.automatic:
        return ""
    least = count(draft.quorum_people)
    return (
        f"At {closing_time(draft)} registration closes and the plan is announced. People then have {draft.window_hours:g} hours "
        f"to look at their deal; after that answers close and the result is published. With fewer than {least} nothing is "
        "published, and nothing more happens by itself."
    )


def told_to_people(draft: Draft) -> str:
    """Say to someone who is asked what happens after the last day.

    >>> told_to_people(Draft(answer_by="2026-03-04", window_hours=48.0, automatic=True, quorum_people=25)).split("; ")[1]
    'after that the result is published, if 25 people or more take part.'
    """
    if not draft.automatic:
        return ""
    return (
        f"Then you see your deal and have {draft.window_hours:g} hours to change your mind; after that the result is published, "
        f"if {count(draft.quorum_people)} or more take part."
    )


def next_words(found: Campaign) -> tuple[str, str]:
    """Say, as a heading and a sentence, what happens next by itself; nothing where its analyst decides."""
    if found.next_step is None:
        return "", ""
    if found.job is not None and found.job.state == "failed" and found.job.kind == found.next_step:
        return f"Tried again by itself: {day(found.next_at)}", _AGAIN
    few = _LESS.get(found.next_step)
    fewer = f"With fewer than {count(found.draft.quorum_people)} by then {few}. " if few else ""
    soon = "If the service is not running at that moment, it is done when it is back."
    return f"{_NEXT[found.next_step]} by itself: {day(found.next_at)}", f"{fewer}{soon}"


def missed_words(found: Campaign) -> str:
    """Say that a campaign that ran by itself stopped, and what can be done."""
    working = found.job is not None and found.job.unfinished
    if not found.draft.automatic or found.next_step is not None or working:
        return ""
    if found.state == "planning":
        return "It went on by itself up to here. Nothing is announced or published before you decide."
    if found.state == "closed":
        return "It went on by itself up to here. Nothing is published and nobody is charged before you decide."
    return ""
