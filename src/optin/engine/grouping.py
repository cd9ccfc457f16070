"""Public groups of people who stay in an engine (E27): each is planned by itself, and all of them share every scan.

The first scan counts limits in buckets by label. What a plan then asks for, the limits of a bucket or two, is asked for by
all groups before anything is fetched: whoever lacks something says what (`Lacking`), one scan fetches it for all, and they
go on. So there are as many scans as without groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optin.agents.grouping import SEPARATOR, checked_names, places_of
from optin.agents.protocols import Found
from optin.engine.limits import EngineLimits
from optin.engine.listed_by_label import EVERYONE, Bounds, Listed, listed_of
from optin.engine.rows import Rows
from optin.engine.sampled_groups import Glances, KnownBelow, LabelGlance, LackingBelow, Unsure, glances
from optin.engine.session import literal
from optin.engine.small_tables import small_table
from optin.engine.survey import COARSE, Survey, merged_surveys, surveys
from optin.engine.tallying import Tallied, tallies
from optin.kernel.bound import Tally
from optin.kernel.pieces import Array, Outline, Pieces
from optin.tables.columns import NO_GROUP, wrong_at

if TYPE_CHECKING:
    from ibis.expr import types as ir

LABEL = "label"
"""The column of labels, laid beside people's own, which are called c0, c1, … (`Rows`)."""
Window = tuple[float, float]


