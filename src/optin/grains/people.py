"""What every step up to a campaign asks of people, and answers in one of two forms: arrays in memory, or rows of an engine.

Whoever asks something of people asks `people_of` for them, and never where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.agents import Agents, PrivacyConstrained, QuasiLinear
from optin.grains.array_people import ArrayPeople
from optin.grains.arrays import Answers, Codes, Questions
from optin.grains.batches import Entrance, Passed, PassedGroups
from optin.grains.exact_sums import SheetSums
from optin.grains.promised_groups import PromisesByGroup, Undivided
from optin.grains.splitting import Released
from optin.questions.sheet import Sheet


class Offered(Protocol):
    """What an announcement says about everyone's promise."""

    @property
    def noiseless(self) -> bool:
        """Whether nothing hides the sum."""

    @property
    def cap(self) -> float:
        """The most epsilon that anyone is promised."""

    @property
    def shares(self) -> tuple[int, ...]:
        """How everyone's grains are split among the questions (E20)."""

    @property
    def surplus(self) -> float | None:
        """What everyone gains, where that is the same for all who weigh costs."""

    @property
    def promised_variance(self) -> float | None:
        """The variance promised to people who weigh costs."""

    @property
    def data_variance(self) -> float:
        """The declared variance of values."""


class Summed(Protocol):
    """Exact sums of what is promised."""

    @property
    def total_grains(self) -> int:
        """What people are promised together."""


class Announced(Offered, Protocol):
    """An offer with its sums; to people in public groups, one to each group."""

    @property
    def grouped(self) -> bool:
        """Whether people are in public groups."""

    @property
    def parts(self) -> Sequence[Announced]:
        """The offer to each group."""

    def as_announced(self, agents: Agents) -> Agents:
        """Put people into the groups they were announced in."""

    @property
    def people(self) -> int:
        """How many people it is made to."""

    def expect_sealed(self) -> Summed:
        """Return the exact sums; BadInput where they are not known."""


class Promises(Protocol):
    """What everyone is promised, in exact sums: of arrays (`GrainRule`) or of people in an engine (`EnginePromises`)."""

    @property
    def people(self) -> int:
        """How many there are."""

    @property
    def most(self) -> int:
        """The grains, in all, of whoever reaches the cap."""

    @property
    def shares(self) -> tuple[int, ...]:
        """How they are split among the questions (E20)."""

    def sums(self, *, joined: Answers = None, codes: Codes = None) -> tuple[SheetSums, SheetSums]:
        """Add up everyone's promises, and those of the people who joined; everything is decided from these.

        Of those who joined, each question is added up over those who answered it (codes None: over all of them). Where there
        is one question only, everyone who joins must answer it, and codes are not looked at.
        """

    def weighed(
        self, questions: Questions, codes: Codes, *, joined: Answers = None, bars: tuple[int, ...] = ()
    ) -> SheetSums:
        """Add up promises and cells of those who joined, and with ``bars`` what is above them, all in one read.

        Nothing is decided from cells. That someone who joined did not answer is refused where there is one question, and
        else a skip (E28).
        """

    def sums_above(
        self, bars: tuple[int, ...], joined: Answers = None, codes: Codes = None
    ) -> tuple[tuple[int, int], ...]:
        """For each question, count and add up the parts of more than so many grains."""

    def answered(self, codes: Codes, joined: Answers = None) -> Any:  # noqa: ANN401 - integers of either form
        """Return a number for each person in which the bit of every question that they answered is set; 0 if not joined."""

    def spent(
        self, joined: Answers, codes: Codes = None, released: int | None = None
    ) -> Callable[[], NDArray[np.int64]] | None:
        """Return what lists everyone's grains, 0 for those who did not join; None where nothing lists one a person.

        ``released`` has the bit of every question that is charged at all; None for all of them.
        """


DECLINED = "{person} declined or left; leave them out of those who joined"
NOBODY = "nobody joined; cancel this campaign, or announce a new round"


