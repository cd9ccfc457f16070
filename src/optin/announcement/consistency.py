"""Whether an announcement agrees with itself."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from optin.agents.grouping import fault_of
from optin.announcement.exact import exact_variance, promised_accuracy
from optin.announcement.numbers import ExactSums
from optin.announcement.terms import PRIVACY_CONSTRAINED, check_terms
from optin.errors import BadInput
from optin.grains.arrays import HIGHEST_EPSILON
from optin.kernel.coarse import is_eighth_power, told_up
from optin.kernel.rounding import nearest
from optin.kernel.sharing import SHARES
from optin.wording.groups import SMALLEST_GROUP

if TYPE_CHECKING:
    from optin.announcement.offer import Announcement


def check_consistent(announcement: Announcement) -> None:
    """Refuse what no plan could have announced, whether or not its fingerprint was made again."""
    check_terms(announcement.terms)
    if announcement.grouped:
        _check_groups(announcement)
        _check_everyone(announcement)
    for design, offer in zip(announcement.designs, announcement.parts, strict=True):
        _check_offer(offer, empty=design.empty)


def _check_groups(offer: Announcement) -> None:
    """Refuse groups that cannot be told apart, of which no label is text that files keep, or that are partly exact."""
    names, labels = ([*each] for each in zip(*((design.group, design.labels) for design in offer.designs), strict=True))
    flat = [label for each in labels for label in each]
    if len(set(names)) < len(names) or len(set(flat)) < len(flat) or any(map(fault_of, [*names, *flat])):
        raise BadInput("this announcement cannot be read: its groups cannot be told apart")
    if len({design.public.noiseless for design in offer.designs if not design.empty}) != 1:
        raise BadInput("this announcement contradicts itself: all groups are released with noise, or none")


def _check_everyone(offer: Announcement) -> None:
    """Refuse a number of all people that cannot be that of groups in tens, or is not that of groups known exactly."""
    parts = [design.public for design in offer.designs]
    known = offer.people if offer.sealed is None else offer.sealed.people
    tens = all(part.people % SMALLEST_GROUP == 0 for part in parts if part.tens)
    fits = sum(part.people for part in parts) <= offer.people <= sum(part.most_people for part in parts)
    if not (tens and fits and offer.people == known):
        raise BadInput("this announcement contradicts itself: all people are other than those of its groups together")


def _check_offer(offer: Announcement, *, empty: bool) -> None:
    """Check what is announced to everyone, or to one group, in which nobody may be promised anything."""
    public, questions = offer.public, len(offer.sheet)
    told = (public.shares, public.variances, public.noises, public.squares)
    if any(len(each) != questions for each in told):
        raise BadInput("this announcement cannot be read: it has other numbers than its sheet has questions")
    if sum(public.shares) != SHARES or min(public.shares) < 1:
        raise BadInput("this announcement cannot be read: its shares do not add up to one epsilon")
    if empty and public.most_people > 0 and set(public.variances) == {math.inf} and offer.cap >= 0 and offer.tilt == 0:
        return
    sums = () if offer.sealed is None else offer.sealed.question_sums
    if min(public.most_people, *(each.total_grains for each in sums), *(1,)) < 1 or offer.cap <= 0:
        raise BadInput("this announcement cannot be read: people, total_grains and cap are positive")
    _check_ranges(offer)
    if sums:
        _check_sums(offer, sums)
    if offer.seal is not None:
        _check_rounded(offer)
    _check_stated_promise(offer)


def _check_ranges(offer: Announcement) -> None:
    """Keep tilt and cap within what is possible; a question checks its own numbers."""
    ranges = {
        "tilt": (offer.tilt, 1.0 if offer.seal else nearest(Fraction(offer.people - 1, offer.people))),
        "cap": (offer.cap, math.inf if offer.noiseless else HIGHEST_EPSILON),
    }
    for name, (number, most) in ranges.items():
        if not 0.0 <= number <= most:
            raise BadInput(
                'this announcement contradicts itself: its "{name}" is not possible with its bounds', name=name
            )
    if offer.cap_lowered and (offer.noiseless or offer.cap != HIGHEST_EPSILON):
        raise BadInput('this announcement contradicts itself: "cap_lowered" fits no cap but the highest')


def _check_rounded(offer: Announcement) -> None:
    """Insist that rounded numbers can be those of one design: of two figures, and each about what follows from the others."""
    public = offer.public
    if not all(0.0 < noise < math.inf for noise in public.noises):
        raise BadInput("this announcement contradicts itself: its noise is none")
    rounded = all(each == told_up(each, offer.people) for each in (offer.tilt, *public.noises, *public.squares))
    possible = all(each * public.most_people >= 0.9 for each in public.squares)
    told = is_eighth_power(offer.cap) and offer.promise is None and not offer.noiseless
    if not (rounded and possible and told and public.variances == public.variances_told(offer.sheet)):
        raise BadInput("this announcement contradicts itself: its rounded numbers do not follow from each other")


def _check_sums(offer: Announcement, exact: tuple[ExactSums, ...]) -> None:
    """Compare the sums with each other (Cauchy: S^2 <= n Q; nobody above the cap: Q <= S cap) and with what follows."""
    questions = zip(offer.sheet, exact, offer.largest_parts, offer.public.variances, strict=True)
    people = offer.expect_sealed().people
    for question, sums, most, variance in questions:
        total, squares = sums.total_grains, sums.total_squared_grains
        if not total * total <= people * squares <= people * total * most:
            raise BadInput(
                "this announcement contradicts itself: so many people, none above the cap, cannot have its sums"
            )
        exactly = nearest(exact_variance(question, sums, noiseless=offer.noiseless))
        if offer.seal is None and exactly != variance:
            raise BadInput("this announcement contradicts itself: its variance does not follow from its sums")


def _check_stated_promise(offer: Announcement) -> None:
    """Insist that people with costs, and only they, are promised a variance, and one that full turnout keeps."""
    promised, surplus, worth, otherwise = (
        *(offer.promised_variance, offer.surplus),
        *(offer.benefit_at_promise, offer.outside),
    )
    if offer.model == PRIVACY_CONSTRAINED:
        consistent = (promised, surplus, worth, otherwise, offer.benefit_name) == (None,) * 5
    else:
        reached = promised_accuracy(offer.sheet, offer.expect_sealed().question_sums, noiseless=offer.noiseless)
        consistent = promised is not None and nearest(reached) <= promised < math.inf
        consistent = consistent and all(x is None or math.isfinite(x) for x in (surplus, worth, otherwise))
    if None not in (surplus, worth, otherwise):
        consistent = consistent and surplus == cast("float", worth) - cast("float", otherwise) >= 0.0
    if not consistent:
        raise BadInput("this announcement contradicts itself: its promised variance or surplus does not follow")
