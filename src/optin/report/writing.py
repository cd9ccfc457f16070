"""From plan.json or release.json to one HTML file that needs nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optin.agents import Bucket, Description
from optin.agents.grouping import expect_named_once
from optin.announcement.origin import differs_from_plan
from optin.errors import Argument, BadInput
from optin.formats.atomic import AtomicWrite
from optin.planning import Plan
from optin.planning.population import made_of, population_shares
from optin.releasing import Release
from optin.report.page import page
from optin.wording.records import Listed


@dataclass(frozen=True, repr=False)
class Source(Listed):
    """What a report can be made of: a plan with a description of the limits, a release, or both."""

    plan: Plan | None = None
    description: Description | None = None
    release: Release | None = None
    population: Mapping[str, float] | None = None
    """The share of each group in a population, where the whole is one of people who were not all asked."""
    by: tuple[str, ...] = ()
    """The columns of groups that the plan was made by, where its file says so."""

    @property
    def grouped(self) -> bool:
        """Whether it is about groups."""
        return any(each.grouped for each in (self.plan, self.release) if each is not None)


def write_report(
    source: Path, out: Path, *, plan: Path | None = None, population: Path | None = None, by: Sequence[str] = ()
) -> Path:
    """Read plan.json or release.json (with ``plan``, both) and write the page atomically.

    ``population`` is a file of the groups' shares, as `optin release` takes it. ``by``, where given, must be the columns that
    the plan was made by; a release alone does not say from which columns its groups came.
    """
    _check_place(Path(out))
    loaded = read_source(Path(source))
    if plan is not None:
        loaded = _joined(loaded, read_source(Path(plan)))
    _expect_by(loaded, tuple(by))
    if population is not None:
        loaded = replace(loaded, population=_shares(loaded.release, population))
    with AtomicWrite(out) as file:  # a page to show: it holds nobody's own number
        file.write(render(loaded))
    return Path(out)


def _expect_by(source: Source, by: tuple[str, ...]) -> None:
    """Refuse columns of groups that are not those planned by: a report shows what was planned or released, and no other."""
    expect_named_once(by)
    if by and not source.grouped:
        raise BadInput(
            "this is not by group: leave {by} out, or plan, announce and release by group first", by=Argument("by")
        )
    if by and source.by and set(by) != set(source.by):
        raise BadInput(
            "this was planned by {planned}, and a report shows what was planned: leave {by} out",
            planned=" and ".join(source.by),
            by=Argument("by"),
        )


def render(source: Source) -> str:
    """Return the page as text; the same source gives the same text."""
    return page(plan=source.plan, description=source.description, release=source.release, population=source.population)


def _shares(release: Release | None, population: Path) -> Mapping[str, float]:
    if release is None or not release.grouped:
        raise BadInput("{population} is about a release of groups: leave it out", population=Argument("population"))
    return population_shares(population, made_of(release.announcement.designs))


def read_source(path: Path) -> Source:
    """Read a plan (with its description, if it holds one) or a release, told apart by their format."""
    try:
        text = path.read_text(encoding="utf-8")
        record = json.loads(text)
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {strerror}", path=path, strerror=error.strerror or "no such file"
        ) from None
    except ValueError:
        raise BadInput("{path} is not JSON; give the plan.json or release.json that optin wrote", path=path) from None
    kind = str(record.get("format", "")) if isinstance(record, dict) else ""
    if kind.startswith("optin.release/"):
        return Source(release=Release.from_json(text))
    if kind.startswith("optin.plan/"):
        plan = Plan.from_json(text)
        return Source(plan=plan, description=_description(record.get("describe"), plan, path), by=_by(record))
    raise BadInput(
        "{path} is neither a plan nor a release; give the plan.json or release.json that optin wrote", path=path
    )


def _by(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Read which columns a plan says that its groups came from."""
    columns = record.get("columns")
    named = columns.get("by") if isinstance(columns, dict) else None
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _description(record: object, plan: Plan, path: Path) -> Description | None:
    """Read the description of the limits, if there is one, and insist that it is of the people planned for."""
    if record is None:
        return None
    try:
        description = Description.from_dict(record)  # type: ignore[arg-type]
        described = description.zeros + description.infinite + sum(_counted(bucket) for bucket in description.buckets)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(
            '{path}: its "describe" cannot be read; write the plan again with optin plan', path=path
        ) from None
    if not described == description.people == plan.people:
        raise BadInput(
            '{path}: its "describe" is not of the people planned for; write the plan again with optin plan', path=path
        )
    return description


def _counted(bucket: Bucket) -> int:
    """Return how many people a bucket holds, after a look at its numbers."""
    numbers = (bucket.low, bucket.high, bucket.total, bucket.squares)
    if bucket.count < 1 or not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ValueError("not a bucket")
    return bucket.count


def _joined(first: Source, second: Source) -> Source:
    """Put a release beside the plan it came from."""
    release, plan = first.release or second.release, first.plan or second.plan
    if release is None or plan is None:
        raise BadInput("a report takes one release and one plan; give release.json first and plan.json as its plan")
    other = differs_from_plan(release.announcement, plan)
    if other is not None:
        raise BadInput(
            "this release was announced from another plan (not the same {other}); give the plan it was announced from",
            other=other,
        )
    described = first.description or second.description
    return Source(plan=plan, description=described, release=release, by=first.by or second.by)


def _check_place(path: Path) -> None:
    """Refuse a place that cannot hold the page before anything is drawn."""
    if path.is_dir():
        raise BadInput("{path} cannot be written: it is a folder; name a file in it", path=path)
    if not path.parent.is_dir():
        raise BadInput("{path} cannot be written: there is no folder {parent}", path=path, parent=path.parent)
