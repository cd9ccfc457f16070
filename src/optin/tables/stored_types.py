"""How a column may be stored: which types hold ids, numbers or answers, and which of them an engine cannot be trusted with.

A Parquet file says by its own schema what it holds, and that is what decides, for every engine alike: DuckDB and Spark see a
length of time as a whole number, and DuckDB reads decimals of more than 38 digits as something else entirely.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optin.errors import Argument, BadInput

if TYPE_CHECKING:
    import pyarrow as pa

Stored = Mapping[str, "tuple[pa.DataType, ...]"]
"""The types in which files store each column."""
DIGITS = 38  # as many as engines keep of a decimal
ELSEWHERE = "write it as double, or add {instead}"


def _types() -> Any:  # noqa: ANN401 - a module; whoever holds a type has it
    """Load what tells types apart, when there is a type to tell."""
    from pyarrow import types

    return types


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the entries, where a column lists its distinct entries or their repetitions."""
    return plain_type(kind.value_type) if _types().is_dictionary(kind) or _types().is_run_end_encoded(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Tell text."""
    return bool(_types().is_string(kind) or _types().is_large_string(kind) or _types().is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Tell numbers of any kind."""
    return bool(_types().is_integer(kind) or _types().is_floating(kind) or _types().is_decimal(kind))


def type_name(kind: pa.DataType) -> str:
    """Name the type of the entries as engines do, where they have a name for it."""
    plain = plain_type(kind)
    try:
        import ibis.expr.datatypes as dt

        return "string" if is_text(plain) else str(dt.DataType.from_pyarrow(plain))
    except Exception:  # no engine is installed; and Ibis raises errors of many kinds for types it does not know
        return str(plain)


def expect_ids(kind: pa.DataType, source: str, name: str) -> None:
    """Refuse ids that could be written in two ways: 1 and 1.0 are not the same name."""
    plain = plain_type(kind)
    if not (is_text(plain) or _types().is_integer(plain) or (_types().is_decimal(plain) and plain.scale == 0)):
        raise not_ids(source, name, type_name(plain))


def expect_numbers(kind: pa.DataType, source: str, name: str) -> None:
    """Refuse a column that holds other things than numbers; truths count as 1 and 0, and nothing at all as missing."""
    plain = plain_type(kind)
    if not (is_text(plain) or is_number(plain) or _types().is_boolean(plain) or _types().is_null(plain)):
        raise not_numbers(source, name, type_name(plain))


def holds_answers(kind: pa.DataType) -> bool:
    """Tell a column of truths, words or numbers from one in which nothing can be an answer."""
    plain = plain_type(kind)
    return is_text(plain) or is_number(plain) or bool(_types().is_boolean(plain))


def expect_entries(kind: pa.DataType, source: str, name: str) -> None:
    """Refuse a column in which nothing can be an answer; of one that holds nothing at all, all are missing."""
    if not (holds_answers(kind) or _types().is_null(kind)):
        raise BadInput(
            "{source}: {name} is stored as {kind}, which holds no answers; write the column as text",
            source=source,
            name=name,
            kind=type_name(kind),
        )


def expect_read(kind: pa.DataType, source: str, name: str, engine: str) -> None:
    """Refuse what an engine would misread."""
    plain = plain_type(kind)
    if _types().is_decimal(plain) and plain.precision > DIGITS:
        raise BadInput(
            "{source}: {name} is stored as {type_name}, which {engine} cannot read; " + ELSEWHERE,
            instead=Argument("engine", "memory"),
            source=source,
            name=name,
            type_name=type_name(plain),
            engine=engine,
        )


def expect_alike(kinds: tuple[pa.DataType, ...], source: str, name: str, engine: str) -> None:
    """Refuse decimals beside numbers of another type: brought to one type by an engine, they would be rounded on the way."""
    names = sorted({type_name(kind) for kind in kinds})
    if len(names) > 1 and any(_types().is_decimal(plain_type(kind)) for kind in kinds):
        raise BadInput(
            "{source}: files store {name} as {listed}, which {engine} would round; write them alike, or add {instead}",
            instead=Argument("engine", "memory"),
            source=source,
            name=name,
            listed=" and as ".join(names),
            engine=engine,
        )


def expect_opened(stored: Stored, source: str, engine: str) -> None:
    """Refuse a file that Spark would not open at all, for the sake of one column."""
    for name, kinds in stored.items():
        for plain in map(plain_type, kinds):
            expect_read(plain, source, name, engine)
            if _types().is_float16(plain) or _types().is_time(plain) or str(plain) == "extension<arrow.uuid>":
                raise BadInput(
                    "{source}: {name} is stored as {type_name}, and Spark opens no file with such a column; leave it"
                    " out or write it in another way, or add {instead}",
                    instead=Argument("engine", "duckdb"),
                    source=source,
                    name=name,
                    type_name=type_name(plain),
                )


def not_ids(source: str, name: str, kind: str) -> BadInput:
    """Say that a column holds no ids."""
    return BadInput(
        "{source}: {name} is stored as {kind}, and ids and groups are text; write the column as text",
        source=source,
        name=name,
        kind=kind,
    )


def not_numbers(source: str, name: str, kind: str) -> BadInput:
    """Say that a column holds no numbers."""
    return BadInput(
        "{source}: {name} is stored as {kind}, and numbers are needed; write it as numbers",
        source=source,
        name=name,
        kind=kind,
    )