class Known(Protocol):
    """What a ledger knows of people, asked for by id or handed out block by block."""

    def remaining(
        self,
        ids: list[str],
        *,
        raised_to: NDArray[np.int64] | None,
        lowered_to: NDArray[np.int64] | None,
    ) -> NDArray[np.int64]:
        """Say how many grains each of them has left."""

    def each_balance(self, take: Callable[[Any], None]) -> None:
        """Hand out id, allowance and what is taken of it, for everyone who is known."""

    def cut(self) -> dict[str, int]:
        """List the promises that were cut to what remained of an allowance."""

    def stands(self, ids: list[str]) -> NDArray[np.bool_]:
        """Say whose promise stands."""

    def each_change(self, take: Callable[[Any], None]) -> None:
        """Hand out id, the promise if it was cut (else -1), and whether they declined (1 or 0), where either holds."""


@dataclass(frozen=True)
class Allowing:
    """What people allow over all releases, and how that meets what a ledger has of them (`optin.campaign.announce`)."""

    allowances: Any = field(default=None, repr=False)
    raise_limits: bool = False
    lower_limits: bool = False
    levels: Any = None


class Joining(Protocol):
    """People who join a release."""

    @property
    def promises(self) -> Any:  # noqa: ANN401 - `Promises`, or `PromisesByGroup` of people in groups
        """What they were promised, read once: whatever becomes of the limits, these are the same."""

    @property
    def who(self) -> Answers:
        """Who joins, as far as it is known before the ledger is asked; None for whoever did not decline."""

    @property
    def scanned(self) -> bool:
        """Whether each look scans a table: then everything is decided before the ledger is locked."""

    def expect_standing(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Refuse columns that cannot be used, a yes of someone who declined, and a round that nobody joined."""

    def answers_alike(self, codes: Codes) -> bool:
        """Tell whether people still answer the questions that they did when they entered; rows of a table are marked instead."""

    def arriving(self, entrance: Entrance, passed: Passed | PassedGroups) -> AbstractContextManager[Any]:
        """Enter a ledger; ``passed`` notes what goes by, where it could change between two looks."""


class People(Protocol):
    """What every step asks of people."""

    def within(self, known: Known | None, allowing: Allowing) -> Agents:
        """Lower limits to what is left: of an allowance that a ledger knows, or of the totals that people state."""

    def as_promised(self, known: Known) -> Agents:
        """Lower the limits of those whose promise was cut, so that their grains come out as promised."""

    def standing(self, known: Known) -> Answers:
        """Say, of people as they were promised, who did not decline; None for everyone."""

    def holding(
        self, offered: Announced, stated: Agents, allowing: Allowing, entrance: Entrance
    ) -> AbstractContextManager[Any]:
        """Enter a ledger with everyone's promise; ``stated`` are the same people before they were lowered."""

    def joining(self, offered: Announced, joined: Answers, codes: Codes = None) -> Joining:
        """Take those who join, and which questions they answer, of people as they were promised."""

    def write_grains(
        self, offered: Announced, joined: Answers, path: Path, *, codes: Codes = None, released: Released = None
    ) -> None:
        """Write id and grains to Parquet, 0 for those who did not join."""

    def expect_unchanged(self) -> None:
        """Refuse files that were changed since they were first looked at."""

    def promises(self, offered: Offered) -> Promises:
        """Join what is announced with people's limits; nothing is computed yet."""

    def promises_by_group(self, offers: Sequence[Offered]) -> PromisesByGroup:
        """Join what is announced to each group with the limits of its people; nothing is computed yet."""

    def expect_columns(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Refuse answers that cannot be found, before anything is decided; none of them is read."""

    def answers(self, joined: Any, *, announced: int) -> Answers:  # noqa: ANN401 - of either form
        """Check who joined: yes or no for each announced person, or None for everyone."""

    def codes(self, answers: Any, sheet: Sheet) -> Codes:  # noqa: ANN401 - of either form
        """Code what people answer to each question, in the order of the people."""


def promises_of(agents: Agents, offers: Sequence[Offered], *, grouped: bool) -> PromisesByGroup:
    """Join what is announced with people's limits: one offer for each of their groups, or one for everyone."""
    people = people_of(agents)
    return people.promises_by_group(offers) if grouped else Undivided(people.promises(offers[0]))


def people_of(agents: Agents) -> People:
    """Take people for what they are."""
    if isinstance(agents, PrivacyConstrained | QuasiLinear):
        return ArrayPeople(agents)
    from optin.grains.engine_people import EnginePeople  # loads what engines need

    return EnginePeople(agents)  # type: ignore[arg-type]  # there is no third form
