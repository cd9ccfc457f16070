"""E13's and E20's integers: what each person is promised, in grains, and the exact sums over everyone.

One grain is 2^-32 of epsilon. A person has ``A = floor(min(limit, cap) * 2^32)`` grains, never more than their limit:
multiplying a float by a power of two is exact, so is the floor, and both are monotone. Each question of a sheet gets its
part of them (`optin.grains.splitting`), and an answer is a level of 0 to 2^20 in each cell of its question. All sums are
exact (`optin.kernel.halves`), so the order of the people never changes a digit.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from optin.errors import BadInput, Place, PromiseBroken
from optin.grains.exact_sums import QuestionSums, SheetSums, together
from optin.grains.splitting import ALONE, all_of, least_capped, promised, spent
from optin.kernel.halves import CHUNK, Halves, Workspace, cut
from optin.kernel.rounding import GRAIN
from optin.questions.cells import cell_sums
from optin.questions.kinds import Question

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Integers = NDArray[np.int64]
Found = TypeVar("Found")
Answers = Any
"""Who joined: booleans, or in an engine the name of a column or an expression; None for everyone."""
Codes = Any
"""Coded answers, one column a question: arrays of floats, NaN where one is missing; in an engine float64 expressions, NULL
where one is missing and NaN where one is none of the answers; None where nobody's answers are looked at."""
Questions = tuple[Question, ...]

NO_VALUE = (
    "{person} joined but their value is missing or not a number: give it, with digits and a point (1234.5), or mark them as"
    " not joined"
)
HIGHEST_EPSILON = 1024.0
"""The most one release promises, so that ``A * level`` stays below 2^63."""
_SPAN = 2**20  # fewer people than this are not worth a thread


@dataclass(frozen=True)
class GrainRule:
    """How grains follow from limits: ``floor(min(limit, cap) * 2^32)``; only infinite limits if there is no noise.

    ``shares`` says how a person's grains are split among the questions of a sheet.
    """

    limits: Callable[[slice], FloatArray]
    people: int
    cap: float
    shares: tuple[int, ...] = ALONE

    @property
    def noiseless(self) -> bool:
        """Say whether nothing hides the sum, so that only people without any limit may count."""
        return bool(np.isinf(self.cap))

    @property
    def most(self) -> int:
        """Return the grains, in all, of whoever reaches the cap."""
        return int(min(self.cap, HIGHEST_EPSILON) * GRAIN)

    def sums(self, *, joined: BoolArray | None = None, codes: Codes = None) -> tuple[SheetSums, SheetSums]:
        """Add up everyone's promises, and of those who joined what they give for the questions they answered.

        In a sheet of one question everyone who joins must answer it, so codes are not looked at.
        """
        seen = _Seen(self, joined, codes if len(self.shares) > 1 else None)
        if seen.sees_everyone:
            everyone = _added_up(seen)
            return everyone, everyone
        parts = _in_threads(seen.both, self.people)
        return together(everyone for everyone, _ in parts), together(those for _, those in parts)

    def weighed(
        self, questions: Questions, codes: Codes, *, joined: BoolArray | None = None, bars: tuple[int, ...] = ()
    ) -> SheetSums:
        """Add up promises and cells of those who joined; a missing answer is refused, or, in a larger sheet, a skip."""
        return _added_up(_Seen(self, joined, codes, questions, bars))

    def answered(self, codes: Codes, joined: BoolArray | None = None) -> Integers:
        """Return a number for each person in which the bit of every question that they answered is set; 0 if not joined."""
        bits = np.zeros(self.people, dtype=np.int64)
        for k in range(len(self.shares)):
            bits |= (1 << k) if codes is None else (~np.isnan(codes[k])).astype(np.int64) << k
        return bits if joined is None else bits * joined

    def spent(
        self, joined: BoolArray | None, codes: Codes = None, released: int | None = None
    ) -> Callable[[], Integers]:
        """Return what lists everyone's grains: what they give for released questions that they answered, if they joined."""
        marks = joined if len(self.shares) == 1 else self.answered(codes, joined)  # not codes: arrays may change
        return partial(everyone_spent, self, marks, all_of(self.shares) if released is None else released)

    def sums_above(
        self, bars: tuple[int, ...], joined: BoolArray | None = None, codes: Codes = None
    ) -> tuple[tuple[int, int], ...]:
        """Count, for each question, those who give more than ``bar`` grains, and add up what they give (the tilt of E15)."""
        seen = _Seen(self, joined, codes if len(self.shares) > 1 else None, bars=bars)
        parts = _in_threads(seen.above, self.people)
        return tuple((sum(n for n, _ in each), sum(n for _, n in each)) for each in zip(*parts, strict=True))


