"""A real Chromium: it watches what pages must never do, and looks at them in every way someone may see them."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import sync_playwright

AXE = Path(__file__).parent / "assets" / "axe.min.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FAULTS = """async (rules) => (await axe.run(document, {resultTypes: ["violations"], ...rules})).violations
  .filter(v => ["serious", "critical"].includes(v.impact))
  .map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 160)).join(" | "))"""
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


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
class Watch:
    """Writes down everything that no page of ours may do: leave the origin, fail, or break the content policy."""

    browser: object
    origin: str
    faults: list = field(default_factory=list)
    addresses: list = field(default_factory=list)
    expected: tuple = ()

    def visitor(self, *, size=WIDE, **settings):
        """Open a page as someone who was never here."""
        context = self.browser.new_context(viewport=size, reduced_motion="reduce", **settings)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.faults.append(f"script: {error.error}"))
        page = context.new_page()
        page.set_default_timeout(30_000)
        return page

    def _request(self, request):
        self.addresses.append(request.url)
        if not request.url.startswith(self.origin + "/"):
            self.faults.append(f"left the origin: {request.url}")

    def _console(self, message):
        if message.type in ("error", "warning") and not any(known in message.text for known in self.expected):
            self.faults.append(f"console: {message.text} at {message.page.url if message.page else ''}")


@dataclass
class Album:
    """Keeps what axe finds wrong with each page, light on a phone and dark on a wide screen, and a picture of what is."""

    folder: Path
    faults: list = field(default_factory=list)

    def look(self, page, name):
        """Look at a page in both ways; what depends on colours alone is asked again in the dark."""
        size, before = page.viewport_size, len(self.faults)
        self._look_once(page, f"{name}, phone, light", PHONE, "light", {})
        if len(self.faults) > before:
            page.screenshot(path=self.folder / f"{name}.png", full_page=True)
        self._look_once(page, f"{name}, wide, dark", WIDE, "dark", COLOURS)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(size)

    def _look_once(self, page, name, size, colours, rules):
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size(size)
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wider > 0:
            self.faults.append(f"{name}: {wider} pixels too wide")
        if not page.evaluate("'axe' in window"):  # evaluated by the driver: our policy lets no page load it
            page.evaluate(AXE.read_text())
        self.faults += [f"{name}: {fault}" for fault in page.evaluate(FAULTS, rules)]


def press(page, name):
    """Press a button and wait for the page it leads to."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def follow(page, name):
    """Follow a link and wait for the page it leads to."""
    with page.expect_navigation():
        page.get_by_role("link", name=name, exact=True).click()
