"""How soon a killed service answers again with a hundred thousand sealed answers waiting, on both databases.

The service is the one that ``optin serve`` starts. It is killed while it does nothing, and once in the middle of a release, which
the next one ends. Seconds are given by the clock and by the processor, beside what merely starting Python with numpy takes
at this moment.
"""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from web_steps import KEY, Outpost

from benchmarks.service import large, on_both_databases
from optin.errors import LedgerUnavailable

KILLS, MOST = 5, 3.0


def main() -> None:
    """Print the seconds of every start on both databases."""
    on_both_databases(report)


class Served(Outpost):
    """The service as its operator starts it: a program of its own."""

    def start(self):
        own = {"OPTIN_WEB_LEDGER": self.url, "OPTIN_WEB_PORT": str(self.port), "OPTIN_WEB_KEY": KEY}
        own |= {"OPTIN_WEB_KEYS": str(self.folder / "keys")}
        command = [Path(sys.executable).parent / "optin", "serve"]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
        self.pid = self.process.pid
        self.wait_until_ready()
        return self

    def wait_until_ready(self):
        with httpx.Client(trust_env=False) as probe:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if probe.get(self.origin + "/ready").status_code == 200:
                        return
                assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait()

    def seconds_of_processor(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            user, system = stat.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def report(name, url, folder, people):
    """Kill and start the service again and again, and print how long each start took."""
    post = Served(url, folder).start()
    analyst, service = post.analyst(), post.service()
    try:
        campaign = large(analyst, service, people)
        for _ in range(KILLS):
            tell(name, post)
        analyst.take(campaign, "announce")
        analyst.take(campaign, "close")
        with contextlib.suppress(LedgerUnavailable):  # it is still under way, which is the point
            analyst.take(campaign, "release", timeout=0.5)
        tell(f"{name}, in the middle of a release", post)
        while analyst.campaign(campaign).state != "released":
            time.sleep(0.1)
        assert analyst.campaign(campaign).release.joined_people == people
        assert service.ledger.verify().ok
    finally:
        service.ledger.close()
        analyst.close()
        post.stop()


def tell(name, post):
    post.kill()
    began = time.perf_counter()
    post.start()
    took, bare = time.perf_counter() - began, imports()
    print(
        f"{name}: ready {took:.2f} s after kill -9 (target <= {MOST:.0f}), of them {post.seconds_of_processor():.2f} s of a "
        f"processor; Python with numpy alone takes {bare:.2f} s",
        flush=True,
    )


def imports():
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
