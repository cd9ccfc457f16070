"""Which witnesses' signatures under the log are taken: those whose keys whoever runs the service has listed."""

from __future__ import annotations

from optin.errors import BadInput
from optin.transparency.note import VerifierKey
from optin.web.settings import WebSettings


def witnesses_of(settings: WebSettings) -> tuple[VerifierKey, ...]:
    """Read the list; it is read again each time, so that a witness can be added while the service runs.

    Strangers are told too if it cannot be, and not where it lies.
    """
    if settings.witnesses is None:
        return ()
    try:
        lines = settings.witnesses.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
    else:
        return tuple(VerifierKey.from_text(line) for line in lines if line.strip() and not line.startswith("#"))
    raise BadInput("OPTIN_WEB_WITNESSES: the list of witnesses cannot be read ({why})", why=why)
