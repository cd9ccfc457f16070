"""The gallery: a page and a picture for every claim, and no number in a page that the code did not compute."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from PIL import Image

GALLERY = Path(__file__).parent.parent / "docs/gallery"
sys.path.insert(0, str(GALLERY))
make = importlib.import_module("make")
ENTRIES = make.ENTRIES
WANTED = {
    "pooling-limits",
    "pooling-costs",
    "noise-and-cap",
    "small-gains",
    "large-gains",
    "saturation",
    "tipping",
    "true-limits",
    "overstated-costs",
    "relation",
}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_every_page_says_what_the_code_computes(entry):
    figure, text = entry.drawn()
    figure.canvas.draw()
    assert (GALLERY / f"{entry.name}.md").read_text() == text, "run: .venv/bin/python docs/gallery/make.py"


def test_every_claim_has_a_page_and_no_page_is_left_over():
    names = {entry.name for entry in ENTRIES}
    assert names >= WANTED
    assert {page.stem for page in GALLERY.glob("*.md")} == names | {"README"}
    assert {picture.stem for picture in GALLERY.glob("*.png")} == names
    assert (GALLERY / "README.md").read_text() == make.index()


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_pictures_are_modest_described_and_the_size_that_was_asked_for(entry):
    path = GALLERY / f"{entry.name}.png"
    assert path.stat().st_size < 120_000
    with Image.open(path) as picture:
        assert picture.size == tuple(round(inches * make.DOTS) for inches in entry.size)
    words = re.search(rf"!\[(.+)\]\({entry.name}\.png\)", (GALLERY / f"{entry.name}.md").read_text())[1]
    assert len(words) > 60


def test_saturation_is_at_the_published_error_from_the_published_limit_on():
    page = (GALLERY / "saturation.md").read_text()
    assert "**0.26**" in page
    assert page.count("3.611") >= 4
