"""Decimals in files that no float holds: never a grain more than was written, on every engine."""

import json
import math
import random
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import optin as run

import optin
from optin import LinearBenefit, PrivacyConstrained
from optin.engine.opening import rows_of
from optin.errors import BadInput
from optin.grains.overlay import allowance
from optin.tables import decimals, read_table
from optin.tables.columns import Wanted

SPARK = pytest.mark.xdist_group("spark")  # one worker starts Java, the others never
ENGINES = ["memory", "duckdb"]
SPARK_CSV = pytest.param("spark-local", "csv", marks=SPARK)
NINES = "0.99999999999999999999"
ODD = (
    *(NINES, "1.00000000000000000000", "1.00000000000000000001", "0.49999999999999999999", "1e0", "5e-1"),
    *("9.9999999999999999999E-1", "+.5", "5.", "00000000000000000000000000000000000000001.5"),
    *("100000000000000000000000000000000000e-35",),
    *("99999999999999999999999999999999999e-35", "0.0000000000000000000000000000000000000000000001e46", "0", "0.0", "1e-40"),
    *("2", "0.1", "0.3", " 0.25 ", "1E2", "1e+1", "2.3283064365386962890625e-10", "2.3283064365386962890624e-10", "1073741825"),
)  # fmt: skip


def exact(text):
    return Fraction(text.strip())


