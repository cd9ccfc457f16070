"""Pictures of accuracy: where the error comes from, what turnout leaves of it, and how far a release may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optin.agents import Description
from optin.baselines import Reference, best_threshold, no_privacy, references
from optin.errors import BadInput
from optin.figures.curves import crowd, turnout_tilts, turnout_variances
from optin.figures.ink import LIGHT, Ink, dot, inches, key, name_lines, plain, scaled_axis, write
from optin.figures.merged_cells import SMALLEST_CELL, PeopleShown, coarse, described
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.releasing import Interval, Release
from optin.wording.language import N_, _, capital
from optin.wording.numbers import count, ends, meaningful, percent, short, steady

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_AWAY = 0.6
NEAR = 1.05
"""A reference point may look worse by so much, for the sake of groups of ten; beyond that it would mislead."""


@dataclass(frozen=True)
class Parts:
    """A squared error in parts: the luck of who was asked, the noise, and the square of the possible bias."""

    name: str
    sampling: float
    noise: float
    bias: float = 0.0

    @property
    def total(self) -> float:
        """Return the expected squared error in the worst case."""
        return self.sampling + self.noise + self.bias


def error_parts(
    plan: Plan, description: Description | None = None, release: Release | None = None
) -> tuple[Parts, ...]:
    """Split the error of the plan, of its release if there is one, and of the reference points that can be told."""
    own = [Parts(_("this plan"), plan.variance - plan.noise_variance, plan.noise_variance, plan.bias_bound**2)]
    own += [] if release is None else [release_parts(release)[1]]
    first, *others = (Parts(r.name, r.sampling, r.noise, r.bias**2) for r in told_references(plan, description))
    return (first, *own, *others)


def told_references(plan: Plan, description: Description | None) -> tuple[Reference, ...]:
    """List the reference points, computed from groups of at least ten people with round edges: nobody's own limit.

    A threshold that lies within such a group is not known to the page; it is left out where that matters.
    """
    if description is None or description.people < SMALLEST_CELL:
        return (no_privacy(plan),)
    none, threshold, strict = references(plan, coarse(description))
    own = () if threshold_hidden(plan, description) else (threshold,)
    if strict.epsilon == 0:
        return none, *own, strict
    words = _("Everyone counts alike and loses no more than the strictest group allows, rounded down.")
    return none, *own, replace(strict, name=_("everyone near the strictest limit"), sentence=words)


def threshold_hidden(plan: Plan, description: Description) -> bool:
    """Say whether groups of ten are too coarse to tell what the best single threshold would give."""
    if description.people < SMALLEST_CELL:
        return True
    shown, known = (best_threshold(plan, people).worst_case_mse for people in (coarse(description), description))
    return math.sqrt(shown) > NEAR * math.sqrt(known)


def release_parts(release: Release) -> tuple[Parts, ...]:
    """Split a release's error, beside the plain mean of the people who joined."""
    data_variance = release.announcement.data_variance
    return (
        Parts(_("no privacy at all"), data_variance / release.joined_people, 0.0),
        Parts(
            _("this release"),
            data_variance * release.sum_squared_weights,
            release.noise_variance,
            release.bias_bound**2,
        ),
    )


def release_error(release: Release) -> float:
    """Return the root of a release's expected squared error, the largest bias at an announced gap included."""
    return math.hypot(release.standard_error, release.bias_bound)


def error_sources(
    ax: Axes,
    plan: Plan,
    people: PeopleShown | None = None,
    *,
    release: Release | None = None,
    ink: Ink = LIGHT,
) -> str:
    """Draw where the error comes from, beside the reference points, and what became of it. Returns the picture in words."""
    own = _("this plan") if release is None else _("this release")
    description = None if people is None else described(plan, people)
    return _stacked(ax, error_parts(plan, description, release), own, ink)


def release_sources(ax: Axes, release: Release, *, ink: Ink = LIGHT) -> str:
    """Draw where a release's error comes from. Returns the picture in words."""
    return _stacked(ax, release_parts(release), _("this release"), ink)


