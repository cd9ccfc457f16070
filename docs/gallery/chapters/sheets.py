"""Several questions under one limit: what each kind costs, what importance gains, and a spread for nothing."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from optin.figures.ink import LIGHT, dot, log_axis, name_lines, plain, write
from optin.figures.laboratory import DASHES
from optin.kernel.halfwidth import Weighing, half_width
from optin.kernel.spreads import LEVELS, Moments, companion

FIVE = ("never", "rarely", "sometimes", "often", "always")
KINDS = {
    "yes or no": optin.YesNo("a"),
    "number, sd half of the range": optin.Number("a", bounds=(0, 1)),
    "choice of three": optin.Choice("a", options=FIVE[:3]),
    "number, sd a quarter": optin.Number("a", bounds=(0, 1), sd=0.25),
    "choice or scale of five": optin.Scale("a", options=FIVE),
    "histogram of ten bins": optin.Histogram("a", edges=range(11)),
    "two of five options": optin.MultipleChoice("a", options=FIVE, at_most=2),
    "number, sd a tenth": optin.Number("a", bounds=(0, 1), sd=0.1),
    "number, sd a hundredth": optin.Number("a", bounds=(0, 1), sd=0.01),
}
PEOPLE = 1000


@entry("kinds", "What each kind of question costs", size=(10.4, 4.0))
def kinds(figure: Figure) -> Shown:
    """Draw what each kind takes beside a yes or no, and how fast a sheet of like questions loses accuracy."""
    left, right = figure.subplots(1, 2)
    taken = {name: (question.price / 8.0) ** 0.5 for name, question in KINDS.items()}
    plain(left, LIGHT, x="epsilon it takes (a yes or no: 1)", y="", grid="x")
    left.barh(list(taken), list(taken.values()), color=LIGHT.pale, edgecolor=LIGHT.strong, linewidth=1.2, height=0.62)
    left.set_xscale("log")
    left.set_xlim(0.8, 70)
    left.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    left.minorticks_off()
    left.invert_yaxis()
    for place, value in enumerate(taken.values()):
        write(left, LIGHT, f"{value:.2g}", (value, place), offset=(4, 0), va="center", ha="left")
    counts = np.array([1, 2, 3, 4, 6, 8, 10, 15, 20])
    lines = {
        name: _worth(KINDS[name], counts) for name in ("yes or no", "choice or scale of five", "number, sd a tenth")
    }
    plain(right, LIGHT, x="questions of one kind on the sheet", y=f"as accurate as (of {PEOPLE:,} people)")
    for heights, style in zip(lines.values(), DASHES, strict=False):
        right.plot(counts, heights, color=LIGHT.strong, linewidth=2.2, linestyle=style)
    right.set_xlim(1, 20)
    right.set_xticks([1, 5, 10, 15, 20])
    log_axis(right, "y", 1, 1000)
    ends = zip(("yes or no", "scale\nof five", "number,\nsd a tenth"), lines.values(), strict=True)
    name_lines(right, LIGHT, [(name, float(heights[-1])) for name, heights in ends], right=20)
    ten = {name: _worth(question, [10])[0] for name, question in KINDS.items()}
    return Shown(
        f"""
A question enters a plan through one number, its price: the variance of its noise beside that of its answers
(E18). All questions of a sheet are made equally accurate, and for that each takes epsilon in proportion to the
root of its price. Beside a yes or no (1), a scale of five options takes {taken["choice or scale of five"]:.2g},
a histogram of ten bins {taken["histogram of ten bins"]:.2g}, two of five options
{taken["two of five options"]:.2g}. A number takes 1 if answers lie at both ends of its bounds, and more the
closer together they lie: {taken["number, sd a tenth"]:.2g} if their sd is a tenth of the range,
{taken["number, sd a hundredth"]:.2g} if it is a hundredth. Bounds far wider than the answers are the dearest mistake.

On the right, {PEOPLE:,} people with mixed limits (34 % choose 0.1, 43 % 0.5, 23 % 1) answer more and more
questions of one kind. One yes or no is as accurate as {lines["yes or no"][0]:.0f} people without noise, ten are
as accurate as {ten["yes or no"]:.0f}; ten scales as {ten["choice or scale of five"]:.0f}, ten numbers whose sd
is a tenth of their range as {ten["number, sd a tenth"]:.0f}. Noise variance grows with the square of the number
of questions.

```python
>>> import optin
>>> five = ("never", "rarely", "sometimes", "often", "always")
>>> for question in (optin.YesNo("a"), optin.Scale("a", options=five), optin.Number("a", bounds=(0, 80), sd=8)):
...     print(question.kind, round(question.price))
yes-no 8
scale 40
number 200

```

