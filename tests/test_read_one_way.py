"""What could be read in two ways is refused by every engine: nobody gets a second budget by a quote or a column's name."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optin
from optin.errors import BadInput

ENGINES = ["memory", "duckdb", pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("cell", ['"p0" ', ' "p0"', '"p"0', 'p"0"', '"p0"\t'])
def test_a_quote_beside_a_blank_never_makes_two_people_of_one(tmp_path, engine, cell):
    path = tmp_path / "people.csv"
    path.write_text(f"id,limit\np1,1\n{cell},1\n")
    with pytest.raises(BadInput, match=r"people\.csv line 3: a quote opens or closes a part of a cell"):
        optin.read(str(path), limits="limit", engine=engine)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_whole_cells_in_quotes_are_read_alike(tmp_path, engine):
    path = tmp_path / "people.csv"
    path.write_text('\ufeff"id","limit"\r\n"p""0","1"\r\n"p\n1",2\r\n"",3', encoding="utf-8")
    with pytest.raises(BadInput, match="missing"):
        optin.plan(optin.read(str(path), limits="limit", engine=engine), bounds=(0, 1))
    path.write_text('\ufeff"id","limit"\r\n"p""0","1"\r\n"p\n1",2', encoding="utf-8")
    assert optin.plan(optin.read(str(path), limits="limit", engine=engine), bounds=(0, 1)).people == 2


def test_a_quote_is_found_wherever_blocks_of_a_large_file_end(tmp_path):
    path, row = tmp_path / "people.csv", '"p",1\n'
    count = (1 << 20) // len(row)
    for shift in range(8):
        path.write_text("id,limit\n" + "x" * shift + ",1\n" + row * count + '"p" ,1\n')
        with pytest.raises(BadInput, match=f"line {count + 3}:"):
            optin.read(str(path), limits="limit", engine="memory")


def test_duckdb_never_reads_a_column_that_it_renamed_itself(tmp_path):
    ids = [f"p{at}" for at in range(3)]
    columns = [ids, [100.0] * 3, [200.0] * 3, [0.5] * 3]
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(columns, names=["id", "a", "a", "a_1"]), path)
    with pytest.raises(BadInput, match="2 columns named a; rename all but one"):
        optin.read(str(path), limits="a_1", engine="duckdb")


def test_duckdb_never_takes_a_backslash_for_a_folder(tmp_path):
    (tmp_path / "a").mkdir()
    for name, limit in (("a\\*b.parquet", 0.5), ("a/*b.parquet", 100.0)):
        pq.write_table(pa.table({"id": ["p0"], "limit": [limit]}), tmp_path / name)
    with pytest.raises(BadInput, match="rename the file"):
        optin.read(str(tmp_path / "a\\*b.parquet"), limits="limit", engine="duckdb")
