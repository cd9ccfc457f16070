"""Whether a release that was read says what follows from what was drawn, and nothing else."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from optin.errors import BadInput
from optin.formats.strict_json import finite
from optin.releasing.earlier import earlier_statements

if TYPE_CHECKING:
    from optin.releasing.record import Release

_INTERVALS = ("noise_interval_95", "total_interval_95")


def check_same(found: Release, text: str) -> None:
    """Compare with what this release itself would write: every derived number must follow, and nothing be added."""
    offer = found.announcement
    if not (1 <= found.total_grains <= offer.total_grains and 1 <= found.joined_people <= offer.people):
        raise BadInput("this release contradicts its announcement: more was spent than promised")
    if [len(totals) for totals in found.noisy_totals] != [1] * len(offer.sheet):
        raise BadInput("this release contradicts its announcement: it is not about the questions that were asked")
    _check_sums(found)
    ours, theirs = json.loads(found.to_json()), json.loads(text)
    wrong = _differing(ours, theirs, offer.width)
    earlier = found.version == 1 and _differing(ours | earlier_statements(found), theirs, offer.width) is None
    if wrong is not None and not earlier:
        raise BadInput(
            'this release was changed after it was written: its "{wrong}" does not follow from the rest', wrong=wrong
        )


def _check_sums(found: Release) -> None:
    """Refuse sums that no part of those announced can have (Cauchy: S^2 <= n Q; nobody above the cap: Q <= S cap)."""
    offer, total, squares = found.announcement, found.total_grains, found.total_squared_grains
    most = min(total * offer.largest_promise, offer.total_squared_grains)
    if not total * total <= found.joined_people * squares <= found.joined_people * most or not 0 <= found.tilt < 1:
        raise BadInput("this release contradicts its announcement: nobody who joined can have its sums")
    if found.version < offer.version:
        raise BadInput("this release contradicts its announcement: it is of a format older than the announcement's")


def _differing(ours: object, theirs: object, width: float, name: str = "") -> str | None:
    """Name a field in which two records differ, wherever it stands; None if they are the same."""
    if name in _INTERVALS:
        return None if _close(ours, theirs, width) else name
    if isinstance(ours, dict) and isinstance(theirs, dict):
        parts = [(key, ours.get(key), theirs.get(key)) for key in sorted({*ours, *theirs})]
        if ours.keys() != theirs.keys():
            return str(min(ours.keys() ^ theirs.keys()))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        parts = [(name, mine, other) for mine, other in zip(ours, theirs, strict=True)]
    else:
        return None if ours == theirs else name
    found = (_differing(mine, other, width, key) for key, mine, other in parts)
    return next((wrong for wrong in found if wrong is not None), None)


def _close(mine: object, other: object, width: float) -> bool:
    """Compare intervals up to the last digits: logarithms differ between machines, integers do not."""
    if not isinstance(mine, list) or not isinstance(other, list) or len(other) != 2:
        return False
    ends = zip(mine, map(finite, other), strict=True)
    return all(b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * width) for a, b in ends)
