"""Wherever a design is called the best, the page says among which: weighted means with fixed weights and one Laplace noise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEMPLATES = sorted((ROOT / "src/optin/web/templates").rglob("*.html"))
PARTS = "cap|design|mean|noise|offer|plan|rate|variance|weights|η"
SUPERLATIVE = re.compile(
    r"\b(?:optimum|optima|optimal|most accurate(?! of))\b|^- Best:"
    rf"|\bbest (?:possible )?(?:{PARTS})\b|\b(?:{PARTS}) is (?:the )?best\b",
    re.I | re.M,
)
ONE_CLASS = re.compile(r"one\s+(?:Laplace|draw\s+of)\s+noise", re.I)
TITLES = re.compile(r"Optimal\s+(?:Data\s+Acquisition|and\s+Differentially)|\"[^\"]*hence the optimal\"")


def nameless(text):
    """Return the superlatives of a page that never says among what."""
    return [] if ONE_CLASS.search(text) else SUPERLATIVE.findall(TITLES.sub(" ", text))


@pytest.mark.parametrize("page", [*DOCS, *TEMPLATES], ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_calls_a_design_the_best_says_among_what(page):
    assert nameless(page.read_text()) == []


@pytest.mark.parametrize(
    "text", ["This is the optimum.", "The best plan\nof all.", "The most accurate one.", "- Best: cap 5"]
)
def test_a_page_that_did_not_say_so_would_be_found(text):
    assert nameless(text)
    assert not nameless(f"{text} Among weighted means with fixed weights and one Laplace noise.")
