"""What a sceptic adds up over people in an engine, by one query; of people in groups for all groups at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from optin.engine.rows import Rows
from optin.engine.session import literal
from optin.engine.small_tables import small_table
from optin.kernel.bound import MEAN, SAME, Tally
from optin.kernel.optimum import Design

if TYPE_CHECKING:
    from ibis.expr import types as ir

    Sum = Callable[..., ir.FloatingScalar]
    Yardstick = dict[str, float]


@dataclass(frozen=True)
class Tallied:
    """A design whose tally is wanted of a group, and what its people's costs divide, where they weigh costs."""

    design: Design
    surplus: float | None = None


def tally_with_few(
    rows: Rows, limit: ir.FloatingColumn, design: Design, few_below: Callable[[float], ir.Table | None]
) -> Tally:
    """Add up the same where those below the cap are few and kept apart: everyone else is counted, and added up, at once.

    A sum that is infinite says that some have no limit, who are counted by `tally`.
    """
    measures, add_up = _yardstick(design), rows.session.dialect.steady_sum
    apart = few_below(measures["surely_pooled"]) if math.isfinite(design.cap) else None
    if apart is None:
        return tally(rows, limit, design)
    table = limit.name("tau").as_table()
    all_of = rows.session.one(table.agg(people=table.count(), limits=add_up(table.tau)), about=rows.source)
    if not math.isfinite(all_of["limits"]):
        return tally(rows, limit, design)
    few = apart.filter(apart.tau < literal(measures["top"]))
    few = _compared(few.select("tau", **{name: literal(value) for name, value in measures.items()}))
    query = apart.agg(**_counts_below(apart, measures)).cross_join(few.agg(**_sums_below(few, add_up)))
    row = rows.session.one(query, about=rows.source)
    others = {name: all_of["people"] - (row.pop(f"not_{name}") or 0) for name in _REACHED}
    return _read(_with_those_at_cap({"infinite": 0, **all_of, **row, **others}, measures), measures)


def _counts_below(apart: ir.Table, measures: Yardstick) -> dict[str, ir.Value]:
    """Count, among the few who are kept apart, those below what all others reach."""
    counts = {f"not_{name}": (apart.tau < literal(measures[bound])).sum() for name, bound in _REACHED.items() if bound}
    return counts | {"not_some": (apart.tau <= literal(0.0)).sum()}


_REACHED = {"some": "", "capped": "top", "pooled": "least_pooled", "strictly_pooled": "surely_pooled"}
"""What everyone is counted by who reaches a bound; some have a limit above 0."""


def tally(rows: Rows, limit: ir.FloatingColumn, design: Design) -> Tally:
    """Add up a `Tally` at a design's cap; missing limits were refused when the people were read.

    Whoever reaches the cap has one weight, which is known: they are counted, and their limits added up. Only those below it
    are compared with the mean one by one; both parts of the query start at the table itself.
    """
    measures, add_up = _yardstick(design), rows.session.dialect.steady_sum
    table = limit.name("tau").as_table()
    everyone = table.agg(**_counts(table, measures, add_up))
    few = table.filter(table.tau < literal(measures["top"]))
    few = _compared(few.mutate(**{name: literal(value) for name, value in measures.items()}))
    row = rows.session.one(everyone.cross_join(few.agg(**_sums_below(few, add_up))), about=rows.source)
    return _read(_with_those_at_cap(row, measures), measures)


def tallies(
    rows: Rows, tau: ir.FloatingColumn, places: Mapping[str, int], label: str, wanted: Mapping[int, Tallied]
) -> dict[int, Tally]:
    """Add up a `Tally` of each of these groups by one query; ``tau`` are limits, or costs where a surplus is given."""
    measures = {at: _yardstick(each.design) for at, each in wanted.items()}
    surplus = {at: 0.0 if each.surplus is None else each.surplus for at, each in wanted.items()}
    labels = [(name, at) for name, at in places.items() if at in wanted]
    columns: dict[str, list[Any]] = {"name": [name for name, _ in labels], "place": [at for _, at in labels]}
    columns["surplus"] = [surplus[at] for _, at in labels]
    columns |= {name: [measures[at][name] for _, at in labels] for name in next(iter(measures.values()))}
    types = dict.fromkeys(columns, "float64") | {"name": "string", "place": "int64"}
    few = small_table(rows.session, columns, types)
    view = rows.table.select(tau=tau, label=rows.table[label])
    view = view.join(few, view.label == few.name)
    if any(each.surplus is not None for each in wanted.values()):
        view = view.mutate(tau=indifferent(view.surplus, view.tau))
    people = _compared(view)
    query = people.group_by("place").agg(**_sums(people, rows.session.dialect.steady_sum))
    answers = rows.session.fetch(query, about=rows.source).to_pylist()
    read = {(at := row.pop("place")): _read(row, measures[at]) for row in answers}
    return {at: read.get(at, _NOBODY) for at in wanted}


def indifferent(surplus: ir.FloatingColumn, cost: ir.FloatingColumn) -> ir.FloatingColumn:
    """Return the epsilon at which each person is indifferent, max(surplus, 0) / cost (E9); who bears no cost has no limit.

    Missing costs stay missing; Spark raises on a division by 0.
    """
    import ibis

    zero = literal(0.0)
    quotient = ibis.cases((cost == zero, literal(math.inf)), else_=surplus / cost.nullif(zero))
    return ibis.ifelse(surplus < zero, cost * zero, quotient)


