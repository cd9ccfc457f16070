"""Pictures as part of the page: PNG in base64, once for light paper and once for dark."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from optin.figures import DARK, LIGHT, Ink
from optin.report.markup import Markup, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["picture"]

DOTS = 200
WIDTH = 4.8


def picture(draw: Callable[[Axes, Ink], str], *, height: float = 3.2) -> Markup:
    """Draw twice and embed both; the browser shows the one that suits the reader's colours, with the words as alt text."""
    light, words = _png(draw, LIGHT, height)
    dark, _ = _png(draw, DARK, height)
    return tag(
        "figure",
        tag(
            "picture",
            tag("source", media="(prefers-color-scheme: dark)", srcset=dark),
            tag("img", src=light, alt=words, width=str(round(WIDTH * 125)), height=str(round(height * 125))),
        ),
    )


def _png(draw: Callable[[Axes, Ink], str], ink: Ink, height: float) -> tuple[str, str]:
    """Draw on paper of a fixed size, away from any figure of the caller's and from their settings."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(matplotlib.rcParamsDefault | {"hatch.linewidth": 0.6}):
        figure = Figure(figsize=(WIDTH, height), dpi=DOTS, layout="constrained", facecolor=ink.paper)
        FigureCanvasAgg(figure)
        words = draw(figure.subplots(), ink)
        store = io.BytesIO()
        figure.savefig(store, format="png", metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(store.getvalue()).decode("ascii"), words
