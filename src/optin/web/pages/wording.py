"""Numbers in plain words, always rounded so that they promise no more than is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optin.announcement import Announcement, Deal
from optin.campaign import explain
from optin.client.wire import Rung
from optin.releasing import Release
from optin.web.pages.figures import asked_words, one_number
from optin.web.service.drafts import PRIVACY_CONSTRAINED
from optin.web.service.ladder import ladder_of
from optin.wording.beliefs import Move, believed, moves, unsure_words
from optin.wording.groups import shown_group
from optin.wording.guesses import right_in_100
from optin.wording.language import N_, _, capital, localised
from optin.wording.limit_steps import HIGHEST_STEP, SUSPECT
from optin.wording.numbers import (
    at_most,
    count,
    counted_between,
    ends,
    largest,
    meaningful,
    odds_factor,
    short,
)
from optin.wording.shares import is_equal, times_words

_USED_UP = N_(
    "your total over all campaigns is used up (what you declined counts until it is given back: once "
    "a second person declines too, or that round ends)"
)
_LEFT_OUT = N_(
    "what is left of your total over all campaigns does not cover what is asked of people with your "
    "cost (so that nobody can work out what is left, it counts as your total, or as a half, a "
    "quarter, … of it)"
)
_TOO_DEAR = N_("at the cost you stated it is not worth it to you")


@dataclass(frozen=True)
class RungShown:
    """One step of the ladder as the pages show it; ``belief`` is where 50 % can be moved to, in per cent."""

    index: int
    name: str
    short: str
    words: str
    sentence: str
    belief: float | None
    epsilon: str = ""
    factor: str = ""
    belief_words: str = ""
    moves: tuple[Move, ...] = ()
    plain_name: str = ""
    """Its name as it stands within a sentence."""


def rungs(model: str, *, benefit_base: float = 1.0) -> tuple[RungShown, ...]:
    """List the ladder that a campaign's people stand on; costs are told as shares of a perfect result's worth."""
    if model == PRIVACY_CONSTRAINED:
        return tuple(_limit(rung) for rung in ladder_of(model))
    return tuple(_cost(rung, benefit_base) for rung in ladder_of(model))


def _limit(rung: Rung) -> RungShown:
    moved, factor = moves(rung.amount), odds_factor(rung.amount)
    half = moved[1]
    return RungShown(
        rung.index,
        capital(_(rung.name)),
        _("factor {factor}", factor=factor),
        unsure_words(rung.amount),
        f"{capital(_(SUSPECT, factor=factor))}.",
        round(100 * believed(rung.amount, 0.5), 2),
        short(rung.amount),
        factor,
        half.high,
        moved,
        _(rung.name),
    )


def _cost(rung: Rung, worth: float) -> RungShown:
    words = _("giving something away costs you nothing")
    if rung.amount and worth > 0:
        share = f"{short(10 * rung.amount / worth, 2)} %"
        words = _(
            "a factor of {factor} costs you {share} of what a perfect result is worth",
            factor=odds_factor(0.1),
            share=share,
        )
    return RungShown(
        rung.index,
        capital(_(rung.name)),
        _("cost {amount}", amount=short(rung.amount)),
        words,
        f"{capital(words)}.",
        None,
    )


@dataclass(frozen=True)
class DealWords:
    """One person's deal in words."""

    nothing: bool
    why_nothing: str
    share: str
    factor: str
    counts: str
    sentence: str
    keeps: str
    belief: float
    low: str
    high: str
    moves: tuple[Move, ...]
    cap: str
    epsilon: str
    right: int
    keeps_plain: str


def deal_words(deal: Deal, offer: Announcement, *, stated: float | None, group: str = "") -> DealWords:
    """Put a deal in words, of a ``group`` where there are groups: what it counts as a fraction, what it gives away rounded up."""
    moved = moves(deal.epsilon)
    return DealWords(
        nothing=deal.grains == 0,
        why_nothing=_why_nothing(offer, stated),
        share=share_words(deal.weight),
        factor=odds_factor(deal.epsilon),
        counts=_counts(share_words(deal.weight), group),
        sentence=_beside_others(offer.equal_shares(deal.weight), group),
        keeps=_left_words(deal, offer, stated),
        belief=round(100 * believed(deal.epsilon, 0.5), 2),
        low=moved[1].low,
        high=moved[1].high,
        moves=moved,
        cap=_capped(offer),
        epsilon=_("at most {epsilon}", epsilon=epsilon_words(deal.epsilon)),
        right=right_in_100(deal.epsilon),
        keeps_plain=_left_plain(deal, offer, stated),
    )


def _why_nothing(offer: Announcement, stated: float | None) -> str:
    """Say why someone is promised nothing: their total, or else their cost."""
    if offer.model == PRIVACY_CONSTRAINED:
        return _(_USED_UP)
    return _(_LEFT_OUT if stated is not None and explain(offer, cost=stated).grains else _TOO_DEAR)


def share_words(weight: float) -> str:
    """Write a weight as a fraction of the whole.

    >>> share_words(1 / 213.7)
    '1/214'
    """
    return localised(f"1/{round(1 / weight):,}") if weight > 0 else _("nothing")


def _counts(share: str, group: str) -> str:
    if group:
        return _("Your answers count about {share} of your group, {group}.", share=share, group=shown_group(group))
    return _("Your answers count about {share} of the whole.", share=share)


