"""Forms as handlers read them; whoever sent them was checked at the door."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData

from optin.errors import BadInput
from optin.web.doors import form_of
from optin.web.settings import WebSettings

FormOf = Annotated[FormData, Depends(form_of)]


def texts(form: FormOf) -> dict[str, str]:
    """Read a form's fields as texts; files are not asked for anywhere, and not read."""
    return {key: value for key, value in form.items() if isinstance(value, str) and key != "csrf"}


Texts = Annotated[dict[str, str], Depends(texts)]


def origin_of(request: Request) -> str:
    """Say under which address people see this service, for links to send."""
    settings: WebSettings = request.app.state.settings
    return settings.seen_at if settings.origin else str(request.base_url).rstrip("/")


def number_of(text: str) -> float:
    """Read a number; what is none becomes one that the service refuses."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def round_of(form: dict[str, str]) -> int:
    """Read which round the page was showing."""
    text = form.get("round", "")
    if not (text.isdecimal() and len(text) < 10):
        raise BadInput("this page is out of date; reload it")
    return int(text)