def turnout(ax: Axes, plan: Plan, people: PeopleShown, *, release: Release | None = None, ink: Ink = LIGHT) -> str:
    """Draw the error against the share of people who stay away, promises frozen (E12), and the release's own.

    Unless the noise was given, the standard errors of every pattern of decliners lie between the outer lines. Where a gap
    was declared the largest bias is counted in (E15), and there is no such band. Returns the picture in words.
    """
    description = described(plan, people)
    if description.people < SMALLEST_CELL or math.isinf(plan.eta):
        raise BadInput("only {count}, or no noise: there is no turnout to draw", count=count(description.people))
    gone = 0.0 if release is None else 1.0 - release.joined_people / plan.people
    most = max(MOST_AWAY, min(math.ceil(10 * gone + 0.5) / 10, 0.95))
    away = np.linspace(0.0, most, 121)
    lines = turnout_lines(plan, description, away)
    error, biased = math.sqrt(plan.worst_case_mse), plan.max_gap > 0
    top = min(max(float(line[-1]) for line in lines.values()), (12 if biased else 4.5) * error) * 1.08
    plain(
        ax,
        ink,
        x=_("people who stay away (%)"),
        y=_("{what} of the release", what=_("error with bias") if biased else _("standard error")),
    )
    if not biased:
        band = np.minimum(lines["generous"], 2 * top)
        ax.fill_between(away * 100, lines["strictest"], band, color=ink.pale, linewidth=0)
    ax.plot(away * 100, lines["random"], color=ink.strong, linewidth=2.4)
    ax.plot(away * 100, lines["strictest"], color=ink.text, linewidth=1.4, linestyle=(0, (1, 1.5)))
    ax.plot(away * 100, lines["generous"], color=ink.text, linewidth=1.4, linestyle=(0, (6, 2)))
    ax.set(xlim=(0, most * 100), ylim=(0, top))
    if plan.promised_variance is not None:
        _promise(ax, math.sqrt(plan.promised_variance), most * 100, ink)
    names = {"strictest": _("strictest\nfirst"), "random": _("at random"), "generous": _("most open\nfirst")}
    ends = [(name, min(float(lines[who][-1]), top)) for who, name in names.items()]
    name_lines(ax, ink, ends, right=most * 100)
    dot(ax, ink, (0, error), filled=release is None)
    if release is not None:
        _came(ax, (gone * 100, min(release_error(release), top)), ink)
    return _turnout_words(plan, description, release)


def _turnout_words(plan: Plan, description: Description, release: Release | None) -> str:
    lines = turnout_lines(plan, description, np.array([0.2]))
    name, came = _("error with the largest bias") if plan.max_gap > 0 else _("standard error"), ""
    if release is not None:
        gone = percent(1.0 - release.joined_people / plan.people)
        came = _(
            " {gone} stayed away from this release; its {name} is {release_error}.",
            gone=gone,
            name=name,
            release_error=short(release_error(release)),
        )
    return _(
        "{name} against the share of people who stay away. With everyone {all}; without a random fifth {random}, "
        "without the strictest fifth {strictest}, without the most open fifth {open}.{came}",
        name=capital(name),
        all=short(math.sqrt(plan.worst_case_mse)),
        random=short(float(lines["random"][0])),
        strictest=short(float(lines["strictest"][0])),
        open=short(float(lines["generous"][0])),
        came=came,
    )


