"""The statuses that any route may give besides its own, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from optin.web.api.given import Failure

_WORDS = {
    401: "Nobody is signed in.",
    403: "The Host, Origin or X-CSRF-Token header is not ours, or a secret or password is wrong.",
    404: "There is nothing here, or it is not yours: the two look alike.",
    409: "Going on would break what was announced, or nothing is left to promise.",
    413: "The body is longer than anything asked for.",
    422: "Something sent cannot be used.",
    429: "Too many tries, or too much of it at this moment; Retry-After says when to try again.",
    503: "The database cannot be reached; ask again, it is done once.",
}
FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": words} for status, words in _WORDS.items()
}
