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

__all__ = ["tally"]


def tally(rows: Rows, limit: ir.FloatingColumn, design: Design) -> Tally:
    """Add up a `Tally` at a design's cap; missing limits were refused when the people were read."""
    unit, mean = (1.0, 0.0) if design.noiseless else (design.reach, 1.0 / design.people)
    people = _compared(limit, design, unit, mean)
    plain, weight, at = people.plain, people.weight, people.at
    held = plain * (literal(design.cap / unit) - plain) if math.isfinite(design.cap) else plain * literal(0.0)
    found = rows.session.one(
        people.agg(
            people=people.count(),
            broken=(people.eps > people.tau).sum(),
            infinite=(~people.finite).sum(),
            positive=(plain > literal(0.0)).sum(),
            total=plain.sum(),
            weights=weight.sum(),
            squares=(weight * weight).sum(),
            tilt=(weight - literal(mean)).sum(where=weight > literal(mean)),
            pooled=(people.tau >= literal(design.cap * (1 - SAME))).sum(),
            strictly_pooled=(people.tau >= literal(design.cap * (1 + SAME))).sum(),
            below_total=plain.sum(where=(weight < literal(mean)) & ~at),
            at=at.sum(),
            at_total=plain.sum(where=at),
            above=((weight > literal(mean)) & ~at).sum(),
            held_back=held.sum(where=people.finite & (people.tau < literal(design.cap))),
        ),
        about=rows.source,
    )
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