def decimal_of(number, digits=80):
    """Write a fraction out, cut after so many digits."""
    whole = str(number.numerator * 10**digits // number.denominator).rjust(digits + 1, "0")
    return (whole[:-digits] + "." + whole[-digits:]).rstrip("0").rstrip(".")


def drawn(count, seed=4):
    """Draw decimals of all lengths, many of them next to a whole number of grains."""
    rng = random.Random(seed)
    texts = list(ODD)
    while len(texts) < count:
        grains = Fraction(rng.randint(1, 2 ** rng.randint(1, 44)), 2**32)
        texts += [
            decimal_of(grains),
            decimal_of(grains + rng.choice((-1, 1)) * Fraction(1, 10 ** rng.randint(18, 45))),
            repr(rng.randint(0, 2**40) / 2**32),
            f"{rng.random() * 10 ** rng.randint(-3, 4):.{rng.randint(0, 20)}f}",
            f"{rng.randint(1, 2**36) / 2**32:.{rng.randint(0, 20)}e}",
            str(rng.randint(0, 10 ** rng.randint(1, 17))),
        ]
    return [text for text in texts if exact(text) >= 0][:count]


TEXTS = drawn(600)
WANTED = {"limit": Wanted("limit"), "budget": Wanted.budgets("budget"), "cost": Wanted.divisors("cost")}


def csv_of(folder, **columns):
    """Write columns as they are, cell for cell."""
    names, rows = ["id", *columns], zip(*columns.values(), strict=True)
    lines = [",".join(names), *(",".join((f"p{at:05d}", *row)) for at, row in enumerate(rows))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    return folder / "people.csv"


def parquet_of(folder, kind, **columns):
    folder.mkdir(exist_ok=True)
    made = {name: pa.array(cells, kind) for name, cells in columns.items()}
    count = len(next(iter(columns.values())))
    pq.write_table(pa.table({"id": [f"p{at:05d}" for at in range(count)]} | made), folder / "people.parquet")
    return folder / "people.parquet"


def numbers_of(path, engine, names=tuple(WANTED)):
    """Read columns as what people allow and bear, in the order of their ids."""
    if engine == "memory":
        table = read_table(str(path))
        return {name: table.numbers(WANTED[name]) for name in names}
    rows = rows_of(str(path), id="id", columns=list(names), engine=engine)
    query = rows.table.select(id=rows.ids(), **{name: rows.wanted(WANTED[name]) for name in names})
    found = rows.session.fetch(query.order_by("id"), about="people")
    return {name: np.array(found.column(name).to_pylist(), dtype=np.float64) for name in names}


@pytest.mark.parametrize(
    ("engine", "stored"),
    [*((engine, stored) for engine in ENGINES for stored in ("csv", "text", "large text")), SPARK_CSV],
)
def test_a_decimal_is_never_read_as_a_grain_more_nor_a_budget_up_nor_a_cost_down(tmp_path, engine, stored):
    columns = {"limit": TEXTS, "budget": TEXTS[::-1], "cost": TEXTS[7:] + TEXTS[:7]}
    if stored == "csv":
        path = csv_of(tmp_path, **columns)
    else:
        path = parquet_of(tmp_path / "p", pa.string() if stored == "text" else pa.large_string(), **columns)
    found, same = numbers_of(path, engine), numbers_of(path, "memory")
    for text, limit in zip(columns["limit"], found["limit"].tolist(), strict=True):
        assert math.floor(Fraction(limit) * 2**32) == math.floor(exact(text) * 2**32) or limit >= 2**20, text
        assert abs(limit - float(text)) <= math.ulp(limit)
    for text, budget in zip(columns["budget"], found["budget"].tolist(), strict=True):
        assert Fraction(budget) <= exact(text), text
    for text, cost in zip(columns["cost"], found["cost"].tolist(), strict=True):
        assert Fraction(cost) >= exact(text), text
    assert all(np.array_equal(found[name], same[name]) for name in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_of_decimals_are_read_as_their_text_is(tmp_path, engine):
    cells = [Decimal(text.strip()) for text in TEXTS if len(decimal_of(exact(text)).partition(".")[2]) <= 30]
    cells = [cell for cell in cells if cell < 10**8][:300]
    assert Decimal("0.99999999999999999999") in cells
    path = parquet_of(tmp_path / "p", pa.decimal128(38, 30), limit=cells, budget=cells, cost=cells)
    found = numbers_of(path, engine)
    for cell, limit, budget, cost in zip(cells, *(found[name].tolist() for name in WANTED), strict=True):
        assert math.floor(Fraction(limit) * 2**32) == math.floor(Fraction(cell) * 2**32) or limit >= 2**20
        assert Fraction(budget) <= Fraction(cell) <= Fraction(cost)


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_numbers_beyond_floats_are_read_towards_the_person(tmp_path, engine):
    cells = [2**53 + 1, 2**62 + 1, 2**53 - 1, 7]
    found = numbers_of(parquet_of(tmp_path / "p", pa.int64(), limit=cells, budget=cells, cost=cells), engine)
    for cell, limit, budget, cost in zip(cells, *(found[name].tolist() for name in WANTED), strict=True):
        assert max(limit, budget) <= cell <= cost


@pytest.mark.parametrize("others", [[0.5], [2**63 + 2**10 + 3], [math.inf, 7]])
@pytest.mark.parametrize("listed", [list, tuple])
def test_whole_numbers_beyond_floats_in_a_list_beside_other_numbers_are_read_towards_the_person(listed, others):
    """numpy makes floats of them before anybody looks, and 2^53 + 3 would be 2^53 + 4."""
    whole = [2**53 + 3, 2**60 + 2**7 + 1, *others]
    rich = PrivacyConstrained.from_budgets(listed(whole), [2**33] * len(whole))
    for budget, limit in zip(whole, rich.limits.tolist(), strict=True):
        assert math.isinf(budget) or Fraction(limit) * 2**33 <= Fraction(budget)
    finite = [cost for cost in whole if cost < math.inf]
    dear = PrivacyConstrained.from_budgets([2.0**60] * len(finite), listed(finite))
    for cost, limit in zip(finite, dear.limits.tolist(), strict=True):
        assert Fraction(limit) * Fraction(cost) <= 2**60
    stated = PrivacyConstrained(listed(whole)).limits.tolist()
    assert all(math.isinf(limit) or Fraction(limit) <= whole[at] for at, limit in enumerate(stated))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_written_just_below_a_grain_is_promised_no_grain_more(tmp_path, engine):
    path = csv_of(tmp_path, limit=[NINES] * 6 + ["0.5"] * 6, value=["1"] * 12)
    people = optin.read(str(path), limits="limit", engine=engine)
    offer = optin.plan(people, bounds=(0, 1), data_variance=0).announce(people)
    assert offer.sealed.total_grains == 6 * (2**32 - 1) + 6 * 2**31


@pytest.mark.parametrize("engine", ENGINES)
def test_written_budgets_over_written_costs_keep_the_budget(tmp_path, engine):
    pairs = [
        ("0.09999999999999999999999", "0.1"),
        (NINES, "1"),
        ("0.1", "0.1"),
        ("1", "4"),
        ("0.3", "0.1"),
        ("7", "49"),
    ] * 3
    path = csv_of(tmp_path, budget=[b for b, _ in pairs], cost=[c for _, c in pairs])
    people = optin.read(str(path), budgets="budget", costs="cost", engine=engine)
    offer = optin.plan(people, bounds=(0, 1), data_variance=0).announce(people)
    most = [math.floor(exact(budget) / exact(cost) * 2**32) for budget, cost in pairs]
    assert sum(most) - len(pairs) <= offer.sealed.total_grains <= sum(most)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_written_cost_below_every_float_is_not_taken_for_none(tmp_path, engine):
    path = csv_of(tmp_path, cost=["1e-400"] + ["1"] * 11, budget=["1"] * 12)
    for asked in ({"benefit": LinearBenefit(2, 1)}, {"budgets": "budget"}):
        with pytest.raises(BadInput, match="cost is positive but below 1e-150"):
            optin.read(str(path), costs="cost", engine=engine, **asked)


def test_written_totals_are_never_a_grain_too_high(tmp_path):
    path = csv_of(tmp_path, limit=["2"] * 3, total=[NINES, "1", "0.49999999999999999999"])
    rows = rows_of(str(path), id="id", columns=["limit"], engine="duckdb")
    query = rows.table.select(id=rows.ids(), total=allowance(rows.wanted(Wanted("total"))))
    found = rows.session.fetch(query.order_by("id"), about="people").column("total").to_pylist()
    assert found == [2**32 - 1, 2**32, 2**31 - 1]


def test_a_limit_on_the_command_line_is_never_a_grain_more(tmp_path):
    people = optin.PrivacyConstrained([0.5] * 6 + [2.0] * 6)
    (tmp_path / "offer.json").write_text(optin.plan(people, bounds=(0, 1)).announce(people).to_json())
    offer = tmp_path / "offer.json"
    assert json.loads(run("explain", offer, "--limit", NINES, "--json").out)["grains"] == 2**32 - 1
    assert json.loads(run("explain", offer, "--limit", "1", "--json").out)["grains"] == 2**32
    refused = run("explain", offer, "--limit", "one")
    assert refused.code == 2
    assert "must be a number" in refused.err


def test_so_short_a_text_is_next_to_a_whole_number_of_grains_only_where_it_is_that_number():
    """What is not compared digit by digit: m / 10^5 and k / 2^32 are equal, or 1 / (5^5 2^32) apart at least."""
    assert Fraction(1, 5**5 * 2**32) > Fraction(math.ulp(1000.0)) / 2
    assert 10**15 < 2**53  # and whole numbers of so many digits are floats
    assert decimals.SHORT.count("{") == 3


@pytest.mark.parametrize("cells", [["-inf", "NULL"], ["-1e301", "NULL"], ["-inf"], ["-1e301"]])
def test_what_lies_far_below_nothing_is_refused_by_an_engine_as_in_memory(tmp_path, cells):
    rows = [f"p{at},{cell}" for at, cell in enumerate(["0.5", "0.30000000000000004", *cells])]
    (tmp_path / "people.csv").write_text("\n".join(["id,limit", *rows]) + "\n")
    said = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(optin.BadInput) as caught:
            optin.read(tmp_path / "people.csv", limits="limit", engine=engine)
        said.append(re.sub(r"people\.csv (line \d+|id p\d+)", "", str(caught.value).split(": ", 1)[1]))
    assert said[0] == said[1]
