"""How long others wait while a campaign of a hundred thousand sealed answers is announced and released, on both databases.

One client looks at pages, another sends answers to another campaign, one request after another. The usual wait is the median of
a quiet time before; the longest during a step is printed in it, and beside it the longest of the quiet time: what the
machine alone does. The service runs in a process of its own.
"""

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
from sqlalchemy import insert

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from test_web_one_visit import FIVE, TYPED
from web_steps import Outpost, put_people

from optin.web.schema import answers
from optin.web.service.asking import codes_of
from optin.web.service.core import new_secret

PEOPLE, QUIET, MOST = 10**5, 20.0, 6
GIVEN = {"hours": 38.5, "break": True, "shift": "night", "burden": [1, 2, 4], "reasons": ["staff", "phone"]}
INVITED = 20_000


def on_both_databases(report) -> None:
    """Call a report with the name and address of each database, a folder, and how many people."""
    from postgres import PostgresServer

    people = int(sys.argv[-1]) if sys.argv[-1].isdigit() else PEOPLE
    with tempfile.TemporaryDirectory() as folder:
        report("SQLite", f"sqlite:///{Path(folder) / 'web.sqlite'}", Path(folder), people)
    server = PostgresServer(max_wal_size="4GB").start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            report("PostgreSQL", server.new_schema(), Path(folder), people)
    finally:
        server.remove()


def main() -> None:
    """Print the ratios on both databases."""
    on_both_databases(report)


class Waiting(threading.Thread):
    """One client that asks for the same thing over and over; how long each answer took, and when it was asked for."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask, self.took, self.over = ask, [], threading.Event()

    def run(self):
        with httpx.Client(trust_env=False, verify=False, timeout=120) as http:
            while not self.over.is_set():
                began = time.perf_counter()
                assert self.ask(http).status_code == 200
                self.took.append((began, time.perf_counter() - began))
                time.sleep(0.02)

    def waits(self, since, until):
        """List the waits that overlap a time."""
        return [took for began, took in self.took if began < until and began + took > since]


def report(name, url, folder, people):
    """Announce and release a large campaign while others use the service, and print how long they waited."""
    post = Outpost(url, folder).start()
    try:
        analyst, service = post.analyst(), post.service()
        clients = dict(zip(("looking", "sending"), others(post, analyst), strict=True))
        campaign = large(analyst, service, people)
        for client in clients.values():
            client.start()
        times = {"quiet": (time.perf_counter(), time.sleep(QUIET), time.perf_counter())}
        for step in ("announce", "close", "release"):
            times[step] = (time.perf_counter(), analyst.take(campaign, step), time.perf_counter())
        for client in clients.values():
            client.over.set()
            client.join()
        assert analyst.campaign(campaign).release.joined_people == people
        tell(name, clients, times)
        service.ledger.close()
        analyst.close()
    finally:
        post.stop()


def tell(name, clients, times):
    for what, client in clients.items():
        usual = statistics.median(client.waits(*times["quiet"][::2]))
        for step, (since, _, until) in times.items():
            waits = client.waits(since, until)
            target = f" (target <= {MOST})" if step in ("announce", "release") else ""
            longest = f"longest wait {max(waits) / usual:.1f} usual ones{target}"
            print(
                f"{name}: {what} during {step} ({until - since:.1f} s): {longest}, "
                f"median {statistics.median(waits) / usual:.1f}, of {len(waits)}; usual {usual * 1000:.1f} ms",
                flush=True,
            )


def others(post, analyst):
    """One who looks at the page of a campaign, and many who each send answers to it."""
    other = analyst.draft(FIVE, quorum_people=10, sealed=True).id
    analyst.take(other, "open")
    secrets = [secret for _ in range(INVITED // 1000) for secret in analyst.invite(other, 1000)]
    first, rest = secrets[0], iter(secrets[1:])
    with httpx.Client(trust_env=False) as http:
        cookie = send(post, first, http).headers["set-cookie"].partition(";")[0]

    def look(http):
        return http.get(f"{post.origin}/c/{other}", headers={"Cookie": cookie})

    return Waiting(look), Waiting(lambda http: send(post, next(rest), http))


def send(post, secret, http):
    http.cookies.clear()
    form = {"secret": secret, "key": new_secret(), "round": "1", "step": "5", "before": "no", "do": "send", **TYPED}
    return http.post(f"{post.origin}/i/send", data=form, headers={"Origin": post.origin})


def large(analyst, service, people):
    """A campaign to which so many have sent answers, closed for registration."""
    campaign = analyst.draft(FIVE, quorum_people=10, sealed=True).id
    analyst.take(campaign, "open")
    crowd = put_people(service, campaign, people)
    codes = codes_of(FIVE, GIVEN)
    sealed = {"campaign": campaign, "round": 1}
    rows = [
        {
            **sealed,
            "person": person,
            "joined": True,
            "at": 0.0,
            "value": service.keys.seal(codes, person=person, **sealed),
        }
        for person, _, _ in crowd
    ]
    service.change(lambda link: link.execute(insert(answers), rows))
    analyst.take(campaign, "close-registration")
    return campaign


if __name__ == "__main__":
    main()
