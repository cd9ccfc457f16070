"""Pictures as part of the page: PNG in base64, once for light paper and once for dark."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from optin.extras import expect
from optin.figures import DARK, LIGHT, Ink
from optin.report.markup import Markup, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS = 200
WIDTH = 4.8


def picture(draw: Callable[[Axes, Ink], str], *, height: float = 3.2) -> Markup:
    """Draw twice and embed both; the browser shows the one that suits the reader's colours, with the words as alt text."""
    light, words = drawn(draw, LIGHT, height=height)
    dark, _ = drawn(draw, DARK, height=height)
    return tag(
        "figure",
        tag(
            "picture",
            tag("source", media="(prefers-color-scheme: dark)", srcset=_embedded(dark)),
            tag("img", src=_embedded(light), alt=words, width=str(pixels(WIDTH)), height=str(pixels(height))),
        ),
    )


def pixels(inches: float) -> int:
    """Return how many pixels of a page a length in the picture takes."""
    return round(inches * 125)


def drawn(draw: Callable[[Axes, Ink], str], ink: Ink, *, height: float = 3.2) -> tuple[bytes, str]:
    """Draw on paper of a fixed size, away from any figure of the caller's; return the PNG and what it shows in words."""
    expect("figures", "a picture")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(matplotlib.rcParamsDefault | {"hatch.linewidth": 0.6}):
        figure = Figure(figsize=(WIDTH, height), dpi=DOTS, layout="constrained", facecolor=ink.paper)
        FigureCanvasAgg(figure)
        words = draw(figure.subplots(), ink)
        store = io.BytesIO()
        figure.savefig(store, format="png", metadata={"Software": None})
    return store.getvalue(), words


def told(draw: Callable[[Axes, Ink], str]) -> str:
    """Say what a picture shows without making one, in a tenth of the time."""
    expect("figures", "a picture")
    from matplotlib.figure import Figure

    return draw(Figure().subplots(), LIGHT)


def _embedded(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
