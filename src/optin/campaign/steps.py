"""The steps that touch a ledger, in the paper's order: announce, answer, release; or cancel.

The command line and the web service take them here; planning stands beside, in ``planning``. The ledger stands behind every
step: what was promised is held, what was released is charged, and a step asked for twice is done once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents
from optin.announcement import Announcement
from optin.announcement import announce as make_announcement
from optin.announcement.terms import Conditions
from optin.campaign.checking import terms_of
from optin.campaign.known import Known
from optin.campaign.versions import announced_before, in_its_version, with_seal_opened
from optin.database.crash_points import reached
from optin.errors import BadInput, Place, PromiseBroken
from optin.grains.arrays import Answers
from optin.grains.batches import DIFFERS, Passed, PassedGroups
from optin.grains.people import Allowing, Joining, people_of
from optin.grains.splitting import Released
from optin.ledger import Ledger, Terms
from optin.ledger.bulk_reads import charges_of, is_closed
from optin.ledger.chain import Entry, Written
from optin.ledger.holds import Holding
from optin.ledger.staging_area import LedgerEntrance
from optin.participation import CHANGED, check_table, judged
from optin.planning import Plan
from optin.releasing import Release
from optin.releasing.deciding import Decision, Quorum
from optin.releasing.deciding import decide as decide_on
from optin.releasing.drawing import Coded, Measured, added_up, check_noise, measure
from optin.releasing.drawing_groups import Decisions, MeasuredGroups, add_up_groups, decide_by_group
from optin.wording.groups import SMALLEST_GROUP


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
    return prepare(plan, agents, ledger, allowing, Naming(campaign, round, min_people, conditions)).held_in(ledger)


@dataclass(frozen=True)
class Naming:
    """What an announcement is called, and on which conditions it is made."""

    campaign: str | None = None
    round: int = 1
    min_people: int = SMALLEST_GROUP
    conditions: Conditions | None = None


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
        holding = Holding(terms_of(offer), offer.to_sealed_json(), exact=offer.noiseless, **limits)
        with form.holding(offer, self.stated, allowing, LedgerEntrance()) as arrivals:
            ledger.hold(arrivals, holding, recheck=form.expect_unchanged)
        reached("before output")
        return offer


def prepare(plan: Plan, agents: Agents, ledger: Ledger | None, allowing: Allowing, naming: Naming) -> Prepared:
    """Make the public offer, of what a ledger leaves people; without one, of what they state themselves."""
    campaign, round = naming.campaign, naming.round  # noqa: A001 - the word of the contract
    known = None if ledger is None else Known(ledger)
    before = Terms(campaign, round, "") if campaign is not None else None
    if ledger is not None and before is not None and ledger.is_announced(before):  # what remains may be less by now
        people = people_of(agents).as_promised(Known(ledger, before))
    else:
        people = people_of(agents).within(known, allowing)
    earlier = None if ledger is None or campaign is None else announced_before(ledger, campaign, round)
    offer = make_announcement(plan, people, earlier=earlier, **vars(naming))
    return Prepared(offer if earlier is None else in_its_version(offer, earlier), people, agents, allowing)


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
    answers: Any = None,  # noqa: ANN401 - a table of columns of any kind, or one column
    *,
    ledger: Ledger,
    joined: ArrayLike | str | None = None,
    quorum: Quorum | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Charge everyone who joined for what they answered and publish the one result; nothing is returned before both are stored.

    ``answers`` is what it is for `optin.release`. ``joined`` is a boolean for each announced person; None means everyone who
    did not decline. The exact sums of an announcement that was read from its public file are those in the ledger. Asked again
    for the same announcement and people, the stored result comes back and nothing is drawn.
    """
    announcement = with_seal_opened(announcement, ledger)
    terms, members = terms_of(announcement), people_of(people)
    present = members.answers(joined, announced=announcement.people)
    promised = members.as_promised(Known(ledger, terms))
    coded = Coded(people_of(promised), answers, announcement.sheet)
    joining = people_of(promised).joining(announcement, present, coded.skips)

    def decide(who: Answers) -> Decision | Decisions:
        check_noise(announcement, allowed=allow_no_noise)
        check_table(announcement, people)
        if announcement.grouped:
            return decide_by_group(announcement, joining.promises, who, coded.skips, quorum=quorum)
        return decide_on(announcement, judged(announcement, joining.promises, who, coded.skips), quorum)

    decision = None
    if joining.scanned and not is_closed(ledger, terms):
        joining.expect_standing(answers, joined, announcement.sheet)
        decision = decide(joining.who)
    passed = _passing(announcement, decision)
    settlement = _Settlement(announcement, joining, coded, passed, decide, members.expect_unchanged, decision)
    with joining.arriving(LedgerEntrance(), passed) as arrivals:
        entry = ledger.charge(terms, arrivals, settlement)
    stored = settlement.stored_as(entry)
    charged = present if present is not None else settlement.who
    if charged is None:
        charged = people_of(promised).standing(Known(ledger, terms))
    reached("before output")
    released = tuple(part.released for part in stored.parts) if stored.grouped else stored.released
    source = joining.promises.spent(charged, coded.skips, released)
    if settlement.decision is None and not joining.scanned:  # released before, over answers that may have been others
        source = functools.partial(_charged, charges_of(ledger, terms), promised)
    return stored.held_by(announcement, source)


