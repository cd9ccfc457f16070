"""The optimum and everything others do instead, by name, for the same people and the same question."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optin.agents import Agents
from optin.baselines.best_caps import GRID, best_cap, best_of_grid, best_threshold_rule
from optin.baselines.biased import Clamped, Midpoint, Shrunk
from optin.baselines.capped import Capped
from optin.baselines.centred import best_sampling
from optin.baselines.levels import Levels, levels_for
from optin.baselines.local import LocalLaplace
from optin.baselines.one_bit import OneBit
from optin.baselines.rule import Accuracy, Rule, Setting, setting_of
from optin.baselines.ruler import ruler_of
from optin.baselines.sampling import Sampled
from optin.baselines.simulated import SimulatedValues
from optin.baselines.stretching import Stretched
from optin.errors import BadInput
from optin.kernel.noise import noise_variance
from optin.kernel.pieces import Array
from optin.planning import Plan
from optin.wording.records import Listed
from optin.wording.sentences import Argument

OPTIMUM = "optimum"


@dataclass(frozen=True, repr=False)
class Baseline(Listed):
    """A way to publish the mean, and how wrong it is: in data units, and of constant size whatever the number of people.

    Over several questions errors are in declared variances, the same for every question (E18), and ``bounds`` are None.
    """

    name: str
    sentence: str
    rule: Rule
    bounds: tuple[float, float] | None
    data_variance: float
    sampling: float
    noise: float
    bias: float
    tilt: float
    max_gap: float

    @property
    def variance(self) -> float:
        """The expected squared distance from the design's own mean: sampling + noise."""
        return self.sampling + self.noise

    @property
    def bias_bound(self) -> float:
        """The largest bias if people's means lie up to max_gap apart (E15)."""
        return abs(self.bias) + self.max_gap * self.tilt

    @property
    def mse(self) -> float:
        """The expected squared error in the worst case: variance + bias_bound^2."""
        return self.variance + self.bias_bound**2

    @property
    def effective_people(self) -> float:
        """How many people would be as accurate without noise, in the worst case."""
        return self.data_variance / self.mse if self.mse > 0 else math.inf

    @property
    def unbiased(self) -> bool:
        """Whether values that are unrelated to limits are met on average, wherever their mean lies."""
        return self.bias == 0.0 and self.rule.unbiased

    def epsilons(self, limits: Array) -> Array:
        """Return what people with these limits lose at most."""
        return self.rule.loss.epsilons(np.asarray(limits, dtype=np.float64))

    def draw(self, values: SimulatedValues, generator: np.random.Generator) -> Array:
        """Publish once for each campaign of simulated values; nothing but those is taken."""
        if self.bounds is None:
            raise BadInput("only a design for one number is drawn here; simulate a sheet with optin.simulate(…, sheet)")
        lo, hi = self.bounds
        return lo + (hi - lo) * self.rule.draw(values, generator)


def designs(
    plan: Plan, people: Agents, *, mean: float | None = None, names: Sequence[str] | None = None
) -> tuple[Baseline, ...]:
    """Compute the optimum (the plan itself, first) and all baselines, or those named, for the same people and question.

    ``mean`` is the mean of the values where a design's error depends on it (sampling, one-bit messages, biased designs);
    the middle of the bounds unless given, and then unknown to a guess at it. Quasi-linear people are taken at the limits
    they have under the plan's promise, which flatters everything else: a worse release would be worth less to them. People
    who stay in an engine are counted by buckets of their limits, a quarter of a per cent wide.

    >>> import optin
    >>> people = optin.PrivacyConstrained([0.1] * 500 + [1.0] * 500)
    >>> rivals = designs(optin.plan(people, bounds=(0, 1)), people)
    >>> {b.name: round(b.mse * 1e4, 2) for b in rivals if b.unbiased}
    {'optimum': 3.61, 'grid': 3.61, 'adpm': 3.61, 'threshold': 4.5, 'strictest': 4.5, 'proportional': 4.24,
     'stretching-debiased': 4.24, 'sampling-mean': 5.04, 'sampling-max': 5.04, 'sampling-best': 4.22, 'local': 44.5,
     'one-bit': 23.14, 'local-best': 23.14}
    """
    wanted = names_for(plan) if names is None else tuple(dict.fromkeys((OPTIMUM, *names)))
    unknown = [name for name in wanted if name not in names_for(plan)]
    if unknown:
        raise BadInput(
            "there is no design called {unknown!r}; choose from {listed}",
            unknown=unknown[0],
            listed=", ".join(names_for(plan)),
        )
    return designs_on(levels_for(plan, people), plan, mean=mean, names=wanted)