def _came(ax: Axes, at: tuple[float, float], ink: Ink) -> None:
    """Mark what a release was left with, its name where the curves leave room: above at the left, else to the left."""
    dot(ax, ink, at)
    arrow = {"arrowstyle": "-", "color": ink.soft, "shrinkB": 5}
    off, side = ((10, 26), "left") if at[0] < 25 else ((-10, 26), "right")
    box = {"facecolor": ink.paper, "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
    write(ax, ink, _("this release"), at, offset=off, ha=side, va="bottom", weight="bold", arrowprops=arrow, bbox=box)


def turnout_lines(plan: Plan, description: Description, away: Array) -> dict[str, Array]:
    """Return the error left, by who stays away: strictest first, anyone at random, most open first.

    It is the standard error, with the largest bias at the declared gap where there is one.
    """
    people, stay = crowd(description), 1.0 - away

    def error(who: str) -> Array:
        bias = plan.max_gap * turnout_tilts(plan, people, stay, who=who) if plan.max_gap > 0 else 0.0
        return np.asarray(np.sqrt(turnout_variances(plan, people, stay, who=who) + bias**2))

    return {who: error(who) for who in ("strictest", "random", "generous")}


def intervals(ax: Axes, release: Release, *, level_of: float = 0.95, ink: Ink = LIGHT) -> str:
    """Draw the estimate with its two intervals (E22). Returns the picture in words."""
    noise, total = release.noise_interval(level_of), release.total_interval(level_of)
    error = release.standard_error
    plain(ax, ink, x=_("in the unit of the values"), y="", grid="x")
    for row, (interval, colour) in enumerate(((total, ink.pale), (noise, ink.strong))):
        _interval(ax, interval, row, colour, error, ink)
        dot(ax, ink, (release.estimate, row))
    words = _("estimate {estimate}", estimate=meaningful(release.estimate, error))
    write(ax, ink, words, (release.estimate, 1), offset=(0, 14), ha="center", weight="bold")
    ax.set_yticks((0, 1), (_("the population\n(sampling and noise)"), _("these people\n(noise alone)")))
    least, most = min(*noise, *total, release.estimate), max(*noise, *total, release.estimate)
    room = (most - least) * max(0.25, 0.75 / inches(ax))  # for the numbers at both ends
    ax.set(ylim=(-0.55, 1.6), xlim=(least - room, most + room))
    shown = percent(level_of)
    return _(
        "Estimate {estimate}. With {shown} confidence the weighted mean of these people's values lies "
        "between {noise}, the population's mean between {total}.",
        estimate=meaningful(release.estimate, error),
        shown=shown,
        noise=_and(ends(noise, error)),
        total=_and(ends(total, error)),
    )


def _interval(ax: Axes, interval: Interval, row: int, colour: str, error: float, ink: Ink) -> None:
    ax.plot((interval.low, interval.high), (row, row), color=colour, linewidth=9, solid_capstyle="butt", zorder=3)
    ax.plot((interval.low, interval.high), (row, row), "|", color=ink.text, markersize=13, zorder=4)
    low, high = ends(interval, error)
    write(ax, ink, low, (interval.low, row), offset=(-5, 0), ha="right", va="center")
    write(ax, ink, high, (interval.high, row), offset=(5, 0), ha="left", va="center")


def _promise(ax: Axes, promised: float, right: float, ink: Ink) -> None:
    ax.axhline(promised, color=ink.mark, linewidth=1.4, linestyle=(0, (5, 3)))
    place = (right, promised)  # below the line at the right, where every curve has left it
    write(ax, ink, _("above this line, no release"), place, offset=(-4, -4), ha="right", va="top")


def _stacked(ax: Axes, rows: Sequence[Parts], own: str, ink: Ink) -> str:
    plan = next(part for part in rows if part.name == own)
    most = min(max(part.total for part in rows if math.isfinite(part.total)), 3.5 * plan.total)
    plain(ax, ink, x=_("expected squared error"), y="", grid="x")
    styles = bar_styles(ink)
    for row, part in enumerate(reversed(rows)):
        end = bar(ax, row, part, most, ink) if math.isfinite(part.total) else 0.0
        bold = "bold" if part.name == own else "normal"
        write(ax, ink, _size(part, most), (end, row), offset=(6, 0), va="center", weight=bold)
    ax.set_yticks(range(len(rows)), [_two_lines(part.name) for part in reversed(rows)])
    ax.set(xlim=(0, most * 1.28), ylim=(-0.5, len(rows) - 0.5))
    scaled_axis(ax, "x", like=plan.total)
    shown = [name for name in styles if name != "bias² at most" or any(part.bias > 0 for part in rows)]
    key(ax, ink, [(_(name), styles[name]) for name in shown])
    return _("Where the error comes from") + ". " + " ".join(_sentence(part) for part in rows)


def bar(ax: Axes, row: int, part: Parts, most: float, ink: Ink) -> float:
    """Draw one bar, cut where the picture ends, visibly; return its end."""
    left, styles = 0.0, bar_styles(ink)
    for name, size in (("sampling", part.sampling), ("noise", part.noise), ("bias² at most", part.bias)):
        if size > 0:
            ax.barh(row, min(size, most - left), 0.56, left=left, linewidth=1, **styles[name])  # type: ignore[arg-type]
            left = min(left + size, most)
    if part.total > most * (1 + 1e-9):
        _break(ax, row, most, ink)
    return left


def _size(part: Parts, most: float) -> str:
    if math.isinf(part.total):
        return _("nothing to publish")
    return f"{'→ ' if part.total > most * (1 + 1e-9) else ''}{steady(math.sqrt(part.total))}"


def _break(ax: Axes, row: int, end: float, ink: Ink) -> None:
    """Cut a bar that goes on beyond the picture: two slanted strokes with a gap between."""
    for at, colour, width in ((0.94, ink.paper, 7.0), (0.93, ink.text, 1.2), (0.95, ink.text, 1.2)):
        x = (end * (at - 0.012), end * (at + 0.012))
        ax.plot(x, (row - 0.36, row + 0.36), color=colour, linewidth=width, zorder=4, solid_capstyle="butt")


def bar_styles(ink: Ink) -> dict[str, dict[str, object]]:
    """Tell the parts of an error apart by lightness and hatching."""
    return {
        N_("sampling"): {"facecolor": ink.pale, "edgecolor": ink.strong},
        N_("noise"): {"facecolor": ink.strong, "edgecolor": ink.strong},
        N_("bias² at most"): {"facecolor": ink.paper, "edgecolor": ink.mark, "hatch": "////"},
    }


def _sentence(part: Parts) -> str:
    if math.isinf(part.total):
        return _("{name}: nothing can be published.", name=capital(part.name))
    bias = _(", possible squared bias {bias}", bias=short(part.bias)) if part.bias > 0 else ""
    return _(
        "{name}: sampling {sampling}, noise {noise}{bias}, {what} {root}.",
        name=capital(part.name),
        sampling=short(part.sampling),
        noise=short(part.noise),
        bias=bias,
        what=_("error with it") if part.bias > 0 else _("standard error"),
        root=short(math.sqrt(part.total)),
    )


def _two_lines(name: str) -> str:
    """Break a long name in the middle."""
    words, half = name.split(" "), len(name) / 2
    if len(name) < 16:
        return name
    at = min(range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - half))
    return " ".join(words[:at]) + "\n" + " ".join(words[at:])


def _and(both: tuple[str, str]) -> str:
    return _("{low} and {high}", low=both[0], high=both[1])
