"""The public ladder: the steps from which people choose a limit or a cost, in plain words.

A limit typed freely would be as good as a name. Steps that many share say less about one person, and are easier to
choose from.
"""

from __future__ import annotations

from optin.client.wire import Step
from optin.errors import BadInput
from optin.wording.numbers import odds_factor

__all__ = ["COSTS", "LIMITS", "Step", "ladder_of", "step_of"]


_NAMES = (
    (0.01, "next to nothing"),
    (0.02, "a trace"),
    (0.05, "very little"),
    (0.1, "little"),
    (0.2, "some"),
    (0.5, "a fair amount"),
    (1.0, "quite a bit"),
    (2.0, "much"),
    (4.0, "a great deal"),
    (8.0, "nearly anything"),
)
LIMITS = tuple(
    Step(
        index,
        amount,
        name,
        f"whatever someone suspects about your answer, the result changes their odds by at most a factor {odds_factor(amount)}",
    )
    for index, (amount, name) in enumerate(_NAMES)
)
_PRICES = (
    (0.0, "nothing", "giving this away costs you nothing"),
    (0.01, "hardly anything", "you would hardly notice"),
    (0.02, "very little", "a hundredth or two of what the result is worth to someone who gains 1 from it"),
    (0.05, "little", "a twentieth"),
    (0.1, "some", "a tenth"),
    (0.2, "noticeable", "a fifth"),
    (0.5, "half", "half of it"),
    (1.0, "all of it", "one unit of privacy loss costs you as much as a perfect result could give someone who gains 1"),
    (2.0, "much", "twice that"),
    (5.0, "very much", "five times that"),
)
COSTS = tuple(Step(index, amount, name, words) for index, (amount, name, words) in enumerate(_PRICES))


def ladder_of(model: str) -> tuple[Step, ...]:
    """Choose the ladder that a campaign's people stand on."""
    return LIMITS if model == "privacy-constrained" else COSTS


def step_of(model: str, index: int) -> Step:
    """Find a step; there is no other choice than those on the ladder."""
    steps = ladder_of(model)
    if not 0 <= index < len(steps):
        raise BadInput(
            "choose one of the {count} steps of the ladder, 0 to {last}", count=len(steps), last=len(steps) - 1
        )
    return steps[index]
