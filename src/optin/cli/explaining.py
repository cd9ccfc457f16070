"""What a plan means, in words and in the units of the data: what ``optin plan`` prints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optin.cli import screen
from optin.cli.limits_under_plan import LimitsUnderPlan, limits_under
from optin.cli.question_table import QuestionTable, question_table, sheet_accuracy
from optin.cli.what_if import absences, show_absences, target_rows
from optin.wording.groups import SMALLEST_GROUP
from optin.wording.numbers import count, largest, plain, plus_minus, short, times

if TYPE_CHECKING:
    from optin.agents import Agents
    from optin.cli.left import Left
    from optin.planning import Plan

BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Explanation:
    """The parts of what is printed, ready for a terminal or for scripts."""

    plan: list[tuple[str, str]]
    references: list[dict[str, Any]]
    counts: dict[str, Any]
    target: list[tuple[str, str]] = field(default_factory=list)
    without: list[dict[str, Any]] = field(default_factory=list)
    questions: QuestionTable | None = None
    """A table of the questions, where it is not one number that is asked for."""

    def beside(self, left_out: int) -> Explanation:
        """Say also how many rows of the table are not among these people."""
        if not left_out:
            return self
        gone = f"{count(left_out, 'row', 'rows')} of the table that cannot be used, not planned for"
        return replace(self, plan=[self.plan[0], ("left out", gone), *self.plan[1:]])

    def as_dict(self) -> dict[str, Any]:
        """Return numbers for scripts."""
        numbers: dict[str, Any] = {**self.counts, "references": self.references}
        return numbers | ({"without": self.without} if self.without else {})

    def of_questions(self, record: dict[str, Any]) -> dict[str, Any]:
        """Add to what a record says of its questions what each costs the others."""
        if self.questions is None:
            return {}
        pairs = zip(record["questions"], self.questions.lines, strict=True)
        return {"questions": [told | line.as_dict() for told, line in pairs]}

    def show(self) -> None:
        """Print everything for people to read."""
        screen.rows("The plan", self.plan)
        if self.questions is not None:
            screen.say()
            self.questions.show()
        if self.references:
            screen.say()
            self._show_references()
        if self.target:
            screen.say()
            screen.rows("The accuracy you asked for", self.target)
        if self.without:
            screen.say()
            show_absences(self.without, several=self.questions is not None)

    def _show_references(self) -> None:
        biased = any(r["bias_bound"] > 0 for r in self.references)
        screen.columns(
            "Beside what others do",
            (
                "",
                "standard error",
                *(("largest bias", "error with it") if biased else ()),
                "against this plan",
                "people who count",
            ),
            [
                (
                    r["name"],
                    plain(r["standard_error"]),
                    *((plain(r["bias_bound"]), plain(r["worst_case_error"])) if biased else ()),
                    times(r["ratio"]),
                    f"{r['people']:,}",
                )
                for r in self.references
            ],
            strong=next(at for at, r in enumerate(self.references) if r["name"] == "this plan"),
        )


def explanation(
    plan: Plan, agents: Agents, *, described: dict[str, Any], without: float | None = None, left: Left | None = None
) -> Explanation:
    """Work out everything ``optin plan`` says, the same of people in memory and in an engine."""
    limits = limits_under(plan, agents, described)
    counts, several = _counts(plan, limits), plan.sheet.one_number is None
    counts |= {} if left is None else {"nothing_left": left.spent, "share_left": left.share}
    accuracy = sheet_accuracy(plan) if several else _accuracy(plan)
    return Explanation(
        plan=[*_people(plan, limits, counts, left), *_design(plan, counts), *accuracy, *_worth(plan, limits)],
        references=[] if several else _references(plan, agents, counts),
        counts=counts,
        target=target_rows(plan),
        without=[] if without is None else absences(plan, agents, without),
        questions=question_table(plan, agents) if several else None,
    )


def _counts(plan: Plan, limits: LimitsUnderPlan) -> dict[str, Any]:
    """Count who is pooled, who is tight, who keeps something for free, who takes no part."""
    none = limits.table.zeros
    exact = plan.noiseless  # without noise, giving is not a matter of limit or cap
    return {
        "people": plan.people,
        "pooled": plan.pooled_people,
        "tight": 0 if exact else limits.within - none,
        "free_privacy": plan.people - limits.within,
        "no_part": none,
        "no_limit": limits.table.infinite,
    }


def _people(plan: Plan, limits: LimitsUnderPlan, counts: dict[str, Any], left: Left | None) -> list[tuple[str, str]]:
    nobody = f"{counts['no_part']:,} with {'limit 0' if plan.surplus is None else 'nothing to give'}"
    idle = left.taking_no_part() if left is not None and plan.surplus is None else [nobody] if counts["no_part"] else []
    more = [f"{' and '.join(idle)} take no part"] if idle else []
    more += [f"{counts['no_limit']:,} without any limit"] if counts["no_limit"] else []
    ends = limits.quantiles((0, 0.25, 0.5, 0.75, 1))
    names = ("least", "quarter", "median", "three quarters", "most")
    label = "limits" if plan.surplus is None else "limits (surplus/cost)"
    return [
        ("people", f"{counts['people']:,}" + (f" ({', '.join(more)})" if more else "")),
        (label, ", ".join(f"{name} {plain(end)}" for name, end in zip(names, ends, strict=True))),
        *([("", picture)] if (picture := _picture(limits)) else []),
        *([] if left is None else [left.row()]),
    ]


def _picture(limits: LimitsUnderPlan, width: int = 32) -> str:
    """Draw how limits are spread on a logarithmic scale; nothing if they are all alike."""
    low, high = limits.ends
    if limits.finite < SMALLEST_GROUP or low == high:
        return ""
    counts = limits.counts_between(np.geomspace(low, high, width + 1))
    heights = np.ceil(counts / counts.max() * len(BARS)).astype(int)
    bars = "".join(BARS[height - 1] if height else " " for height in heights)
    return f"{plain(low)} {bars} {plain(high)} (log scale)"


def _design(plan: Plan, counts: dict[str, Any]) -> list[tuple[str, str]]:
    people = plan.people
    if plan.noiseless:
        return [
            ("cap", "none: whoever counts set no limit"),
            ("counted", f"{_share(plan.pooled_people, people)} set no limit, and count alike; nobody else counts"),
            ("noise", "none: what they answer is added up exactly, so nobody's answers are protected"),
        ]
    tight = "and count in proportion to it" if plan.pooled_people else "so that weights follow limits"
    rule = "everyone gets epsilon = the smaller of their own limit and this"
    if not plan.pooled_people:
        rule = "above every limit, so everyone gives exactly what they allow"
    return [
        ("cap", f"{largest(plan.cap)}: {rule}"),
        ("pooled", f"{_share(plan.pooled_people, people)} accept the cap or more, and count alike"),
        ("tight", f"{_share(counts['tight'], people)} give exactly their limit, {tight}"),
        (
            "unused",
            f"{_share(counts['free_privacy'], people)} allow more than the cap; taking it would not make the result better",
        ),
        *_noise(plan),
    ]


def _noise(plan: Plan) -> list[tuple[str, str]]:
    if plan.sheet.one_number is None:
        return []
    return [("noise", f"Laplace of scale {plain(plan.noise_scale)}, in the unit of the values")]


def _accuracy(plan: Plan) -> list[tuple[str, str]]:
    noise = 0.0 if plan.noiseless else plan.noise_variance / plan.variance
    lines = [
        (
            "standard error",
            f"{plain(plan.standard_error)}, in the unit of the values ({100 * noise:.0f} % of its square is noise)",
        ),
        ("95 % interval", f"{plus_minus(plan.half_width())} around the mean of people like these"),
        ("as accurate as", plan.accuracy_words()),
        ("tilt", f"{plan.tilt:.3f}: the share of weight moved from strict to willing people"),
    ]
    if plan.max_gap > 0:
        worst = plain(math.sqrt(plan.worst_case_mse))
        return [
            *lines,
            ("bias", f"at most {plain(plan.bias_bound)} (means {plan.max_gap:g} apart); error with it {worst}"),
        ]
    guard = " (--max-gap)" if plan.promised_variance is None else ""
    return [
        *lines,
        ("bias", f"none if limits and values are unrelated, else at most {plan.tilt:.3f} x the gap" + guard),
    ]


def _worth(plan: Plan, limits: LimitsUnderPlan) -> list[tuple[str, str]]:
    """For people who weigh costs: what they gain, and what is left to them after the cost of their epsilon."""
    if plan.promised_variance is None:
        return []
    sds = "" if plan.sheet.one_number else " of how far the answers to each question lie apart"
    lines = [("promised variance", f"{plain(plan.promised_variance)}{sds} at most, or nothing is released")]
    if plan.surplus is None:
        return lines
    lines.append(("surplus", f"{plain(plan.surplus)}: benefit at that variance, less the outside option"))
    means, people = limits.groups
    share = np.zeros(len(means))
    np.divide(np.minimum(means, plan.cap), means, where=np.isfinite(means) & (means > 0), out=share)
    margins = plan.surplus * (1.0 - share)  # a cost is surplus / limit (E9): so much of the surplus it takes
    gaining = plan.people - limits.within + limits.table.zeros
    average = short(float(np.average(margins, weights=people)))
    return [
        *lines,
        (
            "margin",
            f"{_share(gaining, plan.people)} keep part of it (on average about {average}); the rest break even",
        ),
    ]


def _references(plan: Plan, agents: Agents, counts: dict[str, Any]) -> list[dict[str, Any]]:
    from optin.baselines import references

    counting = counts["no_limit"] if plan.noiseless else plan.people - counts["no_part"]
    own = _reference("this plan", plan.variance, plan.bias_bound, counting, plan)
    others = [_reference(r.name, r.variance, r.bias, r.people, plan) for r in references(plan, agents)]
    return sorted([*others, own], key=lambda r: (r["worst_case_error"], r is not own))


def _reference(name: str, variance: float, bias: float, people: int, plan: Plan) -> dict[str, Any]:
    """Describe a way to publish; it is compared with the plan by the error that includes the largest bias (E15)."""
    worst = math.sqrt(variance + bias**2)
    own = math.sqrt(plan.worst_case_mse)
    return {
        "name": name,
        "standard_error": math.sqrt(variance),
        "bias_bound": bias,
        "worst_case_error": worst,
        "people": people,
        "ratio": worst / own if own > 0 else math.inf,
    }


def _share(count: int, people: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'} ({100 * count / people:.0f} %)"
