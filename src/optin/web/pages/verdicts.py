"""What a sheet will say, in verdicts: from the functions that `optin size`, plans and reports use, for people one can imagine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput
from optin.planning.apart import is_unstated, told_words
from optin.planning.merging import merged_words
from optin.planning.size import GOOD, POOR, GroupSize, Size, SizedQuestion, Verdict, people_for, size
from optin.questions import Question, Sheet
from optin.web.pages.drafting import imagined, quorum_words
from optin.web.pages.numbers import typed_number
from optin.web.service.asking import asked, sheet_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS
from optin.wording.amounts import plus_minus_of
from optin.wording.language import N_, _
from optin.wording.numbers import count, people_like, percent
from optin.wording.sentences import Sentence

_HUNDRED = 100
_MOST_GROUPS = 100


def foreseen_words(draft: Draft, given: Mapping[str, str]) -> dict[str, Any]:
    """Say what a draft's questions will be good for, before anyone is invited."""
    sheet = sheet_of(draft)
    limits = imagined_limits(given)
    people, groups = sum(imagined(given)), _groups(given)
    sized = size(sheet, people=people, limits=limits, groups=groups)
    return {
        "rows": [_row(question, each, people // groups) for question, each in zip(sheet, sized.questions, strict=True)],
        "people": count(people),
        "groups": groups,
        "by_group": _by_group(sheet, sized),
        "dearest": _dearest(sheet, sized),
        "merging": [
            merged_words(each, [f"“{asked(sheet[name])}”" for name in each.questions]) for each in sized.merging
        ],
        "quorum": quorum_words(draft, expected=people),
        "wished": _wished(sheet, given, limits, groups),
        "names": [asked(question) for question in sheet],
    }


def imagined_limits(given: Mapping[str, str]) -> NDArray[np.float64]:
    """List the limits of a hundred people one can imagine."""
    counts = imagined({**given, "expected": str(_HUNDRED), "model": PRIVACY_CONSTRAINED})
    return np.repeat([rung.amount for rung in LIMITS], counts)


def _groups(given: Mapping[str, str]) -> int:
    text = given.get("groups", "") or "1"
    if not (text.isdecimal() and len(text) < 6 and 1 <= int(text) <= _MOST_GROUPS):
        raise BadInput("groups must be 1 to {most}", most=_MOST_GROUPS)
    return int(text)


def _row(question: Question, sized: SizedQuestion, people: int) -> dict[str, Any]:
    needed = sized.people_needed
    return {
        "asked": asked(question),
        "verdict": sized.verdict,
        "sentence": told_words(question, people, sized.half_width, sized.apart),
        "why": reason(question, sized.half_width, sized.verdict),
        "needed": ""
        if sized.verdict == "good"
        else _("Good from {needed} on.", needed=count(needed))
        if needed
        else _(_NEVER),
    }


_NEVER = N_("No number of people makes it good with such limits.")


_LIES = {
    "good": N_("{told} lies below the ends of what is of use, {ends}."),
    "poor": N_("{told} lies between the ends of what is of use, {ends}."),
    "useless": N_("{told} lies above the ends of what is of use, {ends}."),
}


_UNSTATED = {
    "good": N_(
        "{told} is at most a fifth of the widest spread that there can be ({apart}). No spread was given, so that it may "
        "still be more than people lie apart: give one."
    ),
    "poor": N_(
        "{told} is between a fifth and a half of the widest spread that there can be ({apart}). No spread was given, so that "
        "it may still be more than people lie apart: give one."
    ),
    "useless": N_(
        "{told} is more than half of the widest spread that there can be ({apart}): hardly better than a guess, however people "
        "lie apart."
    ),
}


def reason(question: Question, half: float, verdict: Verdict) -> str:
    """Say why a result will be good, poor or useless: ± beside how far answers lie apart.

    >>> from optin.questions import Number
    >>> reason(Number("hours", bounds=(0, 80), sd=9, unit="hours"), 57.0, "useless")
    '± 57 hours is more than half of how far people themselves lie apart (9 hours): hardly better than a guess.'
    >>> reason(Number("hours", bounds=(0, 80000), unit="hours"), 5420.0, "good").partition(". ")[0]
    '± 5,420 hours is at most a fifth of the widest spread that there can be (40,000 hours)'
    """
    told = plus_minus_of(half, proportion=question.proportion, unit=question.unit)
    if question.proportion:
        ends = _(
            "{good:g} and {poor:g} points", good=100 * GOOD * question.yardstick, poor=100 * POOR * question.yardstick
        )
        return _(_LIES[verdict], told=told, ends=ends)
    apart = question.spread_words(question.yardstick)
    if is_unstated(question):
        return _(_UNSTATED[verdict], told=told, apart=apart)
    part = {"good": _("at most a fifth"), "poor": _("between a fifth and a half"), "useless": _("more than half")}[
        verdict
    ]
    after = {
        "good": ".",
        "poor": _(": it shows large differences only."),
        "useless": _(": hardly better than a guess."),
    }[verdict]
    return _(
        "{told} is {part} of how far people themselves lie apart ({apart}){after}",
        told=told,
        part=part,
        apart=apart,
        after=after,
    )


def _dearest(sheet: Sheet, sized: Size) -> str:
    """Say which question takes most, and what the others would gain without it."""
    dear = max(sized.questions, key=lambda each: each.epsilon_share)
    if dear.effective_without is None:
        return ""
    now = min(each.effective_people for each in sized.questions if each.name != dear.name)
    return _(
        "“{sheet}” is the dearest question: it takes {epsilon_share} of what everyone allows. Without it "
        "the others would be as accurate as {effective_without} asked without noise, instead of {now}.",
        sheet=asked(sheet[dear.name]),
        epsilon_share=percent(dear.epsilon_share),
        effective_without=people_like(dear.effective_without),
        now=people_like(now),
    )


def _by_group(sheet: Sheet, sized: Size) -> list[dict[str, Any]]:
    """Say what groups would give: each by itself, the difference of two, and the whole."""
    if not sized.sizes:
        return []
    smallest: GroupSize = sized.sizes[-1]
    return [
        {
            "asked": asked(question),
            "one": _said(question, half),
            "verdict": verdict,
            "difference": "" if each.across is None else _said(question, each.across.difference),
            "whole": "" if each.across is None else _said(question, each.across.whole),
        }
        for question, each, half, verdict in zip(
            sheet, sized.questions, smallest.half_widths, smallest.verdicts, strict=True
        )
    ]


def _said(question: Question, half: float) -> str:
    return plus_minus_of(half, proportion=question.proportion, unit=question.unit)


def _wished(sheet: Sheet, given: Mapping[str, str], limits: Sequence[float] | NDArray[np.float64], groups: int) -> str:
    """Say how many people a wished precision takes; nothing where none is wished."""
    text, at = given.get("wished", "").strip(), given.get("wished_of", "0")
    if not text:
        return ""
    place = int(at) if at.isdecimal() and int(at[:4]) < len(sheet) else 0
    question = sheet.questions[place]
    half = typed_number(text, Sentence("the precision you wish for")).number / (100.0 if question.proportion else 1.0)
    needed = people_for(sheet, question.name, half_width=half, limits=limits, groups=groups)
    told = plus_minus_of(half, proportion=question.proportion, unit=question.unit)
    if needed is None:
        return _(
            "{told} for “{question}” cannot be had with such limits, however many come.",
            told=told,
            question=asked(question),
        )
    return _(
        "{told} for “{question}” takes {needed} like these.", told=told, question=asked(question), needed=count(needed)
    )
