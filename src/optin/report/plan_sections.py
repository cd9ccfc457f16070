"""What a plan's report says, in the order a reader asks: who gives what, what it costs, what else was possible."""

from __future__ import annotations

import math

from optin import figures
from optin.agents import Description
from optin.figures.accuracy import error_parts, threshold_hidden, told_references
from optin.figures.merged_cells import groups
from optin.figures.people_by_limit import cost_shares, ranges
from optin.planning import Plan, Target
from optin.questions import Question
from optin.releasing import Release
from optin.report.dial_sections import dial_section, noise_section
from optin.report.markup import Markup, joined, table
from optin.report.section import (
    LARGEST_TILT,
    Pictured,
    error_name,
    error_reading,
    facts,
    note,
    root,
    squared_error_caption,
)
from optin.report.turnout_section import turnout_section
from optin.wording.language import N_, _, after_colon, capital, localised
from optin.wording.numbers import count, largest, part, percent, power_of, short, steady


def plan_sections(plan: Plan, description: Description, release: Release | None = None) -> tuple[Pictured, ...]:
    """List every section that needs a description of the limits, with the release's own marks if there is one."""
    return (
        limits_section(plan, description),
        weights_section(plan, description, release),
        error_section(plan, description, release),
        dial_section(plan, description),
        noise_section(plan, description),
        costs_section(plan, description),
        turnout_section(plan, description, release),
    )


def limits_section(plan: Plan, description: Description) -> Pictured:
    """Show what people allow and what they give."""

    def numbers() -> Markup:
        cells = groups(plan, description)
        rows = [
            (name, localised(f"{c.count:,}"), short(c.epsilon), short(c.epsilon * plan.people / plan.epsilon_total))
            for name, c in zip(ranges(cells), cells, strict=True)
        ]
        return joined(
            (
                table(
                    _("Groups of at least 10 people, by limit"),
                    (_("limit"), _("people"), _("epsilon each"), _("weight*")),
                    rows,
                ),
                note(
                    _(
                        "* in equal shares: 1 is what everyone would have if all counted alike. Epsilon and weight are "
                        "means."
                    )
                ),
            )
        )

    why = (
        _("this amount of noise needs no more.")
        if plan.eta_given
        else _("taking more from them would make the result worse.")
    )
    reading = _(
        "People stand in order of their limits. Those in the tail give all they allow. The others give "
        "the cap and keep the rest: {why}",
        why=why,
    )
    if description.one_limit is not None and plan.model != "quasi-linear":
        reading = _(
            "Everyone has the same limit, {one_limit}: all give the same and count alike.",
            one_limit=short(description.one_limit),
        )
    if plan.model == "quasi-linear":
        reading += _(" A limit here is the epsilon at which joining just pays, at the promised accuracy.")
    return Pictured(
        name="limits",
        title=_("Who gives how much"),
        reading=reading,
        draw=lambda ax, ink: figures.limits(ax, plan, description, ink=ink),
        numbers=numbers,
        height=3.5,
    )


def weights_section(plan: Plan, description: Description, release: Release | None) -> Pictured:
    """Show how much people count, and what that can do to a result."""
    pooled, *others = weight_facts(plan, release)
    known = facts(_("Weights"), [pooled, *others] if plan.pooled_people else others)
    return Pictured(
        name="weights",
        title=_("Whose values count how much"),
        reading=(
            _(
                "A person's weight goes with the epsilon they give. That is harmless if cautious and open people "
                "have the same values on average. If their averages lie apart, the result is off by at most the "
                "tilt times that distance."
            )
            + (
                ""
                if release is None
                else _(" Drawn as planned; who stayed away counts for nothing, and adds to the tilt.")
            )
        ),
        draw=lambda ax, ink: figures.weights(ax, plan, description, ink=ink),
        numbers=lambda: known,
        always=known,
    )


def weight_facts(plan: Plan, release: Release | None = None) -> list[tuple[str, str]]:
    """List tilt and largest bias: the release's own where there is one, and what was planned under that name."""
    if plan.sheet.one_number is None:
        return _weights_of_sheet(plan, release)
    gap, own = plan.max_gap, plan if release is None else release
    rows = [
        (_("tilt"), percent(own.tilt)),
        (_("declared gap between people's means"), short(gap) if gap else _("none: values independent of limits")),
        (_("largest bias at that gap"), short(own.bias_bound)),
        (_("largest bias at a gap of a tenth of the range"), short(own.tilt * plan.width / 10)),
    ]
    pooled = _("{pooled_weight} equal shares", pooled_weight=short(plan.pooled_weight * plan.people))
    if release is None:
        return [(_("weight of a pooled person"), pooled), *rows]
    planned = [(_("tilt, as planned"), percent(plan.tilt)), (_("largest bias, as planned"), short(plan.bias_bound))]
    return [(_("weight of a pooled person, as planned"), pooled), *rows, *planned]


