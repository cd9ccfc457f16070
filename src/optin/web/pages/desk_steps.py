"""The steps of a campaign in words: what each is called, what it does, what cannot be undone, and what its button says."""

from __future__ import annotations

from dataclasses import dataclass

from optin.wording.language import N_


@dataclass(frozen=True)
class StepShown:
    """A step in words: what it is called, what it does, and what the button says."""

    step: str
    title: str
    words: str
    button: str


STEPS = {
    step.step: step
    for step in (
        StepShown(
            "open",
            N_("Open registration"),
            N_(
                "From then on links work and people choose their limits. Nothing of what is asked can be changed "
                "any more: to mend something you would have to cancel and draft anew."
            ),
            N_("Open registration"),
        ),
        StepShown(
            "close-registration",
            N_("Close registration"),
            N_(
                "Nobody else can come in. You then see how limits are spread, in groups of at least ten. Until "
                "the plan is announced registration can be opened again."
            ),
            N_("Close registration"),
        ),
        StepShown(
            "announce",
            N_("Announce the plan"),
            N_(
                "The best plan within all limits (fixed weights, one Laplace noise) is fixed and published: to "
                "everyone or, by invitation, to those invited. Each sees their deal, and what it promises is "
                "held for them. This cannot be undone: afterwards there is a result, a new round, or none."
            ),
            N_("Announce"),
        ),
        StepShown(
            "open-answers",
            N_("Open answers"),
            N_("People join with their answer, or decline, until you close."),
            N_("Open answers"),
        ),
        StepShown(
            "close",
            N_("Close answers"),
            N_("Nobody can join, decline or change an answer any more. They are opened again only if too few joined."),
            N_("Close answers"),
        ),
        StepShown(
            "release",
            N_("Publish the result"),
            N_(
                "The result is computed once, with noise, charged to everyone who joined, and published. Answers "
                "are destroyed. This cannot be undone, and there is no second draw."
            ),
            N_("Publish"),
        ),
        StepShown(
            "reopen-registration",
            N_("Open registration again"),
            N_("Nothing is announced yet: more people can come, and those who are here can change their choice."),
            N_("Open registration again"),
        ),
        StepShown(
            "reopen-answers",
            N_("Open answers again"),
            N_(
                "Too few joined for a result. The offer and all answers so far stay as they are; more people can "
                "join, and everyone can still decline."
            ),
            N_("Open answers again"),
        ),
        StepShown(
            "new-round",
            N_("Begin a new round"),
            N_(
                "Nothing is published. Answers of this round are destroyed and promises given back, and people "
                "are told so. They keep their limits (where answers came sealed with them, they choose again) "
                "and are asked for their answers again. This cannot be undone."
            ),
            N_("Begin a new round"),
        ),
        StepShown(
            "cancel",
            N_("Cancel the campaign"),
            N_("Nothing is published, nothing is spent, answers are destroyed. This cannot be undone."),
            N_("Cancel it"),
        ),
    )
}
"""What a page says of each step before it is taken, and what becomes of it."""
