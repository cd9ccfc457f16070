"""Write the gallery: a page and a picture for each claim, every number computed.

Run it after a change: ``python docs/gallery/make.py``, or with names of pages to write only these. A test compares the
committed pages with what this would write, so no number can fall behind.
"""

from __future__ import annotations

import sys
from pathlib import Path

from chapters import beyond, crowds, designs, gains, reports, sheets, trust
from chapters.page import ENTRIES, NOTE, Entry
from matplotlib.figure import Figure
from matplotlib.text import Text

HERE = Path(__file__).parent
CHAPTERS = {
    designs: "What the best design looks like",
    sheets: "Several questions under one limit",
    gains: "When personal limits pay",
    beyond: "Beyond weights with one Laplace noise",
    trust: "When limits and values are related",
    crowds: "Who joins",
    reports: "Who gains by a false report",
}
DOTS = 100


def index() -> str:
    """Write the list of pages, chapter by chapter."""
    lines = [
        "# Gallery",
        "",
        NOTE,
        "",
        "One page a claim: what it says, a picture, the numbers, and how to run it. Everything is computed by optin;",
        "`python docs/gallery/make.py` draws it all again. Best and optimum, here and on every page, are among weighted means",
        "with fixed weights and one Laplace noise.",
    ]
    for chapter, title in CHAPTERS.items():
        lines += ["", f"## {title}", ""]
        lines += [f"- [{entry.title}]({entry.name}.md)" for entry in entries_of(chapter.__name__)]
    return "\n".join([*lines, ""])


def entries_of(module: str) -> list[Entry]:
    """List the entries of a chapter."""
    return [entry for entry in ENTRIES if entry.draw.__module__ == module]


def written(figure: Figure) -> str:
    """Return all that is written in a picture, which its file carries too: so a test can tell whether it fell behind."""
    figure.canvas.draw()
    texts = (text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_visible())
    return "\n".join(sorted(text.get_text() for text in texts if text.get_text().strip()))


def write(names: list[str]) -> None:
    """Write the named pages and their pictures, by default all, and the index."""
    for entry in ENTRIES:
        if not names or entry.name in names:
            figure, text = entry.drawn()
            (HERE / f"{entry.name}.md").write_text(text, encoding="utf-8")
            words = {"Software": None, "Description": written(figure)}
            figure.savefig(HERE / f"{entry.name}.png", dpi=DOTS, metadata=words)
    (HERE / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
