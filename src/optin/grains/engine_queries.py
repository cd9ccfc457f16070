"""What is asked of people in an engine, undivided or in groups: the sums of E13 and E20 over a view of their rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from optin.engine.listed_by_label import Bounds, Listed
from optin.errors import BadInput
from optin.grains.arrays import NO_VALUE, Answers, Questions
from optin.grains.engine_sums import bit, count, those_of, wrong_bits
from optin.kernel.halves import HALF

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from optin.engine.answers import Coded
    from optin.engine.rows import Rows

EngineCodes = Any
"""Coded answers, `Coded`, one for each question; None where nobody's answers are looked at."""
FewBelow = Callable[[float], "ir.Table | None"]


FewOfEach = Callable[[Bounds], Listed | None]


def not_set_apart(_: object) -> None:
    """Say that nobody is kept apart from all others."""


SQUARE = math.isqrt(2**63 - 1)  # the most grains whose square a 64-bit integer holds


class Asking(ABC):
    """Name sums over a view in which ``capped`` are everyone's grains in all; how many a question gets, each form tells."""

    rows: Rows

    @property
    @abstractmethod
    def many(self) -> int:
        """How many questions there are."""

    @abstractmethod
    def part(self, view: ir.Table, k: int) -> ir.IntegerColumn:
        """Return one question's part of everyone's grains (E20)."""

    @abstractmethod
    def largest(self, k: int) -> int:
        """Return the most grains that anyone gives for a question."""

    @abstractmethod
    def some(self, view: ir.Table, k: int | None = None) -> ir.BooleanColumn:
        """Tell who is promised anything for a question, or for any."""

    @abstractmethod
    def stands_at_cap(self, view: ir.Table, k: int, bars: Any) -> ir.BooleanColumn:  # noqa: ANN401 - of everyone, or by group
        """Tell who gives more than a bar for a question."""

    def answer(self, joined: Answers) -> ir.BooleanColumn:
        """Return who joined."""
        return self.rows.truth(joined) if isinstance(joined, str) else joined

    def answers(self, joined: Answers, codes: tuple[Coded, ...] = ()) -> dict[str, Any]:
        """Name who joined, who answered what, and whose answer is none."""
        columns: dict[str, Any] = wrong_bits(codes)
        if joined is not None:
            answer = self.answer(joined)
            columns |= {"joined": answer.fill_null(False), "unanswered": bit(answer.isnull())}
        return columns | {f"answered_{k}": one.answered for k, one in enumerate(codes)}

    def counts(self, view: ir.Table) -> dict[str, ir.Value]:
        """Count over everyone what does not need their grains."""
        counts = {"people": view.count()}
        counts |= {name: view[name].sum() for name in view.columns if name.startswith(("wrong_", "unanswered"))}
        return counts | ({"joined_people": count(view.joined)} if "joined" in view.columns else {})

    def everything(self, view: ir.Table) -> dict[str, ir.Value]:
        """Add up promises of everyone in a view, and of those who joined and answered."""
        some = {"joined", "answered_0"} & set(view.columns)
        sums: dict[str, ir.Value] = {"promised": count(self.some(view))}
        if some:
            sums["joined_promised"] = count(those_of(view, -1, self.some(view)))
        for k in range(self.many):
            sums |= self._promises(view, k)
            if some:
                those = those_of(view, k)
                sums |= {f"joined_people_{k}": count(those), **self._promises(view, k, "joined_", those)}
        return sums

    def below_cap(self, few: ir.Table) -> dict[str, ir.Value]:
        """Add up over those below the cap, and count them."""
        parts = {"few": few.count(), **self.everything(few)}
        return parts | ({"joined_few": count(few.joined)} if "joined" in few.columns else {})

    def _promises(
        self, view: ir.Table, k: int, kind: str = "", those: ir.BooleanColumn | None = None
    ) -> dict[str, ir.Value]:
        """Add up a question's grains and their squares, and count who is promised any; of ``those`` alone where named."""
        sums = {"promised": bit(self.some(view, k)).sum()}
        if those is not None:
            sums["promised"] -= (~those).ifelse(bit(self.some(view, k)), 0).sum()
        sums |= {name: self.sum(column, those) for name, column in self._added(view, k).items()}
        return {f"{kind}{name}_{k}": total for name, total in sums.items()}

    def _added(self, view: ir.Table, k: int) -> dict[str, ir.IntegerColumn]:
        """Name what is added up of a question's grains; squares too large for 64 bits are cut into three products."""
        grains = self.part(view, k)
        if self.largest(k) <= SQUARE:
            return {"grains": grains, "squares": grains * grains}
        upper, lower = grains >> HALF, grains & (2**HALF - 1)
        return {"grains": grains, "upper": upper * upper, "cross": upper * lower, "lower": lower * lower}

    def weights(self, view: ir.Table, questions: Questions, *, short: bool = False) -> dict[str, ir.Value]:
        """Add up promises, and what they weigh: everything from the same look at a row.

        Cells are of the grains, or if ``short`` of what they are short of the most that anyone gives.
        """
        weights = {"people": view.count(), "promised": count(self.some(view))}
        weights |= {name: view[name].sum() for name in view.columns if name.startswith("wrong_")}
        for k in range(self.many):
            code, grains = view[f"code_{k}"], self.part(view, k)
            grains = self.largest(k) - grains if short else grains
            weights[f"people_{k}"] = code.count()
            weights |= self._promises(view, k, those=code.notnull() if self.many > 1 else None)
            for at, cell in enumerate(questions[k].cells):  # whoever gave no answer has no level, and adds nothing
                weights[f"cell_{k}_{at}"] = self.sum(grains * cell.integers(code))
        return weights | ({"marks": self.sum(view.mark)} if "mark" in view.columns else {})

    def above(self, view: ir.Table, bars: Any) -> dict[str, ir.Value]:  # noqa: ANN401 - of everyone, or by group
        """Count and add up the parts above the bars, of those who joined and answered; none where there are no bars."""
        sums: dict[str, ir.Value] = {}
        for k in range(self.many if bars else 0):
            above = self.stands_at_cap(view, k, bars)
            coded = f"code_{k}" in view.columns  # then all who are looked at joined
            above = view[f"code_{k}"].notnull() & above if coded else those_of(view, k, above)
            sums |= {f"above_{k}": count(above), f"total_{k}": self.sum(self.part(view, k) * bit(above))}
        return sums

    def sum(self, column: ir.IntegerColumn, those: ir.BooleanColumn | None = None) -> ir.StringScalar:
        """Add up 64-bit integers in as many digits as it takes, and hand them over as text, which no driver rounds.

        The sum of ``those`` alone is that of everyone without the others, who are few: an engine computes nothing for rows
        that it passes over.
        """
        total = self._wide(column).sum()
        if those is not None:
            total = total - self._wide((~those).ifelse(column, 0)).sum()
        return total.cast("string")

    def _wide(self, column: ir.IntegerColumn) -> ir.NumericColumn:
        return column if self.rows.session.dialect.wide_integers else column.cast("decimal(38, 0)")

    def expect_answers(self, row: dict[str, int], joined: Answers, codes: EngineCodes = None) -> None:
        """Refuse an answer that is none, by the id of whoever gave it."""
        if row.get("unanswered"):
            self.rows.expect_answers(joined)
        for k, one in enumerate(codes or ()):
            if row.get(f"wrong_{k}"):
                one.refuse(self.rows)

    def expect_values(self, row: dict[str, int], view: ir.Table) -> None:
        """Refuse that someone who joined gave no value, where there is one question; with several that is a skip."""
        if self.many == 1 and row and row["people_0"] != row["people"]:
            first = view.filter(view.code_0.isnull()).aggregate(person=view.id.min())
            person = self.rows.place(self.rows.session.one(first, about=self.rows.source)["person"])
            raise BadInput(NO_VALUE, person=person)
