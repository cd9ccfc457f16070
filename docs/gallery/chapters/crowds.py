"""Who joins when people watch each other: tipping, rounds, and room for decliners."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import optin
from chapters.page import Shown, entry
from chapters.populations import lognormal
from optin import dynamics, figures
from optin.figures.ink import LIGHT, log_axis, name_lines, plain, write
from optin.figures.laboratory import DASHES

UNIT = (0, 1)


def people() -> optin.QuasiLinear:
    """Return a thousand people for whom a good release matters much."""
    return optin.QuasiLinear(lognormal(), benefit=optin.LinearBenefit(base=1, slope=400))


def names(game: dynamics.Game) -> str:
    """List where a game comes to rest, in words."""
    found = [
        "nobody" if e.people == 0 else "everybody" if e.people == len(game) else f"{e.people} people"
        for e in dynamics.equilibria(game)
    ]
    return ", ".join(found[:-1]) + " and " + found[-1]


@entry("company", "More people: a better release, and less to lose for each")
def company(figure: Figure) -> Shown:
    """Draw the variance and the loss of one person against the size of the crowd, with promises kept and noise kept."""
    crowd = people()
    plan = optin.plan(crowd, bounds=UNIT, slack=0.1)
    games = {f"{keeps} kept": dynamics.game_of(plan, crowd, keeps=keeps) for keeps in ("promises", "noise")}
    sizes = np.arange(50, 1001, 10)
    left, right = figure.subplots(1, 2)
    plain(left, LIGHT, x="people who have joined, cheapest first (%)", y="variance of the release")
    plain(right, LIGHT, x="people who have joined, cheapest first (%)", y="epsilon of the cheapest person")
    ends: dict[str, list[tuple[float, float]]] = {}
    for (name, game), style, side in zip(games.items(), DASHES, ("left", "right"), strict=False):
        totals, squares = np.cumsum(game.offered)[sizes - 1], np.cumsum(game.offered**2)[sizes - 1]
        lines = game.variances(totals, squares), game.losses(np.full(len(sizes), game.offered[0]), totals)
        for ax, line in zip((left, right), lines, strict=True):
            ax.plot(sizes / 10, line, color=LIGHT.strong, linewidth=2.2, linestyle=style)
        ends[name] = [(float(line[0]), float(line[-1])) for line in lines]
        write(left, LIGHT, name, (30, lines[0][25]), offset=(7, 7) if side == "left" else (-7, -14), ha=side)
        write(right, LIGHT, name, (30, lines[1][25]), offset=(7, 7), ha="left")
    for k, ax in enumerate((left, right)):
        low, high = (end(x[k][at] for x in ends.values()) for at, end in ((1, min), (0, max)))
        log_axis(ax, "y", low / 1.15, high * 1.15, most=6)
        ax.set_xlim(5, 100)
    promised, noisy = ends.values()
    return Shown(
        f"""
A thousand people who weigh costs (lognormal around 1, benefit 1 - 400 · variance), offered the best plan with
slack 0.1. They join one by one, the cheapest first. What does that do to those who are in already?

- *If promises are kept*, each loses what was promised, whoever else is in, and the noise depends on the crowd. From 50
  to 1000 people the variance falls from {promised[0][0]:.3g} to {promised[0][1]:.3g}.
- *If the noise is kept*, as the paper announces it, the weights of those who are in are scaled up. The variance falls
  from {noisy[0][0]:.3g} to {noisy[0][1]:.3g}, and the epsilon of the cheapest person from {noisy[1][0]:.3g} to
  {noisy[1][1]:.3g}: more
  participation means a better release *and* less privacy loss.

Either way company makes people more willing, which is why crowds [tip](tipping.md).

