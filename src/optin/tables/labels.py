"""Labels say whose number each is: an index of pandas, or the id column of a table of polars or Arrow.

People keep the labels they were made with. A column that carries labels too is put into their order, wherever it is given;
a plain column, or one with nothing but the default labels 0 … n-1, goes by position; labels against none are refused. pandas
is never imported here: what carries labels brought it along.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optin.errors import Argument, BadInput
from optin.tables.arrow_texts import listed

Order = NDArray[np.intp]
ID = "id"


class Labelled(Protocol):
    """People: their labels, and their ids."""

    @property
    def index(self) -> Any:  # noqa: ANN401 - an index of pandas, or None
        """The labels people were made with; None if they came without."""

    @property
    def ids(self) -> tuple[str, ...] | None:
        """Ids in the same order."""

    @property
    def id_column(self) -> str:
        """The column that their ids come from."""


def of_people(values: Any, people: Labelled, name: str) -> Any:  # noqa: ANN401 - any array-like is welcome
    """Put one number a person into the order of the people: by label, by the id column of a table, or as it is."""
    if _is_table(values) and not hasattr(values, "index") and people.ids is not None:
        return _by_id(values, people.ids, name, people.id_column)
    expect_column(values, name)
    by_id = _order_by_id(values, people, name)
    return aligned(values, people.index, name) if by_id is None else values.take(by_id)


def _order_by_id(values: Any, people: Labelled, name: str) -> Order | None:  # noqa: ANN401
    """Say where each person stands in a column labelled by ids; None unless people have ids and no labels of their own.

    Labels of which only some are ids are refused as labels are; if none is, they are labels against none.
    """
    labels = _labels(values)
    if labels is None or people.ids is None or not (people.index is None or _is_default(people.index)):
        return None
    places = {label: at for at, label in enumerate(labels.tolist())}
    order = [places.get(person, -1) for person in people.ids]
    if max(order, default=-1) < 0:
        return None
    if labels.is_unique and len(order) == len(labels) and min(order) >= 0:
        return np.array(order, dtype=np.intp)
    raise BadInput(_why(type(labels)(list(people.ids)), labels, name, "the ids of the people"))


def together(columns: dict[str, Any], index: Any = None) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """Put columns that are made into people into one order, and say which labels these people carry.

    Labels that someone chose lead; the default ones 0 … n-1 do only where there are no others. Where labels are ids, and ids
    have no chosen labels themselves, ids lead: else one person's limit would stand beside another one's id.
    """
    for name, values in columns.items():
        expect_column(values, name)
    if hasattr(type(columns.get("ids")), "to_pylist") or hasattr(columns.get("ids"), "__next__"):
        columns = columns | {"ids": listed(columns["ids"])}
    if index is not None and not hasattr(index, "get_indexer"):
        raise BadInput("index must be a pandas Index with one label for each person")
    carried = [(name, labels) for name, values in columns.items() if (labels := _labels(values)) is not None]
    chosen = [(name, labels) for name, labels in carried if not _is_default(labels)]
    whose, leading = ("the people", index) if index is not None else next(iter(chosen + carried), ("", None))
    if index is None and _names_people(columns.get("ids"), chosen):
        whose, leading = "ids", _as_labels(columns["ids"])
    return leading, [
        values if name == whose else aligned(values, leading, name, whose=whose) for name, values in columns.items()
    ]


def _as_labels(ids: Any) -> Any:  # noqa: ANN401
    """Take ids as an index of pandas, which is there: a column that carries labels brought it along."""
    return sys.modules["pandas"].Index(list(ids), dtype=object)


def _names_people(ids: Any, chosen: list[tuple[str, Any]]) -> bool:  # noqa: ANN401
    """Tell whether a column is labelled by ids; a number and its digits are the same here, and refused later if both occur."""
    if ids is None or not chosen or any(name == "ids" for name, _ in chosen):
        return False
    known = set(map(str, ids))
    return any(str(label) in known for _, labels in chosen for label in labels.tolist())


def aligned(values: Any, index: Any, name: str, *, whose: str = "the people") -> Any:  # noqa: ANN401
    """Put a column into the order of some labels; refuse labels that do not say whose number is whose.

    A column of another length whose labels name nobody is left as it is: that is for its reader to refuse.
    """
    theirs = _labels(values)
    if theirs is None:
        return values
    if index is not None and len(theirs) != len(index):
        if not (_is_default(index) or _is_default(theirs)):
            raise BadInput(_why(index, theirs, name, whose))
        return values
    if index is None or _is_default(index):
        if not _is_default(theirs):
            same = index is not None and _order(index, theirs) is not None
            raise BadInput(_another_order(name, whose) if same else _unlabelled(name, whose))
        return values
    order = _order(index, theirs)
    if _is_default(theirs):
        if order is not None:
            raise BadInput(_another_order(name, whose))
        return values
    if order is None:
        raise BadInput(_why(index, theirs, name, whose))
    return values if np.array_equal(order, np.arange(len(order))) else values.take(order)


def beside_ids(values: Any, ids: Any, name: str, key: str) -> Any:  # noqa: ANN401
    """Put a column into the order of the ids beside it: each column of a mapping may carry labels of its own.

    Labels that are ids themselves are matched with plain ids; any others against plain ids are refused.
    """
    ours, theirs = _labels(ids), _labels(values)
    if theirs is None or (ours is not None and ours.equals(theirs)):
        return values
    if ours is None and not _is_default(theirs) and _names_people(ids := _listed(ids), [(name, theirs)]):
        ours = _as_labels(ids)
    return aligned(values, ours, name, whose=key)


def expect_labels(index: Any, people: int) -> None:  # noqa: ANN401
    """Refuse labels that are not one for each person."""
    if index is not None and len(index) != people:
        raise BadInput(
            "index has {count} labels for {people} people; give one for each", count=len(index), people=people
        )


def expect_column(values: Any, name: str) -> None:  # noqa: ANN401
    """Refuse a whole table where a column is asked for."""
    if _is_table(values):
        raise BadInput('{name} is a table; give one column of it, for instance table["{name}"]', name=name)


def names_of(table: Any) -> list[str] | None:  # noqa: ANN401
    """List the columns of a table of pandas, polars or Arrow; None for what is no table.

    Its type is asked, never the thing itself: pandas takes labels and columns for attributes, so that a person called
    "columns", or a column called "column_names", would answer.
    """
    if hasattr(type(table), "collect_schema"):
        return list(table.collect_schema().names())
    names = next((name for name in ("column_names", "columns") if hasattr(type(table), name)), None)
    return None if names is None else list(getattr(table, names))


def collected(table: Any) -> Any:  # noqa: ANN401
    """Fetch a table that polars has only described so far; any other is here already."""
    return table.collect() if hasattr(type(table), "collect_schema") and hasattr(type(table), "collect") else table


def _is_table(values: Any) -> bool:  # noqa: ANN401
    return hasattr(type(values), "columns")


def _labels(values: Any) -> Any:  # noqa: ANN401
    """Return the index that a column carries; lists have a method of that name."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "get_indexer") else None


