"""The steps of a campaign in words: what each is called, what it does, what cannot be undone, and what its button says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A step in words: what it is called, what it does, and what the button says."""

    step: str
    title: str
    words: str
    button: str


STEPS = {
    step.step: step
    for step in (
        Step(
            "open",
            "Open registration",
            "From then on links work and people choose their limits. Nothing of what is asked can be changed any more: to mend "
            "something you would have to cancel and draft anew.",
            "Open registration",
        ),
        Step(
            "close-registration",
            "Close registration",
            "Nobody else can come in. You then see how limits are spread, in groups of at least ten. Until the plan is announced "
            "registration can be opened again.",
            "Close registration",
        ),
        Step(
            "announce",
            "Announce the plan",
            "The best plan within all limits (fixed weights, one Laplace noise) is fixed and published: to everyone or, by "
            "invitation, to those invited. Each sees their deal, and what it promises is held for them. This cannot be undone: "
            "afterwards there is a result, a new round, or none.",
            "Announce",
        ),
        Step(
            "open-answers",
            "Open answers",
            "People join with their answer, or decline, until you close.",
            "Open answers",
        ),
        Step(
            "close",
            "Close answers",
            "Nobody can join, decline or change an answer any more. They are opened again only if too few joined.",
            "Close answers",
        ),
        Step(
            "release",
            "Publish the result",
            "The result is computed once, with noise, charged to everyone who joined, and published. Answers are destroyed. "
            "This cannot be undone, and there is no second draw.",
            "Publish",
        ),
        Step(
            "reopen-registration",
            "Open registration again",
            "Nothing is announced yet: more people can come, and those who are here can change their choice.",
            "Open registration again",
        ),
        Step(
            "reopen-answers",
            "Open answers again",
            "Too few joined for a result. The offer and all answers so far stay as they are; more people can join, and everyone "
            "can still decline.",
            "Open answers again",
        ),
        Step(
            "new-round",
            "Begin a new round",
            "Nothing is published. Answers of this round are destroyed and promises given back, and people are told so. They "
            "keep their limits (where answers came sealed with them, they choose again) and are asked for their answers again. "
            "This cannot be undone.",
            "Begin a new round",
        ),
        Step(
            "cancel",
            "Cancel the campaign",
            "Nothing is published, nothing is spent, answers are destroyed. This cannot be undone.",
            "Cancel it",
        ),
    )
}
"""What a page says of each step before it is taken, and what becomes of it."""
