"""The job, one function for each step, in the paper's order: plan, announce, answer, release; or cancel.

The command line and the web service call these and nothing below them. The ledger stands behind every step: what was
promised is held, what was released is charged, and a step asked for twice is done once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents
from optin.announcement import Announcement
from optin.announcement import announce as make_announcement
from optin.announcement.making import tilt_of
from optin.announcement.terms import Conditions
from optin.campaign.checking import terms_of
from optin.campaign.known import Known
from optin.campaign.versions import in_its_version
from optin.database.crash_points import reached
from optin.errors import BadInput, Place, PromiseBroken
from optin.grains.arrays import Answers, Numbers
from optin.grains.batches import DIFFERS, Passed
from optin.grains.people import Allowing, Joining, people_of
from optin.ledger import Ledger, Terms
from optin.ledger.bulk_reads import is_closed
from optin.ledger.chain import Written
from optin.ledger.holds import Holding
from optin.ledger.staging_area import LedgerEntrance
from optin.ledger.texts import released_in
from optin.participation import CHANGED, Turnout, check_table, check_unchanged, judged
from optin.planning import Plan
from optin.releasing import Release
from optin.releasing.drawing import Measured, added_up, charged_text, check_noise, measure
from optin.wording.groups import SMALLEST_GROUP


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
                "{promised:,} of those who joined count and the quorum is {people:,} (who has nothing to give does"
                " not count); wait for more answers, or cancel",
                promised=came.promised,
                people=self.people,
            )
        if not came.standard_error <= self.standard_error:
            raise PromiseBroken(
                "the standard error would be {standard_error:.6g} and the quorum allows {allowed:.6g}; wait"
                " for more answers, or cancel",
                standard_error=came.standard_error,
                allowed=self.standard_error,
            )


def stated_quorum(announcement: Announcement) -> Quorum:
    """Return the quorum that people were told of: nobody may release below it."""
    stated = announcement.terms.conditions
    error = math.inf if stated.quorum_error is None else stated.quorum_error
    return Quorum(people=1 if stated.quorum_people is None else stated.quorum_people, standard_error=error)


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
    allowing = Allowing(allowances, raise_limits, lower_limits, levels)
    named = {"campaign": campaign, "round": round, "min_people": min_people, "conditions": conditions}
    return prepare(plan, agents, ledger, allowing, **named).held_in(ledger)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Prepared:
    """An announcement that nobody has heard of yet: whatever could be refused without writing was."""

    announcement: Announcement
    people: Agents
    stated: Agents
    allowing: Allowing

    def held_in(self, ledger: Ledger) -> Announcement:
        """Hold everyone's promise; return the announcement only when the holds are stored."""
        offer, allowing, form = self.announcement, self.allowing, people_of(self.people)
        limits = {"raise_limits": allowing.raise_limits, "lower_limits": allowing.lower_limits}
        holding = Holding(terms_of(offer), offer.to_json(), exact=offer.noiseless, **limits)
        with form.holding(offer, self.stated, allowing, LedgerEntrance(ledger.engine)) as arrivals:
            ledger.hold(arrivals, holding, recheck=form.expect_unchanged)
        reached("before output")
        return offer


def prepare(
    plan: Plan,
    agents: Agents,
    ledger: Ledger | None,
    allowing: Allowing,
    *,
    campaign: str | None = None,
    round: int = 1,  # noqa: A002 - the word of the contract
    min_people: int = SMALLEST_GROUP,
    conditions: Conditions | None = None,
) -> Prepared:
    """Make the public offer, of what a ledger leaves people; without one, of what they state themselves."""
    known = None if ledger is None else Known(ledger)
    before = Terms(campaign, round, "") if campaign is not None else None
    if ledger is not None and before is not None and ledger.is_announced(before):  # what remains may be less by now
        people = people_of(agents).as_promised(Known(ledger, before))
    else:
        people = people_of(agents).within(known, allowing)
    named = {"campaign": campaign, "round": round, "min_people": min_people, "conditions": conditions}
    offer = make_announcement(plan, people, **named)  # type: ignore[arg-type]
    return Prepared(offer if ledger is None else in_its_version(offer, ledger), people, agents, allowing)


