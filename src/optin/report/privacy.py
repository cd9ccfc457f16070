"""The privacy sheet: what is promised, against whom, and what is not (E17)."""

from __future__ import annotations

from optin.announcement import Announcement
from optin.planning import Plan
from optin.report.markup import Markup, joined, tag
from optin.wording.language import N_, _
from optin.wording.numbers import largest, odds_factor


def privacy_sheet(*offers: Plan | Announcement) -> Markup:
    """Write the promise in plain words, with the largest epsilon of an offer, or of the offers to all groups."""
    several, noiseless = len(offers[0].sheet) > 1, all(offer.noiseless for offer in offers)
    rows = [
        (_("What is promised"), _promise(max(offer.cap for offer in offers), noiseless=noiseless, several=several)),
        *([(_("Several questions"), _(_SEVERAL))] if several else []),
        *((_(name), _(text)) for name, text in _ROWS),
    ]
    return tag("dl", joined(joined((tag("dt", name), tag("dd", text))) for name, text in rows), class_="sheet")


def _promise(cap: float, *, noiseless: bool, several: bool) -> str:
    if noiseless:
        return _("Nothing. Everyone who counts set no limit, so the plan adds no noise and protects nobody's value.")
    most = (
        _("none is above the cap, {cap}: a factor of {factor}", cap=largest(cap), factor=odds_factor(cap))
        if cap < 20
        else _("each by their own limit")
    )
    return _(
        "Whatever is concluded from {published} of one person would have changed its probability by a "
        "factor of at most e to the power of that person's own epsilon. Epsilons differ between people; "
        "{most}.",
        published=_(_PUBLISHED[several]),
        most=most,
    )


_PUBLISHED = {
    False: N_("the published number, a different value"),
    True: N_("all published numbers together, different answers to all questions"),
}
_SEVERAL = N_(
    "One limit covers the whole sheet: what the questions take of a person's epsilon adds up to at "
    "most what was promised, in exact integers. Nobody is charged for a question that they left out "
    "or that was not published. Which questions someone answered is not protected, so a question "
    "must not be skipped because of an answer to another one: “does not apply” and “rather not say” "
    "are safe where they are options."
)
_ROWS = [
    (
        N_("Unit of privacy"),
        (
            N_(
                "One row of the table, which stands for one person. Two rows of the same person add up, and so "
                "do people who always move together."
            )
        ),
    ),
    (
        N_("Neighbours"),
        (
            N_(
                "Two tables that differ in one person's value, whatever the two values are, with everyone else's "
                "values fixed and even known. Who takes part is the same in both."
            )
        ),
    ),
    (
        N_("Composition"),
        (
            N_(
                "Losses add up over releases, also when later plans depend on earlier results. A ledger keeps "
                "each person's sum in exact integers (grains of 2⁻³² epsilon) and refuses what would exceed "
                "their allowance."
            )
        ),
    ),
    (
        N_("Precision"),
        (
            N_(
                "Epsilons are rounded down to grains and sums are exact integers, so no limit is crossed by "
                "rounding. The noise is discrete Laplace; cutting it to 64 bits adds a delta below 2⁻²⁹⁵⁰."
            )
        ),
    ),
    (
        N_("Trust"),
        (
            N_(
                "Whoever runs the release sees limits and values and is trusted with them. The promise holds "
                "against everybody who sees the result, also if everyone else colludes."
            )
        ),
    ),
    (
        N_("Not protected"),
        (
            N_(
                "Who is registered, who joined or declined, everyone's limit or cost, the bounds, the declared "
                "variance and gap, the time of the release; and conclusions about people in general, which hold "
                "whether or not one person takes part. In small groups the cap and the sums can give single "
                "limits away."
            )
        ),
    ),
    (
        N_("What must not happen"),
        (
            N_(
                "No decision (whether, when or how to release) may look at a value; bounds, variance and gap "
                "must not be computed from these people's values."
            )
        ),
    ),
]
