"""Reading a total from JSON so that it is never more than what was written.

A reader of JSON takes the nearest double, and .99999999999999999999 becomes 1. A decimal that no double holds is read
downwards instead, as everywhere else. What a program writes for a double (the shortest decimal that leads back to it) means
that double: whoever sends back what they were told says the same number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from decimal import Decimal
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from optin.kernel.rounding import limit_of_text


class ExactRoute(APIRoute):
    """A route whose numbers are totals, or counts."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Let numbers be read by us."""
        handle = super().get_route_handler()

        async def handle_exactly(request: Request) -> Response:
            return await handle(_ExactRequest(request.scope, request.receive))

        return handle_exactly


class _ExactRequest(Request):
    async def json(self) -> Any:  # noqa: ANN401 - whatever was sent
        return json.loads(await self.body(), parse_float=total_of_text)


def total_of_text(text: str) -> float:
    """Read a decimal number of JSON, never as more than it is.

    >>> total_of_text("0.1"), total_of_text("0.99999999999999999999"), total_of_text("1e-1")
    (0.1, 0.9999999999999999, 0.1)
    """
    nearest = float(text)
    return nearest if Decimal(text) == Decimal(repr(nearest)) else limit_of_text(text)
