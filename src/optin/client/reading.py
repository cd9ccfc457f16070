"""What is sent to the service and what comes back, as JSON holds it; failures are raised as on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from optin.errors import BadInput, LedgerUnavailable, PromiseBroken


def plain(answers: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Write answers as JSON holds them: several options are a list."""
    if answers is None:
        return None
    return {
        name: list(given) if isinstance(given, tuple | set | frozenset) else given for name, given in answers.items()
    }


def read(response: httpx.Response) -> dict[str, Any]:
    """Return what the service sent, or raise what it says went wrong."""
    try:
        content: dict[str, Any] = response.json() if response.content else {}
    except ValueError:
        content = {"error": "the service answered with something that is not JSON; check its address"}
    if response.is_success and "error" not in content:
        return content
    words = str(content.get("error", "the service refused without a reason"))
    if response.status_code >= 500:
        raise LedgerUnavailable(words)
    raise PromiseBroken(words) if response.status_code == 409 else BadInput(words)


def makes_anew(method: str, path: str) -> bool:
    """Say whether a request that is sent twice may make two of what it asks for."""
    return method == "POST" and "/steps/" not in path and path != "/api/entry"


def unreachable(method: str, path: str, reason: str) -> LedgerUnavailable:
    """Say that no answer came, and whether to ask again."""
    if makes_anew(method, path):
        return LedgerUnavailable(
            "the service cannot be reached ({reason}); what was asked for may have been made: look before you ask again",
            reason=reason,
        )
    return LedgerUnavailable(
        "the service cannot be reached ({reason}); ask again with this client: nothing is done twice", reason=reason
    )
