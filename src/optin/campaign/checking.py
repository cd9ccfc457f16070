"""Looks at an announcement before anything is drawn: who came, and whether these are the people announced."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.announcement import Announcement
from optin.campaign.known import Known
from optin.grains.people import people_of
from optin.ledger import Ledger, Terms
from optin.participation import Turnout
from optin.participation import turnout as turnout_of
from optin.releasing.deciding import Quorum
from optin.releasing.drawing_groups import decide_by_group


def terms_of(announcement: Announcement) -> Terms:
    """Say of an announcement what a ledger goes by."""
    return Terms(announcement.campaign, announcement.round, announcement.fingerprint)


def promised(announcement: Announcement, agents: Agents, ledger: Ledger | None) -> Agents:
    """Lower the limits of those whose promise the ledger had cut, so that their grains come out as promised."""
    return agents if ledger is None else people_of(agents).as_promised(Known(ledger, terms_of(announcement)))


def turnout(
    announcement: Announcement,
    agents: Agents,
    *,
    ledger: Ledger,
    joined: ArrayLike | str | None,
    answers: Any = None,  # noqa: ANN401 - a table of columns of any kind
) -> Turnout:
    """Add up what those who joined are promised: what a quorum is compared with, before any value is looked at."""
    return turnout_of(announcement, promised(announcement, agents, ledger), joined, answers=answers)


def expect_quorum(
    announcement: Announcement, agents: Agents, quorum: Quorum, *, ledger: Ledger, joined: ArrayLike | str | None
) -> None:
    """Refuse a turnout below the quorum before any answer is looked at; in groups, one of which nothing could be published."""
    if not announcement.grouped:
        quorum.expect(turnout(announcement, agents, ledger=ledger, joined=joined))
        return
    people = promised(announcement, agents, ledger)
    present = people_of(people).answers(joined, announced=announcement.people)
    decide_by_group(announcement, announcement.promises_by_group(people), present, quorum=quorum)


def adds_up(announcement: Announcement, agents: Agents, ledger: Ledger | None) -> bool:
    """Tell whether these people are promised, in number and grains, what was announced."""
    sums = announcement.promises_by_group(promised(announcement, agents, ledger)).sums()
    told = [(part.people, part.total_grains) for part in (each.expect_sealed() for each in announcement.parts)]
    return [(everyone.people, everyone.grains) for everyone, _ in sums] == told


def variance_left(announcement: Announcement, turnout: Fraction) -> float:
    """Foresee the variance of a release that a share of people join, taking sums at their average (E12)."""
    return announcement.variance_at(turnout)
