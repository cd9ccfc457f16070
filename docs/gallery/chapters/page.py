"""What a page of the gallery is: a claim, a picture drawn from computed numbers, and the same numbers in words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH = 116
AMONG = (
    "The best design, on every page here, is the best among weighted means with fixed weights and one Laplace noise."
)
BEST = re.compile(r"\b(?:optimum|best (?:design|offer|plan|η))\b|^- Best:", re.M)
NOTE = "<!-- Written by make.py: change the entry's code, then run it again. -->"


@dataclass(frozen=True)
class Shown:
    """What an entry returns when it has drawn: the page's text, and the picture in words."""

    text: str
    words: str


@dataclass(frozen=True)
class Entry:
    """One page: file name, the claim as its title, the size of its picture, and what draws and writes it."""

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[Figure], Shown]

    def drawn(self) -> tuple[Figure, str]:
        """Draw the picture and write the page."""
        figure = Figure(figsize=self.size, layout="constrained")
        FigureCanvasAgg(figure)
        shown = self.draw(figure)
        words = shown.words.replace("[", "(").replace("]", ")")
        page = f"# {self.title}\n\n{NOTE}\n\n![{words}]({self.name}.png)\n\n{shown.text.strip()}\n"
        return figure, reflowed(re.sub(r"(\d)%", r"\1 %", among(page)))


def among(page: str) -> str:
    """Say what a design is the best among, at the end of a page that calls one the best and does not say it."""
    said = "one Laplace noise" in " ".join(page.split())
    return page if said or not BEST.search(page) else f"{page}\n{AMONG}\n"


def reflowed(page: str) -> str:
    """Fill prose and lists to one width; leave code, tables, pictures and titles as they are."""
    parts = re.split(r"(^```.*?^```$)", page, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else _filled(part) for part in parts)


def _filled(prose: str) -> str:
    blocks = re.split(r"(\n{2,})", prose)
    return "".join(block if block[:1] in "|!#<\n" else _lines(block) for block in blocks)


def _lines(block: str) -> str:
    items = [re.sub(r"\s+", " ", item) for item in re.split(r"\n(?=- )", block)]
    return "\n".join(
        textwrap.fill(
            item, WIDTH, subsequent_indent="  " * item.startswith("- "), break_long_words=False, break_on_hyphens=False
        )
        for item in items
    )


ENTRIES: list[Entry] = []


def entry(
    name: str, title: str, *, size: tuple[float, float] = (9.6, 3.8)
) -> Callable[[Callable[[Figure], Shown]], None]:
    """Add a function to the gallery as a page."""

    def added(draw: Callable[[Figure], Shown]) -> None:
        ENTRIES.append(Entry(name, title, size, draw))

    return added
