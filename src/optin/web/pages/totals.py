"""What someone allows over all campaigns, in the words and choices that stand beside a limit."""

from __future__ import annotations

from dataclasses import dataclass

from optin.kernel.rounding import epsilon_of
from optin.web.service.drafts import PRIVACY_CONSTRAINED, Draft
from optin.web.service.ladder import LIMITS, rung_of
from optin.web.service.totals import MOST_IN_CAMPAIGNS, TIMES, Budget, asked_at_most
from optin.wording.guesses import right_in_100
from optin.wording.language import N_, _

_CHOICES = (1, TIMES, 10)
_NOT_HERE = N_(
    "What you allow over all campaigns together is kept with your account. This device was let in by your id, sees this campaign "
    "alone, and does not show it: open the recovery link that you kept, and it does."
)


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


def total_beside(
    budget: Budget, draft: Draft, stated: int | None, *, picked: str = "", alone: bool = False
) -> TotalBeside:
    """Say what is left of a total, what that means for this campaign, and what the total could be instead.

    ``picked`` is what was chosen on a form that is shown again. A device that sees one campaign ``alone`` is told nothing of
    the total, and changes nothing of it.
    """
    if alone:
        return TotalBeside(known=True, nothing=False, sentence=_(_NOT_HERE), cut="", once="", end="", options=())
    most = None if stated is None else asked_at_most(draft, rung_of(draft.model, stated))
    return TotalBeside(
        known=budget.total is not None,
        nothing=budget.left is not None and epsilon_of(budget.left) < LIMITS[0].amount,
        sentence=_sentence(budget),
        cut=_cut(budget, draft, most),
        once=_once(budget, most),
        end="" if draft.model == PRIVACY_CONSTRAINED else f"{MOST_IN_CAMPAIGNS:g}",
        options=_options(budget, most, picked),
    )


def guesses_of(epsilon: float) -> str:
    """Say an epsilon as what it can do to guesses, beside the chance of having stayed out.

    >>> print(guesses_of(2.0), guesses_of(0.0), sep="; ")
    someone guessing between two answers of yours is right at most 89 times in 100 instead of 50; nothing is given away
    """
    if not epsilon:
        return _("nothing is given away")
    return _(
        "someone guessing between two answers of yours is right at most {right} times in 100 instead of 50",
        right=right_in_100(epsilon),
    )


def _sentence(budget: Budget) -> str:
    if budget.total is None:
        return _("You have not said yet how much all campaigns together may take.")
    if budget.left is None:
        return _("You set no limit to what all campaigns together may take.")
    sentence = _(
        "Over all campaigns together, you allow that {guesses_of}", guesses_of=guesses_of(epsilon_of(budget.total))
    )
    if not budget.committed and not budget.waiting:
        return f"{sentence}."
    waits = (
        _(" What you declined counts until a second person declines too, or that round ends.") if budget.waiting else ""
    )
    return f"{sentence}. {left_words(epsilon_of(budget.left), epsilon_of(budget.total))}{waits}"


def left_words(left: float, total: float) -> str:
    """Say how much of a total is left, never more than it is.

    >>> left_words(1.81, 2.0), left_words(0.0, 2.0), left_words(0.001, 2.0)
    ('90 % of your total is left.', 'Nothing is left of your total.', 'Next to nothing is left of your total.')
    """
    share = int(100 * left / total * (1 - 1e-12)) if left < total else 100
    if share < 1:
        return _("Next to nothing is left of your total.") if left > 0 else f"{_('Nothing is left of your total')}."
    return _("{share} % of your total is left.", share=share)


def _down(grains: int) -> str:
    """Write what is left, never more than it is.

    >>> _down(0), _down(1), _down(2**31 + 1)
    ('nothing', 'next to nothing', 'epsilon 0.5')
    """
    if epsilon_of(grains) < 1e-4:
        return _("next to nothing") if grains else "nothing"
    return _("epsilon {int:g}", int=int(epsilon_of(grains) * 10000.0) / 10000.0)


def _cut(budget: Budget, draft: Draft, most: int | None) -> str:
    """Say now, and not after the plan, that a total leaves less than was chosen here."""
    if most is None or budget.left is None or budget.left >= most:
        return ""
    if epsilon_of(budget.left) < LIMITS[0].amount:
        return _(
            "Nothing is left of your total over all campaigns: as it is, your answer will count nothing "
            "here. Allow more below if you want to take part."
        )
    if draft.model == PRIVACY_CONSTRAINED:
        return _(
            "Less than this is left of your total over all campaigns: you will be asked for no more than what is left."
        )
    return _("If this campaign asks for more than is left of your total over all campaigns, it goes on without you.")


def _once(budget: Budget, most: int | None) -> str:
    """Write the total that covers this campaign and no other, where that is less than it is now."""
    if most is None or budget.total is None or budget.after(1, most) >= budget.total:
        return ""
    return repr(epsilon_of(budget.after(1, most)))


def _options(budget: Budget, most: int | None, picked: str) -> tuple[Option, ...]:
    """List the totals to choose from; one said before is the default, so that changing a limit never changes it unasked."""
    like = _("more like this one") if budget.committed else _("like this one")
    words = {times: _("{times} campaigns {like}", times=times, like=like) for times in _CHOICES} | {
        1: _("this campaign, and no other")
    }
    choices = _choices(budget, most)
    default = str(TIMES) if budget.total is None else ""
    marked = picked if picked in map(str, choices) else default
    listed = tuple(Option(str(times), words[times], str(times) == marked) for times in choices)
    if budget.total is None:
        return listed
    said = (
        _("what I said before")
        if budget.left is None
        else _("what I said before ({down} is left)", down=_down(budget.left))
    )
    return (Option("", said, not marked), *listed)


def _choices(budget: Budget, most: int | None) -> tuple[int, ...]:
    """List the choices that differ: beyond the end of what can be said in campaigns, more of them allow no more."""
    if most is None:
        return _CHOICES
    totals = {budget.after(times, most): times for times in reversed(_CHOICES)}
    return tuple(sorted(totals.values()))
