"""Several processes on one database do everything once, a killed one leaves nothing undone, and nothing grows with requests."""

import contextlib
import subprocess
import sys
import threading
import time
from dataclasses import replace

import httpx
import pytest
from sqlalchemy import select
from web_steps import DRAFT, PASSWORD, House, OpenHouse, Outpost, exact_counts, put_people

from optin.client import Client
from optin.errors import BadInput
from optin.ledger import Ledger
from optin.web.schema import accounts
from optin.web.schema import jobs as job_rows
from optin.web.service import jobs
from optin.web.service.keys import Keyring
from optin.web.settings import WebSettings, trusted_proxies
from optin.web.transactions import turn

CAMPAIGNS = 6


class Diary:
    """A step that writes into a file who does it, waits while a file of its folder says so, and then is done."""

    def __init__(self, folder):
        self.file, self.held = folder / "diary", folder / "held"
        self.file.touch()

    def watching(self, step):
        def watched(service, job, progress):
            self._write("begins", job)
            while self.is_held():
                time.sleep(0.01)
            step(service, job, progress)
            self._write("ends", job)

        return watched

    def is_held(self):
        """Whether the file is there, or fewer processes than it wants have begun."""
        wanted = self.held.read_text() if self.held.exists() else "0"
        return len({pid for pid, what, _ in self.lines() if what == "begins"}) < int(wanted)

    def _write(self, what, job):
        import os

        with self.file.open("a") as file:
            file.write(f"{os.getpid()} {what} {job.id}\n")

    def lines(self):
        return [line.split() for line in self.file.read_text().splitlines()]


@pytest.fixture
def diary(tmp_path, monkeypatch):
    """Every cancelling is written down, in whatever process; and everyone looks for work all the time."""
    made = Diary(tmp_path)
    monkeypatch.setitem(jobs.LONG_STEPS, "cancel", made.watching(jobs.LONG_STEPS["cancel"]))
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_LOOKS", 0.05)
    return made


@pytest.fixture
def outposts(tmp_path, diary, request):
    """Two processes of one service on one PostgreSQL, and the service as both see it."""
    url = request.getfixturevalue("postgres").new_ledger()
    both = [Outpost(url, tmp_path).start() for _ in range(2)]
    service = both[0].service()
    yield both, service
    service.ledger.close()
    for each in both:
        if each.pid:
            each.kill()


def cancelling(outpost, count):
    """Campaigns that an analyst has just cancelled: so many jobs at once."""
    with outpost.analyst() as ada:
        made = [ada.draft(**DRAFT).id for _ in range(count)]
        for campaign in made:
            ada.take(campaign, "open")
        for campaign in made:
            ada._call("POST", f"/api/campaigns/{campaign}/steps/cancel", None)
    return made


def states(service):
    return service.read(lambda link: list(link.scalars(select(job_rows.c.state))))


def wait_until(happened):
    while not happened():
        time.sleep(0.01)


def test_two_processes_share_the_jobs_and_each_is_done_once(outposts, diary):
    (first, second), service = outposts
    diary.held.write_text("2")  # whoever begins waits until the other one has begun as well
    cancelling(first, CAMPAIGNS)
    wait_until(lambda: states(service) == ["done"] * CAMPAIGNS)
    begun = [(pid, job) for pid, what, job in diary.lines() if what == "begins"]
    assert len(begun) == len({job for _, job in begun}) == CAMPAIGNS
    assert {int(pid) for pid, _ in begun} == {first.pid, second.pid}


def test_what_a_killed_process_had_begun_is_taken_up_by_the_other(outposts, diary):
    both, service = outposts
    diary.held.write_text("2")
    cancelling(both[0], 1)
    wait_until(lambda: diary.lines())
    gone = next(each for each in both if each.pid == int(diary.lines()[0][0]))
    gone.kill()
    gone.pid = None
    wait_until(lambda: states(service) == ["done"])
    assert [what for _, what, _ in diary.lines()] == ["begins", "begins", "ends"]


def test_processes_that_are_ended_and_started_in_turn_lose_no_answer_and_draw_once(outposts):
    both, service = outposts
    with both[0].analyst() as ada:
        campaign = ada.draft(**DRAFT).id
        ada.take(campaign, "open")
        crowd = put_people(service, campaign, 24)
        for step in ("close-registration", "announce", "open-answers"):
            ada.take(campaign, step)
    taken = []
    for at in (0, 1):
        ending = threading.Thread(target=both[at].stop)
        ending.start()
        taken += [join(both[1 - at], campaign, person) for person in crowd[12 * at : 12 * at + 12]]
        ending.join()
        both[at].start()
    assert taken == [200] * 24
    assert exact_counts(service, campaign).joined == 24
    with Client(both[1].origin) as ada:
        ada.sign_in(name_of(service), PASSWORD)
        ada.take(campaign, "close")
        ada.take(campaign, "release")
    assert [act.kind for act in service.ledger.acts() if act.campaign == campaign].count("release") == 1
    assert service.ledger.verify().ok


