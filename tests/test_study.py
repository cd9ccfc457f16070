"""The study on real data: a page that says how it was made, and a short run of the same that agrees with it."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

STUDY = Path(__file__).parent.parent / "docs/study"


@pytest.fixture(scope="module")
def make():
    sys.path.insert(0, str(STUDY))
    sys.modules.pop("make", None)  # the gallery has one too
    yield importlib.import_module("make")
    sys.modules.pop("make", None)
    sys.path.remove(str(STUDY))


def rows():
    text = (STUDY / "README.md").read_text()
    return [
        line.strip("| ").split(" | ")
        for line in text.splitlines()
        if re.match(r"\| (fair|anes96|randhie|engel) ", line)
    ]


def test_the_page_carries_command_seed_and_releases_and_all_four_data_sets(make):
    text = (STUDY / "README.md").read_text()
    assert text.count(f"`{make.COMMAND}`, seed {make.SEED}, {make.RELEASES:,} releases a row") == 3
    assert {row[0] for row in rows()} == {"fair", "anes96", "randhie", "engel"}
    assert {"untied", "tied", "grouped", "not grouped"} <= {row[1] for row in rows()}


def test_the_page_says_what_its_numbers_say():
    """Untied: errors within a twentieth of the prediction and coverage at least 95 %; tied: a bias of more than 5 %."""
    for row in rows():
        if len(row) == 8 and row[1] != "tied":
            assert float(row[5]) == pytest.approx(float(row[6]), rel=0.05), row
            assert float(row[7].split()[0]) >= 95.0, row
        if len(row) == 8 and row[1] == "tied":
            assert abs(float(row[4].split()[0])) > 5, row


@pytest.mark.slow
def test_three_hundred_releases_agree_with_the_page(make):
    """Within four standard errors of the root mean squared error (false alarm 1 in 15,000), and seen to fail at a fifth more."""
    study = next(each for each in make.studies() if each.name == "anes96")
    found = make.run(study, study.questions[:1], tied=False, releases=300)
    figure = found.outcomes[0].figures[0]
    squares = figure.errors**2
    off = (squares.mean() - found.outcomes[0].computed) / (squares.std() / np.sqrt(300))
    assert abs(off) < 4
    wrong = (squares.mean() - 2 * found.outcomes[0].computed) / (squares.std() / np.sqrt(300))
    assert abs(wrong) > 4
