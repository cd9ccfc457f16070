"""People who stay in an engine, as every step asks for them (`optin.grains.people`); nothing here holds one number a person.

Values, answers and totals are given by the names of their columns. Rows leave the engine in batches; if a file was changed
meanwhile, or other sums go by than the engine computed, nothing is written.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.engine.agents import EngineAgents, EngineConstrained
from optin.engine.arrow_columns import names_in, numbers_in
from optin.engine.checks import refuse_unusable
from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.engine.weighing import SHARED
from optin.errors import BadInput, PromiseBroken
from optin.grains.arrays import Answers
from optin.grains.batches import Batch, Entrance, counted
from optin.grains.engine import EnginePromises, unknown
from optin.grains.engine_groups import EngineGroupPromises, GroupRule
from optin.grains.engine_lowering import lowered
from optin.grains.engine_queries import EngineCodes, FewBelow, not_set_apart
from optin.grains.overlay import FIRST, SECOND, STATED, allowance, epsilon, laid_over, left_of
from optin.grains.people import DECLINED, NOBODY, Allowing, Announced, Known, Offered
from optin.grains.splitting import Released
from optin.grains.units import allowance_grains
from optin.kernel.rounding import LOWERED
from optin.tables.columns import NO_AMOUNT, Wanted, column
from optin.wording import underway

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.questions.sheet import Sheet


@dataclass(frozen=True)
class EnginePeople:
    """People of an engine."""

    agents: EngineAgents

    def promises(self, offered: Offered) -> EnginePromises:
        """Join what is announced with limits in an engine."""
        cap, limit, few = math.inf if offered.noiseless else offered.cap, self._limit(offered), _few_below(self.agents)
        above = self.agents.mostly_above if isinstance(self.agents, EngineConstrained) else unknown
        rule = EnginePromises(self.agents.rows, limit, len(self.agents), cap, offered.shares, few_below=few)
        return replace(rule, mostly_above=above)

    def promises_by_group(self, offers: Sequence[Offered]) -> EngineGroupPromises:
        """Join what is announced to each group with the limits of its people."""
        agents = self.agents
        weighing = not isinstance(agents, EngineConstrained)
        if weighing and any(offer.surplus is None for offer in offers):
            raise BadInput(SHARED)
        rules = tuple(
            GroupRule(math.inf if offer.noiseless else offer.cap, offer.shares, offer.surplus if weighing else None)
            for offer in offers
        )
        tau = (
            agents.expression
            if isinstance(agents, EngineConstrained)
            else agents.rows.wanted(Wanted.costs(agents.column))
        )
        few = agents.few_of_each if isinstance(agents, EngineConstrained) else not_set_apart
        return EngineGroupPromises(agents.rows, tau, rules, agents.groups, few_of_each=few)

    def _limit(self, offered: Offered) -> ir.FloatingColumn:
        if isinstance(self.agents, EngineConstrained):
            return self.agents.expression
        if offered.surplus is None:
            raise BadInput(SHARED)
        return self.agents.limit(offered.surplus) * literal(LOWERED)

    def expect_columns(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Refuse columns that cannot hold answers, of which none is read, and anything but a column of who joined."""
        self.codes(answers, sheet)
        if isinstance(self.answers(joined), str):
            self.agents.rows.truth(str(joined))

    def answers(self, joined: Any, *, announced: int = 0) -> Answers:  # noqa: ANN401 - anything a caller may give
        """Check that who joined is told by a column where the people are, or None for everyone."""
        if joined is not None and not isinstance(joined, str) and not hasattr(joined, "get_backend"):
            raise BadInput("this table is engine-backed: give joined as the name of a column")
        return joined

    def codes(self, answers: Any, sheet: Sheet) -> tuple[Coded, ...]:  # noqa: ANN401 - anything a caller may give
        """Code the columns of every question; where there is one question, its column may be named instead."""
        rows, known = self.agents.rows, self.agents.rows.places
        if len(sheet) == 1 and isinstance(answers, str):
            return (_alone(sheet.questions[0].coded_in(rows, (answers,))),)
        if answers is not None and len(sheet) == 1:
            raise BadInput("this table is engine-backed: give values as the name of a column")
        if answers is not None:
            raise BadInput(
                "this table is engine-backed: answers are its columns, as the questions name them; give none"
            )
        coded = tuple(question.coded_in(rows, question.columns_in(known)) for question in sheet)
        return coded if len(sheet) > 1 else (_alone(coded[0]),)

    def within(self, known: Known | None, allowing: Allowing) -> EngineAgents:
        """Lower limits to what is left, by one join in the engine; where nobody is known, to the totals people state."""
        if allowing.lower_limits:
            raise BadInput("totals of people who stay in an engine are not lowered; read their table into memory")
        agents = self.agents
        if not isinstance(agents, EngineConstrained):
            self._totals(allowing.allowances, agents.rows)
            return agents
        rows = None if known is None else laid_over(agents, known.each_balance)
        if rows is not None:
            totals = self._totals(allowing.allowances, rows)
            left = left_of(rows, totals=totals, raise_limits=allowing.raise_limits)
            return lowered(agents, rows, rows.table[STATED], left, allowing.levels)
        totals = self._totals(allowing.allowances, agents.rows)
        return agents if totals is None else lowered(agents, agents.rows, agents.expression, totals, allowing.levels)

    def _totals(self, allowances: ArrayLike | str | None, rows: Rows) -> ir.IntegerValue | None:
        """Read what people allow over all releases, in grains: one number for all, or a column without gaps."""
        import ibis

        if allowances is None:
            return None
        if isinstance(allowances, str):
            rows.expect(allowances)
            refuse_unusable(rows, (Wanted(allowances),))  # a missing total would count as none at all
            return allowance(rows.wanted(Wanted(allowances)))
        if np.ndim(allowances):
            raise BadInput("this table is engine-backed: give allowances as one number, or as the name of a column")
        return ibis.literal(int(allowance_grains(column([allowances], "allowances"))[0]), "int64")

    def as_promised(self, known: Known) -> EngineAgents:
        """Lower limits that the ledger had cut; what it knows of answers is laid beside the rows."""
        import ibis

        rows = laid_over(self.agents, known.each_change)
        if rows is None:
            return self.agents
        if not isinstance(self.agents, EngineConstrained):
            return self.agents.over(rows)
        cut, limit = rows.table[FIRST], rows.table[STATED]
        return self.agents.over(rows, (cut >= 0).ifelse(ibis.least(limit, epsilon(cut)), limit))

    def standing(self, known: Known | None = None) -> Answers:
        """Say who did not decline, as an expression over what `as_promised` laid beside the rows."""
        table = self.agents.rows.table
        return table[SECOND].fill_null(0) == 0 if SECOND in table.columns else None

    def holding(
        self, offered: Announced, stated: Agents, allowing: Allowing, entrance: Entrance
    ) -> AbstractContextManager[Any]:
        """Enter a ledger with everyone's promise, batch by batch."""
        if offered.grouped:
            return entrance.in_batches(self._held_by_group(offered, stated, allowing))
        rows, rule = self.agents.rows, self.promises(offered)
        limit, totals = self._stated(stated, rule), self._totals(allowing.allowances, rows)
        query = rows.table.select(
            ids=rows.ids(),
            **_split(rule),
            totals=allowance(limit) if totals is None else totals,
            bounded=(rule.limit < limit).ifelse(1, 0).cast("int64"),
        )
        batches = (Batch(**columns) for columns in _columns(rows, query, offered.people))
        return entrance.in_batches(counted(batches, people=offered.people, grains=offered.expect_sealed().total_grains))

    def _announced(self, offered: Announced, agents: Agents | None = None) -> EngineGroupPromises:
        people = offered.as_announced(self.agents if agents is None else agents)
        return EnginePeople(people).promises_by_group(offered.parts)  # type: ignore[arg-type]

    def _held_by_group(self, offered: Announced, stated: Agents, allowing: Allowing) -> Iterator[Batch]:
        """List everyone's promise, which follows from the offer to their own group."""
        rows, rule = self.agents.rows, self._announced(offered)
        totals = self._totals(allowing.allowances, rows)
        said = {"said": self._stated_limit(stated)} if isinstance(stated, EngineConstrained) else {}
        view = rule.joined_rows(said | ({} if totals is None else {"totals": totals}))
        limit = rule.limit(view)
        own = view.said if said else limit
        query = view.select(
            ids=view.id,
            grains=rule.promised(view),
            capped=view.capped,
            design=view.place,
            totals=allowance(own) if totals is None else view.totals,
            bounded=(limit < own).ifelse(1, 0).cast("int64"),
        )
        batches = (Batch(**columns) for columns in _columns(rows, query, offered.people))
        return counted(batches, people=offered.people, grains=offered.expect_sealed().total_grains)

    def _stated_limit(self, stated: EngineConstrained) -> ir.FloatingColumn:
        return stated.expression if stated.rows is self.agents.rows else self.agents.rows.table[STATED]

    def _stated(self, stated: Agents, rule: EnginePromises) -> ir.FloatingColumn:
        """Return the limits that people stated, over rows that may hold what a ledger left of them; costs are not cut."""
        if not isinstance(stated, EngineConstrained):
            return rule.limit
        return self._stated_limit(stated)

    def joining(self, offered: Announced, joined: Answers, codes: EngineCodes = None) -> EngineJoining:
        """Take those who join; a salt makes marks of who was promised what."""
        who = self.standing() if joined is None else joined
        if offered.grouped:
            return EngineGroupJoining(self, replace(self._announced(offered), salt=secrets.token_hex(16)), who, codes)
        promises = replace(self.promises(offered), salt=secrets.token_hex(16))
        return EngineJoining(self, promises, who, codes)

    def write_grains(
        self, offered: Announced, joined: Answers, path: Path, *, codes: EngineCodes = None, released: Released = None
    ) -> None:
        """Have the engine write: DuckDB makes a file, Spark a folder of files."""
        if offered.grouped:
            own = released if isinstance(released, tuple) else None
            query = self._announced(offered).given(joined, codes, own)
            self.agents.rows.session.write(query, str(path), about=self.agents.rows.source)
            return
        assert not isinstance(released, tuple)  # noqa: S101 - of groups alone
        rows, rule = self.agents.rows, self.promises(offered)
        grains = rule.given(rule.capped(), rule.answered(codes, joined), released)
        query = rows.table.select(id=rows.ids(), grains=grains)
        rows.session.write(query, str(path), about=rows.source)

    def expect_unchanged(self) -> None:
        """Refuse files that were changed since they were first looked at."""
        self.agents.rows.expect_unchanged()