class Lacking(Exception):
    """A group's plan lacks the limits of a window."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.window = (low, high)


class Untallied(Exception):
    """A group's certificate lacks the sums at a design's cap."""

    def __init__(self, wanted: Tallied) -> None:
        super().__init__()
        self.wanted = wanted


@dataclass(frozen=True)
class EngineGroups:
    """Names of groups in order; ``places`` says to which of them each label belongs.

    ``surveys`` counts with each label in buckets, by a scan that is made when it is first asked for; ``looked`` is what a
    cheaper one saw before, where there was one.
    """

    names: tuple[str, ...]
    places: Mapping[str, int] = field(repr=False)
    surveys: Callable[[], Mapping[str, Survey]] = field(repr=False)
    looked: Glances | None = field(default=None, repr=False)

    @property
    def seen(self) -> Mapping[str, Survey]:
        """What was counted with each label."""
        return self.surveys()

    def put_into(self, places: Mapping[str, int], names: Sequence[str]) -> EngineGroups:
        """Put people into other groups, by the place of each label among their names."""
        return replace(self, names=tuple(names), places={label: places_of(places, label) for label in self.places})

    def sample(self, place: int) -> list[LabelGlance] | None:
        """Return what a sample says of a group, label by label; None where there is none, or none to go by."""
        if self.looked is None:
            return None
        looks = [self.looked[label] for label in self.labels(place)]
        return looks if looks and all(each.alike for each in looks) else None

    def people(self, place: int) -> int:
        """Return how many people a group has."""
        counted = self.seen if self.looked is None else self.looked
        return sum(counted[label].people for label in self.labels(place))

    def labels(self, place: int) -> tuple[str, ...]:
        """List the labels of a group."""
        return tuple(self._labels.get(place, ()))

    @cached_property
    def _labels(self) -> dict[int, list[str]]:
        labels: dict[int, list[str]] = {}
        for label, at in self.places.items():
            labels.setdefault(at, []).append(label)
        return labels

    def survey(self, place: int) -> Survey:
        """Return what was counted of a group; of one that nobody is in, nothing."""
        own = [self.seen[label] for label in self.labels(place)]
        return merged_surveys(own) if own else NOBODY


_NONE = np.empty(0)
NOBODY = Survey(0, 0, 0, 0, 0, _NONE, np.empty(0, dtype=np.int64), _NONE, _NONE)


def labelled(rows: Rows, columns: Sequence[str]) -> ir.StringColumn:
    """Return people's labels as text, byte for byte; several columns are combined, and a missing or empty cell is missing.

    One column is handed over as it is stored, empty cells too: DuckDB groups by a stored dictionary at half the price.
    """
    import ibis

    if len(columns) == 1:
        return rows.text(columns[0])
    texts = [rows.text(name).nullif("") for name in columns]
    label = texts[0].replace("/", "//")
    for text in texts[1:]:
        label = label + ibis.literal(SEPARATOR) + text.replace("/", "//")
    return label


def groups_of(
    rows: Rows, limit: ir.FloatingColumn, columns: Sequence[str], *, digits: int = COARSE, sampled: bool = False
) -> EngineGroups:
    """Scan limits by label, once; a missing label, or one that not every file keeps, is refused."""
    table = rows.table.select(tau=limit, label=rows.table[LABEL])
    looked = glances(rows.session, table, about=rows.source) if sampled else None
    surveyed = cache(lambda: surveys(rows.session, table, about=rows.source, digits=digits))
    known: list[str | None] = list(surveyed() if looked is None else looked)
    if None in known or "" in known:
        _refuse_missing(rows, columns)
    names = checked_names(known, lambda label: f"{rows.place(_first(rows, label))}: {' and '.join(columns)}")
    surveyed_by_name = cache(lambda: {name: surveyed()[name] for name in names})
    return EngineGroups(tuple(names), {name: place for place, name in enumerate(names)}, surveyed_by_name, looked)


def _refuse_missing(rows: Rows, columns: Sequence[str]) -> None:
    """Name the first person (by id) whose cell is empty in one of the columns, and count the others."""
    for name in columns:
        people = rows.table.select(person=rows.ids(), cell=rows.text(name).nullif(""))
        missing = people.filter(people.cell.isnull())
        row = rows.session.one(missing.agg(people=missing.count(), first=missing.person.min()), about=rows.source)
        if row["people"]:
            raise wrong_at(f"{rows.place(row['first'])}: {name}", NO_GROUP, row["people"] - 1)


def _first(rows: Rows, label: str) -> str | None:
    """Return the first id with a label, which is handed over in a table: no statement holds a NUL."""
    people = rows.table.select(person=rows.ids(), label=rows.table[LABEL])
    wanted = small_table(rows.session, {"name": [label]}, {"name": "string"})
    own = people.join(wanted, people.label == wanted.name)
    first: str | None = rows.session.one(own.agg(first=own.person.min()), about=rows.source)["first"]
    return first


@dataclass(frozen=True)
class Wants:
    """What groups lack, by their places: limits inside a window, all limits up to a bound, sums at a cap."""

    windows: dict[int, Window]
    below: dict[int, float]
    tallied: dict[int, Tallied]


class Windows:
    """What was fetched of each group: distinct limits inside windows, how often each occurs, and sums at a design's cap.

    ``costs`` are those of people who weigh them, for whom ``limit`` is 1/c; ``listed`` returns the limits of each label up to a
    bound of its own.
    """

    def __init__(
        self,
        rows: Rows,
        limit: ir.FloatingColumn,
        groups: EngineGroups,
        costs: ir.FloatingColumn | None = None,
        listed: Callable[[Bounds], Listed] = lambda _: {},
    ) -> None:
        self.rows, self.limit, self.groups, self.costs, self.listed = rows, limit, groups, costs, listed
        self.fetched: list[dict[Window, tuple[Array, NDArray[np.int64]]]] = [{} for _ in groups.names]
        self.tallied: list[dict[Tallied, Tally]] = [{} for _ in groups.names]
        self.known_below = [KnownBelow() for _ in groups.names]

    def tally(self, place: int, wanted: Tallied) -> Tally:
        """Return the sums of a group at a design's cap; those that were not added up yet are lacking."""
        if wanted not in self.tallied[place]:
            raise Untallied(wanted)
        return self.tallied[place][wanted]

    def add_up(self, wanted: Mapping[int, Tallied]) -> None:
        """Add up over each of these groups, in one scan."""
        tau = self.limit if self.costs is None else self.costs
        for place, tally in tallies(self.rows, tau, self.groups.places, LABEL, wanted).items():
            self.tallied[place][wanted[place]] = tally

    def get(self, wanted: Wants) -> None:
        """Get what groups lack, by one scan for each kind of it."""
        if wanted.windows:
            self.fetch(wanted.windows)
        if wanted.below:
            self.fetch_below(wanted.below)
        if wanted.tallied:
            self.add_up(wanted.tallied)

    def fetch(self, wanted: Mapping[int, Window]) -> None:
        """Fetch one window of each of these groups, in one scan; and with it what its tilt will be asked about."""
        windows = {at: (window, self._around_mean(at, window)) for at, window in wanted.items()}
        labels = [(label, at) for label, at in self.groups.places.items() if at in wanted]
        columns: dict[str, Sequence[Any]] = {"name": [label for label, _ in labels], "place": [at for _, at in labels]}
        for k in range(2):
            columns[f"low_{k}"] = [windows[at][k][0] for _, at in labels]
            columns[f"high_{k}"] = [min(windows[at][k][1], np.finfo(float).max) for _, at in labels]
        types = dict.fromkeys(columns, "float64") | {"name": "string", "place": "int64"}
        place, tau, people = self._distinct(small_table(self.rows.session, columns, types), _hull(windows.values()))
        for at, both in windows.items():
            own = slice(*np.searchsorted(place, [at, at + 1]))
            for low, high in both:
                inside = (tau[own] > low) & (tau[own] <= high)
                self.fetched[at][low, high] = (tau[own][inside], people[own][inside])

    def fetch_below(self, wanted: Mapping[int, float]) -> None:
        """Fetch everyone of these groups at or below a bound, in one scan: few of each, or a group that is small."""
        # What was fetched of other groups is asked for again: what is held then answers for all of them at once.
        known = [each.bound for each in self.known_below]
        each = {label: min(wanted.get(at, known[at]), EVERYONE) for label, at in self.groups.places.items()}
        listed = self.listed({label: bound for label, bound in each.items() if bound >= 0.0})
        for at, bound in wanted.items():
            self.known_below[at].take(bound, listed_of(self.groups.labels(at), listed))

    def _distinct(self, few: ir.Table, hull: Window) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """Ask for the distinct limits inside the windows of each group, and how often each occurs; by place, rising."""
        people = self.rows.table.select(tau=self.limit, label=self.rows.table[LABEL])
        # Comparing two floats first spares most people the look-up of their label.
        people = people.filter((people.tau > literal(hull[0])) & (people.tau <= literal(hull[1])))
        near = people.join(few, people.label == few.name)
        first, second = ((near.tau > near[f"low_{k}"]) & (near.tau <= near[f"high_{k}"]) for k in range(2))
        near = near.filter(first | second).select("place", "tau")
        query = near.group_by("place", "tau").agg(people=near.count())
        table = self.rows.session.fetch(query, about=self.rows.source)
        place, tau, count = (table.column(name).to_numpy(zero_copy_only=False) for name in ("place", "tau", "people"))
        order = np.lexsort((tau, place))
        return place[order], tau[order].astype(np.float64), count[order].astype(np.int64)

    def _around_mean(self, at: int, window: Window) -> Window:
        """Say where the mean of min(limit, cap) lies for every cap in a window, in whole buckets: E15's tilt asks there next."""
        survey = self.groups.survey(at)
        outline = survey.outline()
        if not survey.people or not len(outline.edges) or not window[1] < outline.edges[-1] * 2:
            return (0.0, 0.0)
        ends = [_clipped_mean(outline, survey.people, cap) for cap in window]
        first, last = np.searchsorted(outline.edges, ends)
        low = float(outline.edges[first - 1]) if first > 0 else 0.0
        high = float(outline.edges[min(last, len(outline.edges) - 1)])
        return (low, float(np.nextafter(high, np.inf)))