def _is_default(labels: Any) -> bool:  # noqa: ANN401
    """Tell the labels 0 … n-1, which a column has without anyone giving it any."""
    if getattr(labels.dtype, "kind", "O") not in "iu":
        return False
    return np.array_equal(np.asarray(labels), np.arange(len(labels)))


def _order(ours: Any, theirs: Any) -> Order | None:  # noqa: ANN401
    """Say where each of our labels stands among theirs; None unless both are the same distinct labels, none missing."""
    if not (ours.is_unique and theirs.is_unique) or _missing(ours).any() or _missing(theirs).any():
        return None
    if ours.dtype != theirs.dtype or hasattr(ours, "is_overlapping"):
        # as objects 2^53 + 1 and 2.0^53 stay two things, and intervals that overlap are told apart
        ours, theirs = ours.astype(object), theirs.astype(object)
    order: Order = theirs.get_indexer(ours)
    return order if np.array_equal(np.sort(order), np.arange(len(order))) else None


def _another_order(name: str, whose: str) -> str:
    """Refuse the labels 0 … n-1 in another order: against the default ones they could be meant as labels or as nothing."""
    return (
        f"{name} and {whose} have different indexes: both carry the labels 0, 1, 2 and so on, one of them in another order, "
        f"so whether labels or places count cannot be known; sort one by its index (.sort_index()), or give "
        f"{name}.to_numpy() if both stand in the same order"
    )


