"""What plans, offers and releases say of public groups on a terminal: a row for each group and question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.cli.across_groups import show_planned
from optin.cli.what_if import target_rows
from optin.wording.groups import listed_groups, shown_group, tens_in_words
from optin.wording.numbers import largest, percent

if TYPE_CHECKING:
    from optin.announcement import Announcement
    from optin.planning import Plan
    from optin.releasing import Release

Rows = Sequence[tuple[str, str]]
PUBLIC = ("groups", "public: which group a person is in is not protected, only what they answer")


def show_plan(plan: Plan, record: dict[str, Any], odd: Sequence[str], *, as_json: bool) -> None:
    """Print each group's plan and verdict before anything is announced."""
    from optin.planning.telling_groups import HEAD, PlanOfGroups

    told = PlanOfGroups(plan)
    if as_json:
        verdicts = [dict(zip(HEAD, row, strict=True)) for row in told.rows()]
        screen.print_json(record | {"verdicts": verdicts, "warnings": list(odd)})
    else:
        lines = [line for line in told.lines() if line[0] != "groups"]
        screen.rows("The plan", [*lines, PUBLIC])
        screen.say()
        screen.columns("Each group by itself", HEAD, list(told.rows()), texts=1)
        screen.say(VERDICTS)
        show_planned(plan)
        _show_wanted(plan)
    screen.warn(odd)


def _show_wanted(plan: Plan) -> None:
    """Print whether each group reaches the accuracy that was asked for, if one was, and what would."""
    from optin.cli.question_table import wish_rows

    rows = [
        (f"{shown_group(name)}: {label}", text)
        for name, each in plan.groups.items()
        for label, text in (*wish_rows(each), *target_rows(each))
    ]
    if rows:
        screen.say()
        screen.rows("The accuracy you asked for, of each group", rows)


VERDICTS = (
    "verdict: ± up to a fifth of how far answers lie apart is good, up to a half poor, more useless (of a proportion: 10 and"
    " 25 points)"
)


def show_offer(offer: Announcement, more: Rows) -> None:
    """Print the offer to each group."""
    from optin.cli.question_table import half_of

    merged = [
        ("merged", f"{shown_group(str(each.group))}: {listed_groups(each.merged)}")
        for each in offer.designs
        if each.merged
    ]
    least = offer.terms.conditions.min_people
    published = [("published", f"of a group only what at least {least:,} people answer")] if least else []
    lines = [
        ("campaign", f"{offer.campaign}, round {offer.round}"),
        ("people", f"{offer.people:,} in {len(offer.designs):,} groups"),
        *merged,
        PUBLIC,
        *published,
        *more,
    ]
    screen.rows("Announced", lines)
    screen.say()
    rows = [
        (
            shown_group(name)[1:-1],
            part.public.people_in_words,
            largest(part.cap),
            each.name,
            percent(each.epsilon_share),
            half,
        )
        for name, part in offer.groups.items()
        if not part.public.empty
        for each in part.questions
        for half in [half_of(each.question, each.half_width())]
    ]
    header = ("group", "people", "cap", "question", "of epsilon", "± if all join")
    screen.columns("Each group by itself", header, rows, texts=1)


def show_groups(title: str, drawn: Release, lines: Rows) -> None:
    """Print what was published of each group, what of it says nothing, and what was withheld."""
    screen.rows(title, [*lines, PUBLIC])
    screen.say()
    rows = [
        (shown_group(name)[1:-1], *row, tens_in_words(each.joined_people))
        for name, each in drawn.groups.items()
        for row in each.telling().rows
    ]
    header = ("group", "question", "answer", "estimate", "95 % interval", "joined")
    screen.columns("Results", header, rows, texts=3)
    for words in drawn.mostly_noise:
        screen.say(words)
    _show_withheld(drawn)


def _show_withheld(drawn: Release) -> None:
    withheld = drawn.withheld
    dropped = [
        (f"{shown_group(name)}, {question}", why)
        for name, each in drawn.groups.items()
        if name not in withheld
        for question, why in each.dropped.items()
    ]
    told = [*((shown_group(name), why) for name, why in withheld.items()), *dropped]
    if told:
        screen.say()
        screen.rows("Not published, and charged to nobody", told)