def _beside_others(shares: tuple[float, float], group: str) -> str:
    """Say what someone counts beside an equal share: of their group, where there are groups."""
    if is_equal(shares):
        if group:
            return _("That is as much as if all people of the group counted alike.")
        return _("That is as much as if all people counted alike.")
    if group:
        return _(
            "That is {times} what you would count if all people of the group counted alike.", times=times_words(shares)
        )
    return _("That is {times} what you would count if all people counted alike.", times=times_words(shares))


def _left_plain(deal: Deal, offer: Announcement, stated: float | None) -> str:
    """Say how a deal stands beside what was allowed, without a factor."""
    if offer.model != PRIVACY_CONSTRAINED or stated is None:
        return _("At the promised accuracy, joining is worth it to you at the cost you stated.")
    if deal.grains < explain(offer, limit=stated).grains:
        return _("Your total over all campaigns leaves this much, and no more is taken.")
    if offer.cap < stated:
        return _(
            "You allowed up to {right} in 100; not all of it is needed, and the rest stays yours.",
            right=right_in_100(stated),
        )
    return _("It is exactly what you allowed, and no more.")


def _left_words(deal: Deal, offer: Announcement, stated: float | None) -> str:
    if offer.model != PRIVACY_CONSTRAINED:
        return _("At the promised accuracy, joining is worth it to you at the cost you stated.")
    allowed = _("You allowed a factor of {factor}", factor=odds_factor(stated)) if stated is not None else ""
    if stated is not None and deal.grains < explain(offer, limit=stated).grains:
        return _("{allowed}; your total over all campaigns leaves this much, and no more is taken.", allowed=allowed)
    if stated is not None and offer.cap < stated:
        return _("{allowed}; not all of it is needed, and the rest stays yours.", allowed=allowed)
    return _("It is exactly what you allowed, and no more.")


def cap_words(cap: float, *, highest: float = math.inf) -> str:
    """Say the most anyone gives; where no cap binds, everyone gives what they allow.

    >>> cap_words(0.25), cap_words(11.6, highest=8.0)
    ('a factor of 1.29', 'all they allow')
    """
    return _("a factor of {factor}", factor=odds_factor(cap)) if cap < min(highest, 20.0) else _("all they allow")


def epsilon_words(epsilon: float) -> str:
    """Write an epsilon with four digits, rounded up.

    >>> epsilon_words(0.25), epsilon_words(1 / 3), epsilon_words(0.0)
    ('0.25', '0.3334', '0')
    """
    return at_most(epsilon, 4) if math.isfinite(epsilon) else _("without limit")


GUARD = N_("A largest gap, set before the plan,")
"""What planning for related limits and values is called on these pages."""


@dataclass(frozen=True)
class ResultWords:
    """A published result with the digits that its error leaves meaningful."""

    estimate: str
    half_width: str
    counted: str
    low: str
    high: str
    noise_low: str
    noise_high: str
    assumption: str
    warnings: tuple[str, ...]


def result_words(release: Release) -> ResultWords | None:
    """Put a release of one number in words, with both intervals at 95 %; None for a sheet, whose figures are a table."""
    if not one_number(release):
        return None
    total, noise = release.total_interval(0.95), release.noise_interval(0.95)
    error = release.standard_error
    low, high = ends(total, error)
    noise_low, noise_high = ends(noise, error)
    return ResultWords(
        estimate=meaningful(release.estimate, error),
        half_width=at_most(release.half_width(0.95)),
        counted=counted_between(release.announcement.bounds),
        low=low,
        high=high,
        noise_low=noise_low,
        noise_high=noise_high,
        assumption=release.assumption(_(GUARD)),
        warnings=release.warnings(),
    )


def _sheet_rows(offer: Announcement, release: Release | None) -> Sequence[tuple[str, str]]:
    asked = [(_("Asked"), asked_words(offer)), (_("People in the offer"), count(offer.people))]
    came = [] if release is None else [(_("People who joined"), count(release.joined_people))]
    return [*asked, *came, (_("Nobody gives away more, over all questions, than"), _capped(offer))]


def _capped(offer: Announcement) -> str:
    cap = max(part.cap for part in offer.parts)
    if cap < (HIGHEST_STEP if offer.model == PRIVACY_CONSTRAINED else 20.0):
        return _(
            "a factor of {factor} on the odds (epsilon {cap}), or less by their own limit",
            factor=odds_factor(cap),
            cap=largest(cap),
        )
    return _("they allow")


def offer_rows(offer: Announcement, release: Release | None, unit: str) -> Sequence[tuple[str, str]]:
    """List what was announced, for everyone to read."""
    if not one_number(offer):
        return _sheet_rows(offer, release)
    low, high = offer.bounds
    measure = f" {unit}" if unit else ""
    rows = [
        (
            _("Asked"),
            _("one number from {low} to {high}{measure}", low=short(low, 6), high=short(high, 6), measure=measure),
        ),
        (_("People in the offer"), count(offer.people)),
        (_("Nobody gives away more than"), _capped(offer)),
        (
            _("Noise at full turnout"),
            _("scale {noise_scale}{measure}", noise_scale=short(offer.noise_scale), measure=measure),
        ),
    ]
    return rows if release is None else [*rows[:2], (_("People who joined"), count(release.joined_people)), *rows[2:]]