```python
>>> import numpy as np, optin
>>> from optin import dynamics
>>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
>>> game = dynamics.game_of(optin.plan(people, bounds=(0, 1)), people, keeps="noise")
>>> for k in (10, 25, 50):
...     joined = np.arange(50) < k
...     print(k, round(game.variance(joined), 4), round(float(game.epsilons(joined)[0]), 3))
{_company_rows()}

```
""",
        f"Left: variance against the size of the crowd, falling if promises are kept and if the noise is kept. Right: the"
        f" epsilon of one person, constant if promises are kept, falling from {noisy[1][0]:.3g} to {noisy[1][1]:.3g} if the"
        " noise is kept.",
    )


def _company_rows() -> str:
    fifty = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
    game = dynamics.game_of(optin.plan(fifty, bounds=UNIT), fifty, keeps="noise")
    crowds = {k: np.arange(50) < k for k in (10, 25, 50)}
    return "\n".join(
        f"{k} {round(game.variance(joined), 4)} {round(float(game.epsilons(joined)[0]), 3)}"
        for k, joined in crowds.items()
    )


@entry("tipping", "Company is what makes people join: crowds tip")
def tipping(figure: Figure) -> Shown:
    """Draw what the last person to join gains, with promises kept and with noise kept."""
    crowd = people()
    plan = optin.plan(crowd, bounds=UNIT, slack=0.1)
    left, right = figure.subplots(1, 2)
    games = {keeps: dynamics.game_of(plan, crowd, keeps=keeps) for keeps in ("promises", "noise")}
    words = [figures.margins(ax, game) for ax, game in zip((left, right), games.values(), strict=True)]
    left.set_title("promises are kept", fontsize=9.5, color=LIGHT.text)
    right.set_title("the noise is kept", fontsize=9.5, color=LIGHT.text)
    rows = []
    for keeps, game in games.items():
        counts = [
            dynamics.tipping_crowd(game, who=who, generator=np.random.default_rng(1))
            for who in ("cheapest", "random", "strictest")
        ]
        rows.append(f"| {keeps} | {names(game)} | {counts[0]} | {counts[1]} | {counts[2]} |")
    table = "\n".join(rows)
    told = dynamics.play(dynamics.game_of(plan, crowd, assured=True), "nobody").counts
    again = dynamics.smallest_crowd(crowd, bounds=UNIT)
    return Shown(
        f"""
A thousand people who weigh costs (lognormal around 1, benefit 1 - 400 · variance), offered the best plan with
slack 0.1. In order of cost, what does the last person to join gain? Above zero the crowd grows, below it
shrinks. Filled dots are equilibria, hollow ones crowds that tip.

More people make the release better; with the noise kept they also make each person's loss smaller. Both make
the curve rise from the left. It falls where people become more expensive faster than the release gets better.

| what is kept | comes to rest with | cheapest people that tip it | random ones | strictest ones |
|---|---|---|---|---|
{table}

"Tip" means: so many are in for certain, and all others follow. The paper shows that everybody joining is an
equilibrium; nobody joining is one as well.

Two ways out. Plan again for whoever is there: a crowd of the {again} cheapest can be planned for, and every
larger one. Or assure people that nothing is released, and nothing lost, unless the promised variance is met:
then joining is safe whatever the others do, and {told[0]} people become {told[-1]:,} in {len(told) - 1} round.
That is what optin does.

```python
>>> import optin
>>> from optin import dynamics
>>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
>>> plan = optin.plan(people, bounds=(0, 1), slack=0.2)
>>> [rest.people for rest in dynamics.equilibria(dynamics.game_of(plan, people))]
[0, 50]
>>> [rest.people for rest in dynamics.equilibria(dynamics.game_of(plan, people, assured=True))]
[50]

```

Theory: [who joins when people watch each other](../theory/participation.md).
""",
        " ".join(words),
    )


@entry("rounds", "Where it ends depends on where it begins", size=(7.2, 4.0))
def rounds(figure: Figure) -> Shown:
    """Draw rounds of best responses from nobody, everybody and random crowds."""
    crowd = people()
    game = dynamics.game_of(optin.plan(crowd, bounds=UNIT, slack=0.1), crowd, keeps="noise")
    generator = np.random.default_rng(4)
    runs = {f"from {start}": dynamics.play(game, start) for start in ("everybody", "nobody")}
    for share in (0.9, 0.6, 0.3):
        start = dynamics.random_crowd(game, share, generator)
        runs[f"from a random {share * 100:.0f} %"] = dynamics.play(game, start, awake=0.5, generator=generator)
    words = figures.rounds(figure.subplots(), runs)
    rows = "\n".join(f"| {name} | {run.counts[0]} | {run.counts[-1]} | {_left(run)} |" for name, run in runs.items())
    return Shown(
        f"""
