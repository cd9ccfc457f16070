"""E13, E17: draw a release over those who joined, in exact integers, after every decision is made.

What is decided (who is counted, whether the promises are the announced ones, whether the variance is kept) is decided
from limits and answers. The values enter one exact sum, the sum meets the noise, and only their total leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin._version import __version__
from optin.agents import Agents
from optin.announcement import Announcement
from optin.announcement.numbers import ExactSums
from optin.errors import Argument, BadInput
from optin.grains.arrays import Answers, Codes
from optin.grains.people import Promises, people_of
from optin.grains.totals import SheetSums
from optin.participation import Turnout, check_table, check_unchanged, judged
from optin.releasing import noise
from optin.releasing.record import Release, Versions
from optin.releasing.result import Joined


def release(
    announcement: Announcement,
    agents: Agents,
    values: ArrayLike | str,
    *,
    joined: ArrayLike | str | None = None,
    allow_no_noise: bool = False,
) -> Release:
    """Draw the one noisy mean that an announcement allows; no ledger stands behind it (``charged`` is False).

    ``joined`` is a boolean for each announced person (None: everyone); values may be missing where it is false, and are
    clamped silently to the announced bounds. For people who stay in an engine both are names of columns. Nothing here
    takes a seed. Calling twice spends twice: use ``optin.campaign.release`` with a ledger where that matters.

    >>> import optin
    >>> agents = optin.PrivacyConstrained([0.5] * 6 + [2.0] * 6)
    >>> offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    >>> release = optin.release(offer, agents, [0.0, 1.0] * 6)
    >>> release.charged, release.estimate in release.noise_interval(0.95)
    (False, True)
    """
    (drawn,) = releases(announcement, agents, values, joined=joined, allow_no_noise=allow_no_noise, count=1)
    return drawn


def releases(
    announcement: Announcement,
    agents: Agents,
    values: ArrayLike | str,
    *,
    joined: ArrayLike | str | None = None,
    allow_no_noise: bool = False,
    count: int,
) -> Iterator[Release]:
    """Draw ``count`` independent releases along the one production path: for audits, which need many.

    Each of them would cost everyone their promise again. Only totals are handed out; the exact sum stays inside.
    """
    measured = measure(announcement, agents, values, joined=joined, allow_no_noise=allow_no_noise)
    for z in [0] * count if announcement.noiseless else noise.draw(count):
        yield measured.hidden_by(z)


def measure(
    announcement: Announcement,
    agents: Agents,
    values: ArrayLike | str,
    *,
    joined: Answers = None,
    allow_no_noise: bool = False,
    accept: Callable[[Turnout], None] | None = None,
) -> Measured:
    """Make every decision, then the exact sum, and draw nothing yet.

    ``accept`` may refuse a turnout. No value is looked at before everything is decided.
    """
    people = people_of(agents)
    people.expect_columns(values, joined, announcement.sheet)
    check_noise(announcement, allowed=allow_no_noise)
    check_table(announcement, agents)
    present = people.answers(joined, announced=announcement.people)
    promises = announcement.promises(agents)
    came = judged(announcement, promises, present)
    if accept is not None:
        accept(came)
    given = people.codes(values, announcement.sheet)
    return added_up(announcement, promises, given, came=came, joined=present, grain_source=promises.spent(present))


def added_up(
    announcement: Announcement,
    promises: Promises,
    codes: Codes,
    *,
    came: Turnout,
    joined: Answers,
    grain_source: Callable[[], NDArray[np.int64]] | None = None,
) -> Measured:
    """Make the exact sum over those who came, in one read; promises that differ from those decided on are refused."""
    those = promises.weighed(announcement.sheet.questions, codes, joined=joined)
    check_unchanged(came, those)
    return Measured(announcement, came, those, _versions(noiseless=announcement.noiseless), grain_source)


@dataclass(frozen=True)
class Measured:
    """A release that lacks only its noise; the exact sum inside is private, and shown nowhere."""

    announcement: Announcement
    turnout: Turnout
    those: SheetSums = field(repr=False)
    versions: Versions
    grain_source: Callable[[], NDArray[np.int64]] | None = field(repr=False)

    def drawn(self) -> Release:
        """Draw the noise, once; nothing is checked from here on, so that no draw is thrown away."""
        (z,) = [0] if self.announcement.noiseless else noise.draw(1)
        return self.hidden_by(z)

    def hidden_by(self, z: int) -> Release:
        """Add the noise; from here on nothing depends on the values but the total."""
        came = self.turnout
        joined = Joined(came.people, came.tilt, ExactSums(came.total_grains, came.total_squared_grains))
        totals = ((self.those.questions[0].cells[0] + z,),)
        return Release(self.announcement, joined, totals, self.versions, grain_source=self.grain_source)


def charged_text(measured: Measured, number: int) -> tuple[str, str]:
    """Draw, and return the text and the fingerprint of a release that the ledger's act ``number`` charges."""
    drawn = measured.drawn().charged_at(number)
    return drawn.to_json(), drawn.drawn_fingerprint


def check_noise(announcement: Announcement, *, allowed: bool) -> None:
    """Certify that the noise covers the largest promise, or that its absence was asked for."""
    if not announcement.noiseless:
        noise.check_loss(announcement.largest_promise)
    elif not allowed:
        raise BadInput(
            "nobody who counts here set a limit, so this release would be exact, without any noise: add {exact} if that"
            " is meant",
            exact=Argument("allow_no_noise", True),
        )


@functools.cache
def _versions(*, noiseless: bool) -> Versions:
    mechanism = "none: exact mean" if noiseless else noise.MECHANISM
    return Versions(optin=__version__, opendp=noise.opendp_version(), mechanism=mechanism)
