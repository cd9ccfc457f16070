"""Plans of version 1: one flat list of fields, read for good and written no more. Their names are still what `--json` prints."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from optin.formats.strict_json import Fields
from optin.planning.design import Design, WeightSums
from optin.planning.shared_numbers import PromisedVariance
from optin.planning.wish import Target, Wish
from optin.questions import Number, Sheet
from optin.questions.number import pair

if TYPE_CHECKING:
    from optin.planning.numbers import PlanNumbers
    from optin.planning.question_plan import QuestionPlan

NAMES = (
    *("people", "model", "bounds", "data_variance", "max_gap", "slack", "eta_given", "noise_constant", "cap", "eta"),
    *("variance", "tilt", "pooled_people", "weight_squares", "surplus", "promised_variance", "benefit_name"),
    *("benefit_at_promise", "outside", "target", "within_resolution"),
)


SHEET_NAMES = (
    *(
        "people",
        "model",
        "slack",
        "cap",
        "epsilon_total",
        "tilt",
        "pooled_people",
        "weight_squares",
        "effective_people",
    ),
    *("theta", "wish_met", "surplus", "promised_variance", "benefit_name", "benefit_at_promise", "outside"),
    "within_resolution",
)
QUESTION_NAMES = (
    *("name", "epsilon_share", "variance", "standard_error", "noise_scale", "effective_people", "bias_bound"),
    "wished_error",
)


def flat(plan: PlanNumbers) -> dict[str, Any]:
    """Return a plan's numbers by their names, without layers; those of questions are in a list where it is not one number."""
    if plan.sheet.one_number is None:
        return {name: getattr(plan, name) for name in SHEET_NAMES} | {"questions": [*map(_of_question, plan.questions)]}
    numbers = {name: getattr(plan, name) for name in NAMES}
    return numbers | {"bounds": list(plan.bounds), "target": _of_target(plan.target)}


def _of_question(question: QuestionPlan) -> dict[str, Any]:
    numbers = {name: getattr(question, name) for name in QUESTION_NAMES}
    told = {"kind": question.question.kind, "half_width": question.half_width()}
    return numbers | told | {"target": _of_target(question.target)}


def _of_target(target: Target | None) -> dict[str, Any] | None:
    return None if target is None else asdict(target)


def read_version_1(fields: Fields) -> dict[str, Any]:
    """Read the fields of a plan of version 1; those that came later are those of a sheet of one number."""
    given, eta = fields.take_bool("eta_given"), fields.take_real("eta")
    question = Number(
        "value",
        bounds=pair(fields, "bounds"),
        data_variance=fields.take_real("data_variance"),
        max_gap=fields.take_real("max_gap"),
    )
    sums = WeightSums(
        people=fields.take_count("people"),
        epsilon_total=question.width * eta if given else _total_of(eta, question.width),
        weight_squares=fields.take_real("weight_squares"),
        pooled_people=fields.take_count("pooled_people"),
        tilt=fields.take_real("tilt"),
    )
    target = fields.maybe("target", lambda name: Target.from_fields(fields.take_object(name)))
    return {
        "sheet": Sheet(question),
        "model": fields.take_text("model"),
        "designs": (Design(None, fields.take_real("cap"), (1.0,), sums, (fields.take_real("variance"),)),),
        "wish": Wish(eta if given else None, fields.take_real("slack"), targets=() if target is None else (target,)),
        "promise": read_promise_1(fields),
        "within_resolution": fields.take_bool("within_resolution"),
    }


def read_promise_1(fields: Fields) -> PromisedVariance | None:
    """Read the five fields that plans and announcements of version 1 have in common."""
    names = ("promised_variance", "surplus", "benefit_at_promise", "outside")
    variance, *others = (fields.maybe(name, fields.take_real) for name in names)
    benefit = fields.maybe("benefit_name", fields.take_text)
    if variance is not None:
        return PromisedVariance(variance, others[0], benefit, others[1], others[2])
    if (*others, benefit) != (None,) * 4:
        fields.refuse("it contradicts itself: a surplus or a benefit goes with a promised variance")
    return None


def _total_of(eta: float, width: float) -> float:
    """Find the sum of epsilons that was divided by the width, so that eta comes back to the last digit."""
    about = width * eta
    near = [about]
    for towards in (0.0, math.inf):
        neighbour = about
        for _ in range(3):
            neighbour = math.nextafter(neighbour, towards)
            near.append(neighbour)
    return next((total for total in near if total / width == eta), about)
