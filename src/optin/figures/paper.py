"""Paper for pictures that become files: a size, an ink, and nobody's settings but ours."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from optin.extras import expect
from optin.figures.ink import LIGHT, Ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS = 160


def png(
    draws: Sequence[Callable[[Axes], object]],
    *,
    size: tuple[float, float],
    widths: Sequence[float] | None = None,
    ink: Ink = LIGHT,
) -> bytes:
    """Draw pictures in a row on paper of a size in inches and return a PNG file; inner ones share the left one's names."""
    expect("figures", "a picture")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(matplotlib.rcParamsDefault | {"hatch.linewidth": 0.6}):
        figure = Figure(figsize=size, dpi=DOTS, layout="constrained", facecolor=ink.paper)
        FigureCanvasAgg(figure)
        every = figure.subplots(1, len(draws), squeeze=False, width_ratios=widths)[0]
        for draw, ax in zip(draws, every, strict=True):
            draw(ax)
        for ax in every[1:]:
            ax.set_yticklabels([])
        store = io.BytesIO()
        figure.savefig(store, format="png", metadata={"Software": None})
    return store.getvalue()
