"""What a release's report says: the estimate, how far it may be off, what was offered, how to check it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from optin import figures
from optin.figures.accuracy import release_parts
from optin.questions.kinds import SPREAD, Reading
from optin.releasing import Release
from optin.report.drawn import MEAN, cap_row, drawn_section, sealed_rows
from optin.report.markup import Markup, joined, table, tag
from optin.report.section import Pictured, error_name, error_reading, note, root, squared_error_caption
from optin.wording.language import N_, _
from optin.wording.numbers import ends, percent, power_of, steady

LEVELS = (0.9, 0.95, 0.99)


METHODS = (
    N_("normal plus Laplace, declared variance, skewness allowed for"),
    N_("normal plus Laplace, declared variance"),
    N_("Hoeffding and Laplace, error split"),
)
"""Methods that are named where no words are said; others are marked where they are named."""


def result_section(release: Release) -> Pictured:
    """Show the estimate with both intervals."""

    def numbers() -> Markup:
        rows = [
            (percent(at), *(_ends(release, kind, at) for kind in ("noise_interval", "total_interval"))) for at in LEVELS
        ]
        shown = table(
            _("Intervals"), (_("confidence"), _("these people"), _("the population")), rows, strong=percent(0.95)
        )
        method = _("Method for the population: {method}.", method=_(release.total_interval(0.95).method))
        return joined((shown, note(method, *sd_words(release.only.readings(0.95)), _ledger_note(release))))

    return Pictured(
        name="result",
        title=_("The result"),
        reading=_(
            "Two questions, two intervals. The mean of these very people, weighted as announced, differs "
            "from the estimate by the noise alone. The mean of the population they stand for also differs by "
            "the luck of who was asked."
        ),
        draw=lambda ax, ink: figures.intervals(ax, release, ink=ink),
        numbers=numbers,
        height=2.6,
    )


def sd_words(readings: Iterable[Reading]) -> list[str]:
    """Say the standard deviation that was published beside the mean (E21), where one was."""
    return [_sd_sentence(each) for each in readings if each.answer == SPREAD]


def _sd_sentence(read: Reading) -> str:
    estimate, interval = read.written()
    if read.lost:
        return _(
            "The standard deviation of the values is too noisy to say (95 % interval {interval}); it was published at no "
            "further cost.",
            interval=interval,
        )
    return _(
        "The standard deviation of the values is estimated at {estimate} (95 % interval {interval}), published at "
        "no further cost.",
        estimate=estimate,
        interval=interval,
    )


def _ends(release: Release, kind: str, at: float) -> str:
    low, high = getattr(release, kind)(at)
    first, last = ends((low, high), release.standard_error)
    return _("{low} to {high}", low=first, high=last)


def _ledger_note(release: Release) -> str:
    if release.charged:
        return _("Charged in a ledger, as act {ledger_number}.", ledger_number=release.ledger_number)
    return _("Not charged: no ledger stands behind this release, so nobody's loss was added up.")


def error_section(release: Release) -> Pictured:
    """Split the release's error, for reports without a plan."""
    bias = release.bias_bound > 0

    def numbers() -> Markup:
        unit = 10.0 ** (power := power_of(release.variance))
        rows = [
            (p.name, *(steady(part / unit) for part in (p.sampling, p.noise, p.bias)[: 2 + bias]), root(p.total))
            for p in release_parts(release)
        ]
        head = ("", "sampling", "noise", *(["bias²"] if bias else []), error_name(bias=bias))
        return table(squared_error_caption(power), head, rows, strong="this release")

    return Pictured(
        name="error",
        title="Where the error comes from",
        reading=error_reading(bias=bias),
        draw=lambda ax, ink: figures.release_sources(ax, release, ink=ink),
        numbers=numbers,
        height=2.4,
    )


def _drawn(release: Release) -> list[tuple[str, str]]:
    """List what was drawn, where it is public, and else what binds it."""
    if release.seal is not None:
        return sealed_rows(release)
    exact = release.expect_sealed()
    return [("sum of grains", f"{exact.total_grains}"), ("noisy total", f"{exact.noisy_total}")]


def offer_section(release: Release) -> Markup:
    """List what was announced and what was drawn, and say how to recompute the estimate."""
    offer = release.announcement
    rows = [
        ("bounds of a value", f"{offer.bounds[0]:.10g} to {offer.bounds[1]:.10g}"),
        ("declared sd of a value", f"{math.sqrt(offer.data_variance):.10g}"),
        ("declared gap, tilt", f"{offer.max_gap:.10g}, {percent(release.tilt)}"),
        cap_row(release),
        ("noise scale", f"{release.noise_scale:.10g}"),
        ("variance, standard error", f"{release.variance:.10g}, {release.standard_error:.10g}"),
        *_drawn(release),
        ("fingerprint", release.fingerprint),
        ("ledger", _ledger_note(release)),
    ]
    return drawn_section(release, rows, "the estimate: ", tag("code", MEAN))
