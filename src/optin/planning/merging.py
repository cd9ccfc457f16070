"""Questions that could be added up: which ones, into what score, and what a sheet would be as accurate as if they were."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from optin.errors import BadInput
from optin.planning.units import DEAREST
from optin.questions import Question, Score
from optin.questions.adding import Items
from optin.wording.language import _
from optin.wording.numbers import people_like
from optin.wording.records import Listed


@dataclass(frozen=True, repr=False)
class Merging(Listed):
    """What a sheet would give if some of its questions were asked as one score, of which only the total is an answer."""

    questions: tuple[str, ...]
    """The names of those that would be added up."""
    score: Score
    """The score that stands for them. Its sd is as if they were unrelated, of scales the worst case."""
    effective_people: float
    """What the score would be as accurate as."""
    effective_others: float | None
    """What the other questions would be as accurate as, the least of them; None where there are no others."""
    effective_now: float
    """What the sheet is as accurate as now, the least of its questions."""
    half_width: float
    """± of the score, for that sd."""
    half_width_together: float
    """± of the score, had it the largest sd there is: that of questions that go together entirely."""
    verdict: str
    """Of the score, for that sd; of questions that go together it is as good or better."""

    @property
    def effective_sheet(self) -> float:
        """What the sheet would be as accurate as: the least of the score and the others."""
        return min(each for each in (self.effective_people, self.effective_others) if each is not None)


@dataclass(frozen=True)
class Addable:
    """Questions by their places, and the score of them: if they are unrelated, and if they go together entirely."""

    places: tuple[int, ...]
    unrelated: Score
    together: Score


def addable(questions: Sequence[Question]) -> Iterator[Addable]:
    """Find questions that could be added up: alike in kind, range, unit, importance and max_gap; each set once, in order.

    >>> from optin.questions import Number, Scale
    >>> mood, calm = (Scale(name, options=("bad", "fair", "good")) for name in ("mood", "calm"))
    >>> [(each.places, each.unrelated.bounds) for each in addable([mood, Number("hours", bounds=(0, 80)), calm])]
    [((0, 2), (2.0, 6.0))]
    """
    alike: dict[tuple[object, ...], list[tuple[int, Items]]] = {}
    for place, question in enumerate(questions):
        items = question.as_items
        if items is not None:
            key = (question.kind, items.each, question.unit, question.importance, question.max_gap)
            alike.setdefault(key, []).append((place, items))
    for members in alike.values():
        places, parts = zip(*members, strict=True)
        score = _score(questions[places[0]], parts) if len(parts) > 1 else None
        if score is not None:
            most = min(math.fsum(math.sqrt(part.data_variance) for part in parts), score.width / 2)
            yield Addable(places, score, replace(score, data_variance=most * most))


def _score(first: Question, parts: Sequence[Items]) -> Score | None:
    """Add up questions as if they were unrelated: variances add up, and a smaller sd is judged no milder."""
    try:
        score = Score(
            f"score of {first.name}",
            items=sum(part.count for part in parts),
            each=parts[0].each,
            data_variance=math.fsum(part.data_variance for part in parts),
            max_gap=math.fsum(part.max_gap for part in parts),
            importance=first.importance,
            unit=first.unit,
        )
    except BadInput:  # more items, or a wider range of totals, than a score can have
        return None
    return score if score.price <= DEAREST else None


def merged_words(merging: Merging, asked: Sequence[str] = ()) -> str:
    """Say what asking them as one score would gain; ``asked`` says what they are called, if not by their names."""
    *others, last = asked or merging.questions
    return _(
        "Asked as one score, {others} and {last} would leave the sheet as accurate as {people} instead of {now}, and the "
        "score would be {verdict}.",
        others=", ".join(others),
        last=last,
        people=people_like(merging.effective_sheet),
        now=people_like(merging.effective_now),
        verdict=_(merging.verdict),
    )
