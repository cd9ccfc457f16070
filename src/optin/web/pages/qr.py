"""QR codes as drawings within a page: no picture is loaded, and no script draws them."""

from __future__ import annotations

import io

import segno

from optin.report.markup import Markup


def qr_code(link: str) -> Markup:
    """Draw a link as a QR code, black on white whatever the colours of the page, as cameras want it."""
    out = io.BytesIO()
    code = segno.make(link, error="m", micro=False)
    code.save(out, kind="svg", xmldecl=False, svgns=True, nl=False, omitsize=True, border=4, dark="#000", light="#fff")
    return Markup(out.getvalue().decode())
