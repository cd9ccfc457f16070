"""What someone allows over all campaigns, in the words and choices that stand beside a limit."""

from __future__ import annotations

from dataclasses import dataclass

from optin.kernel.rounding import epsilon_of
from optin.web.pages.wording import epsilon_words
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS, step_of
from optin.web.service.totals import MOST_IN_CAMPAIGNS, TIMES, Budget, asked_at_most
from optin.wording.numbers import odds_factor

_CHOICES = (1, TIMES, 10)
_READABLE = 20.0


@dataclass(frozen=True)
class Option:
    """One total to choose from: so many campaigns like this one, or what was said before."""

    times: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class TotalBeside:
    """A person's total as it stands beside their choice in one campaign."""

    known: bool
    nothing: bool
    sentence: str
    cut: str
    once: str
    end: str
    options: tuple[Option, ...]


def total_beside(budget: Budget, draft: Draft, stated: int | None, *, picked: str = "") -> TotalBeside:
    """Say what is left of a total, what that means for this campaign, and what the total could be instead.

    ``picked`` is what was chosen on a form that is shown again.
    """
    most = None if stated is None else asked_at_most(draft, step_of(draft.model, stated))
    return TotalBeside(
        known=budget.total is not None,
        nothing=budget.left is not None and epsilon_of(budget.left) < LIMITS[0].amount,
        sentence=_sentence(budget),
        cut=_cut(budget, draft, most),
        once=_once(budget, most),
        end="" if draft.model == PRIVACY_CONSTRAINED else f"{MOST_IN_CAMPAIGNS:g}",
        options=_options(budget, most, picked),
    )


def factor_words(epsilon: float) -> str:
    """Say an epsilon as a factor on the odds, as long as such a factor can be read.

    >>> factor_words(2.0), factor_words(200.0)
    ("a factor of 7.39 on anyone's odds about your answers (epsilon 2)", 'epsilon 200 (next to no limit)')
    """
    words = f"epsilon {epsilon_words(epsilon)}"
    if epsilon >= _READABLE:
        return f"{words} (next to no limit)"
    return f"a factor of {odds_factor(epsilon)} on anyone's odds about your answers ({words})"


def _sentence(budget: Budget) -> str:
    if budget.total is None:
        return "You have not said yet how much all campaigns together may take."
    if budget.left is None:
        return "You set no limit to what all campaigns together may take."
    whole = f"All campaigns together may give away at most {factor_words(epsilon_of(budget.total))}"
    if not budget.committed and not budget.waiting:
        return f"{whole}."
    waits = (
        " What you declined counts until a second person declines too, or that round ends." if budget.waiting else ""
    )
    return f"{whole}; of that, {_down(budget.left)} is left.{waits}"


def _down(grains: int) -> str:
    """Write what is left, never more than it is.

    >>> _down(0), _down(1), _down(2**31 + 1)
    ('nothing', 'next to nothing', 'epsilon 0.5')
    """
    if epsilon_of(grains) < 1e-4:
        return "next to nothing" if grains else "nothing"
    return f"epsilon {int(epsilon_of(grains) * 1e4) / 1e4:g}"


def _cut(budget: Budget, draft: Draft, most: int | None) -> str:
    """Say now, and not after the plan, that a total leaves less than was chosen here."""
    if most is None or budget.left is None or budget.left >= most:
        return ""
    if epsilon_of(budget.left) < LIMITS[0].amount:
        return (
            "Nothing is left of your total over all campaigns: as it is, your answer will count nothing here. Allow more below "
            "if you want to take part."
        )
    if draft.model == PRIVACY_CONSTRAINED:
        return (
            "Less than this is left of your total over all campaigns: you will be asked for no more than what is left."
        )
    return "If this campaign asks for more than is left of your total over all campaigns, it goes on without you."


def _once(budget: Budget, most: int | None) -> str:
    """Write the total that covers this campaign and no other, where that is less than it is now."""
    if most is None or budget.total is None or budget.after(1, most) >= budget.total:
        return ""
    return repr(epsilon_of(budget.after(1, most)))


def _options(budget: Budget, most: int | None, picked: str) -> tuple[Option, ...]:
    """List the totals to choose from; one said before is the default, so that changing a limit never changes it unasked."""
    like = "more like this one" if budget.committed else "like this one"
    words = {times: f"{times} campaigns {like}" for times in _CHOICES} | {1: "this campaign, and no other"}
    choices = _choices(budget, most)
    default = str(TIMES) if budget.total is None else ""
    marked = picked if picked in map(str, choices) else default
    listed = tuple(Option(str(times), words[times], str(times) == marked) for times in choices)
    if budget.total is None:
        return listed
    said = "what I said before" if budget.left is None else f"what I said before ({_down(budget.left)} is left)"
    return (Option("", said, not marked), *listed)


def _choices(budget: Budget, most: int | None) -> tuple[int, ...]:
    """List the choices that differ: beyond the end of what can be said in campaigns, more of them allow no more."""
    if most is None:
        return _CHOICES
    totals = {budget.after(times, most): times for times in reversed(_CHOICES)}
    return tuple(sorted(totals.values()))
