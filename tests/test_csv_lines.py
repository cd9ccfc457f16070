"""Lines of CSV mean the same on every engine, or are refused by all in the same words."""

import fsspec
import pytest

import optin
from optin.errors import BadInput
from optin.tables.csvlines import expect_lines

SPARK = pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))
ENGINES = ["memory", "duckdb", SPARK]
ENDS = "line {} does not end as the lines before it do"
WIDE = "line {} has 3 columns where the header has 2"
REFUSED = {
    "feeds among returns": ("id,limit\r\na,0.5\nb,1\r\n", ENDS.format(2)),
    "returns among feeds": ("id,limit\na,0.5\r\nb,1\n", ENDS.format(2)),
    "a return inside a line": ("id,limit\na,0.5\nb,1\rc,2\nd,3\n", ENDS.format(3)),
    "a feed among old returns": ("id,limit\ra,0.5\rb,1\nc,2\r", ENDS.format(3)),
    "doubled returns": ("id,limit\r\r\na,0.5\r\r\n", ENDS.format(2)),
    "after a quoted line end": ('id,limit\n"a\r\nx",0.5\nb,1\r\nc,2\n', ENDS.format(4)),
    "a blank first line": ("\nid,limit\na,0.5\n", "line 1 is blank; the first line must name the columns"),
    "a blank first line behind a mark": ("\ufeff\r\nid,limit\r\na,0.5\r\n", "line 1 is blank"),
    "a comma too many": ("id,limit\na,0.5\nb,1,\n", WIDE.format(3)),
    "a comma too many at the end": ("id,limit\na,0.5\nb,1,", WIDE.format(3)),
    "a comma too many everywhere but above": ("id,limit\r\na,0.5,\r\nb,1,\r\n", WIDE.format(2)),
    "a comma too many after quotes": ('id,limit\n"a,\n,x",0.5\n"b",1,\n', WIDE.format(4)),
}
TAKEN = {
    "feeds": "id,limit\na,0.5\nb,1\n",
    "returns and feeds": "id,limit\r\na,0.5\r\nb,1\r\n",
    "old returns": "id,limit\ra,0.5\rb,1\r",
    "no last end": "id,limit\na,0.5\nb,1",
    "blank lines between": "id,limit\na,0.5\n\nb,1\n\n",
    "a column without a name": "id,limit,\na,0.5,\nb,1,\n",
    "empty last cells": "id,limit,note\r\na,0.5,\r\nb,1,x\r\n",
    "other ends in quotes": 'id,limit\n"a\r\nx",0.5\n"b,\r,",1\n',
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", REFUSED)
def test_lines_that_engines_read_differently_are_refused_by_all_in_the_same_words(tmp_path, engine, case):
    text, why = REFUSED[case]
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode())
    with pytest.raises(BadInput) as refusal:
        optin.read(path, limits="limit", engine=engine)
    assert str(refusal.value).startswith(f"{path} {why}")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("case", TAKEN)
def test_lines_of_one_kind_are_read_as_the_same_people(tmp_path, engine, case):
    path = tmp_path / "people.csv"
    path.write_bytes(TAKEN[case].encode())
    people = optin.read(path, limits="limit", engine=engine)
    assert (len(people), people.table().clipped_total(9.0)) == (2, 1.5)


def test_files_elsewhere_are_looked_through_too():
    system = fsspec.filesystem("memory")
    system.pipe("/lines/people.csv", REFUSED["a comma too many"][0].encode())
    with pytest.raises(BadInput, match=r"line 3 has 3 columns where the header has 2"):
        optin.read("memory://lines/people.csv", limits="limit")


@pytest.mark.parametrize("at", [2**20 - 2, 2**20 - 1, 2**20, 2**20 + 1])
def test_line_ends_between_two_blocks_are_seen_whole(tmp_path, at):
    path = tmp_path / "people.csv"
    head, tail = b"id,limit\r\n", b",1\r\nb,2\r\n"
    path.write_bytes(head + b"a" * (at - len(head) - 3) + tail)
    expect_lines(path, lambda: path.open("rb"))
    path.write_bytes(head + b"a" * (at - len(head) - 3) + b",1,\r\nb,2\r\n")
    with pytest.raises(BadInput, match="line 2 has 3 columns"):
        expect_lines(path, lambda: path.open("rb"))
