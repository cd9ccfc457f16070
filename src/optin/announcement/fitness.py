"""Whether people are enough to be announced to: in a group too small, published sums give single limits away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optin.errors import Argument, BadInput
from optin.grains.promised_groups import PromisesByGroup, Rule
from optin.grains.splitting import part
from optin.planning.grouped import merged_places
from optin.wording.groups import FEW_BELOW_CAP, SMALLEST_GROUP, listed_groups, shown_group


def check_fit(promises: PromisesByGroup, min_people: int, *, names: Sequence[str] = ()) -> None:
    """Refuse people who are too few; where they are in groups, say which, and what to merge."""
    rules = promises.rules
    above = promises.sums_above([(0,) * len(each.shares) for each in rules])
    at_cap = promises.sums_above([_below_the_cap(each) for each in rules])
    promised = [min(count for count, _ in each) for each in above]
    below = [count - max(top for top, _ in each) for count, each in zip(promised, at_cap, strict=True)]
    faults = [_fault(count, few, min_people) for count, few in zip(promised, below, strict=True)]
    small = [at for at, fault in enumerate(faults) if fault is not None]
    for at in small[:1]:
        fault = faults[at]
        assert fault is not None  # noqa: S101 - it is one of them
        raise _of_groups(fault, small, promised, names) if names else fault


def _of_groups(fault: BadInput, small: Sequence[int], promised: Sequence[int], names: Sequence[str]) -> BadInput:
    """Say which groups, and what to merge; one group alone has no other to be merged with."""
    first: dict[str, Any] = {**fault.data, "count": len(small), "groups": len(names)}
    first["group"] = shown_group(names[small[0]])
    words = "{count} of {groups} groups cannot be announced, first {group}: " + fault.template
    if len(names) == 1:
        return BadInput(words, **first)
    return BadInput(
        words + ". Or merge {merge} and plan again, which {merge_small} does",
        **first,
        merge=listed_groups([names[at] for at in merged_places(small, promised)]),
        merge_small=Argument("merge_small", True),
    )


def _fault(promised: int, below: int, min_people: int) -> BadInput | None:
    """Say why sums over these people would give limits away, if they would."""
    if promised < min_people:
        return BadInput(
            "only {promised} people are promised anything and at least {least} are needed ({min_people}): in so small a"
            " group the published sums can give single limits away. Ask more people, or lower {min_people} if limits"
            " are no secret",
            promised=promised,
            least=min_people,
            min_people=Argument("min_people"),
        )
    if min_people >= SMALLEST_GROUP and 0 < below <= FEW_BELOW_CAP < promised:
        return BadInput(
            "all but {below} of {promised} people are promised the cap: the published sums then give the limits of the"
            " few below it away. Ask more people with low limits, or set {min_people} below {least} if limits are no"
            " secret",
            below=below,
            promised=promised,
            min_people=Argument("min_people"),
            least=SMALLEST_GROUP,
        )
    return None


def _below_the_cap(rule: Rule) -> tuple[int, ...]:
    """Return, for each question, one grain less than whoever reaches the cap gives."""
    capped = np.array([rule.most], dtype=np.int64)
    return tuple(int(part(capped, share)[0]) - 1 for share in rule.shares)
