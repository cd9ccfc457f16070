"""Compare groups of a release, and put them together (E27)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from optin.errors import BadInput
from optin.kernel.combining import Combination, as_one_group
from optin.planning.population import made_of, population_shares
from optin.questions import Question
from optin.questions.combined import Addend, Combined, Term
from optin.questions.group_sizes import GroupSizes
from optin.questions.intervals import check_confidence
from optin.questions.kinds import QuestionResult
from optin.questions.sheet import expect_question
from optin.releasing.across import Difference, Differences, Total
from optin.wording.groups import listed_groups, shown_group
from optin.wording.language import N_
from optin.wording.sentences import Sentence

if TYPE_CHECKING:
    from optin.releasing.record import Release

Groups = Mapping[str, "Release"]
Addends = Mapping[str, tuple[Addend, ...]]
MOST_COMPARISONS = 20_000
"""More intervals than this are not made at once: 200 groups have 19,900 pairs."""


class AcrossRelease:
    """Ask a release of groups for what follows for several of them together."""

    def difference(self: Release, question: str, first: str, second: str) -> Difference:  # type: ignore[misc]
        """Return how far the first group lies above the second, with an interval (E27).

        >>> import numpy as np, optin
        >>> rng, wards = np.random.default_rng(1), np.repeat(["ER", "ICU"], 400)
        >>> people = optin.PrivacyConstrained(rng.choice([0.5, 2.0], 800), groups=wards)
        >>> offer = optin.plan(people, [optin.Number("hours", bounds=(0, 80), sd=9)]).announce(people)
        >>> release = optin.release(offer, people, {"hours": np.where(wards == "ER", 45.0, 35.0)})
        >>> difference = release.difference("hours", "ER", "ICU")
        >>> 4 < difference.interval(0.95).low < difference.estimate < difference.interval(0.95).high < 16
        True
        """
        return difference_of(self.groups, question, first, second)

    def differences(  # type: ignore[misc]
        self: Release, question: str, level: float = 0.95, *, among: Sequence[str] | None = None
    ) -> Differences:
        """Return the differences of all pairs of groups, or of those named, with intervals that hold together (Bonferroni)."""
        return differences_of(self.groups, question, level, among)

    def total(self: Release, question: str, population: Any = None) -> Total:  # type: ignore[misc]  # noqa: ANN401
        """Put the whole together from groups: each counts by the people announced, or by what ``population`` says.

        ``population`` gives every group its share, also in percent, or its people (post-stratification): a mapping, a file or a
        table in memory with the columns ``group`` and ``share`` or ``people``. Where limits go with groups this is
        not tilted, as a mean without groups would be. People of a group are told in tens: without a ``population`` the
        interval contains the whole for all numbers of people that fit. BadInput where a group's result was not published.
        """
        offer = self.announcement
        return total_of(self.groups, question, population, everyone=offer.people, made=made_of(offer.designs))


def difference_of(groups: Groups, question: str, first: str, second: str) -> Difference:
    """Return how far the first group lies above the second."""
    for name in (first, second):
        _expect_group(groups, name)
    if first == second:
        raise BadInput("a difference is one of two groups; {group} is given twice", group=shown_group(first))
    for name in (first, second):
        if why := withheld_why(groups[name], question):
            raise _withheld(_NO_DIFFERENCE, question, name, why)
    return _difference(_asked(groups, question), _addends(groups, question, (first, second)), first, second)


def _difference(question: Question, addends: Addends, first: str, second: str) -> Difference:
    title = f"{question.name}: {shown_group(first)} less {shown_group(second)}"
    return Difference(question, title, _combined(addends, {first: 1.0, second: -1.0}))


def differences_of(groups: Groups, question: str, level: float, among: Sequence[str] | None = None) -> Differences:
    """Return the differences of all pairs of groups that were published, with intervals that hold together."""
    check_confidence(level)
    chosen = tuple(groups) if among is None else tuple(dict.fromkeys([among] if isinstance(among, str) else among))
    for name in chosen:
        _expect_group(groups, name)
    withheld = {name: why for name in chosen if (why := withheld_why(groups[name], question))}
    known = [name for name in chosen if name not in withheld]
    if among is not None and len(chosen) < 2:
        raise BadInput("a difference is one of two groups; {among} names fewer than two groups", among="among")
    if len(known) < 2:
        raise BadInput('"{question}" was published of fewer than two groups: there is no difference', question=question)
    asked, addends = _asked(groups, question), _addends(groups, question, known)
    if math.comb(len(known), 2) * len(addends[known[0]]) > MOST_COMPARISONS:
        raise BadInput(
            "{count:,} groups have more than {most:,} differences; name the groups to compare in {among}",
            count=len(known),
            most=MOST_COMPARISONS,
            among="among",
        )
    pairs = tuple(_difference(asked, addends, *pair) for pair in itertools.combinations(known, 2))
    return Differences(asked, pairs, float(level), withheld)


def _sizes(groups: Groups, everyone: int | None) -> GroupSizes:
    """Return what is told of how many people each group has, and all of them together."""
    told = [each.announcement.public for each in groups.values()]
    least, most = tuple(each.people for each in told), tuple(each.most_people for each in told)
    return GroupSizes(least, most, sum(least) if everyone is None else everyone)


def total_of(
    groups: Groups,
    question: str,
    population: Any = None,  # noqa: ANN401
    *,
    everyone: int | None = None,
    made: Mapping[str, Sequence[str]] | None = None,
) -> Total:
    """Put the whole together; where one group's result was not published there is none, and it is said why.

    ``everyone`` is how many people there are together, where those of groups are told in tens; ``made`` says of which labels
    each group is made, where some were merged.
    """
    asked = _asked(groups, question)
    for name, each in groups.items():
        if why := withheld_why(each, question):
            raise _withheld(_NO_WHOLE, question, name, why)
    sizes = _sizes(groups, everyone) if population is None else None
    shares = (
        population_shares(population, made or tuple(groups))
        if sizes is None
        else dict(zip(groups, sizes.shares, strict=True))
    )
    figures = _combined(_addends(groups, question, tuple(groups)), shares, sizes)
    results = {name: groups[name][question] for name in groups}
    return Total(asked, f"{question}: all groups together", figures, shares, _ungrouped(figures, results))


_NO_DIFFERENCE = N_('"{question}" has no difference: of group {group} it was not published: {why}')
_NO_WHOLE = N_('"{question}" has no whole: of group {group} it was not published: {why}')


def _withheld(template: str, question: str, group: str, why: str) -> BadInput:
    return BadInput(template, question=question, group=shown_group(group), why=Sentence(why))


def withheld_why(release: Release, question: str) -> str:
    """Say why a question was not published of a group, or nothing."""
    return release.dropped.get(question, "")


def _addends(groups: Groups, question: str, names: Sequence[str]) -> Addends:
    """Read the figures that can be added up off each group, once."""
    return {name: groups[name][question].addends() for name in names}


def _combined(
    addends: Addends, coefficients: Mapping[str, float], sizes: GroupSizes | None = None
) -> tuple[Combined, ...]:
    """Add up every figure over groups."""
    figures = zip(*(addends[name] for name in coefficients), strict=True)
    return tuple(
        Combined(tuple(Term(*each) for each in zip(coefficients, coefficients.values(), figure, strict=True)), sizes)
        for figure in figures
    )


def _ungrouped(figures: Sequence[Combined], results: Mapping[str, QuestionResult]) -> tuple[float, ...] | None:
    """Return the standard errors of one weighted mean over everybody, by parts of what they gave, with one draw of noise."""
    counted = [result.counted for result in results.values()]
    if len({each.noiseless for each in counted}) > 1:
        return None
    if counted[0].noiseless:  # everyone who counts counts alike
        total = sum(each.people for each in counted)
        return tuple(_exact_error(figure, [each.people / total for each in counted]) for figure in figures)
    reaches = [each.reach for each in counted]
    return tuple(math.sqrt(_pooled_variance(figure, reaches)) for figure in figures)


def _exact_error(figure: Combined, parts: Sequence[float]) -> float:
    return math.sqrt(math.fsum(part**2 * t.addend.variance for part, t in zip(parts, figure.terms, strict=True)))


def _pooled_variance(figure: Combined, reaches: Sequence[float]) -> float:
    noises = [Combination((term.addend.part,)).noise_variance for term in figure.terms]
    sampling = [max(term.addend.variance - noise, 0.0) for term, noise in zip(figure.terms, noises, strict=True)]
    return as_one_group(reaches, sampling, noises[0] * reaches[0] * reaches[0])


def _asked(groups: Groups, question: str) -> Question:
    first = next(iter(groups.values()), None)
    if first is None:
        raise BadInput(
            "this release is not by group; announce people with groups, or ask for release[{name}]", name=question
        )
    return expect_question(first.sheet, question)


def _expect_group(groups: Groups, name: str) -> None:
    if name not in groups:
        raise BadInput(
            "there is no group {group}; the groups are {groups}",
            group=shown_group(str(name)),
            groups=listed_groups(tuple(groups)),
        )
