"""The languages of the pages: catalogues that are shipped, and which of them a reader is shown.

A reader's own choice comes first (a cookie), then what their browser asks for, then the language that whoever runs the service
set. Files, programs' interfaces and whatever a fingerprint binds stay English.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime
from gettext import c2py
from pathlib import Path

from babel import Locale
from babel.dates import format_date
from babel.messages.pofile import read_po
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from optin.errors import BadInput
from optin.web.middleware import Middleware
from optin.wording.language import ENGLISH, Language, speaking

CATALOGUES = Path(__file__).parent / "locale"
COOKIE = "__Host-optin-language"
SECONDS_KEPT = 365 * 86400
_FILES = (".json", ".csv", ".zip", ".toml", ".js")
_FOR_PROGRAMS = ("/api", "/health", "/ready", "/static")


@functools.cache
def tags() -> tuple[str, ...]:
    """List the languages there are, English first.

    >>> tags()[0], "de" in tags()
    ('en', True)
    """
    return (ENGLISH.tag, *sorted(path.parent.parent.name for path in CATALOGUES.glob("*/LC_MESSAGES/optin.po")))


def language(tag: str) -> Language:
    """Read the catalogue of a language, once.

    >>> language("de").name, language("de").decimal, language("en").name
    ('Deutsch', ',', 'English')
    """
    return ENGLISH if tag == ENGLISH.tag else _read(tag)


@functools.cache
def _read(tag: str) -> Language:
    with (CATALOGUES / tag / "LC_MESSAGES" / "optin.po").open("rb") as file:
        catalogue = read_po(file, locale=tag)
    messages: dict[str, tuple[str, ...]] = {}
    for each in catalogue:
        one = each.id if isinstance(each.id, str) else each.id[0]
        forms = (each.string,) if isinstance(each.string, str) else tuple(each.string or ())
        if one and forms and all(forms) and not each.fuzzy:
            messages[one] = forms
    return made(Locale.parse(tag), messages, c2py(catalogue.plural_expr))


def made(locale: Locale, messages: Mapping[str, tuple[str, ...]], form: Callable[[int], int]) -> Language:
    """Make a language of its messages and of what is known of how it writes numbers and days."""
    symbols = locale.number_symbols["latn"]

    def day(moment: datetime) -> str:
        return format_date(moment, "long", locale)

    return Language(
        str(locale).replace("_", "-"),
        _name(locale),
        messages,
        form,
        symbols["decimal"],
        symbols["group"],
        to_the_left=locale.text_direction == "rtl",
        day=day,
    )


@functools.cache
def offered() -> tuple[tuple[str, str], ...]:
    """List the languages that a reader can choose from: tags, and what each calls itself.

    >>> offered()[0], ("de", "Deutsch") in offered()
    (('en', 'English'), True)
    """
    return tuple((tag, _name(Locale.parse(tag))) for tag in tags())


def _name(locale: Locale) -> str:
    name = locale.get_display_name(locale) or str(locale)
    return name[:1].upper() + name[1:]


def checked_tag(tag: str) -> str:
    """Return the tag of a language that there is."""
    if tag not in tags():
        raise BadInput("OPTIN_WEB_LANGUAGE must be one of {known}", known=", ".join(tags()))
    return tag


def wanted(accepted: str, *, otherwise: str) -> str:
    """Choose the language that a browser asks for most; ``otherwise`` where it asks for none of ours.

    >>> wanted("xx, de-AT; q=0.8, en;q=0.5", otherwise="en"), wanted("xx", otherwise="de"), wanted("en;q=0, *", otherwise="de")
    ('de', 'de', 'de')
    """
    best, most = otherwise, 0.0
    for each in accepted.split(",")[:20]:
        tag, _, weight = "".join(each.split()).lower().partition(";q=")
        asked, ours = _weight(weight), tag.partition("-")[0]
        if asked > most and ours in tags():
            best, most = ours, asked
    return best


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0


def asked_for(scope: Scope, *, otherwise: str) -> Language:
    """Say in which language a request is answered: English for programs and in files."""
    path: str = scope["path"]
    if path.endswith(_FILES) or any(path == each or path.startswith(f"{each}/") for each in _FOR_PROGRAMS):
        return ENGLISH
    return of_reader(scope, otherwise=otherwise)


def of_reader(scope: Scope, *, otherwise: str) -> Language:
    """Say which language whoever asks reads: what stands on a page instead of a file is for them."""
    headers = Headers(scope=scope)
    chosen = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return language(chosen if chosen in tags() else wanted(headers.get("accept-language", ""), otherwise=otherwise))


class Spoken(Middleware):
    """Answer each request in its reader's language."""

    def __init__(self, app: ASGIApp, *, otherwise: str) -> None:
        super().__init__(app)
        self._otherwise = otherwise

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, in its language."""
        with speaking(asked_for(scope, otherwise=self._otherwise)):
            await self._app(scope, receive, send)


def cookie(tag: str) -> str:
    """Write the cookie that keeps a choice."""
    return f"{COOKIE}={tag}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={SECONDS_KEPT}"
