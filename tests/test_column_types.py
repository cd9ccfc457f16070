"""Every Arrow type that can hold a number, an id or an answer: the same entries on every engine, or a refusal."""

import random
from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import optin
from optin.engine.opening import rows_of
from optin.tables import read_table

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "column-types.md"
SPARK = pytest.mark.xdist_group("spark")
ENGINES = ["duckdb", pytest.param("spark-local", marks=SPARK)]
PEOPLE = 400
RNG = random.Random(12)


def whole(bits, *, signed):
    """Whole numbers up to the largest of their type."""
    most = 2 ** (bits - signed) - 1
    return [0, 1, most, *(RNG.randrange(most) for _ in range(PEOPLE - 3))]


def decimals(precision, scale):
    """Decimals of every length, few of which a float can hold."""
    with localcontext() as exact:
        exact.prec = 90
        digits = [0, 10**scale, *(RNG.randrange(10 ** RNG.randint(1, precision)) for _ in range(PEOPLE - 2))]
        return [Decimal(number).scaleb(-scale) for number in digits]


FLOATS = [0.0, 1.0, *(RNG.lognormvariate(0, 2) for _ in range(PEOPLE - 2))]
TEXTS = ["0", "1", *(repr(number) for number in FLOATS[2:])]
TRUTHS = [False, True] * (PEOPLE // 2)
DECIMAL = [
    pa.decimal32(9, 4),
    pa.decimal64(18, 17),
    pa.decimal128(38, 20),
    pa.decimal128(38, 37),
    pa.decimal256(30, 25),
]
WIDE = [pa.decimal256(50, 20), pa.decimal256(39, 1), pa.decimal256(76, 40)]


def stored(kind):
    """A column of a type, and what it holds."""
    if pa.types.is_integer(kind):
        entries = whole(kind.bit_width, signed=pa.types.is_signed_integer(kind))
        return pa.array(entries, kind), entries
    if pa.types.is_decimal(kind):
        entries = decimals(kind.precision, kind.scale)
        return pa.array(entries, kind), entries
    if pa.types.is_floating(kind):
        array = np.array(FLOATS, kind.to_pandas_dtype())
        return pa.array(array), array.astype(float).tolist()
    return pa.array(TEXTS, kind), TEXTS


def column(kind):
    """Entries of types that hold no numbers."""
    if isinstance(kind, pa.BaseExtensionType):
        entries = {"arrow.uuid": [b"0" * 16], "arrow.json": ["1"], "arrow.bool8": [1]}[kind.extension_name]
        return pa.ExtensionArray.from_storage(kind, pa.array(entries * PEOPLE, kind.storage_type))
    if pa.types.is_nested(kind):
        return pa.array([[1.0] if pa.types.is_list(kind) else {"a": 1.0}] * PEOPLE, kind)
    if pa.types.is_boolean(kind):
        return pa.array(TRUTHS)
    return pa.nulls(PEOPLE) if pa.types.is_null(kind) else pa.array([1] * PEOPLE, pa.int64()).cast(kind)


INTEGERS = [[pa.int8(), pa.int16(), pa.int32(), pa.int64()], [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]]
TEXT = [pa.string(), pa.large_string(), pa.string_view()]
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)]
LINES = {  # the lines of the page, and the columns they speak of
    "int8, int16, int32, int64": [stored(kind)[0] for kind in INTEGERS[0]],
    "uint8, uint16, uint32, uint64": [stored(kind)[0] for kind in INTEGERS[1]],
    "float": [stored(pa.float32())[0]],
    "double": [stored(pa.float64())[0]],
    "halffloat": [stored(pa.float16())[0]],
    "decimal32, decimal64, decimal128, decimal256": [stored(kind)[0] for kind in DECIMAL],
    "decimals without digits after the point": [stored(pa.decimal128(38, 0))[0], stored(pa.decimal32(5, 0))[0]],
    "decimal256 of more than 38 digits": [stored(kind)[0] for kind in WIDE],
    "string, large_string, string_view": [stored(kind)[0] for kind in TEXT],
    "dictionary of text": [
        stored(pa.string())[0].dictionary_encode(),
        stored(pa.large_string())[0].dictionary_encode(),
    ],
    "bool": [column(pa.bool_())],
    "null": [column(pa.null())],
    "binary, large_binary, binary_view, fixed_size_binary": [pa.array([b"1"] * PEOPLE, kind) for kind in BYTES],
    "date32, timestamp, duration": [
        pa.array([1] * PEOPLE, pa.int32()).cast(pa.date32()),
        column(pa.timestamp("us")),
        column(pa.duration("s")),
    ],
    "time64": [column(pa.time64("us"))],
    "uuid": [column(pa.uuid())],
    "json, bool8": [column(pa.json_(pa.string())), column(pa.bool8())],
    "list, struct": [column(pa.list_(pa.float64())), column(pa.struct({"a": pa.float64()}))],
}
HELD = {str(array.type): array for arrays in LINES.values() for array in arrays}
REFUSED_WHOLE = ("halffloat", "time64", "uuid", "decimal256 of more than 38 digits")