The people and the offer of [the last page](tipping.md), noise kept. In each round everyone looks at who is in,
and half of them, at random, reconsider.

| start | people in at the start | people in at last | variance then |
|---|---|---|---|
{rows}

All of them end at one of the equilibria of the curve ({names(game)}): a random crowd of nine in ten is not
enough to keep the tail, and three in ten not enough to keep anyone.

```python
>>> import optin
>>> from optin import dynamics
>>> people = optin.QuasiLinear([1.0] * 50, benefit=optin.LinearBenefit(base=1, slope=4))
>>> game = dynamics.game_of(optin.plan(people, bounds=(0, 1), slack=0.2), people)
>>> dynamics.play(game, "nobody").counts, dynamics.play(game, "everybody").counts
((0,), (50,))

```
""",
        words,
    )


def _left(run: dynamics.Rounds) -> str:
    return f"{run.variances[-1] * 1e4:.3f}e-4" if run.counts[-1] else "no release"


@entry("slack", "How much slack survives which share of decliners", size=(7.2, 4.0))
def slack(figure: Figure) -> Shown:
    """Draw the share of decliners survived against slack."""
    crowd = people()
    slacks = np.linspace(0, 0.5, 26)
    found = dynamics.slack_table(crowd, slacks.tolist(), bounds=UNIT)
    ax = figure.subplots()
    plain(ax, LIGHT, x="slack (%)", y="people who may decline (%)")
    ends = []
    for name, label, style in (
        ("strictest", "strictest", DASHES[2]),
        ("anyone", "anyone", DASHES[0]),
        ("most_willing", "most willing", DASHES[1]),
    ):
        shares = 100 * np.array([getattr(row, name) for row in found])
        ax.plot(100 * slacks, shares, color=LIGHT.strong, linewidth=2.2, linestyle=style)
        ends.append((label, float(shares[-1])))
    ax.set(xlim=(0, 50), ylim=(0, 1.1 * max(end for _, end in ends)))
    name_lines(ax, LIGHT, ends, right=50)
    shown = dynamics.slack_table(crowd, (0.05, 0.1, 0.2, 0.5), bounds=UNIT)
    least = found[0].variance
    table = "\n".join(
        f"| {r.slack:g} | {r.variance / least - 1:.2%} | {r.anyone:.1%} | {r.strictest:.1%} | {r.most_willing:.1%} |"
        for r in shown
    )
    return Shown(
        f"""
Quasi-linear people are promised a variance. `slack` promises more than the plan needs, so that some may stay
away before the promise breaks and the round is void (E12). The people of [the tipping page](tipping.md):

| slack | what it costs in variance | decliners survived: anyone | the strictest | the most willing |
|---|---|---|---|---|
{table}

Slack s has room for a share of s / (1 + s) of random decliners where sampling is all of the error, for
1 - 1 / √(1 + s), about half of that, where noise is, and for something between where both count
([how much](../theory/participation.md#how-much-slack-survives-which-share-of-decliners)).
It is cheap as long as the benefit is far above what it takes to make people join.

```python
>>> import optin
>>> from optin import dynamics
>>> people = optin.QuasiLinear([0.5, 1.0, 2.0] * 40, benefit=optin.LinearBenefit(base=1, slope=1))
>>> [(row.slack, round(row.anyone, 3)) for row in dynamics.slack_table(people, (0.1, 0.5), bounds=(0, 1))]
[(0.1, 0.083), (0.5, 0.305)]

```
""",
        f"Share of people who may decline against slack. At 0.1: {shown[1].anyone:.1%} of anyone, {shown[1].strictest:.1%} if"
        f" the strictest go first, {shown[1].most_willing:.1%} if the most willing do.",
    )
