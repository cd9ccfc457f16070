"""Whether a release that was read says what follows from what was drawn, and nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from optin.announcement.terms import QUASI_LINEAR
from optin.errors import BadInput
from optin.formats.strict_json import finite
from optin.kernel.coarse import told_up
from optin.releasing.answered import Answered
from optin.releasing.deciding import ERROR, WHY
from optin.releasing.earlier import earlier_statements
from optin.wording.groups import SMALLEST_GROUP, in_tens

if TYPE_CHECKING:
    from optin.releasing.record import Release

_INTERVALS = ("noise_interval_95", "total_interval_95", "sd_interval_95", "interval_95")
_ROUNDED = ("sd",)
"""Numbers in which logarithms and roots have a part: they differ between machines in their last digits."""


def check_same(release: Release, text: str, written: Callable[..., dict[str, Any]]) -> None:
    """Compare with what this release itself would write: every derived number must follow, and nothing be added."""
    offer = release.announcement
    if (release.seal is None) != (offer.seal is None):
        raise BadInput("this release contradicts its announcement: sums are under seal in one of them alone")
    if not 1 <= release.joined_people <= offer.people or not _affordable(release):
        raise BadInput("this release contradicts its announcement: more was spent than promised")
    if release.version < offer.version:
        raise BadInput("this release contradicts its announcement: it is of a format older than the announcement's")
    if release.grouped:
        _check_groups(release)
    else:
        _check_questions(release)
    theirs = json.loads(text)
    ours = json.loads(json.dumps(written(opened="sealed" in theirs), allow_nan=False))
    wrong = _differing(ours, theirs, _widest(release))
    earlier = release.version == 1 and _differing(ours | earlier_statements(release), theirs, offer.width) is None
    if wrong is not None and not earlier:
        raise BadInput(
            'this release was changed after it was written: its "{wrong}" does not follow from the rest', wrong=wrong
        )


def _check_groups(release: Release) -> None:
    """Check what is said of each group, and that they are together whoever joined."""
    if release.answered or len(release.parts) != len(release.announcement.designs):
        raise BadInput("this release contradicts its announcement: it is not about the groups that were announced")
    told = sum(part.joined_people for part in release.parts)
    rest = 0 if release.seal is None else release.joined_people - told
    if (release.seal is None and told != release.joined_people) or not 0 <= rest <= (SMALLEST_GROUP - 1) * len(
        release.parts
    ):
        raise BadInput("this release contradicts itself: other people joined than those of all groups together")
    for each in release.groups.values():
        if not each.joined_people <= each.announcement.people or not _affordable(each):
            raise BadInput("this release contradicts its announcement: more was spent than promised")
        _check_questions(each, of_group=True)


def _affordable(release: Release) -> bool:
    """Say whether no more was spent than promised, as far as sums are known."""
    exact, offer = release.sealed, release.announcement.sealed
    if exact is None or offer is None:
        return True
    spent = exact.total_grains
    return spent <= offer.total_grains and (spent >= 1 or release.announcement.grouped or not release.released)


def _check_questions(release: Release, *, of_group: bool = False) -> None:
    if release.parts or len(release.answered) != len(release.announcement.sheet):
        raise BadInput("this release contradicts its announcement: it is not about the questions that were asked")
    for place in range(len(release.answered)):
        _check_question(release, place, of_group=of_group)
    if release.seal is not None and release.sealed is not None:
        _check_told(release, of_group=of_group)


def _check_told(release: Release, *, of_group: bool) -> None:
    """Refuse public numbers that do not follow from what was drawn."""
    exact = release.expect_sealed().answered
    questions = zip(exact, release.sheet, release.announcement.portions, strict=True)
    ours = [
        each.under_seal(question, portion, announced=release.announcement.people, of_group=of_group)
        for each, question, portion in questions
    ]
    if list(release.answered) != ours:
        raise BadInput("this release contradicts itself: what it tells does not follow from what was drawn")


def _widest(release: Release) -> float:
    """Return the largest range of the numbers asked for; proportions lie within 1."""
    return max(1.0, *(question.width for question in release.sheet))


def _check_question(release: Release, place: int, *, of_group: bool) -> None:
    """Refuse sums that no part of those announced can have (Cauchy: S^2 <= n Q; nobody above the cap: Q <= S cap)."""
    offer, answered = release.announcement, release.answered[place]
    if answered.dropped:
        _check_dropped(release, place, of_group=of_group)
        nothing = Answered(answered.people, dropped=answered.dropped, tens=answered.tens)
        if answered != nothing or answered.dropped not in WHY:
            raise BadInput("this release contradicts itself: it publishes a question that it says was dropped")
        return
    several = of_group or len(offer.sheet) > 1
    least = max(1, offer.terms.conditions.min_people or 0) if several else 1
    if answered.people < (in_tens(least) if answered.tens else least):
        raise BadInput("this release contradicts its announcement: fewer people answered a question than were stated")
    if release.seal is not None:
        _check_rounded(release, place)
    if release.sealed is not None:
        _check_sums(release, place)


def _check_rounded(release: Release, place: int) -> None:
    """Refuse what nobody is told: numbers that are not rounded, cells that are not on steps, more accuracy than announced."""
    offer, answered, question = release.announcement, release.answered[place], release.sheet.questions[place]
    told = answered.told
    if told is None or len(told.cells) != len(question.cells):
        raise BadInput("this release contradicts its announcement: it is not about the questions that were asked")
    fine = (told.noise, told.squares, answered.tilt)
    possible = offer.public.noises[place] <= told.noise < math.inf and 0.0 < told.squares <= 1.0
    possible = possible and 0.0 <= answered.tilt <= 1.0 and answered.people + 9 * answered.tens >= 1
    if (
        not possible
        or any(each != told_up(each, offer.people) for each in fine)
        or answered.people > release.joined_people
    ):
        raise BadInput("this release contradicts its announcement: nobody who joined can have its sums")
    if tuple(float(cell) for cell in release[question.name].told_cells()) != told.cells:
        raise BadInput("this release contradicts itself: what it tells is not on the steps that follow from its noise")


def _check_sums(release: Release, place: int) -> None:
    """Refuse exact sums that no part of those announced can have (Cauchy: S^2 <= n Q; nobody above the cap: Q <= S cap)."""
    offer, answered = release.announcement, release.expect_sealed().answered[place]
    cells = 1 if offer.version == 1 else len(offer.sheet.questions[place].cells)
    if len(answered.noisy_totals) != (1 if release.version == 1 else cells):
        raise BadInput("this release contradicts its announcement: it is not about the questions that were asked")
    total, squares = answered.sums.total_grains, answered.sums.total_squared_grains
    people, most = answered.people, total * offer.largest_parts[place]
    within = total >= 1 and 1 <= people <= release.expect_sealed().joined_people
    if offer.sealed is not None:
        announced = offer.sealed.question_sums[place]
        within, most = within and total <= announced.total_grains, min(most, announced.total_squared_grains)
    if not within or not total * total <= people * squares <= people * most or not 0 <= answered.tilt < 1:
        raise BadInput("this release contradicts its announcement: nobody who joined can have its sums")


def _check_dropped(release: Release, place: int, *, of_group: bool) -> None:
    """Refuse a question that was dropped where none can be, for a reason that cannot be, or that more answered than joined."""
    offer, answered = release.announcement, release.answered[place]
    alone = not of_group and (len(offer.sheet) == 1 or offer.model == QUASI_LINEAR)
    unstated = answered.dropped == ERROR and offer.sheet.questions[place].max_error is None and not of_group
    if alone or unstated or answered.people > release.joined_people:
        raise BadInput("this release contradicts its announcement: a question was dropped that could not be")


def _differing(ours: object, theirs: object, width: float, name: str = "") -> str | None:
    """Name a field in which two records differ, wherever it stands; None if they are the same."""
    if name in _INTERVALS and isinstance(ours, list):
        return None if _close(ours, theirs, width) else name
    if name in _ROUNDED and isinstance(ours, float):
        return None if _close([ours, ours], [theirs, theirs], width) else name
    if isinstance(ours, dict) and isinstance(theirs, dict):
        parts = [(key, ours.get(key), theirs.get(key)) for key in sorted({*ours, *theirs})]
        if ours.keys() != theirs.keys():
            return str(min(ours.keys() ^ theirs.keys()))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        parts = [(name, mine, other) for mine, other in zip(ours, theirs, strict=True)]
    else:
        return None if ours == theirs else name
    differing = (_differing(mine, other, width, key) for key, mine, other in parts)
    return next((wrong for wrong in differing if wrong is not None), None)


def _close(mine: object, other: object, width: float) -> bool:
    """Compare intervals up to the last digits: logarithms differ between machines, integers do not."""
    if not isinstance(mine, list) or not isinstance(other, list) or len(other) != 2:
        return False
    ends = zip(mine, map(finite, other), strict=True)
    return all(b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * width) for a, b in ends)
