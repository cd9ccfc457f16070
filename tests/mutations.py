"""Break one line of the planner or the release, and see that the test of the claim it breaks fails.

``python tests/mutations.py`` runs all (or those from a number on); ``tests/test_mutations.py`` runs each in `make slow`. A
mutation works on a copy of the package, which the tests import instead of the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Mutation:
    """What is wrong, where, the line as it is and as it should not be, and the test that must fail."""

    name: str
    file: str
    line: str
    wrong: str
    test: str


def _in(file: str, name: str, line: str, wrong: str, test: str) -> Mutation:
    return Mutation(name, file, line, wrong, f"tests/{test}")


CAP, OPTIMUM, NOISE = "kernel/cap.py", "kernel/optimum.py", "kernel/noise.py"
EXACT, CLAIMS = "test_exactness.py::test_", "test_paper_claims.py::test_"
MINIMUM = "    return np.minimum(limits, cap)"
MUTATIONS = (
    _in(
        CAP,
        "cap times 0.9",
        "    return x, pieces.sums_under(x)\n\n\ndef cap_at",
        "    x *= 0.9\n    return x, pieces.sums_under(x)\n\n\ndef cap_at",
        EXACT + "the_worked_example_is_exact_in_every_number",
    ),
    _in(
        CAP,
        "cap times 1.3",
        "    return x, pieces.sums_under(x)\n\n\ndef cap_at",
        "    x *= 1.3\n    return x, pieces.sums_under(x)\n\n\ndef cap_at",
        EXACT + "limits_within_a_millionth_and_a_million_are_planned_to_twelve_digits",
    ),
    _in(
        CAP,
        "the piece before the right one",
        "    j = _last_piece_below(pieces.heights, target)\n",
        "    j = max(_last_piece_below(pieces.heights, target) - 1, 0)\n",
        EXACT + "limits_within_a_millionth_and_a_million_are_planned_to_twelve_digits",
    ),
    _in(
        OPTIMUM,
        "proportional epsilons",
        MINIMUM,
        "    return limits",
        CLAIMS + "theorem_2_the_best_weights_at_an_eta_are_a_pool_and_a_tail_at_its_limits",
    ),
    _in(
        OPTIMUM,
        "everyone at the cap",
        MINIMUM,
        "    return np.full(len(limits), cap)",
        EXACT + "nobody_is_ever_charged_beyond_their_limit",
    ),
    _in(
        OPTIMUM,
        "people swapped",
        MINIMUM,
        "    return np.minimum(limits, cap)[::-1]",
        CLAIMS + "claim_05_weights_are_positive_and_fall_while_the_share_of_the_limit_used_rises",
    ),
    _in(
        OPTIMUM,
        "one person dropped",
        MINIMUM,
        "    return np.minimum(limits, cap) * (np.arange(len(limits)) > 0)",
        EXACT + "the_worked_example_is_exact_in_every_number",
    ),
    _in(
        OPTIMUM,
        "one too few pooled",
        "    pooled = people - tail.count\n",
        "    pooled = max(people - tail.count - 1, 0)\n",
        EXACT + "the_worked_example_is_exact_in_every_number",
    ),
    _in(
        OPTIMUM,
        "variance a tenth too small",
        "design.pooled, spread * x / design.reach)  # E5",
        "design.pooled, 0.9 * spread * x / design.reach)  # E5",
        EXACT + "every_attribute_means_what_the_contract_says",
    ),
    _in(
        OPTIMUM,
        "half the shadow price",
        "    return (-2.0 * spread",
        "    return (-1.0 * spread",
        EXACT + "a_shadow_price_is_the_slope_of_the_optimal_variance",
    ),
    _in(
        NOISE,
        "noise constant 1.8",
        'Noise("Laplace", 2)',
        'Noise("Laplace", 1.8)',
        EXACT + "the_worked_example_is_exact_in_every_number",
    ),
    _in(
        "kernel/dial.py",
        "a third more noise on the dial",
        "        return (self.kappa + constant) / slope",
        "        return (1.3 * self.kappa + constant) / slope",
        "test_dial.py::test_the_dial_is_exact_to_twelve_digits",
    ),
    _in(
        "kernel/sharing.py",
        "shares as prices, not their roots",
        "    return math.fsum(map(math.sqrt, prices)) ** 2",
        "    return math.fsum(prices)",
        "test_sheet_plan.py::test_unlike_prices_share_as_their_roots",
    ),
    _in(
        "kernel/any_mechanism.py",
        "slopes that limits do not allow",
        "        return np.expm1(self.limits)",
        "        return np.expm1(self.limits / 2)",
        "test_any_mechanism.py::test_the_best_of_all_mechanisms_for_a_few_people_is_above_the_bound_and_not_far",
    ),
    _in(
        "kernel/any_mechanism.py",
        "values that tell less than they do",
        "    return np.asarray(shared + free @ people.counts)",
        "    return np.asarray(shared + 0.5 * free @ people.counts)",
        "test_any_mechanism.py::test_no_private_output_carries_more_information_than_the_bound",
    ),
    _in(
        "kernel/bound.py",
        "a bound that is too high",
        "    return paid * (paid / (4.0 * noise)) if noise > 0 else 0.0",
        "    return paid * (paid / (5.0 * noise)) if noise > 0 else 0.0",
        "test_sheet_plan.py::test_the_certificate_of_a_sheet_holds_with_ties_zeros_and_infinities",
    ),
    _in(
        "grains/arrays.py",
        "grains rounded up",
        "        np.floor(capped, out=capped)",
        "        np.ceil(capped, out=capped)",
        "test_sheet_grains.py::test_every_sum_of_a_sheet_is_the_sum_of_exact_integers",
    ),
    _in(
        "grains/splitting.py",
        "a part rounded up",
        "(capped * share) >> BITS",
        "((capped * share) >> BITS) + 1",
        "test_sheet_grains.py::test_parts_of_halves_are_those_of_integers",
    ),
    _in(
        "questions/cells.py",
        "a level too high",
        "        z += 0.5\n",
        "        z += 1.5\n",
        "test_release.py::test_rounding_of_values_moves_the_mean_by_at_most_half_a_level",
    ),
    _in(
        "releasing/noise.py",
        "noise cut by a tenth",
        "    return laplace(SCALE)",
        "    return laplace(0.9 * SCALE)",
        "test_audits.py::test_a_the_noise_has_the_scale_it_claims",
    ),
    _in(
        "releasing/noise.py",
        "a promise that noise does not cover",
        "SCALE = 2**52",
        "SCALE = 2**51",
        "test_release.py::test_opendps_own_map_agrees_with_the_grains",
    ),
    _in(
        "questions/number_result.py",
        "an estimate that is clamped",
        "        return nearest(Fraction(self.bounds[0]) + Fraction(self.width) * self.counted.mean(0))",
        "        return nearest(Fraction(self.bounds[0]) + Fraction(self.width) * min(max(self.counted.mean(0), 0), 1))",
        "test_release.py::test_an_estimate_beyond_the_bounds_is_published_as_it_is",
    ),
    _in(
        "questions/number_result.py",
        "noise scale half as large as it is",
        "nearest(Fraction(self.width) / self.counted.exact_reach)",
        "nearest(Fraction(self.width) / self.counted.exact_reach / 2)",
        "test_release.py::test_the_noise_scale_is_the_range_over_the_sum_of_epsilons",
    ),
    _in(
        "planning/certificate.py",
        "a factor without the bias of a gap",
        "        worst_error=max(variances) + (plan.asked.gap * tilt) ** 2,",
        "        worst_error=max(variances),",
        "test_certify.py::test_the_factor_counts_the_bias_of_a_declared_gap_whoever_chose_the_noise",
    ),
    _in(
        "baselines/biased.py",
        "a rival's error on a grid too coarse for many people",
        "    ends = np.minimum(np.array(FAR) * (sd + scale), room)",
        "    ends = np.minimum(np.array(FAR), room)",
        "test_rivals.py::test_cutting_is_computed_as_by_another_integral_however_small_the_error_is",
    ),
    _in(
        "baselines/centred.py",
        "a rival held to less than its limit",
        "        capped, half = np.minimum(limits, self.threshold), self.threshold / 2.0",
        "        capped, half = 0.99 * np.minimum(limits, self.threshold), self.threshold / 2.0",
        "test_rivals.py::test_recalibrated_chances_cost_exactly_the_limit",
    ),
    _in(
        "baselines/one_bit.py",
        "a rival with half its noise",
        "0.25 / np.tanh(limits / 2.0) ** 2",
        "0.125 / np.tanh(limits / 2.0) ** 2",
        "test_rivals.py::test_one_bit_has_the_known_errors",
    ),
    _in(
        "planning/echo.py",
        "prices as if nobody else answered",
        "    left = 1.0 - (1.0 + plan.slack) * float(prices @ _answers(plan, agents))",
        "    left = 1.0",
        "test_echo.py::test_a_quasi_linear_price_is_the_slope_of_the_promise_when_all_answer",
    ),
    _in(
        "planning/certificate.py",
        "a bound that is rounded up",
        "{at_least(bound, 4)}",
        "{at_most(bound, 4)}",
        "test_any_mechanism.py::test_what_is_printed_is_no_more_than_was_shown",
    ),
    _in(
        "kernel/any_mechanism.py",
        "a price for the ends that is not taken off",
        " - price * float(prior.chances @ prior.edge)",
        "",
        "test_any_mechanism.py::test_no_mechanism_has_a_smaller_risk_under_the_prior_that_bounds_it",
    ),
    _in(
        "kernel/any_mechanism.py",
        "a world between that is as far from either end as limits do not allow",
        "    return (0.5 * math.exp(-loss / 4.0) / math.cosh(apart / 4.0)) ** 2",
        "    return (0.5 * math.exp(-loss / 8.0) / math.cosh(apart / 4.0)) ** 2",
        "test_any_mechanism_alike.py::test_between_two_ends_every_mechanism_errs_as_much_as_a_world_between_says",
    ),
)


def killed(mutation: Mutation) -> tuple[bool, str]:
    """Run the test against a broken copy; say whether a test failed (and not merely the run), with its output."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "optin")
        shutil.copytree(ROOT / "src/optin", copy)  # with bytecode, which takes longer to make than most tests to run
        broken = copy / mutation.file
        for kept in broken.parent.glob(f"__pycache__/{broken.stem}.*"):
            kept.unlink()
        text = broken.read_text()
        if text.count(mutation.line) != 1:
            raise LookupError(f"{mutation.name}: {mutation.file} has that line {text.count(mutation.line)} times")
        broken.write_text(text.replace(mutation.line, mutation.wrong))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", mutation.test],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1", "OPTIN_MUTATED": place},
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode == 1 and " failed" in done.stdout and "error" not in done.stdout.splitlines()[
        -1
    ], done.stdout


if __name__ == "__main__":
    alive = []
    for mutation in MUTATIONS[int(sys.argv[1]) if len(sys.argv) > 1 else 0 :]:
        dead, output = killed(mutation)
        print(f"{'killed' if dead else 'ALIVE '}  {mutation.name}")
        if not dead:
            alive.append(mutation.name)
            print(output[-1500:])
    sys.exit(len(alive))