Theory: [sheets](../theory/sheets.md). Before you ask: [how large a study must be](../how-to/how-large.md).
""",
        "Left, bars of the epsilon that each kind of question takes, from 1 for a yes or no to"
        f" {taken['number, sd a hundredth']:.0f} for a number whose sd is a hundredth of its range. Right, effective people fall"
        " as a sheet has more questions of one kind, fastest for sharp numbers.",
    )


def _worth(question: optin.Question, counts: np.ndarray | list[int]) -> np.ndarray:
    """Return the effective people of sheets of so many questions of one kind."""
    from dataclasses import replace

    def sheet(count: int) -> list[optin.Question]:
        return [replace(question, name=f"question {n}") for n in range(count)]

    return np.array([_effective(sheet(int(count))) for count in counts])


def _effective(questions: list[optin.Question]) -> float:
    return _planned(questions, PEOPLE).effective_people


def _planned(questions: list[optin.Question], people: int) -> optin.Plan:
    """Plan for people with mixed limits."""
    return optin.plan(optin.PrivacyConstrained(_mixed(people)), questions)


def _mixed(people: int) -> np.ndarray:
    return np.repeat([0.1, 0.5, 1.0], [round(people * part) for part in (0.34, 0.43, 0.23)])


@entry("importance", "Importance: something to gain where noise rules, little elsewhere")
def importance(figure: Figure) -> Shown:
    """Draw effective people of an important question and of three others against importance, for few and for many."""
    found = {people: _by_importance(people) for people in (200, 5000)}
    for ax, (people, (steps, main, others, alone)) in zip(figure.subplots(1, 2), found.items(), strict=True):
        plain(ax, LIGHT, x="importance of one of four yes or no", y=f"as accurate as (of {people:,} people)")
        ax.plot(steps, main, color=LIGHT.strong, linewidth=2.4)
        ax.plot(steps, others, color=LIGHT.strong, linewidth=2.0, linestyle=DASHES[1])
        ax.axhline(alone, color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
        ax.set_xlim(1, 8)
        ax.set_ylim(0, 1.15 * alone)
        write(ax, LIGHT, "asked alone", (8, alone), offset=(-4, 4), ha="right", va="bottom")
        name_lines(ax, LIGHT, [("this one", main[-1]), ("the others", others[-1])], right=8)
    few, many = found[200], found[5000]
    return Shown(
        f"""
Four questions of yes or no, and one of them is given more and more importance: at importance m it should be as
accurate as m times the people of the others (E19). Mixed limits; 200 people on the left, 5,000 on the right.

With 200 people noise is most of the error, and there is something to gain: at importance 2 the question rises
from {few[1][0]:.0f} effective people to {_at(few, 2)[0]:.0f}, while the others fall to {_at(few, 2)[1]:.0f}.
With 5,000 people most of the error is the luck of whom one asked, which no epsilon cures: the question rises
from {many[1][0]:.0f} to {_at(many, 2)[0]:.0f} only, and the others are brought down to {_at(many, 2)[1]:.0f},
half of that, because the *ratio* was asked for. Asked alone it would have {few[3]:.0f} and {many[3]:.0f}.

So give importance where noise rules, and look at both columns before you do. Leaving a question out helps all
others at once.

```python
>>> import optin
>>> people = optin.PrivacyConstrained([0.1] * 68 + [0.5] * 86 + [1.0] * 46)
>>> plan = optin.plan(people, [optin.YesNo("main", importance=2), *(optin.YesNo(name) for name in "abc")])
>>> round(plan["main"].effective_people), round(plan["a"].effective_people)
({_at(few, 2)[0]:.0f}, {_at(few, 2)[1]:.0f})

```

