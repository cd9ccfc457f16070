"""The gallery: a page and a picture for every claim, and no number in a page that the code did not compute."""

import importlib
import itertools
import re
import sys
from pathlib import Path

import pytest
from PIL import Image

import optin

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
    "others",
    "saturation",
    "tipping",
    "company",
    "true-limits",
    "overstated-costs",
    "relation",
}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_every_page_and_every_picture_says_what_the_code_computes(entry):
    figure, text = entry.drawn()
    assert (GALLERY / f"{entry.name}.md").read_text() == text, "run: .venv/bin/python docs/gallery/make.py"
    with Image.open(GALLERY / f"{entry.name}.png") as picture:
        assert picture.text["Description"] == make.written(figure), "run: .venv/bin/python docs/gallery/make.py"


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


def test_a_cap_is_one_number_in_a_page_and_in_its_picture():
    for name in ("pooling-limits", "noise-and-cap"):
        with Image.open(GALLERY / f"{name}.png") as picture:
            (drawn,) = set(re.findall(r"\bcap (\d[\d.]*)", picture.text["Description"]))
        text = (GALLERY / f"{name}.md").read_text()
        assert {float(cap) for cap in re.findall(r"\bcap(?:s epsilon at \*\*| of | )(0[\d.]*\d)", text)} == {
            float(drawn)
        }


def test_half_at_a_tenth_saturates_at_the_published_limit_and_error():
    def error(higher):
        return optin.plan(optin.PrivacyConstrained([0.1] * 500 + [higher] * 500), bounds=(0, 1)).variance

    flat = [error(higher) for higher in (0.26, 0.3, 1, 3, 10)]
    assert max(flat) - min(flat) <= 1e-12 * flat[0]
    assert round(flat[0] * 1e4, 3) == 3.611
    falling = [error(higher) for higher in (0.1, 0.15, 0.2, 0.25, 0.2599)]
    assert all(a > b for a, b in itertools.pairwise([*falling, flat[0]]))
    assert "**0.26**" in (GALLERY / "saturation.md").read_text()
