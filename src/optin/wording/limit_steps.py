"""The limit question and its steps, in the words people read: on web pages, in other people's forms, and on paper.

A limit typed freely would be as good as a name. Steps that many share say less about one person, and are easier to choose
from. Whoever chose one may be written down by its name, its code or the whole line of a form; each is read as its epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass

from optin.wording.language import N_
from optin.wording.numbers import odds_factor

QUESTION = N_("How much may the published result give away about your answer, at most?")
UNSURE = N_("Think of someone who is unsure about it, 50 % either way.")
ADVICE = N_(
    "Take what you mean. Choosing lower than you mean protects you more and counts you less. "
    "Choosing higher than you mean can only cost you. Most people are not asked for all they allow: "
    "what is not needed stays yours."
)
SUSPECT = N_("whatever someone suspects about your answer, the result changes their odds by at most a factor {factor}")
_NAMES = (
    (0.01, N_("next to nothing")),
    (0.02, N_("a trace")),
    (0.05, N_("very little")),
    (0.1, N_("little")),
    (0.2, N_("some")),
    (0.5, N_("a fair amount")),
    (1.0, N_("quite a bit")),
    (2.0, N_("much")),
    (4.0, N_("a great deal")),
    (8.0, N_("nearly anything")),
)


@dataclass(frozen=True)
class LimitStep:
    """One step: the epsilon it allows, its name, and what that means.

    >>> LIMIT_STEPS[5]
    LimitStep(index=5, epsilon=0.5, name='a fair amount')
    >>> LIMIT_STEPS[5].code, LIMIT_STEPS[5].label
    ('step5', 'a fair amount (odds change by at most a factor 1.65)')
    """

    index: int
    epsilon: float
    name: str

    @property
    def code(self) -> str:
        """What forms store: never a number, which could be taken for an epsilon; five letters, which LimeSurvey allows."""
        return f"step{self.index}"

    @property
    def label(self) -> str:
        """What a form shows: the name, and by what factor the result can change anyone's odds."""
        return f"{self.name} (odds change by at most a factor {odds_factor(self.epsilon)})"

    @property
    def words(self) -> str:
        """What it means, in a sentence."""
        return SUSPECT.format(factor=odds_factor(self.epsilon))

    @property
    def line(self) -> str:
        """What a form that is pasted as text shows: the name, and what it means."""
        return f"{self.name}: {self.words}"


LIMIT_STEPS = tuple(LimitStep(index, epsilon, name) for index, (epsilon, name) in enumerate(_NAMES))
HIGHEST_STEP = LIMIT_STEPS[-1].epsilon
"""The highest limit that people are asked about: a cap above it takes nothing from anyone, and is not worth telling."""


def texts_of(rung: LimitStep) -> tuple[str, ...]:
    """List the texts that stand for a step, in small letters."""
    return rung.code, rung.name, rung.label.lower(), rung.line.lower()


STEP_TEXTS = {text: rung.epsilon for rung in LIMIT_STEPS for text in texts_of(rung)}
"""Every text that stands for a step, and the epsilon it is read as."""