def written(folder, columns):
    """One file with a column for each type, besides ids that are text."""
    path = folder / "people.parquet"
    pq.write_table(pa.table({"id": [f"p{at:04}" for at in range(PEOPLE)]} | columns), path)
    return path


def tried(call):
    try:
        return call()
    except optin.BadInput as refusal:
        return str(refusal)


def in_memory(path, name):
    """Ids, numbers and answers of a column, or what is said instead."""
    table = read_table(str(path), [name])
    numbers = tried(lambda: table.values(name))
    return {
        "ids": tried(lambda: table._each(name, optin.tables.table.as_ids)[0]),
        "numbers": numbers if isinstance(numbers, str) else numbers.tolist(),
        "answers": [
            None if other else bool(answer)
            for answer, other in zip(*table._joined(name, optin.tables.table.as_truths), strict=True)
        ],
    }


def in_engine(path, names, engine):
    """The same of all columns, by one query."""
    rows = rows_of(str(path), id="id", columns=[], engine=engine)
    asked = {}
    for at, name in enumerate(names):
        roles = {"ids": replace(rows, id=name).ids, "numbers": lambda name=name: rows.number(name)}
        for role, expression in (roles | {"answers": lambda name=name: rows.truth(name)}).items():
            asked[name, role, f"x{at}{role}"] = tried(expression)
    query = {alias: found for (_, _, alias), found in asked.items() if not isinstance(found, str)}
    table = rows.session.fetch(rows.table.select(person=rows.ids(), **query), about="the test").sort_by("person")
    found = {name: {} for name in names}
    for (name, role, alias), expression in asked.items():
        found[name][role] = expression if isinstance(expression, str) else table.column(alias).to_pylist()
    return found


def plain(entries):
    """Missing numbers are NaN in memory and NULL in engines."""
    return [None if entry != entry else entry for entry in entries] if isinstance(entries, list) else entries


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("types"), HELD)
    return {name: in_memory(path, name) for name in HELD}


def test_numbers_in_memory_are_the_nearest_floats(memory):
    for kind in [*INTEGERS[0], *INTEGERS[1], pa.float16(), pa.float32(), pa.float64(), *TEXT]:
        array = HELD[str(kind)]
        assert memory[str(kind)]["numbers"] == [float(entry) for entry in array.to_pylist()], kind
    for kind in [*DECIMAL, *WIDE]:
        assert memory[str(kind)]["numbers"] == [float(str(entry)) for entry in HELD[str(kind)].to_pylist()], kind


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_reads_the_same_or_refuses(tmp_path, memory, engine):
    """Where memory refuses an engine does too, in the same words; numbers are equal to the last bit."""
    spark = engine == "spark-local"
    left_out = REFUSED_WHOLE if spark else ()
    names = [str(array.type) for line, arrays in LINES.items() if line not in left_out for array in arrays]
    path = written(tmp_path, {name: HELD[name] for name in names})
    found = in_engine(path, names, engine)
    for name in names:
        for role in ("ids", "numbers", "answers"):
            one, other = memory[name][role], found[name][role]
            if name in map(str, WIDE):
                assert isinstance(other, str), (name, role)
                continue
            same = one == other if not isinstance(one, str) else one.partition(": ")[2] == str(other).partition(": ")[2]
            assert same or plain(one) == plain(other), (name, role)
    for line in left_out:
        for array in LINES[line]:
            with pytest.raises(optin.BadInput, match=r"people.parquet: other is stored as"):
                rows_of(str(written(tmp_path, {"other": array})), id="id", columns=[], engine=engine)