def everyone_capped(rule: GrainRule) -> Integers:
    """List the grains of each person in all, before they are split among questions."""
    grains = np.empty(rule.people, dtype=np.int64)
    for rows in _slices(slice(0, rule.people)):
        grains[rows] = _capped(rule, rows)
    return grains


def everyone_grains(rule: GrainRule) -> Integers:
    """List what each person is promised, as integers."""
    return promised(everyone_capped(rule), rule.shares)


def everyone_spent(rule: GrainRule, marks: BoolArray | Integers | None, released: int) -> Integers:
    """List what everyone gives; ``marks`` say who joined, or where several questions are asked what each answered."""
    if len(rule.shares) == 1:
        return everyone_grains(rule) if marks is None else everyone_grains(rule) * marks
    assert marks is not None  # noqa: S101 - `answered` gave them
    return spent(everyone_capped(rule), rule.shares, marks & released)


@dataclass(frozen=True)
class _Seen:
    """Promises, and what is asked of them: who joined, what they answered, of which questions cells, and what is above bars."""

    rule: GrainRule
    joined: BoolArray | None = None
    codes: Codes = None
    questions: Questions = ()
    bars: tuple[int, ...] = ()

    @property
    def sees_everyone(self) -> bool:
        """Whether those who joined are everyone, for every question."""
        return self.joined is None and self.codes is None

    def both(self, span: slice) -> tuple[SheetSums, SheetSums]:
        """Add up everyone of a span, and those who joined."""
        sums = []
        for chunk in self._chunks(span):
            everyone = _Seen(self.rule).added_up(chunk)
            sums.append((everyone, self.added_up(chunk, everyone)))
        return together(everyone for everyone, _ in sums), together(those for _, those in sums)

    def those(self, span: slice) -> SheetSums:
        """Add up those of a span who joined."""
        return together(map(self.added_up, self._chunks(span)))

    def above(self, span: slice) -> list[tuple[int, int]]:
        """Count and add up what is above the bars in a span."""
        tallies = [[0, 0] for _ in self.bars]
        for chunk in self._chunks(span):
            for k, each in enumerate(tallies):
                count, total = self._above(k, chunk, self._those(chunk.rows, k))
                each[:] = each[0] + count, each[1] + total
        return [(count, total) for count, total in tallies]

    def _above(self, k: int, chunk: _Chunk, those: BoolArray | None) -> tuple[int, int]:
        """Count and add up what is above a question's bar in a chunk."""
        above = chunk.capped >= least_capped(self.rule.shares[k], self.bars[k] + 1)
        if those is not None:
            above &= those
        return int(np.count_nonzero(above)), chunk.grains.part(self.rule.shares[k], above).total()

    def _chunks(self, span: slice) -> Iterator[_Chunk]:
        """Walk over a span, a chunk at a time; what was computed of one is gone with the next."""
        work = Workspace(span.stop - span.start)
        for rows in _slices(span):
            out, scaled, *spare = work.first(rows.stop - rows.start)
            capped = _capped(self.rule, rows, out, scaled)
            yield _Chunk(rows, capped, cut(capped, (scaled, *spare)))

    def added_up(self, chunk: _Chunk, everyone: SheetSums | None = None) -> SheetSums:
        """Add up those of one chunk who joined, question by question; what everyone answered is not added up again."""
        joined, least = self._joined(chunk.rows), min(map(least_capped, self.rule.shares))
        return SheetSums(
            people=len(chunk.capped) if joined is None else int(np.count_nonzero(joined)),
            promised=_count(chunk.capped >= least, joined),
            questions=tuple(self._question(k, chunk, everyone) for k in range(len(self.rule.shares))),
        )

    def _question(self, k: int, chunk: _Chunk, everyone: SheetSums | None) -> QuestionSums:
        share, those = self.rule.shares[k], self._those(chunk.rows, k)
        if those is None and everyone is not None:
            return everyone.questions[k]
        above = self._above(k, chunk, those) if self.bars else (0, 0)  # before what is computed in the same arrays
        grains = chunk.grains.part(share, those)
        return QuestionSums(
            people=len(chunk.capped) if those is None else int(np.count_nonzero(those)),
            promised=_count(chunk.capped >= least_capped(share), those),
            grains=grains.total(),
            squares=grains.squares(),
            above=above,
            cells=self._cells(k, chunk.rows, grains, those) if self.questions else (),
        )

    def _cells(self, k: int, rows: slice, grains: Halves, those: BoolArray | None) -> tuple[int, ...]:
        """Add up cells; whoever does not count has no grains, so any code will do for one that is missing."""
        codes, cells = self.codes[k][rows], self.questions[k].cells
        if those is None:
            return cell_sums(cells, codes, grains)
        known, *spare = grains.spare
        np.fmax(codes, cells[0].lowest, out=known)  # which takes NaN for the other number
        return cell_sums(cells, known, replace(grains, spare=tuple(spare)))

    def _joined(self, rows: slice) -> BoolArray | None:
        return None if self.joined is None else self.joined[rows]

    def _those(self, rows: slice, k: int) -> BoolArray | None:
        """Say who joined and answered a question; with one question, that someone did not is refused."""
        joined = self._joined(rows)
        if self.codes is None:
            return joined
        missing = np.isnan(self.codes[k][rows])
        if not missing.any():
            return joined
        if len(self.rule.shares) == 1:
            _refuse_missing(missing if joined is None else missing & joined, rows.start)
            return joined
        return np.asarray(~missing if joined is None else joined & ~missing)


