"""QR codes as drawings within a page: no picture is loaded, and no script draws them."""

from __future__ import annotations

import io

import segno

from optin.report.markup import Markup

AT_ONCE = 500
"""How many codes stand on one page: each takes a millisecond, and whoever else asks waits for all of them."""
_MASK = 2


def qr_code(link: str) -> Markup:
    """Draw a link as a QR code, black on white whatever the colours of the page, as cameras want it.

    Its mask is the same for all: choosing the best of eight takes four times as long, and links are as good as random.
    """
    out = io.BytesIO()
    code = segno.make(link, error="m", micro=False, mask=_MASK)
    code.save(out, kind="svg", xmldecl=False, svgns=True, nl=False, omitsize=True, border=4, dark="#000", light="#fff")
    return Markup(out.getvalue().decode())