def _charged(charges: Mapping[str, int], people: Agents) -> NDArray[np.int64]:
    """List what a ledger charged, in the order of the people."""
    return np.array([charges.get(person, 0) for person in people.in_memory().ids or ()], dtype=np.int64)


def _passing(announcement: Announcement, decision: Decision | Decisions | None) -> Passed | PassedGroups:
    """Make what notes people who go by on their way to the ledger, of each group by itself."""
    nothing = (0,) * len(announcement.sheet)
    if not announcement.grouped:
        return Passed(decision.bars if isinstance(decision, Decision) else nothing, announcement.shares)
    bars = decision.bars if isinstance(decision, Decisions) else (nothing,) * len(announcement.parts)
    return PassedGroups(bars, [part.shares for part in announcement.parts])


@dataclass
class _Settlement:
    """How a release is settled: decided first, then added up, and drawn inside the ledger's transaction.

    A decision is one on everyone, or one on each group, and so is what passed. People of an engine are decided on before the
    ledger is locked; what is charged must be what was decided on.
    """

    announcement: Announcement
    joining: Joining
    coded: Coded
    passed: Any
    decide: Callable[[Answers], Any]
    recheck: Callable[[], None]
    decision: Any
    who: Answers = None
    drawn: Release | None = None
    text: str = ""

    def released(self, who: Answers) -> Released:
        """Decide, and say which questions are charged, as a number with a bit for each; in groups, of each group."""
        if not self.joining.scanned:
            self.decision, self.who = self.decide(who), who
        if self.decision is None:
            raise PromiseBroken("this campaign and round were open again a moment later; try again")
        self.decision = self._knowing_tilts(self.decision)
        released: Released = self.decision.released
        return released

    def _knowing_tilts(self, decision: Any) -> Any:  # noqa: ANN401
        """Look at the tilt, of a table in what went by: in memory only where what is charged hangs on it."""
        if self.joining.scanned:
            known = self.joining.who is None and len(self.announcement.sheet) == 1  # the announced one
            return decision if known else decision.knowing(self.announcement, self._passed_above(decision))
        if not decision.waits(self.announcement):
            return decision
        above = self.joining.promises.sums_above(decision.bars, self.who, self.coded.skips)
        return decision.knowing(self.announcement, above)

    def _passed_above(self, decision: Any) -> Any:  # noqa: ANN401
        """Say what went by above the bars, after checking that what went by is what was decided on."""
        decision.expect_unchanged(self.passed)
        return self.passed.above

    def drawing(self, written: Written) -> Callable[[int], tuple[str, str]]:
        """Add up, and return what draws; it may still refuse, and what it returns may not."""
        assert self.decision is not None  # noqa: S101 - `released` comes first
        who = self.joining.who if self.joining.scanned else self.who
        if self.joining.scanned:
            self._expect_passed(written)
        add_up = add_up_groups if self.announcement.grouped else added_up
        measured = add_up(
            self.announcement, self.joining.promises, self.coded.codes, decision=self.decision, joined=who
        )
        if self._changed(measured):
            raise PromiseBroken(CHANGED)
        return functools.partial(self._draw, measured)

    def _changed(self, measured: Measured | MeasuredGroups) -> bool:
        """Tell whether what was added up is not what is charged, in a table by its marks; sums may be the same nevertheless.

        In memory promises are read once, and so is who joined; arrays of answers are those that were given, and not copied.
        """
        if self.joining.scanned:
            return bool(measured.marks != self.passed.marks)
        return not self.joining.answers_alike(self.coded.skips)

    def _draw(self, measured: Measured | MeasuredGroups, number: int) -> tuple[str, str]:
        """Draw, and return text and fingerprint of what act ``number`` charges; the ledger reads the text before it stores it.

        What was read before the ledger was locked is still what it was.
        """
        self.recheck()
        self.drawn = measured.drawn().charged_at(number)
        self.text = self.drawn.to_sealed_json()
        return self.text, self.drawn.drawn_fingerprint

    def stored_as(self, entry: Entry) -> Release:
        """Return what the ledger holds: what was drawn now, or what was stored before, in its own words."""
        if self.drawn is not None and self.text == entry.body:
            return self.drawn.charged_at(entry.number, entry.head)
        return Release.from_sealed(entry.body, entry.head)

    def _expect_passed(self, written: Written) -> None:
        """Refuse rows that are not those decided on, staged and charged."""
        assert self.decision is not None  # noqa: S101
        if (written.people, written.sums.grains) != (self.decision.people, self.decision.charged):
            raise PromiseBroken(DIFFERS)
        self.decision.expect_unchanged(self.passed)


def look(
    announcement: Announcement,
    people: Agents,
    answers: Any = None,  # noqa: ANN401
    *,
    joined: ArrayLike | str | None = None,
    quorum: Quorum | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Draw without a ledger, for a look: nobody keeps count of it, and the release says so (``charged`` is False)."""
    return measure(announcement, people, answers, joined=joined, allow_no_noise=allow_no_noise, quorum=quorum).drawn()


def cancel(announcement: Announcement, *, ledger: Ledger) -> None:
    """Close a round without a release and give everyone's hold back."""
    ledger.cancel(terms_of(announcement))