@dataclass(frozen=True)
class _Chunk:
    """Some people, and their grains in all: whole, and cut into halves."""

    rows: slice
    capped: FloatArray
    grains: Halves


def _refuse_missing(missing: BoolArray, first: int) -> None:
    """Refuse a joiner without an answer, which is the one thing about answers that is refused."""
    if missing.any():
        raise BadInput(NO_VALUE, person=Place(first + int(np.argmax(missing))))


def _count(marked: BoolArray, those: BoolArray | None) -> int:
    return int(np.count_nonzero(marked if those is None else marked & those))


def _added_up(seen: _Seen) -> SheetSums:
    return together(_in_threads(seen.those, seen.rule.people))


def _capped(
    rule: GrainRule, rows: slice, out: FloatArray | None = None, scaled: FloatArray | None = None
) -> FloatArray:
    """Compute the grains of some rows, and refuse (never correct) any that pass the limit."""
    limits = rule.limits(rows)
    with np.errstate(over="ignore"):
        scaled = np.multiply(limits, GRAIN, out=scaled)
    if rule.noiseless:
        capped = np.multiply(np.isinf(limits), HIGHEST_EPSILON * GRAIN, out=out)
    else:
        capped = np.minimum(scaled, min(rule.cap, HIGHEST_EPSILON) * GRAIN, out=out)
        np.floor(capped, out=capped)
    if not np.all(capped <= scaled):
        raise PromiseBroken(
            "{person} or one of the {others} after them: a limit is missing or not a number",
            person=Place(rows.start),
            others=capped.size,
        )
    return np.asarray(capped, dtype=np.float64)


def _slices(span: slice) -> list[slice]:
    return [slice(start, min(start + CHUNK, span.stop)) for start in range(span.start, span.stop, CHUNK)]


def _in_threads(over: Callable[[slice], Found], people: int) -> list[Found]:
    """Run over spans of the people, one per processor; numpy lets go of the interpreter while it works."""
    workers = max(1, min(os.cpu_count() or 1, people // _SPAN))
    edges = [people * k // workers for k in range(workers + 1)]
    spans = [slice(a, b) for a, b in itertools.pairwise(edges)]
    if workers == 1:
        return [over(spans[0])]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(over, spans))
