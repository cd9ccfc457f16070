"""Numbers along axes, as the language of the picture writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optin.wording.language import localised

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def localise(figure: Figure) -> None:
    """Have every axis that writes numbers write them in the language spoken; words stay as they are."""
    if localised("0.5") == "0.5":
        return
    from matplotlib.ticker import FixedFormatter, Formatter, NullFormatter

    class Localised(Formatter):
        """Another formatter, and commas for its points."""

        def __init__(self, own: Formatter) -> None:
            self._own = own

        def __call__(self, x: float, pos: int | None = None) -> str:
            return localised(self._own(x, pos))

        def format_ticks(self, values: list[float]) -> list[str]:
            return [localised(text) for text in self._own.format_ticks(values)]

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            own = axis.get_major_formatter()
            if not isinstance(own, FixedFormatter | NullFormatter):
                axis.set_major_formatter(Localised(own))
