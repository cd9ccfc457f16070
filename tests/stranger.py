"""A stranger who wants to know one person's limit: what public files say, and by Bayes what follows about a step of the ladder.

Worlds are drawn from what everyone may believe beforehand (every step is as likely), the public numbers of each are computed,
and the worlds whose public numbers are those at hand are kept: what they say of the person is the posterior. Nothing else
than public numbers is looked at, so no stranger does better with them.
"""

import math

import numpy as np

LADDER = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 5.0])
PRIOR = 1 / len(LADDER)
PRICE = 8.0
"""C of a yes or no, or of a number at its worst (E18)."""


def drawn(people, worlds, rng):
    """How many people stand on each step, in so many worlds."""
    return rng.multinomial(people, [PRIOR] * len(LADDER), size=worlds)


def planned_caps(steps, price):
    """E1's cap in each world: (C + Q) / T over those below it (E6)."""
    tails, squares = np.cumsum(steps * LADDER, axis=1), np.cumsum(steps * LADDER**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(tails > 0, (price + squares) / tails, math.inf)
    fits = roots <= np.append(LADDER[1:], math.inf)
    first = fits.argmax(axis=1)
    return roots[np.arange(len(steps)), first]


def sums_at(steps, caps):
    """Sum of epsilons, sum of squares, and what is above an equal share, at these caps."""
    given = np.minimum(LADDER, caps[:, None])
    return (steps * given).sum(axis=1), (steps * given**2).sum(axis=1), given


def announced_caps(steps, price):
    """The power of 2^(1/8) next to the cap with the smaller variance."""
    exact = np.minimum(planned_caps(steps, price), 1024.0)
    low = np.floor(8 * np.log2(exact) + 1e-12)
    sides = []
    for exponent in (low, low + 1):
        caps = np.minimum(2.0 ** (exponent / 8), 1024.0)
        total, squares, _ = sums_at(steps, caps)
        sides.append((caps, (squares + price) / total**2))
    return np.where(sides[0][1] <= sides[1][1], sides[0][0], sides[1][0])


FIGURES = (
    (100, np.array([10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82, 100])),
    (
        250,
        np.array(
            [*range(10, 14), 15, 16, *range(18, 25, 2), *range(27, 40, 3), 43, 47, 51, 56, 62, 68, 75, 82, 91, 100]
        ),
    ),
    (math.inf, np.arange(10, 101)),
)
"""The figures there are, below so many people; written anew here from what the docs say."""


def rounded_up(numbers, people):
    """A whole number for what is told of these numbers."""
    figures = next(figures for below, figures in FIGURES if people < below)
    with np.errstate(divide="ignore"):
        exponent = np.where(numbers > 0, np.floor(np.log10(np.maximum(numbers, 1e-300))), 0)
    shown = figures[np.searchsorted(figures, numbers / 10.0 ** (exponent - 1) - 1e-9)]
    exponent, shown = np.where(shown == 100, exponent + 1, exponent), np.where(shown == 100, 10, shown)
    return np.where(numbers > 0, (exponent + 20) * 128 + shown, 0).astype(np.int64)


def two_figures(numbers):
    """The same for any two figures."""
    return rounded_up(numbers, 10**9)


def told(steps, caps, *, people):
    """One whole number for all that a public file says of such sums: noise, squared weights, tilt; errors follow from these."""
    total, squares, given = sums_at(steps, caps)
    tilt = (steps * np.maximum(given / total[:, None] - 1 / people, 0)).sum(axis=1)
    numbers = (1 / total, squares / total**2, np.where(tilt < 1e-12, 0, tilt))
    return mixed([np.rint(8 * np.log2(caps)).astype(np.int64), *(rounded_up(each, people) for each in numbers)])


def exactly(steps, caps):
    """The same for what files said before: cap and sums, to the last digit."""
    total, squares, _ = sums_at(steps, caps)
    return mixed([np.rint(each * 1e9).astype(np.int64) for each in (caps, total, squares)])


def mixed(columns):
    """One number for several, which are the same only where all are (but for 2^-64)."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        found = (found ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found


def plus(steps, step):
    """The same worlds with one person more on a step (or one less: step < 0 is -1 - step)."""
    more = steps.copy()
    more[:, step if step >= 0 else -1 - step] += 1 if step >= 0 else -1
    return more


def announcement(steps, people, price=PRICE, *, before=False):
    """What one announcement says in each world."""
    if before:
        return exactly(steps, planned_caps(steps, price))
    return told(steps, announced_caps(steps, price), people=people)


def single(steps, people, *, before=False):
    """For each step of a person: what is seen, and how likely that person stands there."""
    seen = announcement(steps, people, before=before)
    return [(seen, steps[:, step] / people) for step in range(len(LADDER))]


def two_rounds(steps, people, *, before=False):
    """The same people are asked two questions that differ in price."""
    seen = mixed([announcement(steps, people, price, before=before) for price in (PRICE, 4 * PRICE)])
    return [(seen, steps[:, step] / people) for step in range(len(LADDER))]


def newcomer(steps, people, *, before=False):
    """One more person is invited to a second round."""
    first = announcement(steps, people, before=before)
    return [
        (mixed([first, announcement(plus(steps, step), people + 1, before=before)]), np.full(len(steps), PRIOR))
        for step in range(len(LADDER))
    ]


def decliner(steps, people, *, before=False):
    """One person declines: the release says what is left."""
    caps = planned_caps(steps, PRICE) if before else announced_caps(steps, PRICE)
    first = announcement(steps, people, before=before)
    found = []
    for step in range(len(LADDER)):
        left = np.where(steps[:, [step]] > 0, plus(steps, -1 - step), steps)
        seen = exactly(left, caps) if before else told(left, caps, people=people)
        found.append((mixed([first, seen]), steps[:, step] / people))
    return found


SKIPPERS = 3
"""So many questions of a sheet are skipped by one person each, and the stranger knows by whom."""


def skipper(steps, people, *, before=False):
    """A sheet whose questions are each skipped by one person: the release says what is left for each of them."""
    others = np.random.default_rng(people).integers(0, len(LADDER), (len(steps), SKIPPERS - 1))
    rest = steps
    for other in others.T:
        rest = rest + np.eye(len(LADDER), dtype=np.int64)[other]
    found = []
    for step in range(len(LADDER)):
        everyone, many = plus(rest, step), people + SKIPPERS
        caps = planned_caps(everyone, PRICE) if before else announced_caps(everyone, PRICE)
        left = [everyone, rest, *(everyone - np.eye(len(LADDER), dtype=np.int64)[other] for other in others.T)]
        seen = [exactly(each, caps) if before else told(each, caps, people=many) for each in left]
        found.append((mixed(seen), np.full(len(steps), PRIOR)))
    return found


SCENES = {
    "single": single,
    "two rounds": two_rounds,
    "newcomer": newcomer,
    "decliner": decliner,
    "skipper": skipper,
}


def posteriors(scene, people, *, worlds, cases, rng):
    """Posterior probability of one person's true step in so many random cases.

    The case itself is one of the worlds: where no other matches, the stranger is said to know how many people stand on each step
    (and where one person is looked for, on which). So nothing is left out, and where few worlds match, the probability is
    too high rather than too low.
    """
    reference = scene(drawn(people, worlds, rng), people)
    seen = np.concatenate([each for each, _ in reference])
    weight = np.concatenate([each for _, each in reference])
    step = np.repeat(np.arange(len(LADDER)), worlds)
    order = np.argsort(seen, kind="stable")
    seen, weight, step = seen[order], weight[order], step[order]
    world = drawn(people, cases, rng)
    found = scene(world, people)
    chances = np.array([each for _, each in found])
    chosen = np.array([rng.choice(len(LADDER), p=chances[:, at] / chances[:, at].sum()) for at in range(cases)])
    results = []
    for at, true in enumerate(chosen):
        key = found[true][0][at]
        low, high = np.searchsorted(seen, key, "left"), np.searchsorted(seen, key, "right")
        own = np.array([each[at] == key for each, _ in found]) * chances[:, at]
        mine = weight[low:high][step[low:high] == true].sum()
        results.append((mine + own[true]) / (weight[low:high].sum() + own.sum()))
    return np.array(results)


def newcomers_found_before(people, cases, rng):
    """How often exact caps and sums of two rounds leave one step only for the newcomer, or the steps that reach both caps.

    From n, cap x, S and Q follow k (people at the cap), T = S - k x and the tail's squares, for x T = C + them (E6) holds for one
    k alone; with T, squares and k, each step predicts the cap and the sums of the second round.
    """
    world, true = drawn(people, cases, rng), rng.integers(0, len(LADDER), cases)
    cap = planned_caps(world, PRICE)
    after = np.array([plus(world[[at]], step)[0] for at, step in enumerate(true)])
    seen = exactly(after, planned_caps(after, PRICE))
    agree = np.array(
        [exactly(plus(world, step), planned_caps(plus(world, step), PRICE)) == seen for step in range(len(LADDER))]
    )
    assert np.all(agree[true, np.arange(cases)])
    assert np.all(cap > 0)
    return 1.0 / agree.sum(axis=0)


def histograms_of(people, cap, total, squares):
    """All numbers of people on the steps below a cap that give exact sums of grains, found by meeting in the middle.

    Sums are kept modulo 2^64, mixed into one number that is linear in the numbers of people: two that agree do so by 2^-64 only.
    """
    below = [int(step * 2**32) for step in LADDER if step < cap]
    top, mask = int(cap * 2**32), 2**64 - 1
    weight = [((g - top) + 0x9E3779B97F4A7C15 * (g * g - top * top)) & mask for g in below]
    target = ((total - people * top) + 0x9E3779B97F4A7C15 * (squares - people * top * top)) & mask
    half = len(below) // 2
    left, right = (_counts(people, steps) for steps in (half, len(below) - half))
    sums = [side @ np.array(part, dtype=np.uint64) for side, part in ((left, weight[:half]), (right, weight[half:]))]
    order = np.argsort(sums[1])
    wanted = np.uint64(target) - sums[0]
    at = np.searchsorted(sums[1][order], wanted)
    hits = np.flatnonzero(sums[1][order][np.minimum(at, len(order) - 1)] == wanted)
    found = [np.concatenate([left[hit], right[order[at[hit]]]]) for hit in hits]
    return [each.astype(int).tolist() for each in found if each.sum() <= people]


def _counts(people, steps):
    """All ways to have at most so many people on so many steps."""
    found = np.zeros((1, 0), dtype=np.uint64)
    for _ in range(steps):
        parts = [np.c_[found, np.full(len(found), each, dtype=np.uint64)] for each in range(people + 1)]
        found = np.concatenate(parts)
        found = found[found.sum(axis=1) <= people]
    return found


def found_before(scene, people, cases, rng):
    """Posterior probability of one person's step from exact sums: who is below the cap is known, others stand anywhere above.

    The difference that a decliner makes is their own epsilon; one announcement, or two, give the numbers of people on each step.
    """
    world = drawn(people, cases, rng)
    cap = planned_caps(world, 4 * PRICE if scene == "two rounds" else PRICE)
    found = []
    for counts, most in zip(world, cap, strict=True):
        true, above = rng.choice(len(LADDER), p=counts / people), most <= LADDER
        known = counts / people if scene != "decliner" else np.ones(len(LADDER))
        pooled = (counts[above].sum() / people if scene != "decliner" else 1.0) / max(above.sum(), 1)
        found.append(pooled if above[true] else known[true])
    return np.array(found)
