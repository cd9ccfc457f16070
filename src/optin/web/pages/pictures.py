"""Pictures from our own origin: each drawn once and kept, one at a time."""

from __future__ import annotations

from collections import OrderedDict

from fastapi.responses import Response

from optin.errors import BadInput
from optin.figures import DARK, LIGHT
from optin.report.images import drawn
from optin.report.section import Pictured
from optin.web.service.failures import NotFound
from optin.web.service.gates import DRAWING
from optin.wording.language import spoken_here

_MOST = 64
_INKS = {"light": LIGHT, "dark": DARK}
_drawn: OrderedDict[tuple[str, str, str], bytes] = OrderedDict()


def png(section: Pictured, ink: str, *, key: str) -> Response:
    """Draw a section's picture, or take it from the few that are kept; ``key`` names what it is drawn from."""
    if ink not in _INKS:
        raise NotFound
    place = (key, section.name, f"{ink} {spoken_here().tag}")
    if (known := _drawn.get(place)) is not None:  # nobody waits for what is drawn
        return Response(known, media_type="image/png")
    with DRAWING.passing():
        if place not in _drawn:
            _drawn[place] = _draw(section, ink)
        _drawn.move_to_end(place)
        while len(_drawn) > _MOST:
            _drawn.popitem(last=False)
        return Response(_drawn[place], media_type="image/png")


def _draw(section: Pictured, ink: str) -> bytes:
    try:
        return drawn(section.draw, _INKS[ink], height=section.height)[0]
    except BadInput:  # too few people to draw: there is no such picture
        raise NotFound from None
