"""People in memory, as every step asks for them (`optin.grains.people`)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optin.agents import Agents, InMemory, PrivacyConstrained
from optin.agents.models import indifferent
from optin.errors import BadInput, Place
from optin.extras import expect
from optin.grains.array_answers import coded_answers
from optin.grains.arrays import Answers, Codes, FloatArray, GrainRule, everyone_capped
from optin.grains.batches import Batch, Entrance, Passed, PassedGroups
from optin.grains.freezing import frozen
from optin.grains.promised_groups import ArrayGroups
from optin.grains.splitting import Released, all_of, promised
from optin.grains.units import UNLIMITED, USEFUL, allowance_grains, cut_to, epsilons_of, nothing_left
from optin.kernel.rounding import lowered
from optin.tables.columns import column, has_rows
from optin.tables.labels import of_people
from optin.wording.answers import NO_ANSWER, answer_of

if TYPE_CHECKING:
    from optin.grains.people import Allowing, Announced, Known, Offered
    from optin.questions.sheet import Sheet


@dataclass(frozen=True)
class ArrayPeople:
    """People in memory."""

    agents: InMemory

    def promises(self, offered: Offered) -> GrainRule:
        """Join what is announced with limits in memory."""
        cap = np.inf if offered.noiseless else offered.cap
        return GrainRule(self._limits(offered), len(self.agents), cap, offered.shares)

    def promises_by_group(self, offers: Sequence[Offered]) -> ArrayGroups:
        """Join what is announced to each group with the limits of its people."""
        parts = (ArrayPeople(part) for part in self.agents.parts())
        rules = tuple(part.promises(offer) for part, offer in zip(parts, offers, strict=True))
        return ArrayGroups(rules, self.agents.groups)

    def _limits(self, offered: Offered) -> Any:  # noqa: ANN401 - a function of rows
        if isinstance(self.agents, PrivacyConstrained):
            return self.agents.limits.__getitem__
        if offered.surplus is not None:
            return _SharedSurplus(offered.surplus, self.agents.costs)
        limits = self.agents.limits_at(offered.promised_variance or 0.0, data_variance=offered.data_variance)
        return lowered(limits).__getitem__

    def within(self, known: Known | None, allowing: Allowing) -> InMemory:
        """Lower limits in whole grains: a limit whose grains are covered is left as it is, to the last bit."""
        agents, given = self.agents, allowing.allowances
        if not isinstance(agents, PrivacyConstrained) or (known is None and given is None):
            return agents
        totals = allowance_grains(agents.limits) if given is None else self._totals(given)
        left = totals if known is None else self._left(known, allowing, totals)
        if given is not None:  # those new to the ledger will be registered with these
            left = np.where(left >= UNLIMITED, totals, left)
        return _lowered_to(
            agents, np.maximum(left, 0), allowing.levels
        )  # a total may be below what was promised before

    def _left(self, known: Known, allowing: Allowing, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        raised, lowered = (totals if bound else None for bound in (allowing.raise_limits, allowing.lower_limits))
        return known.remaining(self._ids(), raised_to=raised, lowered_to=lowered)

    def _totals(self, allowances: ArrayLike) -> NDArray[np.int64]:
        """Read what people allow over all releases, in grains: one number for each, or one for all."""
        allowances, people = of_people(allowances, self.agents, "allowances"), len(self.agents)
        each = has_rows(allowances)
        totals = column(allowances if each else [allowances], "allowances")
        if len(totals) != people and each:
            raise BadInput(
                "allowances has {count} entries for {people} people; give one for each, or one for all",
                count=len(totals),
                people=people,
            )
        return allowance_grains(np.broadcast_to(totals, (people,)))

    def _ids(self) -> list[str]:
        if self.agents.ids is None:
            raise BadInput("a ledger charges people by id: give ids")
        return list(self.agents.ids)

    def as_promised(self, known: Known) -> InMemory:
        """Lower the limits of those whose promise was cut."""
        agents, cut = self.agents, known.cut()
        if not isinstance(agents, PrivacyConstrained) or not cut:
            return agents
        bounds = np.array([cut.get(name, UNLIMITED) for name in self._ids()], dtype=np.int64)
        return with_limits(agents, np.minimum(agents.limits, epsilons_of(bounds)))

    def standing(self, known: Known) -> NDArray[np.bool_] | None:
        """Say who did not decline, of people with ids."""
        return None if self.agents.ids is None else known.stands(list(self.agents.ids))

    def holding(
        self, offered: Announced, stated: Agents, allowing: Allowing, entrance: Entrance
    ) -> AbstractContextManager[Any]:
        """Enter a ledger with everyone's promise, as one batch."""
        if offered.grouped:
            return entrance.at_once(self._held_by_group(offered, stated, allowing))
        rule = self.promises(offered)
        limits = ArrayPeople(stated.in_memory()).promises(offered).limits(slice(None))
        totals = allowance_grains(limits) if allowing.allowances is None else self._totals(allowing.allowances)
        cut = (rule.limits(slice(None)) < limits).astype(np.int64)
        return entrance.at_once(
            Batch(self._ids(), **_split(everyone_capped(rule), rule.shares), totals=totals, bounded=cut)
        )

    def _held_by_group(self, offered: Announced, stated: Agents, allowing: Allowing) -> Batch:
        """List everyone's promise, which follows from the offer to their own group."""
        own, theirs = self._announced(offered), ArrayPeople(stated.in_memory())._announced(offered)
        limits, said = (each.scattered(_all_limits) for each in (own, theirs))
        totals = allowance_grains(said) if allowing.allowances is None else self._totals(allowing.allowances)
        cut = (limits < said).astype(np.int64)
        return Batch(self._ids(), **own.columns(own.scattered(everyone_capped)), totals=totals, bounded=cut)

    def _announced(self, offered: Announced) -> ArrayGroups:
        return ArrayPeople(offered.as_announced(self.agents).in_memory()).promises_by_group(offered.parts)

    def joining(self, offered: Announced, joined: Answers, codes: Codes = None) -> ArrayJoining:
        """Take those who join, and which questions they answer."""
        if offered.grouped:
            return self._joining_by_group(offered, joined, codes)
        capped, promises = frozen(self.promises(offered))
        answered = promises.answered(codes, joined) if len(promises.shares) > 1 else None
        batch = Batch(self._ids(), **_split(capped, promises.shares), joined=joined, answered=answered)
        return ArrayJoining(promises, joined, batch)

    def _joining_by_group(self, offered: Announced, joined: Answers, codes: Codes) -> ArrayJoining:
        announced = self._announced(offered)
        promises = replace(announced, rules=tuple(frozen(rule)[1] for rule in announced.rules))
        columns = promises.columns(promises.scattered(everyone_capped))
        batch = Batch(self._ids(), **columns, joined=joined, answered=promises.answered(codes, joined))
        return ArrayJoining(promises, joined, batch)

    def write_grains(
        self, offered: Announced, joined: Answers, path: Path, *, codes: Codes = None, released: Released = None
    ) -> None:
        """Write id and grains from memory; people without ids go by their place."""
        expect("parquet", "writing everyone's grains")
        import pyarrow as pa
        import pyarrow.parquet as arrow_parquet

        ids = self.agents.ids
        names = [str(at) for at in range(len(self.agents))] if ids is None else list(ids)
        if offered.grouped:
            promises = self._announced(offered)
            every = [all_of(rule.shares) for rule in promises.rules]
            spent = promises.spent(joined, codes, every if not isinstance(released, tuple) else released)
        else:
            spent = self.promises(offered).spent(joined, codes, None if isinstance(released, tuple) else released)
        grains = pa.array(spent(), pa.int64())
        arrow_parquet.write_table(pa.table({"id": pa.array(names, pa.string()), "grains": grains}), path)

    def expect_unchanged(self) -> None:
        """Have nothing to look at again."""

    def expect_columns(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Have nothing to find."""

    def codes(self, answers: Any, sheet: Sheet) -> tuple[FloatArray, ...]:  # noqa: ANN401 - columns of any kind
        """Code everyone's answers, in the order of the people."""
        return coded_answers(answers, sheet, self.agents)

    def answers(self, joined: ArrayLike | None, *, announced: int) -> NDArray[np.bool_] | None:
        """Check who joined: true or false for each announced person, or None for everyone; in the order of the people."""
        if joined is None:
            return None
        joined = of_people(joined, self.agents, "joined")
        present: NDArray[Any] = np.empty(0)
        with contextlib.suppress(
            Exception
        ):  # rows of different lengths are no answers either, nor what numpy does not know
            present = np.array(joined)  # a copy: whoever joined stays who is charged, whatever becomes of the array
        if np.ma.isMaskedArray(joined) and np.ma.getmaskarray(joined).any():
            raise BadInput("joined is masked for some people; say true or false for each announced person")
        if present.dtype != np.bool_:
            present = _answers(present)
        if present.shape != (announced,):
            raise BadInput(
                "joined has shape {shape}, but {announced} people were announced",
                shape=present.shape,
                announced=announced,
            )
        return present


@dataclass(frozen=True)
class ArrayJoining:
    """People in memory who join; None as ``who`` means whoever stands when the ledger looks."""

    promises: GrainRule | ArrayGroups
    who: NDArray[np.bool_] | None = field(repr=False)
    batch: Batch = field(repr=False)
    scanned = False

    def expect_standing(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Leave it to the ledger, which has all of them at hand."""

    def answers_alike(self, codes: Codes) -> bool:
        """Look again who answered what: arrays of answers are not copied."""
        answered = self.batch.answered
        return answered is None or np.array_equal(self.promises.answered(codes, self.who), answered)

    def arriving(self, entrance: Entrance, passed: Passed | PassedGroups) -> AbstractContextManager[Any]:
        """Enter a ledger as one batch; promises that are frozen do not change on the way."""
        return entrance.at_once(self.batch)


def _all_limits(rule: GrainRule) -> FloatArray:
    return rule.limits(slice(None))


def _split(capped: NDArray[np.int64], shares: tuple[int, ...]) -> dict[str, Any]:
    """Name what is promised, and what it is the parts of where it is split at all."""
    return {"grains": promised(capped, shares), "capped": capped if len(shares) > 1 else None}


def with_limits(agents: PrivacyConstrained, limits: NDArray[np.float64]) -> PrivacyConstrained:
    """Return the same people with other limits."""
    people = PrivacyConstrained(limits, ids=agents.ids, index=agents.index, groups=agents.groups)
    object.__setattr__(people, "id_column", agents.id_column)  # people are frozen
    return people


def _lowered_to(agents: PrivacyConstrained, left: NDArray[np.int64], levels: ArrayLike | None) -> PrivacyConstrained:
    """Lower limits to what is left; one whose grains are covered is left as it is, to the last bit."""
    stated = allowance_grains(agents.limits)
    lowered = np.where(stated <= left, agents.limits, cut_to(left, levels))
    if stated.any() and left.max() < USEFUL and not allowance_grains(lowered).any():
        raise nothing_left()
    return with_limits(agents, lowered)


@dataclass(frozen=True)
class _SharedSurplus:
    """Limits of people who share one benefit and one outside option: surplus over cost (E9), rounded down."""

    surplus: float
    costs: FloatArray = field(repr=False)

    def __call__(self, rows: slice) -> FloatArray:
        return lowered(indifferent(np.asarray(self.surplus), self.costs[rows]))


def _answers(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Read answers in words as a column of a file is read; numbers could be places of people, and are none."""
    if given.ndim != 1 or given.dtype.kind not in "OUT" or not all(isinstance(each, str | bool) for each in given):
        raise BadInput("joined must hold true or false for each announced person")
    answers = [each if isinstance(each, bool) else answer_of(each) for each in given.tolist()]
    if None in answers:
        raise BadInput("{place} " + NO_ANSWER, place=Place(answers.index(None), "joined"))
    return np.array(answers, dtype=np.bool_)
