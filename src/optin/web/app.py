"""The app factory: settings in, an application out that owns nothing it does not close."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from optin._version import __version__
from optin.errors import BadInput
from optin.ledger import Ledger
from optin.web import api, exception_handlers, pages
from optin.web.doors import FreshCookies
from optin.web.guards import BodyLimit, HeadsToo, OwnOrigin, SecurityHeaders, Unhurried
from optin.web.languages import Spoken, checked_tag
from optin.web.logs import RequestLog
from optin.web.organisation import Hosted, organisation_of, signatures_of
from optin.web.service.core import Service
from optin.web.service.gates import DRAWING
from optin.web.service.jobs import Worker
from optin.web.service.keys import Keyring
from optin.web.service.mailer import Mailer, looks_like_address
from optin.web.service.starting import expect_own_keys, has_accounts
from optin.web.settings import WebSettings, environment_key, key_folder, own_origins

ABOUT = """Campaigns that people can join with trust: each person states a limit, sees their deal, joins or declines;
the mean is released once, and everyone keeps a receipt. Every change needs the Origin header and, once signed in, the
X-CSRF-Token that GET /api/session shows."""


def open_service(settings: WebSettings) -> tuple[Service, str | None]:
    """Open the ledger and the keys; also return a notice if a key was made."""
    key, notice = environment_key(settings, served_before=lambda: has_accounts(settings.ledger))
    keys = Keyring(key_folder(settings), key)
    service = Service(
        Ledger.open(settings.ledger),
        keys,
        days_to_announce=settings.days_to_announce,
        days_to_answer=settings.days_to_answer,
        days_to_publish=settings.days_to_publish,
        days_to_keep_ids=settings.days_to_keep_ids,
        mail=mailer_of(settings),
    )
    try:
        expect_own_keys(service)
    except BaseException:
        service.ledger.close()
        raise
    return service, notice


def mailer_of(settings: WebSettings) -> Mailer | None:
    """Say how mail is sent; None where no server for it is set."""
    if settings.smtp_host is None:
        return None
    if not settings.smtp_from or not looks_like_address(settings.smtp_from):
        raise BadInput("to send mail, say from whom: set OPTIN_WEB_SMTP_FROM to an address")
    password = settings.smtp_password.get_secret_value() if settings.smtp_password else ""
    origin = settings.seen_at
    return Mailer(
        settings.smtp_host,
        settings.smtp_port,
        settings.smtp_from,
        origin,
        signatures=signatures_of(settings, origin),
        language=settings.language,
        security=settings.smtp_security,
        user=settings.smtp_user or "",
        password=password,
    )


def create_app(settings: WebSettings, service: Service | None = None) -> FastAPI:
    """Make the application; a service given is the caller's to close."""
    origins, organisation = own_origins(settings), organisation_of(settings)
    otherwise = checked_tag(settings.language)
    own = service or open_service(settings)[0]

    @asynccontextmanager
    async def open_for_visitors(app: FastAPI) -> AsyncIterator[None]:
        held = own.strangers_door.most + own.known_door.most + DRAWING.most  # by what takes long; the rest serve others
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads + held
        try:
            with Worker(own):
                yield
        finally:
            if service is None:
                own.ledger.close()

    app = FastAPI(
        title="optin",
        version=__version__,
        description=ABOUT,
        lifespan=open_for_visitors,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service, app.state.settings = own, settings
    exception_handlers.set_up(app)
    app.include_router(api.router)
    _add_pages(app)
    app.add_middleware(HeadsToo)
    app.add_middleware(exception_handlers.NoSurprises)
    app.add_middleware(FreshCookies)
    app.add_middleware(BodyLimit, most=settings.most_body_bytes, seconds=settings.body_seconds)
    app.add_middleware(OwnOrigin, origins=origins)
    app.add_middleware(Hosted, organisation=organisation)  # around what may refuse: that is said on a page too
    app.add_middleware(Spoken, otherwise=otherwise)
    app.add_middleware(SecurityHeaders, https=all(origin.startswith("https:") for origin in origins))
    app.add_middleware(RequestLog)
    app.add_middleware(Unhurried, seconds=settings.refusal_seconds)
    return app


def _add_pages(app: FastAPI) -> None:
    """Add the pages and their files."""
    app.include_router(
        pages.router
    )  # first: one script is made of a room below, and lies under /static like the others
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
