"""What people allow over all campaigns together, and what is left of it.

A limit is chosen for one campaign; the total over all of them is a statement of its own, made beside the first choice: four
campaigns like it, unless the person says otherwise. It is lowered at any time and raised only by its owner. What was declined
is free as soon as a second person of the round declined too, or the round ends: the ledger gives promises back in batches, since
its acts are public and must not be about one person. Until then it is promised to nobody, but not left for others either, as
it is not for the next plan.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, func, select

from optin.announcement import Announcement
from optin.campaign.history import Holding, given_back, holdings
from optin.client.wire import Rung
from optin.errors import PromiseBroken
from optin.grains.units import UNLIMITED, allowance_grains
from optin.kernel.rounding import GRAIN
from optin.ledger import Terms
from optin.web.schema import accounts, answers, campaigns
from optin.web.service.asking import sheet_of
from optin.web.service.core import Service
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import COSTS
from optin.web.service.lookups import agents_with
from optin.web.transactions import hold

TIMES = 4
"""How many campaigns like the first one a total covers, unless its owner says otherwise."""
MOST_IN_CAMPAIGNS = 200.0
"""The most epsilon that a total said in campaigns allows beyond what was given, unless the first of them alone asks for more."""
SMALLEST_BATCH = 2
"""People whose promises the ledger gives back in one act, at least: an act about one person would show what they did."""
_ANNOUNCED = ("announced", "answers", "closed")


@dataclass(frozen=True)
class Budget:
    """One person's total over all campaigns and what stands against it, in grains; None is not said yet."""

    total: int | None = field(repr=False)
    spent: int = field(repr=False)
    promised: int = field(repr=False)
    held: tuple[Holding, ...] = field(repr=False)
    waiting: int = field(default=0, repr=False)
    """What was declined by nobody else in its round, and is held until it can be given back."""

    @property
    def committed(self) -> int:
        """What was spent, and what is promised to campaigns that this person did not decline."""
        return self.spent + self.promised

    @property
    def bounded(self) -> bool:
        """Whether there is a total with an end."""
        return self.total is not None and self.total < UNLIMITED

    @property
    def left(self) -> int | None:
        """What a new campaign may ask; None if nothing bounds it yet."""
        return None if self.uncommitted is None else max(self.uncommitted - self.waiting, 0)

    @property
    def uncommitted(self) -> int | None:
        """What is neither spent nor promised, though some of it may wait to be given back; None if nothing bounds it yet."""
        return max(self.total - self.committed, 0) if self.total is not None and self.bounded else None

    def after(self, times: int, most: int) -> int:
        """Say what the total becomes if ``times`` more campaigns are allowed that ask for ``most`` each.

        It has an end: whoever wants to allow more than that says the number itself. One such campaign is covered as soon as
        nothing waits to be given back: what waits is not added, since it would be left for other campaigns afterwards.
        """
        more = max(most, min(times * most, int(MOST_IN_CAMPAIGNS * GRAIN)))
        return min(self.committed + more, UNLIMITED - 1)

    def holding(self, campaign: str, round: int) -> Holding | None:  # noqa: A002 - the word of the contract
        """Find what a round promised this person."""
        return next((one for one in self.held if (one.campaign, one.round) == (campaign, round)), None)


def budget_of(connection: Connection, person: str) -> Budget:
    """Add up what a person spent and promised; what they declined waits, unless the next plan gives it back."""
    total = connection.scalar(select(accounts.c.allowance).where(accounts.c.id == person))
    declined = _declined_by(connection, person)
    held = tuple(holdings(connection, person))
    unsettled = [one for one in held if one.open]
    standing = sum(one.promised for one in unsettled if (one.campaign, one.round) not in declined)
    alone = [one for one in unsettled if (one.campaign, one.round) in declined and _is_alone(connection, one)]
    return Budget(total, sum(one.spent for one in held), standing, held, sum(one.promised for one in alone))


def _is_alone(connection: Connection, one: Holding) -> bool:
    """Say whether too few declined in a round, beside those who have theirs back, for a batch of the ledger."""
    query = select(answers.c.person).where(answers.c.campaign == one.campaign, answers.c.round == one.round)
    declined = set(connection.scalars(query.where(answers.c.joined.is_(False))))
    return len(declined - given_back(connection, one.campaign, one.round)) < SMALLEST_BATCH


def keep_total(connection: Connection, person: str) -> None:
    """Let one transaction at a time change a person's total or what stands against it: what it reads next stays true.

    Whoever holds campaigns holds them before this, as an announcement does, which writes totals last. On SQLite a writing
    transaction is alone anyway.
    """
    connection.execute(select(accounts.c.id).where(accounts.c.id == person).with_for_update(key_share=True))


def _declined_by(connection: Connection, person: str) -> set[tuple[str, int]]:
    query = select(answers.c.campaign, answers.c.round).where(answers.c.person == person, answers.c.joined.is_(False))
    return {(row.campaign, row.round) for row in connection.execute(query)}


def asked_at_most(draft: Draft, rung: Rung) -> int:
    """Say what a campaign could ask of someone at most, in grains: their limit; with a cost, what a perfect result is worth.

    No cost counts as the smallest one: that giving something away costs nothing does not say that there is no end to it.
    """
    amount = rung.amount if draft.model == PRIVACY_CONSTRAINED else max(rung.amount, COSTS[1].amount)
    agents = agents_with(draft, np.array([amount])).in_memory()
    return int(allowance_grains(agents.limits_at(0.0, data_variance=_variance(draft)))[0])


def _variance(draft: Draft) -> float:
    """Return the variance in whose units a benefit is counted: of several questions, each in its own, that is 1."""
    sheet = sheet_of(draft)
    return sheet.questions[0].data_variance if len(sheet) == 1 else 1.0


def give_declined_back(service: Service) -> None:
    """Give the promises of those who declined back in the ledger: one act for each round, of two people or more.

    Done before a plan is made, it says nothing of when someone declined; who declined alone waits for a second one.
    """
    several = (
        select(answers.c.campaign)
        .where(answers.c.joined.is_(False))
        .group_by(answers.c.campaign)
        .having(func.count() >= SMALLEST_BATCH)
    )
    query = select(campaigns).where(campaigns.c.state.in_(_ANNOUNCED), campaigns.c.id.in_(several))
    for row in service.read(lambda connection: connection.execute(query).all()):
        offer = Announcement.from_json(row.announcement)
        terms = Terms(offer.campaign, offer.round, offer.fingerprint)
        with contextlib.suppress(PromiseBroken):  # released or cancelled meanwhile: then every hold is settled
            service.ledger.let_go(terms, functools.partial(_final, terms), at_least=SMALLEST_BATCH)


def _final(terms: Terms, connection: Connection) -> list[str]:
    """List who declined, and keep them from changing their minds until their holds are given back."""
    hold(connection, terms.campaign)
    where = (answers.c.campaign == terms.campaign, answers.c.round == terms.round, answers.c.joined.is_(False))
    return sorted(connection.scalars(select(answers.c.person).where(*where)))