def _unlabelled(name: str, whose: str) -> str:
    """Refuse labels against none."""
    return (
        f"{name} and {whose} have different indexes: only one of them carries labels, so whose entry is whose cannot be "
        f"known; give both the same labels, or {name}.to_numpy() if both stand in the same order"
    )


def _why(ours: Any, theirs: Any, name: str, whose: str) -> str:  # noqa: ANN401
    """Say what keeps two sides from being matched: the first label that is missing, used twice, too many or lacking."""
    advice = f"give each person one label, or {name}.to_numpy() if both stand in the same order"
    for labels, owner in ((ours, whose), (theirs, name)):
        for wrong, words in ((_missing(labels), "is missing"), (labels.duplicated(), "was used before")):
            if wrong.any():
                place = int(np.argmax(wrong))
                return f"the label at index {place} of {owner} {words}, so labels do not tell people apart; {advice}"
    left, right = ours.astype(object), theirs.astype(object)
    strange, lacking = (np.flatnonzero(places < 0) for places in (left.get_indexer(right), right.get_indexer(left)))
    labels, at, owner = (theirs, strange[0], name) if len(strange) else (ours, lacking[0], whose)
    others = "the others" if len(strange) else f"those of {name}"
    return (
        f"{name} and {whose} have different indexes: the label at index {at} of {owner} is not among {others}: "
        f"{labels[[at]].tolist()[0]!r}; {advice}"
    )


def _missing(labels: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    """Mark labels that are missing; an index of several levels cannot be asked, and has a code for that."""
    if labels.nlevels > 1:
        return np.asarray(np.any([np.asarray(codes) < 0 for codes in labels.codes], axis=0))
    return np.asarray(labels.isna(), dtype=np.bool_)


def named_ids(ids: Any) -> str:  # noqa: ANN401
    """Return the name of a column of ids: its own where it bears one, as columns of pandas and polars do."""
    own = getattr(ids, "name", None)
    return own if isinstance(own, str) and own else ID


def ids_among(names: Collection[str], own: str) -> str | None:
    """Say which column holds ids: the one that people were read with, or else one called id; None where neither is.

    >>> ids_among(["who", "id", "hours"], "who"), ids_among(["id", "hours"], "who"), ids_among(["hours"], "who")
    ('who', 'id', None)
    """
    return next((name for name in (own, ID) if name in names), None)


def _by_id(table: Any, ids: tuple[str, ...], name: str, own: str) -> Any:  # noqa: ANN401
    """Take the one column beside the ids from a table of polars or Arrow, in the order of the people's ids."""
    names = names_of(table) or []
    key = ids_among(names, own) or own
    others = [column for column in names if column != key]
    if len(names) != 2 or len(others) != 1 or not hasattr(table, "__getitem__"):
        raise BadInput(
            '{name} is a table; give one column of it, or a table of "{id}" and one column more', name=name, id=key
        )
    return np.asarray(table[others[0]])[order_of_ids(table[key], ids, name)]


def order_of_ids(column: Any, ids: tuple[str, ...], name: str) -> Order:  # noqa: ANN401
    """Say where each person stands in a column of ids, which must be theirs, each once."""
    given = _listed(column)
    places = {person: at for at, person in enumerate(given)}
    if len(given) != len(ids) or len(places) != len(ids) or any(person not in places for person in ids):
        raise BadInput(
            "the ids of the table of {name} are not those of the people, each once: {first_wrong}; give one row a"
            " person, also of those who did not join ({joined} says who did)",
            name=name,
            first_wrong=_first_wrong(given, ids),
            joined=Argument("joined"),
        )
    return np.array([places[person] for person in ids], dtype=np.intp)


def _first_wrong(given: list[Any], ids: tuple[str, ...]) -> str:
    """Name the first id that is there twice or is nobody's, or else the first person who has no row."""
    seen, known = set(), set(ids)
    for at, person in enumerate(given):
        if person in seen or person not in known:
            return f"row {at} {'repeats' if person in seen else 'holds'} {person!r}"
        seen.add(person)
    return f"{next(person for person in ids if person not in seen)!r} has no row"


def _listed(column: Any) -> list[Any]:  # noqa: ANN401
    """List ids as people have them: whole numbers by their digits, as when a table is read."""
    return [
        str(each) if isinstance(each, int | np.integer) and not isinstance(each, bool) else each
        for each in listed(column)
    ]
