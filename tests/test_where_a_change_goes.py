"""The page that says where a change goes names files that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/decisions/where-a-change-goes.md"


def named(text):
    """List what stands in backticks and looks like a file or a folder of the package; one still to be made has brackets."""
    found = re.findall(r"`([a-z_0-9/]+(?:\.(?:py|html|js)|/))`", text)
    return [name for name in found if not name.startswith("tests/")]


def test_every_file_that_a_row_names_exists():
    names = named(PAGE.read_text())
    assert len(names) > 50
    assert [name for name in names if not (ROOT / "src/optin" / name).exists()] == []


FORMAT_1 = "releasing/earlier.py"  # what was stated of Laplace's noise then stays so
NOISE = re.compile(
    r"^(?:from|import) .*\b(?:LAPLACE|\w*laplace_quantile|sum_above|mixture_\w+)\b|\.laplace\(", re.MULTILINE
)


def test_the_row_of_a_noise_names_every_file_that_knows_which_noise_it_is():
    row = next(line for line in PAGE.read_text().splitlines() if line.startswith("| a noise |"))
    knowing = {
        str(path.relative_to(ROOT / "src/optin"))
        for path in (ROOT / "src/optin").rglob("*.py")
        if NOISE.search(path.read_text())
    }
    assert len(knowing) > 10
    assert knowing - {FORMAT_1} <= set(named(row))


def test_a_file_that_is_gone_is_noticed():
    assert named("`kernel/noise.py`, `web/service/people/`, `kernel/<noise>.py`") == [
        "kernel/noise.py",
        "web/service/people/",
    ]


@pytest.mark.parametrize("room", ["decisions/README.md", "../CONTRIBUTING.md"])
def test_the_page_is_found_from_where_newcomers_begin(room):
    assert PAGE.name in (ROOT / "docs" / room).read_text()


def test_each_room_that_a_row_begins_in_is_a_folder():
    rows = [row.split("|") for row in PAGE.read_text().splitlines() if row.startswith("| ") and "---" not in row][1:]
    assert len(rows) > 10
    for row in rows:
        assert (ROOT / "src/optin" / row[2].strip()).is_dir(), row[1]
