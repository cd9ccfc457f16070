"""Pictures of the dial: what other caps and other amounts of noise would give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optin.agents import Description
from optin.errors import BadInput
from optin.figures.curves import Crowd, Designs, crowd, designs
from optin.figures.ink import LIGHT, Ink, dot, log_axis, name_lines, plain, scaled_axis, write
from optin.figures.merged_cells import SMALLEST_CELL, PeopleShown, described
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.language import _, capital
from optin.wording.numbers import count, largest, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 240
TALL = 4.0
"""Above this ratio of the highest to the lowest error an axis becomes logarithmic."""


def dial_caps(plan: Plan, people: Crowd, points: int = POINTS) -> Array:
    """Choose caps from just below the strictest group's limits to just above the most open one's, the plan's own among them."""
    low, high = _ends(plan, people)
    caps = np.geomspace(low, high, points)
    return np.unique(np.append(caps, plan.cap)) if low <= plan.cap <= high else caps


def variance_by_cap(ax: Axes, plan: Plan, people: PeopleShown, *, ink: Ink = LIGHT) -> str:
    """Draw the error along the dial: the strictest limit for all at one end, proportional to limits at the other.

    With a declared gap the possible squared bias is added, as in the plan (E15). Returns the picture in words.
    """
    those = _drawable(plan, described(plan, people))
    if len(those.finite) == 0 or those.limits[-1] <= those.finite[0] * 1.02:
        raise BadInput("all limits are alike: there is no dial to turn")
    curve = designs(plan, those, dial_caps(plan, those))
    plain(ax, ink, x=_("cap on epsilon (the dial)"), y=_error_name(plan))
    log_axis(ax, "x", float(curve.caps[0]) / 1.04, float(curve.caps[-1]) * 1.04)
    ax.plot(curve.caps, curve.errors, color=ink.strong, linewidth=2.2)
    _height(ax, curve.errors)
    at = (min(max(plan.cap, float(curve.caps[0])), float(curve.caps[-1])), plan.worst_case_mse)
    _name_ends(ax, curve, at[0], ink)
    _best_elsewhere(ax, plan, curve.caps, curve, ink)
    dot(ax, ink, at)
    words = (
        _("this plan: cap {cap}", cap=largest(plan.cap))
        if plan.cap <= curve.caps[-1]
        else _("this plan, proportional:\nnobody is capped")
    )
    _name_plan(ax, words, at, ink, up=26 if plan.eta_given or plan.cap > curve.caps[-1] else -16)
    return _(
        "Expected squared error against the cap. The plan's cap is {cap}, its error {worst_case_mse}. "
        "With about the strictest group's limit for all it would be {strictest}, proportional to limits "
        "{proportional}.",
        cap=largest(plan.cap),
        worst_case_mse=short(plan.worst_case_mse),
        strictest=short(float(curve.errors[0])),
        proportional=short(float(curve.errors[-1])),
    )


def variance_by_eta(ax: Axes, plan: Plan, people: PeopleShown, *, ink: Ink = LIGHT) -> str:
    """Draw the error and its parts against eta, the inverse of the noise scale: less noise needs less equal weights.

    Eta ends where every limit is used up. Returns the picture in words.
    """
    those = _drawable(plan, described(plan, people))
    curve = _near(designs(plan, those, _caps_around(plan, those)), plan)
    plain(ax, ink, x=_("η = 1 / noise scale (less noise to the right)"), y=_error_name(plan))
    ax.plot(curve.etas, curve.errors, color=ink.strong, linewidth=2.4)
    ax.plot(curve.etas, curve.sampling, color=ink.text, linewidth=1.4, linestyle=(0, (1, 1.5)))
    ax.plot(curve.etas, curve.noise, color=ink.text, linewidth=1.4, linestyle=(0, (6, 2)))
    ends = [("total", curve.errors), ("sampling", curve.sampling), ("noise", curve.noise)]
    if plan.max_gap > 0:
        ax.plot(curve.etas, curve.bias_squares, color=ink.soft, linewidth=1.4, linestyle=(0, (4, 2, 1, 2)))
        ends.append(("bias²", curve.bias_squares))
    ax.set_xlim(float(curve.etas[0]), float(curve.etas[-1]))
    ax.set_ylim(0, min(float(curve.errors.max()), 3.2 * plan.worst_case_mse) * 1.05)
    scaled_axis(ax, "y", like=plan.worst_case_mse)
    name_lines(ax, ink, [(name, float(line[-1])) for name, line in ends], right=float(curve.etas[-1]))
    _best_elsewhere(ax, plan, curve.etas, curve, ink)
    dot(ax, ink, (plan.eta, plan.worst_case_mse))
    name = _("this plan: η = {eta}", eta=short(plan.eta))
    _name_from_above(ax, name, (plan.eta, plan.worst_case_mse), ink)
    return _(
        "Expected squared error against eta, with its parts. {name}, error {worst_case_mse}, of "
        "which noise {noise_variance}. To the left noise dominates, to the right uneven weights.",
        name=capital(name),
        worst_case_mse=short(plan.worst_case_mse),
        noise_variance=short(plan.noise_variance),
    )


