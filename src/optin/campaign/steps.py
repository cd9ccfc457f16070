"""The job, one function for each step, in the paper's order: plan, announce, answer, release; or cancel.

The command line and the web service call these and nothing below them. The ledger stands behind every step: what was
promised is held, what was released is charged, and a step asked for twice is done once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents, PrivacyConstrained
from optin.announcement import Announcement
from optin.announcement import announce as make_announcement
from optin.announcement.terms import Conditions
from optin.campaign.kept import (
    announce_kept,
    as_promised,
    expect_standing,
    is_kept,
    release_kept,
    within_allowance_kept,
    within_totals_kept,
)
from optin.campaign.lowering import lowered_to, totals_of
from optin.campaign.overlay import Kept
from optin.campaign.versions import in_its_version
from optin.database.crash_points import reached
from optin.errors import BadInput, PromiseBroken
from optin.grains.freezing import frozen
from optin.ledger import UNLIMITED, Ledger, Terms, allowance_grains, epsilons_of
from optin.ledger.bulk_reads import is_closed
from optin.ledger.texts import released_in
from optin.participation import Turnout, check_table, joined_rows, judged, turnout
from optin.planning import Plan
from optin.planning import plan as make_plan
from optin.questions import Sheet
from optin.releasing import Release
from optin.releasing.drawing import added_up, charged_text, check_noise, expect_columns
from optin.tables.labels import of_people
from optin.wording.groups import SMALLEST_GROUP

__all__ = ["Quorum", "announce", "answer", "cancel", "plan", "release", "within_allowance"]


@dataclass(frozen=True, kw_only=True)
class Quorum:
    """When a release is worth its price: at least so many people promised anything, at most such a standard error.

    Both are decided by who joined and what they were promised, never by a value.
    """

    people: int = 1
    standard_error: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what cannot be compared: no turnout is below NaN, so any would pass."""
        if isinstance(self.people, bool) or not isinstance(self.people, (int, np.integer)):
            raise BadInput("the quorum's people must be a whole number")
        if not isinstance(self.standard_error, (float, int)) or not self.standard_error >= 0:
            raise BadInput("the quorum's standard error must be a number of 0 or more")

    def expect(self, came: Turnout) -> None:
        """Refuse a turnout below the quorum; nobody is charged then."""
        if came.promised < self.people:
            raise PromiseBroken(
                f"{came.promised:,} of those who joined count and the quorum is {self.people:,} (who has nothing to give "
                "does not count); wait for more answers, or cancel"
            )
        if not came.standard_error <= self.standard_error:
            raise PromiseBroken(
                f"the standard error would be {came.standard_error:.6g} and the quorum allows "
                f"{self.standard_error:.6g}; wait for more answers, or cancel"
            )


