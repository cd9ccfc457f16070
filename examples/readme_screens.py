"""Make the picture of the README again: a phone's screen of the web service, beside results with their bars.

python examples/readme_screens.py [FILE.png]

Both are real: the service is started, a campaign is drafted and opened, and someone looks at it in Chromium; the results are
those of the demo's people, released once with noise, so that every run draws slightly different bars.
"""

import io
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import matplotlib.image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from playwright.sync_api import sync_playwright

import optin
from optin import figures

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "pictures" / "phone-and-result.png"
OPTIN = [sys.executable, "-m", "optin"]
PHONE = {"width": 390, "height": 844}
SIZE, DOTS = (10.0, 5.6), 130
STEP = "Some"
PATIENCE = 120_000  # milliseconds, for machines that are busy
QUESTION = "How many units of alcohol do you drink in a week?"


def main(out: Path) -> None:
    """Take the screen, release the demo's answers, put both on one paper."""
    with tempfile.TemporaryDirectory() as folder:
        paper(screen(Path(folder)), released(Path(folder))).savefig(out, dpi=DOTS, metadata={"Software": None})


@contextmanager
def service(folder: Path) -> Iterator[tuple[str, str]]:
    """Start the service; give its address and the secret that makes the first analyst."""
    port = free_port()
    words = [*OPTIN, "serve", "--port", str(port), "--ledger", str(folder / "web.sqlite")]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"})
    try:
        assert running.stderr is not None
        found = next(filter(None, (re.search(r"/setup#(\S+)", line) for line in running.stderr)))
        wait_for(port, running)
        yield f"http://127.0.0.1:{port}", found.group(1)
    finally:
        running.terminate()
        running.communicate(timeout=60)


def free_port() -> int:
    """Find a port below those that systems hand out by themselves: nobody gets it before the service opens it."""
    for port in random.sample(range(20_000, 32_000), 50):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise SystemExit("no port is free")


def wait_for(port: int, running: subprocess.Popen[str]) -> None:
    """Wait until the service listens, which it does a moment after it said where."""
    while running.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
            return
        time.sleep(0.05)
    raise SystemExit("the service did not start")


def screen(folder: Path) -> bytes:
    """Draft a campaign, and look at it as someone who was asked, with a limit chosen and not yet sent."""
    with service(folder) as (origin, secret), optin.Client(origin) as analyst, sync_playwright() as driver:
        analyst.become_analyst(secret, "ada", "correct horse battery")
        drawn = analyst.draft(title="Drinking", question=QUESTION, bounds=(0, 40), data_sd=9, public=True)
        analyst.take(drawn.id, "open")
        flags = ["--headless", "--no-sandbox"]
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=flags, timeout=PATIENCE)
        page = browser.new_page(viewport=PHONE, device_scale_factor=2)
        page.set_default_timeout(PATIENCE)
        page.goto(f"{origin}/sign-up")
        page.get_by_role("button", name="Make my account", exact=True).click()
        page.get_by_text("I kept it, go on").wait_for()
        page.goto(f"{origin}/c/{drawn.id}")
        page.get_by_role("radio", name=f"{STEP} factor").check()
        page.evaluate("document.getElementById('choose').scrollIntoView()")
        taken = page.screenshot()
        browser.close()
        return taken


def released(folder: Path) -> optin.Release:
    """Run the demo."""
    subprocess.run([*OPTIN, "demo", "--folder", str(folder / "demo")], check=True, capture_output=True)
    return optin.Release.from_json((folder / "demo" / "release.json").read_text())


def paper(screen: bytes, release: optin.Release) -> Figure:
    """Draw the phone on the left and two questions on the right."""
    figure = Figure(figsize=SIZE, facecolor="white")
    FigureCanvasAgg(figure)
    width = 0.84 * SIZE[1] / SIZE[0] * PHONE["width"] / PHONE["height"]
    phone = figure.add_axes((0.035, 0.08, width, 0.84))
    phone.imshow(matplotlib.image.imread(io.BytesIO(screen)), aspect="auto", interpolation="lanczos")
    phone.set_axis_off()
    frame = FancyBboxPatch(
        (0.035, 0.08), width, 0.84, boxstyle="round,pad=0.012,rounding_size=0.02", transform=figure.transFigure,
        facecolor="none", edgecolor="#222222", linewidth=7, mutation_aspect=SIZE[0] / SIZE[1],
    )  # fmt: skip
    figure.add_artist(frame)
    for name, (bottom, height) in {"where": (0.6, 0.27), "sleep": (0.1, 0.27)}.items():
        ax = figure.add_axes((0.47, bottom, 0.42, height))
        figures.answer(ax, release, name)
        ax.set_title(release.sheet[name].text, loc="left", fontsize=11.5, fontweight="bold", pad=28, x=-0.29)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
