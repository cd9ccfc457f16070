"""What a sceptic adds up over people in an engine, by one query."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.kernel.bound import MEAN, SAME, Tally
from optin.kernel.optimum import Design

if TYPE_CHECKING:
    from ibis.expr import types as ir


def tally(rows: Rows, limit: ir.FloatingColumn, design: Design) -> Tally:
    """Add up a `Tally` at a design's cap; missing limits were refused when the people were read.

    Whoever is at the cap is counted and not added up: many equal weights would drift.
    """
    unit, mean = (1.0, 0.0) if design.noiseless else (design.reach, 1.0 / design.people)
    cap = 0.0 if design.noiseless else design.cap / unit
    people = _compared(limit, design, unit, mean)
    plain, weight, at = people.plain, people.weight, people.at
    free = people.tau < literal(design.cap)
    steady_sum = rows.session.dialect.steady_sum
    left = plain * (literal(cap) - plain) if math.isfinite(design.cap) else plain * literal(0.0)
    found = rows.session.one(
        people.agg(
            people=people.count(),
            broken=(people.eps > people.tau).sum(),
            infinite=(~people.finite).sum(),
            positive=(plain > literal(0.0)).sum(),
            total=steady_sum(plain),
            capped=(~free).sum(),
            weights=steady_sum(weight, where=free),
            squares=steady_sum(weight * weight, where=free),
            tilt=steady_sum(weight - literal(mean), where=free & (weight > literal(mean))),
            pooled=(people.tau >= literal(design.cap * (1 - SAME))).sum(),
            strictly_pooled=(people.tau >= literal(design.cap * (1 + SAME))).sum(),
            below_total=steady_sum(plain, where=(weight < literal(mean)) & ~at),
            at=at.sum(),
            at_total=steady_sum(plain, where=at),
            above=((weight > literal(mean)) & ~at).sum(),
            held_back=steady_sum(left, where=people.finite & free),
        ),
        about=rows.source,
    )
    capped = found.pop("capped") or 0
    for name, each in (("weights", cap), ("squares", cap * cap), ("tilt", max(cap - mean, 0.0))):
        found[name] = (found[name] or 0.0) + (capped * each if capped else 0.0)
    kinds = {field.name: int if field.type == "int" else float for field in fields(Tally)}
    return Tally(**{name: kind(found[name] or 0) for name, kind in kinds.items()})  # type: ignore[arg-type]


def _compared(limit: ir.FloatingColumn, design: Design, unit: float, mean: float) -> ir.Table:
    """Add to each limit its epsilon and weight, and whether that stands at the mean."""
    import ibis

    table = limit.name("tau").as_table()
    finite = table.tau < literal(math.inf)
    table = table.select(
        tau=table.tau,
        finite=finite,
        plain=ibis.ifelse(finite, table.tau, literal(0.0)) / literal(unit),
        eps=ibis.ifelse(table.tau < literal(design.cap), table.tau, literal(design.cap)),
    )
    table = table.mutate(weight=literal(0.0) if design.noiseless else table.eps / literal(unit))
    return table.mutate(at=(table.weight - literal(mean)).abs() <= literal(MEAN * mean))