def names_for(plan: Plan) -> tuple[str, ...]:
    """List the designs there are: fewer for a sheet, since some are defined for one number only."""
    if plan.sheet.one_number is not None:
        return NAMES
    return tuple(name for name in NAMES if name not in ONE_NUMBER)


def designs_on(levels: Levels, plan: Plan, *, mean: float | None, names: Sequence[str] = ()) -> tuple[Baseline, ...]:
    """Compute designs for people whose limits are sorted already; all of them unless named."""
    setting = setting_of(plan, mean)
    wanted = names or names_for(plan)
    return tuple(_own(plan) if name == OPTIMUM else _baseline(name, plan, levels, setting) for name in wanted)


def own_designs(
    rules: Mapping[str, Rule], plan: Plan, levels: Levels, *, mean: float | None = None
) -> tuple[Baseline, ...]:
    """Compute designs of one's own beside ours, by the same path; refuse one that takes more than a limit from anybody."""
    if not isinstance(rules, Mapping):
        raise BadInput("{designs} must give each design a name: designs={{'mine': ...}}", designs=Argument("designs"))
    setting = setting_of(plan, mean)
    for name, rule in rules.items():
        if name in NAMES:
            raise BadInput("there is a design called {name!r} already; choose another name for yours", name=name)
        _refuse_without(name, rule)
        if not (rule.loss.epsilons(levels.whole) <= levels.whole).all():
            raise BadInput("the design {name!r} takes more from people than their limits allow", name=name)
    sentence = "A design of your own."
    return tuple(
        _in_data_units(name, sentence, rule, rule.accuracy(levels, setting), plan) for name, rule in rules.items()
    )


def _refuse_without(name: str, rule: object) -> None:
    """Say which of the four parts of a `Rule` a design lacks."""
    if isinstance(rule, type):
        raise BadInput("the design {name!r} is a class; give an instance of it", name=name)
    missing = [part for part in ("unbiased", "loss", "accuracy", "draw") if not hasattr(rule, part)]
    if missing:
        raise BadInput(
            "the design {name!r} has no {missing}, which a Rule needs", name=name, missing=", ".join(missing)
        )


def _own(plan: Plan) -> Baseline:
    sentence = "Everyone gives the smaller of limit and the best cap."
    return _in_data_units(OPTIMUM, sentence, _own_rule(plan), _own_accuracy(plan), plan)


def _own_rule(plan: Plan) -> Capped:
    return Capped(plan.cap, noiseless=plan.noiseless)


def _own_accuracy(plan: Plan) -> Accuracy:
    noise = _own_noise(plan)
    return Accuracy(plan.design().variance - noise, noise, 0.0, plan.tilt)


def _own_noise(plan: Plan) -> float:
    """Return the noise's part in the solver's unit; a rate of noise that was given may be larger than needed."""
    if plan.sheet.one_number is not None:
        return plan.noise_variance / plan.width**2
    return float(noise_variance(plan.noise_constant, plan.epsilon_total))


def _baseline(name: str, plan: Plan, levels: Levels, setting: Setting) -> Baseline:
    if name in FROM_OPTIMUM:
        sentence, remake = FROM_OPTIMUM[name]
        rule = remake(plan, setting)
    else:
        sentence, make = ENTRIES[name]
        rule = make(levels, setting)
    return _in_data_units(name, sentence, rule, rule.accuracy(levels, setting), plan)


def _in_data_units(name: str, sentence: str, rule: Rule, unit: Accuracy, plan: Plan) -> Baseline:
    ruler = ruler_of(plan)
    return Baseline(
        name=name,
        sentence=sentence,
        rule=rule,
        bounds=ruler.bounds,
        data_variance=ruler.data_variance,
        sampling=unit.sampling * ruler.width**2,
        noise=unit.noise * ruler.width**2,
        bias=unit.bias * ruler.width,
        tilt=unit.tilt,
        max_gap=ruler.max_gap,
    )