How to: [ask for more accuracy on one question](../how-to/importance.md).
""",
        "Effective people against importance, for 200 and for 5,000 people: the important question rises slowly and levels off"
        " below what it would have alone, the others fall steeply.",
    )


Curve = tuple[np.ndarray, np.ndarray, np.ndarray, float]


def _by_importance(people: int) -> Curve:
    steps = np.geomspace(1, 8, 49)
    found = []
    for step in steps:
        plan = _planned([optin.YesNo("main", importance=float(step)), *(optin.YesNo(name) for name in "abc")], people)
        found.append((plan["main"].effective_people, plan["a"].effective_people))
    main, others = np.array(found).T
    return steps, main, others, _planned([optin.YesNo("main")], people).effective_people


def _at(curve: Curve, step: float) -> tuple[float, float]:
    place = int(np.argmin(np.abs(curve[0] - step)))
    return float(curve[1][place]), float(curve[2][place])


@entry("spread-for-nothing", "The spread of a number comes for nothing")
def spread_for_nothing(figure: Figure) -> Shown:
    """Draw the two numbers that one answer moves, and the interval with the declared and with the released spread."""
    left, right = figure.subplots(1, 2)
    levels = np.arange(0, LEVELS + 1, LEVELS // 256)
    hill = np.array([companion(int(level)) for level in levels])
    plain(left, LIGHT, x="what an answer adds to the first number", y="what it adds to the second")
    left.plot(levels / LEVELS, hill / LEVELS, color=LIGHT.strong, linewidth=2.4)
    left.plot([0, 0.5, 1], [0, 0.5, 0], color=LIGHT.mark, linewidth=1.2, linestyle=(0, (5, 3)))
    write(left, LIGHT, "nothing may lie above this", (0.5, 0.5), offset=(0, 4), ha="center", va="bottom")
    for answer in (0.0, 1.0):
        dot(left, LIGHT, (answer, 0.0))
    dot(left, LIGHT, (0.5, 0.25))
    left.set_xlim(0, 1)
    left.set_ylim(0, 0.6)
    spreads = np.linspace(0.02, 0.5, 49)
    people = optin.PrivacyConstrained(_mixed(PEOPLE))
    plan = optin.plan(people, bounds=(0, 1))
    weights = plan.weights(people)
    squares, heaviest = float(weights @ weights), float(weights.max())
    declared = half_width(0.05, Weighing(1.0, 0.25, squares, heaviest, plan.noise_scale))[0]
    released = [_released(sd, plan.epsilon_total, squares, heaviest) for sd in spreads]
    plain(right, LIGHT, x="true standard deviation (of the range)", y="± of the mean (of the range)")
    right.plot(spreads, released, color=LIGHT.strong, linewidth=2.4)
    right.axhline(declared, color=LIGHT.strong, linewidth=2.0, linestyle=DASHES[1])
    right.set_xlim(0, 0.5)
    right.set_ylim(0, 1.4 * declared)
    name_lines(right, LIGHT, [("by the worst case", declared), ("by the\nreleased spread", released[-1])], right=0.5)
    steps = levels[::8].tolist()
    moved = max(abs(a - b) + abs(companion(a) - companion(b)) for a in steps for b in steps)
    sharp = _released(0.1, plan.epsilon_total, squares, heaviest)
    return Shown(
        f"""
Beside the sum of all answers a second sum is published, with noise of its own: every answer adds a height to it
that is 0 at both bounds and largest in the middle. Together they give the standard deviation of the answers.
That ought to cost twice the epsilon, and costs none: whoever moves the first number far moves the second
little. Among {len(steps)} answers spread over the whole range both numbers together move by at most
{100 * moved / LEVELS:g} % of what the first alone can move (E21): in the picture, no two points of the hill are
further apart, counted along the axes, than its two ends.

On the right, what it is good for. {PEOPLE:,} people with mixed limits are asked for a number of which nothing
is known beforehand, so the worst case is declared: ± {declared:.3f} of the range. If answers turn out to lie
closer together, the released spread says so, and the interval of the mean shrinks with it: to ± {sharp:.3f} if
their true sd is a tenth of the range (at the average draw). Only if nearly all answers lie at both ends is it wider, by
{100 * (released[-1] / declared - 1):.0f} %, since a spread that was drawn may be too small. The plan is the same
either way: what was declared decides that, and a wrong declaration costs it little.

```python
>>> from optin.kernel.spreads import LEVELS, companion
>>> answers = range(0, LEVELS + 1, 8192)
>>> max(abs(a - b) + abs(companion(a) - companion(b)) for a in answers for b in answers) == LEVELS
True

```

How to: [choose the variance to declare](../how-to/variance.md). Theory: [E21](../theory/sheets.md#e21).
""",
        "Left, a hill over the range of answers: 0 at both ends, a quarter in the middle, below two straight lines that are"
        " as far from one end as the ends are from each other. Right, the half-width of the mean's interval by the released"
        " spread falls with the true standard deviation, below that of the worst case.",
    )


def _released(sd: float, reach: float, squares: float, heaviest: float) -> float:
    """Return half of the interval by the released spread at the average draw, for answers around the middle."""
    return Moments(0.5, 0.25 - sd * sd * (1.0 - squares) + 2.0 / reach / reach, reach, squares, heaviest).half_width(
        0.05
    )