def join(outpost, campaign, person):
    """Send someone's answer to one of the processes; say what it said."""
    _, cookie, token = person
    headers = {"Origin": outpost.origin, "Cookie": f"__Host-optin={cookie}", "X-CSRF-Token": token}
    where = f"{outpost.origin}/api/me/campaigns/{campaign}/answer"
    return httpx.put(where, headers=headers, json={"join": True, "value": 6.5}, trust_env=False, timeout=60).status_code


def name_of(service):
    query = select(accounts.c.name).where(accounts.c.kind == "analyst")
    return service.read(lambda link: link.scalar(query))


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_duty_that_one_process_is_at_is_left_to_it(url, tmp_path):
    began, go_on, done = threading.Event(), threading.Event(), []

    def duty(service):
        done.append(service)
        began.set()
        go_on.wait()

    with House(url, tmp_path) as house:
        other = replace(house.service, ledger=Ledger.open(url), keys=Keyring(tmp_path / "keys", b"k" * 32))
        doing = jobs._alone(duty)
        busy = threading.Thread(target=doing, args=(house.service, None))
        busy.start()
        began.wait()
        doing(other, None)
        assert done == [house.service]
        go_on.set()
        busy.join()
        doing(other, None)
        assert done == [house.service, other]
        other.ledger.close()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_services_that_share_a_database_do_not_wait_for_each_other(url, request):
    other = request.getfixturevalue("postgres").new_ledger()
    with Ledger.open(url) as here, Ledger.open(other) as there:
        with turn(here.engine, "a") as mine, turn(there.engine, "a") as theirs, turn(here.engine, "a") as again:
            assert (mine, theirs, again) == (True, True, False)
        with turn(here.engine, "a") as free:
            assert free


# --- starting ---------------------------------------------------------------------------------------------------------

NOT_TO_START = {
    "alembic",
    "httpx",
    "rich",
    "pygments",
    "scipy",
    "opendp",
    "matplotlib",
    "pandas",
    "pyarrow",
    "duckdb",
    "ibis",
}


def test_a_service_loads_nothing_at_its_start_that_it_needs_later_or_never(tmp_path):
    with Ledger.open(str(tmp_path / "web.sqlite")):
        pass  # its tables are up to date: what brings them there is not needed again
    check = (
        "import sys\nfrom optin.web.app import create_app\nfrom optin.web.settings import WebSettings\nimport optin.web.serving\n"
        f"create_app(WebSettings(ledger={str(tmp_path / 'web.sqlite')!r}))\nprint(sorted({NOT_TO_START} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


# --- behind a web server ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (None, "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.0/8,203.0.113.0/24", "198.51.100.1, 203.0.113.9", "198.51.100.1"),
        ("10.0.0.5", "203.0.113.9", "127.0.0.1"),
        ("127.0.0.1", None, "127.0.0.1"),
    ],
)
def test_an_address_is_taken_from_web_servers_that_are_named_and_from_nobody_else(
    tmp_path, proxies, forwarded, address
):
    house = OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path)
    house.settings = {"origin": house.origin, **({"proxies": proxies} if proxies else {})}
    seen = []
    with house:
        inner = house.app.middleware_stack

        async def looking(scope, receive, send):
            seen.append(scope["client"][0] if scope.get("client") else None)
            await inner(scope, receive, send)

        house.app.middleware_stack = looking
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}
        with httpx.Client(trust_env=False) as someone:
            assert someone.get(house.origin + "/health", headers=headers).status_code == 200
    assert seen == [address]


@pytest.mark.parametrize("wrong", ["*", "0.0.0.0/0", "::/0", "proxy.example.org", "10.0.0.1/8", "", ","])
def test_nobody_is_trusted_wherever_they_come_from(wrong):
    with pytest.raises(BadInput, match="OPTIN_WEB_PROXIES"):
        trusted_proxies(WebSettings(proxies=wrong))


# --- many requests ----------------------------------------------------------------------------------------------------

ROOM = 8.0
"""How many MiB a process may have grown after the first tenth of the requests."""


def resident(pid):
    """The memory of a process, in MiB."""
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


@pytest.mark.parametrize(
    "requests", [pytest.param(20_000, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.soak)]
)
def test_memory_does_not_grow_with_requests(tmp_path, requests):
    post = Outpost(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path).start()
    service = post.service()
    with contextlib.closing(service.ledger), post.analyst() as ada:
        campaign = ada.draft(**{**DRAFT, "public": True}).id
        ada.take(campaign, "open")
        crowd = put_people(service, campaign, 50)
        paths = ("/", "/about", "/i", f"/c/{campaign}", "/nowhere", "/health")
        before = 0.0
        with httpx.Client(base_url=post.origin, trust_env=False) as visitors:
            for at in range(requests):
                cookie = {"Cookie": f"__Host-optin={crowd[at % 50][1]}"} if at % 2 else {}
                visitors.get(paths[at % len(paths)], headers=cookie)
                if at == requests // 10:
                    before = resident(post.pid)
        after = resident(post.pid)
    post.kill()
    print(f"{requests} requests: {before:.1f} MiB after a tenth of them, {after:.1f} at the end")
    assert after - before < ROOM, (before, after)