def _strictest(levels: Levels, setting: Setting) -> Rule:
    return Capped(levels.least, noiseless=math.isinf(levels.least))


def _proportional(levels: Levels, setting: Setting) -> Rule:
    return Capped(math.inf, noiseless=levels.infinite > 0)


def _adpm(levels: Levels, setting: Setting) -> Rule:
    return best_cap(levels, target=setting.worst)


def _sampling_mean(levels: Levels, setting: Setting) -> Rule:
    return Sampled(math.inf if levels.infinite else float(levels.totals[-1]) / levels.people)


def _sampling_max(levels: Levels, setting: Setting) -> Rule:
    return Sampled(levels.most)


def _stretching(levels: Levels, setting: Setting) -> Rule:
    return Stretched(levels.most)


def _local(levels: Levels, setting: Setting) -> Rule:
    return LocalLaplace(setting.spread, setting.kappa)


def _one_bit(levels: Levels, setting: Setting) -> Rule:
    return OneBit(setting.spread, setting.mean, setting.kappa)


def _local_best(levels: Levels, setting: Setting) -> Rule:
    return OneBit(setting.spread, setting.mean, setting.kappa, or_noise=True)


def _midpoint(levels: Levels, setting: Setting) -> Rule:
    return Midpoint()


def _shrunk(plan: Plan, setting: Setting) -> Rule:
    """Pull the optimum by the best share: least share^2 V + (share * largest bias + (1 - share) / 2)^2."""
    own = _own_accuracy(plan)
    nearer = 0.5 - setting.gap * own.tilt
    share = 0.5 * nearer / (own.sampling + own.noise + nearer * nearer)
    return Shrunk(_own_rule(plan), min(max(share, 0.0), 1.0))


def _clamped(plan: Plan, setting: Setting) -> Rule:
    return Clamped(_own_rule(plan))


ENTRIES: dict[str, tuple[str, Callable[[Levels, Setting], Rule]]] = {
    "grid": (f"The best of {GRID} noise rates, with the best weights for each.", best_of_grid),
    "adpm": ("The optimum for the largest variance the bounds allow, whatever was declared.", _adpm),
    "threshold": ("The strictest people are left out, the others count alike.", best_threshold_rule),
    "strictest": ("Everyone counts alike and gives what the strictest person allows.", _strictest),
    "proportional": ("Everyone gives their whole limit and counts in proportion.", _proportional),
    "stretching": ("Values are shrunk by limit over the highest limit: biased towards the lower bound.", _stretching),
    "stretching-debiased": ("Stretching divided by the mean shrinkage: the proportional design.", _proportional),
    "sampling-mean": ("People are kept by chance, at the mean limit as the level.", _sampling_mean),
    "sampling-max": ("People are kept by chance, at the highest limit as the level.", _sampling_max),
    "sampling-best": ("Sampling from the middle, with raised chances, at its best level.", best_sampling),
    "local": ("Everyone adds noise themselves; nobody has to be trusted.", _local),
    "one-bit": ("Everyone sends one bit, true with odds e^limit; nobody has to be trusted.", _one_bit),
    "local-best": ("Everyone sends the better of the two: one bit, or their value with noise.", _local_best),
    "midpoint": ("Nobody is asked: biased by half the range at worst.", _midpoint),
}
FROM_OPTIMUM: dict[str, tuple[str, Callable[[Plan, Setting], Rule]]] = {
    "shrunk": ("The optimum, pulled towards the middle as is best in the worst case: biased.", _shrunk),
    "clamped": ("The optimum, cut at the bounds: biased near them.", _clamped),
}
NAMES = (OPTIMUM, *ENTRIES, *FROM_OPTIMUM)
ONE_NUMBER = ("sampling-best", "one-bit", "local-best", "midpoint", *FROM_OPTIMUM)
"""Designs that are defined for one number, and not for several questions at once."""
OUTSIDE = ("sampling-best", "one-bit", "local-best")
"""Unbiased designs that are no weighted mean with fixed weights and one Laplace noise, and can do better for few people."""