def _drawable(plan: Plan, description: Description) -> Crowd:
    if math.isinf(plan.eta):
        raise BadInput("without noise there is no dial to draw: everyone who counts has no limit")
    if description.people < SMALLEST_CELL:
        raise BadInput("only {count}: too few to draw; the plan's numbers remain", count=count(description.people))
    return crowd(description)


def _ends(plan: Plan, people: Crowd) -> tuple[float, float]:
    """Return where the dial starts and ends; where some have no limit, far enough beyond the cap."""
    if len(people.finite) == 0:
        return plan.cap / 10, plan.cap * 10
    low, high = people.least, people.most
    if math.isinf(people.limits[-1]):
        high = max(high, plan.cap) * 4
    return low, max(high, low * 1.05)


def _caps_around(plan: Plan, people: Crowd) -> Array:
    low, high = _ends(plan, people)
    own = min(plan.cap, high)
    return np.unique(np.concatenate((np.geomspace(min(low, own / 30), high, 2 * POINTS), [own])))


def _near(curve: Designs, plan: Plan) -> Designs:
    """Keep designs with a third to three times the plan's eta."""
    keep = (curve.etas >= plan.eta / 3) & (curve.etas <= plan.eta * 3)
    return Designs(
        curve.caps[keep], curve.etas[keep], curve.sampling[keep], curve.noise[keep], curve.tilts[keep], curve.max_gap
    )


def _error_name(plan: Plan) -> str:
    return _("worst expected squared error") if plan.max_gap > 0 else _("expected squared error")


def _height(ax: Axes, errors: Array) -> None:
    low, high = float(errors.min()), float(errors.max())
    if high > TALL * low:
        room = (high / low) ** 0.2
        log_axis(ax, "y", low / room, high * room, most=6)
    else:
        ax.set_ylim(0, high * 1.3)
        scaled_axis(ax, "y", like=low)


def _name_ends(ax: Axes, curve: Designs, at: float, ink: Ink) -> None:
    first, last = (float(curve.caps[0]), float(curve.errors[0])), (float(curve.caps[-1]), float(curve.errors[-1]))
    dot(ax, ink, first, filled=False)
    write(ax, ink, _("strictest:\nall alike"), first, offset=(9, 3), va="bottom", ha="left")
    if at < last[0]:
        dot(ax, ink, last, filled=False)
        write(ax, ink, _("proportional:\nall give all"), last, offset=(2, 9), ha="right", va="bottom")


def _name_plan(ax: Axes, words: str, at: tuple[float, float], ink: Ink, *, up: int) -> None:
    """Name the plan's dot, so many points above or below it."""
    left, right = ax.get_xlim()
    share = _fraction(at[0], left, right, log=ax.get_xscale() == "log")
    side = "center" if 0.25 < share < 0.75 else ("left" if share <= 0.25 else "right")
    arrow = {"arrowstyle": "-", "color": ink.soft, "shrinkB": 5}
    write(
        ax, ink, words, at, offset=(0, up), ha=side, va="bottom" if up > 0 else "top", weight="bold", arrowprops=arrow
    )


def _name_from_above(ax: Axes, words: str, at: tuple[float, float], ink: Ink) -> None:
    """Name a dot from the top of the picture, where the curve leaves most room."""
    left, right = ax.get_xlim()
    top = ax.get_ylim()[1]
    share = _fraction(at[0], left, right, log=False)
    ax.plot((at[0], at[0]), (at[1], 0.9 * top), color=ink.soft, linewidth=0.9)
    side, off = ("center", 0) if 0.3 < share < 0.75 else (("left", -2) if share <= 0.3 else ("right", 2))
    write(ax, ink, words, (at[0], 0.9 * top), offset=(off, 2), ha=side, va="bottom", weight="bold")


def _fraction(x: float, left: float, right: float, *, log: bool) -> float:
    return math.log(x / left) / math.log(right / left) if log else (x - left) / (right - left)


def _best_elsewhere(ax: Axes, plan: Plan, places: Array, curve: Designs, ink: Ink) -> None:
    """Mark the lowest point where the plan is not there because its eta was given."""
    if not plan.eta_given:
        return
    best = int(np.argmin(curve.errors))
    place = (float(places[best]), float(curve.errors[best]))
    dot(ax, ink, place, filled=False)
    write(ax, ink, "best", place, offset=(0, -9), ha="center", va="top")