@dataclass(frozen=True)
class EngineJoining:
    """People of an engine who join."""

    people: EnginePeople
    promises: Any
    who: Answers
    codes: EngineCodes = None
    scanned = True

    def expect_standing(self, answers: object, joined: object, sheet: Sheet) -> None:
        """Refuse columns that cannot be used, a yes of someone who declined, and a round that nobody joined."""
        self.people.expect_columns(answers, joined, sheet)
        rows, standing = self.people.agents.rows, self.people.standing()
        if joined is None and standing is None:
            return
        answer = standing if joined is None else rows.truth(str(joined))
        gone = answer & (answer if standing is None else ~standing)
        table = rows.table.select(person=rows.ids(), joined=answer, gone=gone)
        counts = {"joined": table.joined.sum(), "unanswered": table.joined.isnull().sum()}
        first = table.person.min(where=table.gone)
        row = rows.session.one(table.aggregate(**counts, first=first), about=rows.source)
        if joined is not None and row["unanswered"]:
            rows.expect_answers(str(joined))
        if standing is not None and row["first"] is not None:
            raise PromiseBroken(DECLINED, person=f"id {row['first']}")
        if not row["joined"]:
            raise PromiseBroken(NOBODY)

    def answers_alike(self, codes: EngineCodes) -> bool:
        """Leave it to the marks."""
        return True

    def arriving(self, entrance: Entrance, passed: Any) -> AbstractContextManager[Any]:  # noqa: ANN401
        """Enter a ledger batch by batch; what goes by is marked by id and grains, as is what is added up later."""
        return entrance.in_batches(self._noted(passed))

    def _noted(self, passed: Any) -> Iterator[Batch]:  # noqa: ANN401
        rows, rule = self.people.agents.rows, self.promises
        columns = {"ids": rows.ids(), **_split(rule), "joined": rule.ones(self.who)}
        columns["marks"] = rule.mark(self.codes)
        if len(rule.shares) > 1:
            columns["answered"] = rule.answered(self.codes, self.who)
        for batch in _columns(rows, rows.table.select(**columns), len(self.people.agents)):
            capped = batch.get("capped", batch["grains"])
            passed.note(capped, batch["joined"], batch.pop("marks"), batch.get("answered"))
            yield Batch(**batch)


