"""The order of acts: each belongs to an announcement before it, on the same terms, that was not closed yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row

_CLOSING = ("release", "cancel")
_OF_AN_OFFER = ("return", "absent", *_CLOSING)


def misplaced(rows: Sequence[Row[Any]]) -> Iterator[str]:
    """Name acts that the one before cannot have been followed by, whatever their hashes say."""
    offers: dict[int, Row[Any]] = {}
    closed: dict[int, int] = {}
    for row in rows:
        if row.kind == "announce":
            yield from _announced_twice(row, offers)
            offers[row.number] = row
        elif row.kind in _OF_AN_OFFER:
            yield from _beside_its_offer(row, offers.get(row.offer), closed.get(row.offer))
        if row.kind in _CLOSING:
            closed.setdefault(row.offer, row.number)
        yield from _odd_fields(row)


def _announced_twice(row: Row[Any], offers: dict[int, Row[Any]]) -> Iterator[str]:
    earlier = (one.number for one in offers.values() if (one.campaign, one.round) == (row.campaign, row.round))
    if (number := next(earlier, None)) is not None:
        yield f"act {row.number} announces the campaign and round that act {number} announced"


def _beside_its_offer(row: Row[Any], offer: Row[Any] | None, closed: int | None) -> Iterator[str]:
    if offer is None:
        yield f"act {row.number} ({row.kind}) belongs to no announcement before it"
    elif (row.campaign, row.round, row.fingerprint) != (offer.campaign, offer.round, offer.fingerprint):
        yield f"act {row.number} ({row.kind}) points to the announcement of another campaign or round, act {row.offer}"
    if closed is not None:
        yield f"act {row.number} ({row.kind}) comes after act {closed} closed its round"


def _odd_fields(row: Row[Any]) -> Iterator[str]:
    """Name an act with a field that its kind never has, or without one that it always has."""
    kinds = ("register", "raise", "announce", *_OF_AN_OFFER)
    has = {
        "campaign": row.kind not in ("register", "raise"),
        "offer": row.kind in _OF_AN_OFFER,
        "result": row.kind == "release",
        "joined": row.kind == "release",
    }
    odd = [name for name, given in has.items() if (getattr(row, name) is not None) != given]
    if row.kind not in kinds:
        yield f"act {row.number} is of a kind that no optin writes"
    elif odd:
        yield f"act {row.number} ({row.kind}) has or lacks what no act of its kind does: {', '.join(odd)}"