def test_decimals_of_more_than_38_digits_are_refused_by_duckdb_for_every_use(tmp_path):
    half = pa.array([Decimal("0.5")] * PEOPLE, pa.decimal256(50, 20))
    path = written(tmp_path, {"wide": half, "limit": [0.5] * PEOPLE})
    words = r"wide is stored as decimal\(50, 20\), which duckdb cannot read; write it as double, or add engine='memory'"
    for columns in ({"limits": "wide"}, {"budgets": "wide", "costs": "limit"}, {"budgets": "limit", "costs": "wide"}):
        with pytest.raises(optin.BadInput, match=words):
            optin.read(path, **columns)
    people = optin.read(path, limits="limit")
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    for columns in ({"values": "wide"}, {"values": "limit", "joined": "wide"}):
        with pytest.raises(optin.BadInput, match=words):
            optin.release(offer, people, columns.pop("values"), **columns)
    assert set(optin.read(path, limits="wide", engine="memory").limits.tolist()) == {0.5}


def test_decimals_beside_another_type_are_refused_where_an_engine_would_round(tmp_path):
    pq.write_table(
        pa.table({"id": ["a"], "limit": pa.array([Decimal("0.1")], pa.decimal128(38, 37))}), tmp_path / "0.parquet"
    )
    pq.write_table(pa.table({"id": ["b"], "limit": [0.5]}), tmp_path / "1.parquet")
    with pytest.raises(
        optin.BadInput, match=r"store limit as decimal\(38, 37\) and as float64, which duckdb would round"
    ):
        optin.read(tmp_path, limits="limit")
    assert optin.read(tmp_path, limits="limit", engine="memory").limits.tolist() == [0.1, 0.5]


def test_runs_of_equal_entries_are_read_as_the_entries():
    from optin.tables.table_cells import as_ids, as_numbers, as_truths

    for entries in ([0.5, 0.5, 1.0], ["1", "1", "0"]):
        runs = pa.chunked_array([pc.run_end_encode(pa.array(entries))])
        assert as_numbers(runs, "x", "f")[0].tolist() == [float(entry) for entry in entries]
    assert as_ids(runs, "x", "f") == entries
    assert as_truths(runs, "x", "f")[0].tolist() == [True, True, False]


def verdict(roles):
    """One line of the page from what memory does."""
    missing = [entry for entry in roles["numbers"] if isinstance(entry, float) and entry != entry]
    if len(missing) == PEOPLE:
        return "no", "missing", "missing"
    ids, numbers = ("no" if isinstance(roles[role], str) else "yes" for role in ("ids", "numbers"))
    return ids, numbers, "yes" if {True, False} <= set(roles["answers"]) else "no"


def test_the_page_says_what_is_read(memory):
    """Verdicts are those of memory, which the engines share; what they refuse besides is tried above."""
    said = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    expected = []
    for line, arrays in LINES.items():
        (found,) = {verdict(memory[str(array.type)]) for array in arrays}
        wide = line == "decimal256 of more than 38 digits"
        refused = "DuckDB, Spark" if wide else "Spark" if line in REFUSED_WHOLE else ""
        expected.append(f"| {line} | {' | '.join(found)} | {refused} |".replace("|  |", "| |"))
    assert said == expected


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", [pa.duration("us"), pa.time64("us"), pa.timestamp("us"), pa.date32(), pa.binary(1)])
def test_what_holds_no_answers_is_none_in_any_engine_even_where_it_looks_like_digits(tmp_path, engine, kind):
    """DuckDB sees a length of time as a whole number, and digits may be options."""
    at = pa.array([b"0", b"1"] * 20, kind) if kind == pa.binary(1) else pa.array([0, 1] * 20, pa.int32())
    column = at if at.type == kind else (at if kind == pa.date32() else at.cast(pa.int64())).cast(kind)
    ids = [f"p{number}" for number in range(40)]
    path = written(tmp_path, {"id": ids, "limit": [0.5] * 40, "sex": column})
    for asked in (
        optin.Choice("sex", options=("0", "1")),
        optin.YesNo("sex"),
        optin.MultipleChoice("sex", options=("0", "1", "2"), at_most=2),
    ):
        people = optin.read(path, limits="limit", engine=engine)
        offer = optin.plan(people, [asked]).announce(people)
        with pytest.raises(
            optin.BadInput, match=r"sex is stored as .*, which holds no answers; write the column as text"
        ):
            optin.release(offer, people, "sex" if engine == "duckdb" else read_table(path).entries("sex"))
