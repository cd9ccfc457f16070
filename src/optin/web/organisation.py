"""Who runs the service, as everyone sees it: name, logo, contact, privacy notice and imprint, on every page and in every mail."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from optin.errors import BadInput
from optin.web.languages import checked_tag, language, tags
from optin.web.middleware import Middleware
from optin.web.service.mailer import looks_like_address
from optin.web.settings import WebSettings
from optin.wording.language import _, speaking

MOST_LOGO_BYTES = 256 * 1024
MOST_TEXT_BYTES = 256 * 1024


@dataclass(frozen=True)
class Logo:
    """A picture, and what it is."""

    kind: str
    data: bytes


@dataclass(frozen=True)
class Organisation:
    """What is known of who runs the service; whatever is not said is shown nowhere."""

    name: str = ""
    contact: str = ""
    logo: Logo | None = None
    privacy_notice: str = ""
    imprint: str = ""

    @property
    def contact_link(self) -> str:
        """Where a click on the contact leads; nothing where it is a text such as a telephone number.

        >>> Organisation(contact="ada@example.org").contact_link, Organisation(contact="Room 5").contact_link
        ('mailto:ada@example.org', '')
        """
        if looks_like_address(self.contact):
            return f"mailto:{self.contact}"
        return self.contact if self.contact.startswith("https://") else ""

    def signature(self, origin: str) -> str:
        """Write the end of a mail; nothing where nothing is said.

        >>> print(Organisation("Town", "ada@example.org", imprint="Town hall").signature("https://town.example"))
        --
        Town
        ada@example.org
        Imprint: https://town.example/imprint
        >>> Organisation().signature("https://town.example")
        ''
        """
        pages = (
            (_("Privacy notice"), self.privacy_notice, "privacy-notice"),
            (_("Imprint"), self.imprint, "imprint"),
        )
        lines = [self.name, self.contact, *(f"{title}: {origin}/{at}" for title, text, at in pages if text)]
        said = [line for line in lines if line]
        return "\n".join(["--", *said]) if said else ""


def organisation_of(settings: WebSettings) -> Organisation:
    """Read what the settings say and the files that they name; refuse what no browser would show."""
    return Organisation(
        name=_one_line(settings.organisation, "OPTIN_WEB_ORGANISATION"),
        contact=_one_line(settings.contact, "OPTIN_WEB_CONTACT"),
        logo=_logo(settings.logo) if settings.logo else None,
        privacy_notice=_text(settings.privacy_notice, "OPTIN_WEB_PRIVACY_NOTICE") if settings.privacy_notice else "",
        imprint=_text(settings.imprint, "OPTIN_WEB_IMPRINT") if settings.imprint else "",
    )


def signatures_of(settings: WebSettings, origin: str) -> dict[str, str]:
    """Write the end of mails in each language there is."""
    checked_tag(settings.language)
    organisation = organisation_of(settings)
    return {tag: _signature(organisation, origin, tag) for tag in tags()}


def _signature(organisation: Organisation, origin: str, tag: str) -> str:
    with speaking(language(tag)):
        return organisation.signature(origin)


def _one_line(text: str | None, name: str) -> str:
    said = (text or "").strip()
    if len(said) > 200 or not said.isprintable():
        raise BadInput("{name} must be one line of at most 200 letters", name=name)
    return said


_KINDS: dict[str, Callable[[bytes], bool]] = {
    "image/png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda data: data.startswith(b"\xff\xd8\xff"),
    "image/webp": lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP",
}


def _logo(path: Path) -> Logo:
    """Read a picture; what it is says its beginning, not its name, and drawings that can hold scripts are none of these."""
    data = _bytes(path, "OPTIN_WEB_LOGO", MOST_LOGO_BYTES)
    kind = next((kind for kind, fits in _KINDS.items() if fits(data)), None)
    if kind is None:
        raise BadInput("OPTIN_WEB_LOGO ({path}) must be a picture in PNG, JPEG or WebP", path=path)
    return Logo(kind, data)


def _text(path: Path, name: str) -> str:
    try:
        text = _bytes(path, name, MOST_TEXT_BYTES).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = ""
    if not text or "\0" in text:
        raise BadInput("{name} ({path}) must be a file of text in UTF-8 that is not empty", name=name, path=path)
    return text


def _bytes(path: Path, name: str, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BadInput("{name}: {path} cannot be read ({why})", name=name, path=path, why=why) from error
    if len(data) > most:
        raise BadInput("{name}: {path} is larger than {most} KiB", name=name, path=path, most=most // 1024)
    return data


def blocks(text: str) -> list[tuple[str, list[str]]]:
    r"""Split a text into headings (a line that begins with #) and paragraphs (what stands between empty lines), by lines.

    >>> blocks("# Who\nTown hall\nMarket 1\n\nWrite to us.")
    [('h2', ['Who']), ('p', ['Town hall', 'Market 1']), ('p', ['Write to us.'])]
    """
    parts: list[tuple[str, list[str]]] = []
    for part in "\n".join(line.rstrip() for line in text.splitlines()).split("\n\n"):
        lines: list[str] = []
        for line in filter(None, part.split("\n")):
            if line.startswith("#"):
                parts += [("p", lines)] if lines else []
                parts.append(("h2", [line.lstrip("# ")]))
                lines = []
            else:
                lines.append(line)
        parts += [("p", lines)] if lines else []
    return parts


_HERE: ContextVar[Organisation] = ContextVar("organisation", default=Organisation())  # noqa: B039 - it is frozen


def organisation_here() -> Organisation:
    """Say who runs the service that answers this request."""
    return _HERE.get()


class Hosted(Middleware):
    """Let every page of a request know who runs the service, also pages that nobody foresaw."""

    def __init__(self, app: ASGIApp, *, organisation: Organisation) -> None:
        super().__init__(app)
        self._organisation = organisation

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with who runs the service."""
        token = _HERE.set(self._organisation)
        try:
            await self._app(scope, receive, send)
        finally:
            _HERE.reset(token)
