"""A real Chromium before a real server: what the tests of the pages share."""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import uvicorn
from playwright.sync_api import sync_playwright

from optin.web.app import create_app, open_service
from optin.web.service import accounts
from optin.web.settings import WebSettings

AXE = Path(__file__).parent / "assets" / "axe.min.js"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
KEY = "a2V5IGZvciB0aGUgdGVzdHMsIDMyIGJ5dGVzIGxvbmc="
FAULTS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .filter(v => ["serious", "critical"].includes(v.impact))
  .map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 160)).join(" | "))"""


@contextlib.contextmanager
def chromium():
    """Start the browser."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Site:
    """A server of its own on loopback, its service, and the first analyst's secret."""

    origin: str
    service: object
    secret: str

    def caller(self):
        """Someone who uses the JSON interface, signed in by nobody yet."""
        return Caller(self.origin)


@contextlib.contextmanager
def serving(ledger, folder):
    """Run the service in a thread until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        settings = WebSettings(ledger=ledger, port=port, key=KEY, keys=folder / "keys")
        service, _ = open_service(settings)
        config = uvicorn.Config(create_app(settings, service), log_config=None, lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Site(f"http://127.0.0.1:{port}", service, accounts.first_analyst_secret(service))
        finally:
            server.should_exit = True
            thread.join()
            service.ledger.close()


class Caller:
    """One person or analyst on the JSON interface; cookies by hand, since loopback has no https."""

    def __init__(self, origin):
        self.http = httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=60)

    def __call__(self, method, path, **body):
        answer = self.http.request(method, f"/api{path}", json=body or None)
        assert answer.is_success, (path, answer.text)
        cookie = answer.headers.get("set-cookie")
        if cookie:
            self.http.headers["Cookie"] = cookie.partition(";")[0]
        found = answer.json() if answer.content else {}
        if isinstance(found, dict) and "csrf_token" in found:
            self.http.headers["X-CSRF-Token"] = found["csrf_token"]
        return found


@dataclass
class Watch:
    """Everything a browser does that no page of ours may do."""

    origin: str
    faults: list = field(default_factory=list)
    expected: set = field(default_factory=set)

    def over(self, context):
        """Watch all pages of a browser context."""
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.faults.append(f"script: {error.error}"))
        return context

    def _request(self, request):
        if not request.url.startswith(self.origin + "/"):
            self.faults.append(f"left the origin: {request.url}")

    def _console(self, message):
        if message.type in ("error", "warning") and not any(known in message.text for known in self.expected):
            self.faults.append(f"console: {message.text} at {message.page.url if message.page else ''}")


@dataclass
class Album:
    """Looks at a page in every way someone may see it, and keeps what axe finds wrong with it."""

    folder: Path
    faults: list = field(default_factory=list)
    seen: list = field(default_factory=list)

    def look(self, page, name):
        """Take the page wide and narrow, light and dark; ask axe in each."""
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            for kind, size in (("wide", WIDE), ("phone", PHONE)):
                page.set_viewport_size(size)
                self._look_once(page, f"{name}-{kind}-{colours}", ask=kind == "phone" or colours == "light")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(WIDE)

    def _look_once(self, page, name, *, ask):
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wider > 0:
            self.faults.append(f"{name}: {wider} pixels too wide")
        if ask:
            if not page.evaluate("'axe' in window"):  # evaluated by the driver: our policy lets no page load it
                page.evaluate(AXE.read_text())
            self.faults += [f"{name}: {fault}" for fault in page.evaluate(FAULTS)]
        page.screenshot(path=self.folder / f"{name}.png", full_page=True)
        self.seen.append(name)