def answer(announcement: Announcement, answers: Mapping[str, bool], *, ledger: Ledger) -> NDArray[np.bool_]:
    """Write down who joins and who declines; say, in announced order, whose promise still stands.

    A promise stands until its person declines, so a yes changes nothing; a no gives the hold back, and is final for
    this round: the budget may be promised to another campaign at once.
    """
    for person, joins in answers.items():
        if not isinstance(person, str) or not isinstance(joins, bool | np.bool_):
            raise BadInput("answers must say True or False for each id; anything else could be read as a yes")
    terms = terms_of(announcement)
    joining = [person for person, joins in answers.items() if joins]
    if joining and not np.all(ledger.stands(terms, joining)):
        at = int(np.argmin(ledger.stands(terms, joining)))
        raise PromiseBroken(
            "{person} declined this round and cannot join it; they can join the next one", person=Place(at)
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
    terms, members = terms_of(announcement), people_of(people)
    given, present = members.values(values), members.answers(joined, announced=announcement.people)
    promised = members.as_promised(Known(ledger, terms))
    joining = people_of(promised).joining(announcement, present)

    def decided(who: Answers) -> Turnout:
        check_noise(announcement, allowed=allow_no_noise)
        check_table(announcement, people)
        came = judged(announcement, joining.promises, who)
        _expect_quorum(announcement, quorum, came)
        return came

    came = None
    if joining.scanned and not is_closed(ledger, terms):
        joining.expect_standing(values, joined)
        came = decided(joining.who)
    passed = Passed(0 if came is None else came.total_grains // came.announced)
    drawn_over: list[Answers] = [] if present is None else [present]

    def settle(who: Answers, written: Written) -> Callable[[int], tuple[str, str]]:
        if joining.scanned:
            measured = _measured(announcement, joining, given, came, passed, written)
        else:
            measured = added_up(announcement, joining.promises, given, came=decided(who), joined=who)
            drawn_over.append(who)
        return functools.partial(charged_text, measured)

    with joining.arriving(LedgerEntrance(ledger.engine), passed) as arrivals:
        entry = ledger.charge(terms, arrivals, _Settlement(settle))
    stored = released_in(entry.body, entry.head)
    charged = drawn_over[-1] if drawn_over else people_of(promised).standing(Known(ledger, terms))
    reached("before output")
    return replace(stored, grain_source=joining.promises.spent(charged))


@dataclass
class _Settlement:
    """Settle by one function."""

    settle: Callable[[Answers, Written], Callable[[int], tuple[str, str]]]
    who: Answers = None

    def released(self, who: Answers) -> None:
        """Keep who joined."""
        self.who = who

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Decide and draw."""
        return self.settle(self.who, written)


def _expect_quorum(announcement: Announcement, quorum: Quorum | None, came: Turnout) -> None:
    """Refuse a turnout below the quorum asked for now, or below the announced one."""
    (quorum or Quorum()).expect(came)
    stated_quorum(announcement).expect(came)


def _measured(
    announcement: Announcement,
    joining: Joining,
    values: Numbers,
    came: Turnout | None,
    passed: Passed,
    written: Written,
) -> Measured:
    """Add up what a table holds now; rows that are not those decided on, staged and charged are refused."""
    if came is None:
        raise PromiseBroken("this campaign and round were open again a moment later; try again")
    if (written.people, written.sums.grains) != (came.people, came.total_grains):
        raise PromiseBroken(DIFFERS)
    check_unchanged(came, passed.those)
    if joining.who is not None and came.tilt != tilt_of(
        *passed.above, total_grains=came.total_grains, people=came.announced
    ):  # where all joined, the tilt is the announced one
        raise PromiseBroken(CHANGED)
    measured = added_up(announcement, joining.promises, values, came=came, joined=joining.who)
    if measured.those.marks != passed.those.marks:
        raise PromiseBroken(CHANGED)
    return measured


def look(
    announcement: Announcement,
    people: Agents,
    values: ArrayLike | str,
    *,
    joined: ArrayLike | str | None = None,
    quorum: Quorum | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Draw without a ledger, for a look: nobody keeps count of it, and the release says so (``charged`` is False)."""
    accept = functools.partial(_expect_quorum, announcement, quorum)
    return measure(announcement, people, values, joined=joined, allow_no_noise=allow_no_noise, accept=accept).drawn()


def cancel(announcement: Announcement, *, ledger: Ledger) -> None:
    """Close a round without a release and give everyone's hold back."""
    ledger.cancel(terms_of(announcement))
