"""What was filled into stored words, beside the words: nobody reads a number out of a sentence any more."""

from __future__ import annotations

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_CELL = "{people} people from {low!r} to {high!r}"
_COUNTED = {
    "able": re.compile(r"(?P<tens>\d+) people or so"),
    "next": re.compile(r"(?P<tens>\d+) people or so can take part (?P<times>\d+) more times"),
}
_TEMPLATES = {
    "able": "{tens} people or so, counted in tens, can take part",
    "next": "{tens} people or so can take part {times} more times for as much, counted in tens",
}


def upgrade() -> None:
    """Add the columns, and fill in the three kinds of events whose numbers are used again; others stay in their words."""
    for table in ("web_events", "web_jobs", "web_mails"):
        op.add_column(table, sa.Column("told", sa.Text()))
    events = sa.table("web_events", sa.column("number"), sa.column("kind"), sa.column("words"), sa.column("told"))
    noted = sa.select(events.c.number, events.c.kind, events.c.words).where(
        events.c.kind.in_(("able", "next", "cells"))
    )
    for event in op.get_bind().execute(noted).all():
        told = _told(event.kind, event.words)
        if told is not None:
            op.execute(events.update().where(events.c.number == event.number).values(told=json.dumps(told)))


def _told(kind: str, words: str) -> dict[str, Any] | None:
    """Read what version 11 wrote, which is not written any more."""
    if kind == "cells":
        cells = re.findall(r"(?P<people>\d+) people from (?P<low>\S+) to (?P<high>[^\s;]+)", words)
        return _listed([_filled(_CELL, dict(zip(("people", "low", "high"), each, strict=True))) for each in cells])
    counted = _COUNTED[kind].match(words)
    return None if counted is None else _filled(_TEMPLATES[kind], counted.groupdict())


def _filled(template: str, digits: dict[str, str]) -> dict[str, Any]:
    return {"template": template, "data": {name: {"digits": text} for name, text in digits.items()}}


def _listed(cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    if not cells:
        return None
    named = {f"part_{place}": cell for place, cell in enumerate(cells)}
    listed = {"template": "; ".join(f"{{{name}}}" for name in named), "data": named}
    return {"template": "choices can be seen in groups: {listed}", "data": {"listed": listed}}