@dataclass(frozen=True)
class EngineGroupJoining(EngineJoining):
    """People of an engine who join, in public groups: whose group each is in goes by too."""

    def _noted(self, passed: Any) -> Iterator[Batch]:  # noqa: ANN401
        rows, rule = self.people.agents.rows, self.promises
        view = rule.joined_rows({"bits": rule.bits(self.codes), "ones": self._ones(rule)})
        query = view.select(
            ids=view.id,
            grains=rule.promised(view),
            capped=view.capped,
            design=view.place,
            joined=view.ones,
            answered=view.bits * view.ones,
            marks=rule.mark_of(view, view.bits),
        )
        for batch in _columns(rows, query, len(self.people.agents)):
            noted = [batch[name] for name in ("capped", "joined")]
            passed.note(*noted, batch.pop("marks"), batch["answered"] if rule.many > 1 else None, batch["design"])
            yield Batch(**batch)

    def _ones(self, rule: EngineGroupPromises) -> ir.IntegerValue:
        import ibis

        if self.who is None:
            return ibis.literal(1, "int64")
        return rule.answer(self.who).fill_null(False).ifelse(1, 0).cast("int64")


def _few_below(agents: EngineAgents) -> FewBelow:
    """Return what knows the few with low limits; of people who weigh costs nothing does, for their limits move."""
    return agents.few_below if isinstance(agents, EngineConstrained) else not_set_apart


def _split(rule: EnginePromises) -> dict[str, ir.IntegerColumn]:
    """Name what is promised, and what it is the parts of where it is split at all."""
    capped = rule.capped()
    return {"grains": capped} if len(rule.shares) == 1 else {"grains": rule.promised(capped), "capped": capped}


def _alone(coded: Coded) -> Coded:
    """Take what is no number for missing where there is one question: both are refused of those who join, in one sentence."""
    return replace(coded, wrong=None) if coded.words == NO_AMOUNT else coded


def _columns(rows: Rows, query: ir.Table, people: int) -> Iterator[dict[str, Any]]:
    """Walk over people, a batch at a time, as columns; nothing is made for each of them."""
    walk = rows.session.batches(query, about=rows.source)
    for batch in underway.counted("reading people", walk, people, len):
        names, *numbers = query.columns
        yield {names: names_in(batch.column(names))} | {name: numbers_in(batch.column(name)) for name in numbers}