def _weights_of_sheet(plan: Plan, release: Release | None) -> list[tuple[str, str]]:
    """List the tilt, and what a gap does to proportions and to questions for which one was declared."""
    own = plan if release is None else release
    pooled = _("{pooled_weight} equal shares", pooled_weight=short(plan.pooled_weight * plan.people))
    rows = [
        (_("weight of a pooled person"), pooled),
        (_(LARGEST_TILT if release is not None and len(plan.sheet) > 1 else N_("tilt")), percent(own.tilt)),
        (_("largest bias of a proportion at a gap of 10 points"), _("{tilt} points", tilt=short(10 * own.tilt))),
        *(
            (_("{name}: declared gap, largest bias", name=question.name), _gap(question, own.tilt))
            for question in plan.sheet
            if question.max_gap > 0
        ),
    ]
    return rows if release is None else [*rows, (_("tilt, as planned"), percent(plan.tilt))]


def _gap(question: Question, tilt: float) -> str:
    if not question.proportion:
        return f"{short(question.max_gap)}, {short(question.max_gap * tilt)}"
    gap, bias = short(100.0 * question.max_gap), short(100.0 * question.max_gap * tilt)
    return _("{gap} points, {bias} points", gap=gap, bias=bias)


def error_section(plan: Plan, description: Description | None, release: Release | None = None) -> Pictured:
    """Split the error, beside reference points where a description gives them, and beside the release's own."""
    parts = error_parts(plan, description, release)
    bias = any(p.bias > 0 for p in parts)

    def numbers() -> Markup:
        unit = 10.0 ** (power := power_of(plan.worst_case_mse))
        rows = [
            (p.name, *(steady(part / unit) for part in (p.sampling, p.noise, p.bias)[: 2 + bias]), root(p.total))
            for p in parts
        ]
        head = ("", _("sampling"), _("noise"), *([_("bias²")] if bias else []), error_name(bias=bias))
        own = _("this plan") if release is None else _("this release")
        return joined((table(squared_error_caption(power), head, rows, strong=own), note(*_remarks(plan, description))))

    return Pictured(
        name="error",
        title=_("Where the error comes from"),
        reading=error_reading(bias=bias),
        draw=lambda ax, ink: figures.error_sources(ax, plan, description, release=release, ink=ink),
        numbers=numbers,
        height=3.2 if len(parts) < 5 else 3.8,
    )


def _remarks(plan: Plan, description: Description | None) -> list[str]:
    told = [f"{capital(r.name)}: {after_colon(r.sentence)}" for r in told_references(plan, description)]
    if description is not None and threshold_hidden(plan, description):
        told.append(
            _("Best single threshold: not compared; groups of ten people are too coarse here to tell its error.")
        )
    return told


def costs_section(plan: Plan, description: Description) -> Pictured:
    """Show whose limits cost most accuracy."""

    def numbers() -> Markup:
        cells, shares = cost_shares(plan, description)
        rows = [
            (name, localised(f"{c.count:,}"), percent(c.count / description.people), percent(float(share)))
            for name, c, share in zip(ranges(cells), cells, shares, strict=True)
        ]
        return table(_("What limits cost, by group"), (_("limit"), _("people"), _("of people"), _("of the cost")), rows)

    return Pictured(
        name="costs",
        title=_("Whose limits cost most accuracy"),
        reading=(
            _(
                "If everyone allowed one per cent more, the result would become more accurate. The filled bar is "
                "the part of that gain that would come from each group. People at or above the cap cost nothing."
            )
        ),
        draw=lambda ax, ink: figures.costly_limits(ax, plan, description, ink=ink),
        numbers=numbers,
        height=3.7,
    )


def plan_numbers(plan: Plan) -> Markup:
    """List the plan's numbers in full, for checking."""
    rows = [
        ("people", f"{count(plan.people)} ({plan.model})"),
        ("bounds of a value", f"{plan.bounds[0]:.10g} to {plan.bounds[1]:.10g}"),
        ("declared sd of a value", f"{math.sqrt(plan.data_variance):.10g}"),
        ("declared gap", f"{plan.max_gap:.10g}"),
        ("cap on epsilon", largest(plan.cap)),
        ("people at or above the cap", part(plan.pooled_people, plan.people)),
        ("sum of epsilons", f"{plan.epsilon_total:.10g}"),
        ("η, noise scale", f"{plan.eta:.10g}, {plan.noise_scale:.10g}" + (" (given)" if plan.eta_given else "")),
        ("variance, standard error", f"{plan.variance:.10g}, {plan.standard_error:.10g}"),
        ("tilt, largest bias", f"{plan.tilt:.10g}, {plan.bias_bound:.10g}"),
        ("as accurate as", plan.accuracy_words()),
    ]
    if plan.promised_variance is not None:
        rows += [("promised variance", f"{plan.promised_variance:.10g}"), ("slack", f"{plan.slack:.10g}")]
    if plan.benefit_name is not None:
        rows.append(("benefit", plan.benefit_name))
    if plan.surplus is not None:
        rows.append(("surplus over the outside option", f"{plan.surplus:.10g}"))
    if plan.target is not None:
        rows.append((f"for a standard error of {plan.target.error:g}", _wish(plan.target)))
    return facts("As planned, before rounding to grains", rows)


def _wish(target: Target) -> str:
    """Say what a wanted accuracy would take."""
    ways = []
    if target.people_needed is not None:
        ways.append(f"{count(target.people_needed)} like these")
    if target.limit_needed is not None:
        ways.append(f"a limit of {short(target.limit_needed)} for everyone here")
    return " or ".join(ways) or "no number of people like these"
