"""What docs claim is backed: every test and command that a page names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = {path.name: path.read_text() for path in (ROOT / "tests").glob("test_*.py")}
NAMES = {name for text in TESTS.values() for name in re.findall(r"^def (test_\w+)", text, flags=re.M)}
PAGES = ["docs/theory/claims.md", "docs/theory/backed.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    for file in re.findall(r"`tests/(test_\w+\.py)", text):
        assert file in TESTS, file
    for beginning in re.findall(r"\b(test_(?!\w+\.py)\w+?)_…", text):
        assert any(name.startswith(beginning) for name in NAMES), beginning
    for name in re.findall(r"`(test_(?!\w+\.py)\w+)`", text):
        assert name in NAMES, name
    for script in re.findall(r"`python ([\w/]+\.py)", text):
        assert (ROOT / script).exists(), script
    for bench in re.findall(r"`python -m benchmarks (\w+)`", text):
        assert (ROOT / "benchmarks" / f"{bench}.py").exists(), bench


def test_every_claim_theorem_and_corollary_has_a_test_of_its_own():
    text = (ROOT / "docs/theory/claims.md").read_text()
    wanted = [f"test_claim_{number:02}" for number in range(1, 11)]
    wanted += [f"test_{kind}_{number}" for kind in ("theorem", "corollary") for number in (1, 2)]
    for beginning in wanted:
        assert f"`{beginning}_" in text, beginning
        assert any(name.startswith(beginning) for name in NAMES), beginning


def test_the_map_of_the_paper_has_all_its_definitions_and_programs():
    text = (ROOT / "docs/theory/claims.md").read_text()
    for number in range(1, 5):
        assert f"Definition {number}" in text
    for words in ("Assumption 1", "Program 1", "Programs 2, 3", "Programs 4 and 5", "Program 6", "Programs 7 and 8"):
        assert words in text
    assert text.count("| remark |") >= 5
    assert text.count("| algorithm |") == 2