def _hull(windows: Iterable[Sequence[Window]]) -> Window:
    """Return the narrowest window that holds all others."""
    held = [window for both in windows for window in both if window[0] < window[1]]
    lows, highs = zip(*held, strict=True) if held else ((0.0,), (0.0,))
    return min(lows), min(max(highs), float(np.finfo(float).max))


def _clipped_mean(outline: Outline, people: int, cap: float) -> float:
    """Bound the mean of min(limit, cap) by what lies in buckets below the cap; exact where the cap is an edge."""
    below = outline.sums_at(cap)
    return float((below.total + (people - below.count) * cap) / people)


class GroupLimits(EngineLimits):
    """The limits of one group; what was not fetched yet is lacking."""

    def __init__(
        self, rows: Rows, limit: ir.FloatingColumn, survey: Survey, windows: Windows, place: int, **more: object
    ) -> None:
        super().__init__(rows, limit, seen=lambda: survey, **more)  # type: ignore[arg-type]
        self._windows, self._place = windows, place

    def pieces(self, low: float, high: float) -> Pieces | None:
        """Fetch the limits inside; all of a large group are too many, also where few are distinct: groups share a scan."""
        everyone = low <= 0.0 and high == math.inf and len(self) > self.few_enough
        return None if everyone else super().pieces(low, high)

    def _distinct(self, low: float, high: float, *, room: int) -> tuple[Array, NDArray[np.int64]]:
        known = self._windows.fetched[self._place]
        for (a, b), (values, repeats) in known.items():
            if a <= low and high <= b:
                inside = (values > low) & (values <= high)
                return values[inside], repeats[inside]
        raise Lacking(low, high)


def find_by_group(windows: Windows, part: Callable[..., object], find: Callable[[int, object], Found]) -> list[Found]:
    """Have something found of each group; what groups lack is fetched for all of them at once.

    Where a sample says too little of one group, buckets are counted of all, and those not found yet are asked about by these.
    """
    by_place: dict[int, Found] = {}
    parts = [part(place) for place in range(len(windows.groups.names))]
    while len(by_place) < len(parts):
        left, wanted = [place for place in range(len(parts)) if place not in by_place], Wants({}, {}, {})
        try:
            for place in left:
                _find(place, parts[place], find, by_place, wanted)
        except Unsure:
            parts = [part(place, surveyed=place in left) for place in range(len(parts))]
        else:
            windows.get(wanted)
    return [by_place[place] for place in range(len(parts))]


def _find(
    place: int, people: object, find: Callable[[int, object], Found], by_place: dict[int, Found], wanted: Wants
) -> None:
    """Have something found of a group, or note what it lacks."""
    try:
        by_place[place] = find(place, people)
    except Lacking as needed:
        wanted.windows[place] = needed.window
    except LackingBelow as needed:
        wanted.below[place] = needed.bound
    except Untallied as needed:
        wanted.tallied[place] = needed.wanted


def of_labels(rows: Rows, labels: Sequence[str]) -> Rows:
    """Keep the rows of some labels."""
    return replace(rows, table=rows.table.filter(rows.table[LABEL].isin(labels)))
