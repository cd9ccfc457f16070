"""Draw what a release published of four questions: python examples/tutorial_picture.py release.json FILE.png [NAMES]."""

import sys
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import optin
from optin import figures

DOTS = 100


def draw(release: optin.Release, names: tuple[str, ...]) -> Figure:
    """Draw each question in the way of its kind, two in a row, each under its words."""
    figure = Figure(figsize=(10.4, 5.8), layout="constrained")
    FigureCanvasAgg(figure)
    for ax, name in zip(figure.subplots(2, 2).flat, names, strict=True):
        figures.answer(ax, release, name)
        ax.set_title(release.sheet[name].text, loc="left", fontsize=10.5, fontweight="bold", pad=36)
    return figure


if __name__ == "__main__":
    published = optin.Release.from_json(Path(sys.argv[1]).read_text())
    picture = draw(published, tuple(sys.argv[3:]) or ("marriage", "affair", "years", "age"))
    picture.savefig(sys.argv[2], dpi=DOTS, metadata={"Software": None})