def _yardstick(design: Design) -> Yardstick:
    """Say what limits are compared with; weights are epsilons over the sum of all, and without noise there are none."""
    unit, mean = (1.0, 0.0) if design.noiseless else (design.reach, 1.0 / design.people)
    cap = 0.0 if design.noiseless else design.cap / unit
    return {
        "top": design.cap,
        "least_pooled": design.cap * (1 - SAME),
        "surely_pooled": design.cap * (1 + SAME),
        "unit": unit,
        "mean": mean,
        "near_mean": MEAN * mean,
        "cap": cap,
        "weighs": float(not design.noiseless),
        "ends": float(math.isfinite(design.cap)),
    }


def _compared(people: ir.Table) -> ir.Table:
    """Add to each limit its epsilon and weight, and whether that stands at the mean."""
    import ibis

    zero, finite = literal(0.0), people.tau < literal(math.inf)
    people = people.mutate(
        finite=finite,
        plain=ibis.ifelse(finite, people.tau, zero) / people.unit,
        eps=ibis.ifelse(people.tau < people.top, people.tau, people.top),
    )
    people = people.mutate(weight=ibis.ifelse(people.weighs > zero, people.eps / people.unit, zero))
    return people.mutate(at=(people.weight - people["mean"]).abs() <= people.near_mean)


def _sums(people: ir.Table, add_up: Sum) -> dict[str, ir.Value]:
    """Name what is added up; whoever is at the cap is counted and not added up: many equal weights would drift."""
    import ibis

    zero, plain, weight, mean = literal(0.0), people.plain, people.weight, people["mean"]
    free = people.tau < people.top
    left = ibis.ifelse(people.ends > zero, plain * (people.cap - plain), plain * zero)
    return {
        "people": people.count(),
        "broken": (people.eps > people.tau).sum(),
        "infinite": (~people.finite).sum(),
        "positive": (plain > zero).sum(),
        "total": add_up(plain),
        "capped": (~free).sum(),
        "weights": add_up(weight, where=free),
        "squares": add_up(weight * weight, where=free),
        "tilt": add_up(weight - mean, where=free & (weight > mean)),
        "pooled": (people.tau >= people.least_pooled).sum(),
        "strictly_pooled": (people.tau >= people.surely_pooled).sum(),
        "below_total": add_up(plain, where=(weight < mean) & ~people["at"]),
        "at": people["at"].sum(),
        "at_total": add_up(plain, where=people["at"]),
        "above": ((weight > mean) & ~people["at"]).sum(),
        "held_back": add_up(left, where=people.finite & free),
    }


def _counts(table: ir.Table, measures: Yardstick, add_up: Sum) -> dict[str, ir.Value]:
    """Name what is asked of everyone, by their limit alone."""
    tau, finite = table.tau, table.tau < literal(math.inf)
    return {
        "people": table.count(),
        "infinite": (tau == literal(math.inf)).sum(),
        "some": (tau > literal(0.0)).sum(),
        "limits": add_up(tau, where=finite),
        "capped": (tau >= literal(measures["top"])).sum(),
        "pooled": (tau >= literal(measures["least_pooled"])).sum(),
        "strictly_pooled": (tau >= literal(measures["surely_pooled"])).sum(),
    }


def _sums_below(few: ir.Table, add_up: Sum) -> dict[str, ir.Value]:
    """Name what is added up over those below the cap alone."""
    sums = _sums(few, add_up)
    free = {"weights": add_up(few.weight), "squares": add_up(few.weight * few.weight), "plain_below": add_up(few.plain)}
    mean = few["mean"]
    free |= {
        "tilt": add_up(few.weight - mean, where=few.weight > mean),
        "held_back": add_up(few.plain * (few.cap - few.plain), where=few.ends > literal(0.0)),
    }
    return {name: sums[name] for name in ("broken", "below_total", "at", "at_total", "above")} | free


def _with_those_at_cap(row: dict[str, Any], measures: Yardstick) -> dict[str, Any]:
    """Add those who reach the cap, all of whom have its weight, to what was found of those below it."""
    read = {name: number or 0 for name, number in row.items()}
    read["positive"], read["total"] = read.pop("some") - read["infinite"], read.pop("limits") / measures["unit"]
    at_cap, excess = read["total"] - read.pop("plain_below"), measures["cap"] - measures["mean"]
    if abs(excess) <= measures["near_mean"]:
        read["at"], read["at_total"] = read["at"] + read["capped"], read["at_total"] + at_cap
    elif excess > 0:
        read["above"] += read["capped"]
    else:
        read["below_total"] += at_cap
    return read


def _read(row: dict[str, Any], measures: Yardstick) -> Tally:
    cap, mean = measures["cap"], measures["mean"]
    capped = row.pop("capped") or 0
    for name, each in (("weights", cap), ("squares", cap * cap), ("tilt", max(cap - mean, 0.0))):
        row[name] = (row[name] or 0.0) + (capped * each if capped else 0.0)
    kinds = {field.name: int if field.type == "int" else float for field in fields(Tally)}
    return Tally(**{name: kind(row[name] or 0) for name, kind in kinds.items()})  # type: ignore[arg-type]


_NOBODY = Tally(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 0, 0.0, 0, 0.0)
