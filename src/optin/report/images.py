"""Pictures as part of the page: PNG in base64, once for light paper and once for dark."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal

from optin.extras import expect
from optin.figures import DARK, LIGHT, Ink
from optin.figures.digits import localise
from optin.report.markup import Markup, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 200
WIDTH = 4.8


def picture(draw: Callable[[Axes, Ink], str], *, height: float = 3.2) -> Markup:
    """Draw twice and embed both; the browser shows the one that suits the reader's colours, with the words as alt text."""
    paper, words = _drawn(draw, LIGHT, height)
    light, dark = _printed(paper), _printed(_drawn(draw, DARK, height, like=paper)[0])
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
    figure, words = _drawn(draw, ink, height)
    return _printed(figure), words


def _drawn(
    draw: Callable[[Axes, Ink], str], ink: Ink, height: float, *, like: Figure | None = None
) -> tuple[Figure, str]:
    """Draw; where everything stands is taken from a picture ``like`` this, which was printed, or found when it is printed."""
    expect("figures", "a picture")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with _our_settings():
        layout: Literal["constrained"] | None = "constrained" if like is None else None
        figure = Figure(figsize=(WIDTH, height), dpi=DOTS, layout=layout, facecolor=ink.paper)
        FigureCanvasAgg(figure)
        words = draw(figure.subplots(), ink)
        localise(figure)
    if like is not None:
        for own, other in zip(figure.axes, like.axes, strict=True):
            own.set_position(other.get_position(original=True))
    return figure, words


def _printed(figure: Figure) -> bytes:
    store = io.BytesIO()
    with _our_settings():
        figure.savefig(store, format="png", metadata={"Software": None})
    return store.getvalue()


def _our_settings() -> AbstractContextManager[None]:
    """Set aside what a caller set; of the backend, which is ours already, matplotlib would load all of pyplot."""
    import matplotlib

    ours: dict[Any, Any] = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    return matplotlib.rc_context(ours | {"hatch.linewidth": 0.6})


def told(draw: Callable[[Axes, Ink], str]) -> str:
    """Say what a picture shows without making one, in a tenth of the time."""
    expect("figures", "a picture")
    from matplotlib.figure import Figure

    return draw(Figure().subplots(), LIGHT)


def _embedded(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