def plan(
    agents: Agents,
    sheet: Sheet | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    data_variance: float | None = None,
    data_sd: float | None = None,
    eta: float | None = None,
    max_gap: float = 0.0,
    slack: float = 0.0,
    target_error: float | None = None,
    ledger: Ledger | None = None,
    raise_limits: bool = False,
    lower_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Plan:
    """Find the best design of its kind (`optin.plan`); with a ledger, nobody is planned beyond what remains of their allowance.

    ``raise_limits``, ``lower_limits``, ``allowances`` and ``levels`` mean what they will mean when this plan is announced.
    """
    if ledger is not None:
        agents = within_allowance(
            agents, ledger, raise_limits=raise_limits, lower_limits=lower_limits, allowances=allowances, levels=levels
        )
    return make_plan(
        agents,
        sheet,
        bounds=bounds,
        data_variance=data_variance,
        data_sd=data_sd,
        eta=eta,
        max_gap=max_gap,
        slack=slack,
        target_error=target_error,
    )


def announce(
    plan: Plan,
    agents: Agents,
    *,
    ledger: Ledger,
    campaign: str | None = None,
    round: int = 1,  # noqa: A002 - the word of the contract
    min_people: int = SMALLEST_GROUP,
    conditions: Conditions | None = None,
    raise_limits: bool = False,
    lower_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Announcement:
    """Make the public offer and hold everyone's promise in the ledger; return it only when the holds are stored.

    People new to the ledger are registered with their limit as allowance. BudgetSpent if anyone's allowance does not
    cover their promise; ``raise_limits`` raises allowances to the limits stated now, as an act of its own. Where the
    total over all releases is not the limit of this one, and for people who weigh costs and have no limit that could
    grow, give totals as ``allowances``: epsilon, one number for each person or one for all. With ``lower_limits`` totals
    bind too where they are lower than what the ledger, whose allowances only grow, has. What is announced are exact
    sums; where people choose limits from a few ``levels``, a limit cut to what remains is cut to the level below, so
    that nobody can subtract the levels from the sums and read off what one person has left.
    """
    before = Terms(campaign, round, "") if campaign is not None else None
    if before is not None and ledger.is_announced(before):  # asked again: what remains may be less by now
        people = promised_people(agents, ledger, before)
    else:
        people = within_allowance(
            agents, ledger, raise_limits=raise_limits, lower_limits=lower_limits, allowances=allowances, levels=levels
        )
    named = {"campaign": campaign, "round": round, "min_people": min_people, "conditions": conditions}
    offer = in_its_version(make_announcement(plan, people, **named), ledger)  # type: ignore[arg-type]
    if is_kept(agents):
        announce_kept(
            offer,
            cast("Kept", agents),
            cast("Kept", people),
            ledger=ledger,
            terms=_terms(offer),
            raise_limits=raise_limits,
            allowances=allowances,
        )
        reached("before output")
        return offer
    stated = offer.grain_rule(agents).limits(slice(None))
    ledger.announce(
        _terms(offer),
        body=offer.to_json(),
        ids=_ids(agents),
        grains=offer.grains(people),
        allowances=allowance_grains(stated) if allowances is None else totals_of(allowances, agents),
        bounded=offer.grain_rule(people).limits(slice(None)) < stated,
        raise_limits=raise_limits,
        lower_limits=lower_limits,
        exact=offer.noiseless,
    )
    reached("before output")
    return offer


def answer(announcement: Announcement, answers: Mapping[str, bool], *, ledger: Ledger) -> NDArray[np.bool_]:
    """Write down who joins and who declines; say, in announced order, whose promise still stands.

    A promise stands until its person declines, so a yes changes nothing; a no gives the hold back, and is final for
    this round: the budget may be promised to another campaign at once.
    """
    for person, joins in answers.items():
        if not isinstance(person, str) or not isinstance(joins, bool | np.bool_):
            raise BadInput("answers must say True or False for each id; anything else could be read as a yes")
    terms = _terms(announcement)
    joining = [person for person, joins in answers.items() if joins]
    if joining and not np.all(ledger.stands(terms, joining)):
        at = int(np.argmin(ledger.stands(terms, joining)))
        raise PromiseBroken(
            "{person} declined this round and cannot join it; they can join the next one", person=f"id {joining[at]}"
        )
    declining = [person for person, joins in answers.items() if not joins]
    if declining:
        ledger.let_go(terms, declining)
    return ledger.standing(terms)


def release(
    announcement: Announcement,
    people: Agents,
    values: ArrayLike | str,
    *,
    ledger: Ledger,
    joined: ArrayLike | str | None = None,
    quorum: Quorum | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Charge everyone who joined and publish the one result; nothing is returned before both are stored.

    ``joined`` is a boolean for each announced person; None means everyone who did not decline. Asked again for the same
    announcement and people, the stored result comes back and nothing is drawn.
    """
    if is_kept(people):
        return _release_kept(announcement, cast("Kept", people), values, ledger, joined, quorum, allow_no_noise)
    terms = _terms(announcement)
    values = of_people(values, people, "values")
    present = joined_rows(joined, announcement, people)
    grains, promises = frozen(announcement.grain_rule(promised_people(people, ledger, terms)))
    drawn_over: list[NDArray[np.bool_]] = [] if present is None else [present.copy()]

    def draw(those: NDArray[np.bool_], number: int) -> tuple[str, str]:
        check_noise(announcement, allowed=allow_no_noise)
        check_table(announcement, people)
        came = judged(announcement, promises, those)
        (quorum or Quorum()).expect(came)
        measured = added_up(announcement, promises, values, came=came, joined=those)
        drawn_over.append(those)
        return charged_text(measured, number)

    entry = ledger.release(terms, ids=_ids(people), grains=grains, draw=draw, joined=present)
    stored = released_in(entry.body, entry.head)
    charged = drawn_over[-1] if drawn_over else ledger.stands(terms, _ids(people))
    reached("before output")
    return replace(stored, grain_source=functools.partial(_spent, grains, charged))


def _release_kept(
    announcement: Announcement,
    people: Kept,
    values: ArrayLike | str,
    ledger: Ledger,
    joined: ArrayLike | str | None,
    quorum: Quorum | None,
    allow_no_noise: bool,
) -> Release:
    """Do the same for people of an engine: decide and add up there, then charge and draw in the ledger's transaction."""
    terms = _terms(announcement)
    promised, standing = as_promised(people, ledger, terms)
    present = standing if joined is None else joined
    came = None
    if not is_closed(ledger, terms):
        expect_columns(promised, values, joined)
        expect_standing(promised, joined, standing)
        check_noise(announcement, allowed=allow_no_noise)
        came = turnout(announcement, promised, present)
        (quorum or Quorum()).expect(came)
    entry = release_kept(announcement, promised, cast("str", values), present, came, ledger=ledger, terms=terms)
    reached("before output")
    return released_in(entry.body, entry.head)


def _spent(grains: NDArray[np.int64], charged: NDArray[np.bool_]) -> NDArray[np.int64]:
    return grains * charged


def cancel(announcement: Announcement, *, ledger: Ledger) -> None:
    """Close a round without a release and give everyone's hold back."""
    ledger.cancel(_terms(announcement))


def _terms(announcement: Announcement) -> Terms:
    return Terms(announcement.campaign, announcement.round, announcement.fingerprint)


def _ids(agents: Agents) -> list[str]:
    if agents.ids is None:
        raise BadInput("a ledger charges people by id: give ids")
    return list(agents.ids)


def within_allowance(
    agents: Agents,
    ledger: Ledger,
    *,
    besides: Terms | None = None,
    raise_limits: bool = False,
    lower_limits: bool = False,
    allowances: ArrayLike | str | None = None,
    levels: ArrayLike | None = None,
) -> Agents:
    """Lower limits to what remains; people who weigh costs have no limit to lower, and are checked instead.

    Limits and allowances are compared in whole grains: promises are whole grains, so a limit whose grains are covered
    is left as it is, to the last bit. What is left below an epsilon of 2^-16 (0.000015) is rounding dust, and nothing.
    """
    if is_kept(agents):
        if lower_limits:
            raise BadInput("totals of people who stay in an engine are not lowered; read their table into memory")
        return within_allowance_kept(
            cast("Kept", agents),
            ledger,
            besides=besides,
            raise_limits=raise_limits,
            allowances=allowances,
            levels=levels,
        )
    if not isinstance(agents, PrivacyConstrained):
        return agents
    stated = allowance_grains(agents.limits)
    totals = stated if allowances is None else totals_of(allowances, agents)
    left = ledger.remaining(
        _ids(agents),
        besides=besides,
        raised_to=totals if raise_limits else None,
        lowered_to=totals if lower_limits else None,
    )
    if allowances is not None:  # those new to the ledger will be registered with these
        left = np.where(left >= UNLIMITED, totals, left)
    return lowered_to(agents, np.maximum(left, 0), levels)  # a total may now be below what was promised


def within_totals(agents: Agents, allowances: ArrayLike | str | None) -> Agents:
    """Lower limits to the totals that people state themselves, in grains, as a ledger that knows nobody does."""
    if is_kept(agents):
        return within_totals_kept(cast("Kept", agents), allowances)
    if allowances is None or not isinstance(agents, PrivacyConstrained):
        return agents
    return lowered_to(agents, totals_of(allowances, agents), None)


def promised_people(agents: Agents, ledger: Ledger, terms: Terms) -> Agents:
    """Lower the limits of those whose promise the ledger had cut, so that their grains come out as promised."""
    if is_kept(agents):
        return as_promised(cast("Kept", agents), ledger, terms)[0]
    cut = ledger.bounded(terms)
    if not isinstance(agents, PrivacyConstrained) or not cut.ids:
        return agents
    promised = dict(zip(cut.ids, epsilons_of(cut.grains).tolist(), strict=True))
    limits = [
        min(limit, promised.get(name, math.inf))
        for limit, name in zip(agents.limits.tolist(), _ids(agents), strict=True)
    ]
    return PrivacyConstrained(np.array(limits), ids=agents.ids, index=agents.index)
