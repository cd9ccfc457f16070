"""The public ladder: the steps from which people choose a limit or a cost, in plain words.

Limits have the steps of every form (`optin.wording.limit_steps`); costs are asked for here alone.
"""

from __future__ import annotations

from optin.client.wire import Rung
from optin.errors import BadInput
from optin.wording.language import N_
from optin.wording.limit_steps import LIMIT_STEPS

LIMITS = tuple(Rung(rung.index, rung.epsilon, rung.name, rung.words) for rung in LIMIT_STEPS)
_PRICES = (
    (0.0, N_("nothing"), "giving this away costs you nothing"),
    (0.01, N_("hardly anything"), "you would hardly notice"),
    (0.02, N_("very little"), "a hundredth or two of what the result is worth to someone who gains 1 from it"),
    (0.05, N_("little"), "a twentieth"),
    (0.1, N_("some"), "a tenth"),
    (0.2, N_("noticeable"), "a fifth"),
    (0.5, N_("half"), "half of it"),
    (
        1.0,
        N_("all of it"),
        "one unit of privacy loss costs you as much as a perfect result could give someone who gains 1",
    ),
    (2.0, N_("much"), "twice that"),
    (5.0, N_("very much"), "five times that"),
)
COSTS = tuple(Rung(index, amount, name, words) for index, (amount, name, words) in enumerate(_PRICES))


def ladder_of(model: str) -> tuple[Rung, ...]:
    """Choose the ladder that a campaign's people stand on."""
    return LIMITS if model == "privacy-constrained" else COSTS


def rung_of(model: str, index: int) -> Rung:
    """Find a step; there is no other choice than those on the ladder."""
    rungs = ladder_of(model)
    if not 0 <= index < len(rungs):
        raise BadInput(
            "choose one of the {count} steps of the ladder, 0 to {last}", count=len(rungs), last=len(rungs) - 1
        )
    return rungs[index]
