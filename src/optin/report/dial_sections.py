"""The two curves of a plan's report: error by cap, and error by noise."""

from __future__ import annotations

from optin import figures
from optin.agents import Description
from optin.figures.curves import crowd, designs
from optin.figures.dial import dial_caps
from optin.figures.merged_cells import coarse
from optin.planning import Plan
from optin.planning.cautions import CLASS
from optin.report.markup import Markup, joined, table
from optin.report.section import Pictured, error_name, note, root
from optin.wording.language import N_, _
from optin.wording.numbers import largest, percent, short

NEAR_STRICTEST = N_(
    "Near the strictest: the strictest group's limit, rounded down so that it is nobody's own. The "
    "strictest limit is at least this, and its error at most this."
)


def dial_section(plan: Plan, description: Description) -> Pictured:
    """Show where the plan stands between all alike and all they allow."""

    def numbers() -> Markup:
        people = crowd(description)
        caps = dial_caps(plan, people)
        ends = designs(plan, people, caps[[0, -1]])
        first, last = (
            (
                name,
                short(float(ends.caps[i])),
                root(float(ends.errors[i])),
                percent(float(ends.tilts[i])),
            )
            for i, name in enumerate(
                (
                    _("near the strictest above 0") if coarse(description).zeros else _("near the strictest"),
                    _("proportional"),
                )
            )
        )
        own = (_("this plan"), largest(plan.cap), root(plan.worst_case_mse), percent(plan.tilt))
        shown = table(
            _("Three places on the dial"),
            ("", _("cap"), error_name(bias=plan.max_gap > 0), _("tilt")),
            (first, own, last),
            strong=_("this plan"),
        )
        return joined((shown, note(_dial_note(plan), _(NEAR_STRICTEST))))

    return Pictured(
        name="dial",
        title=_("One dial, from all alike to all they allow"),
        reading=(
            _(
                "Every good design gives each person the smaller of their limit and one cap. Turned down to the "
                "strictest limit, the cap makes all people count alike and drowns the result in noise; turned "
                "up, a few open people decide the result."
            )
        ),
        draw=lambda ax, ink: figures.variance_by_cap(ax, plan, description, ink=ink),
        numbers=numbers,
    )


def _dial_note(plan: Plan) -> str:
    if plan.eta_given:
        return _("The noise of this plan was given, so its cap is the best for that noise and not the best of all.")
    if plan.max_gap > 0:
        return _("Errors include the largest bias at the declared gap; the plan stands at the lowest point.")
    return _(
        "The plan stands at the lowest point of the curve: within the limits it is the best among {kind}.",
        kind=_(CLASS),
    )


def noise_section(plan: Plan, description: Description) -> Pictured:
    """Show how error follows from noise."""

    def numbers() -> Markup:
        people = crowd(description)
        high = designs(plan, people, dial_caps(plan, people)[[-1]])
        rows = [
            (_("this plan"), short(plan.eta), short(plan.noise_scale), root(plan.worst_case_mse)),
            (
                _("every limit used up"),
                short(float(high.etas[0])),
                short(1 / float(high.etas[0])),
                root(float(high.errors[0])),
            ),
        ]
        shown = table(
            _("Noise"), ("", "η", _("noise scale"), error_name(bias=plan.max_gap > 0)), rows, strong=_("this plan")
        )
        return joined(
            (shown, note(_("Laplace noise of scale 1/η is added to the weighted mean, in the unit of the values.")))
        )

    return Pictured(
        name="noise",
        title=_("Less noise, or more even weights"),
        reading=(
            _(
                "Less noise needs more epsilon, which only the open people can give: they then count more, and "
                "luck in their values counts more too. The best amount of noise balances the two."
            )
        ),
        draw=lambda ax, ink: figures.variance_by_eta(ax, plan, description, ink=ink),
        numbers=numbers,
    )
