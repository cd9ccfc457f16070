"""Short words for the tests of the web service: a house with doors (in this process or in another), analysts, people."""

import asyncio
import contextlib
import os
import re
import secrets
import signal
import socket
import sys
import threading
import time
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import uvicorn
from argon2 import PasswordHasher
from sqlalchemy import func, select
from starlette.routing import Route

from optin.announcement import Announcement
from optin.campaign import opened_act
from optin.client import Client
from optin.ledger import Ledger
from optin.releasing import Release
from optin.web.app import create_app
from optin.web.schema import jobs
from optin.web.service import accounts, passwords
from optin.web.service.accounts import first_analyst_secret
from optin.web.service.core import Service, hashed, new_id, new_secret
from optin.web.service.jobs import run_all
from optin.web.service.keys import Keyring
from optin.web.service.records import Visitor
from optin.web.serving import serve, server_options
from optin.web.settings import WebSettings

PASSWORD = "correct horse battery"
AS_SERVED = passwords._hasher
"""How the service hashes; every house below is opened with a quick one, since hashing was half of what tests did."""
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
passwords._hasher = lambda: QUICK
KEY = "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="
DRAFT = {
    "title": "Sleep",
    "question": "How many hours did you sleep?",
    "bounds": (0.0, 12.0),
    "public": True,
    "quorum_people": 10,
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


ROUTES = []


def share_routes(app):
    """Take the routers of the first house: FastAPI works out what each of their hundred routes takes, and once is enough."""
    if not ROUTES:
        ROUTES.extend(app.router.routes)
    app.router.routes[:] = [
        own if isinstance(own, Route) else known for own, known in zip(app.router.routes, ROUTES, strict=True)
    ]


class Sent(httpx.AsyncByteStream):
    """A body as its sender gives it, part by part."""

    def __init__(self, parts):
        self.parts = parts

    async def __aiter__(self):
        for part in self.parts:
            yield part


class Indoors(httpx.BaseTransport):
    """Hands requests to an application in a thread of this process, past every socket."""

    def __init__(self, house):
        self.loop = house.loop
        self.app = httpx.ASGITransport(house.app, raise_app_exceptions=False)

    def handle_request(self, request):
        return asyncio.run_coroutine_threadsafe(self._answer(request), self.loop).result()

    async def _answer(self, request):
        request.stream = Sent(request.stream)
        answer = await self.app.handle_async_request(request)
        body = b"".join([part async for part in answer.stream])
        return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body))


def finish_jobs(service):
    """Do every job there is; one that the service's own worker is at already is waited for."""
    unfinished = select(func.count()).select_from(jobs).where(jobs.c.state.in_(("queued", "running")))
    end = time.monotonic() + 60
    run_all(service)
    while service.read(lambda link: link.scalar(unfinished)):
        assert time.monotonic() < end, "a job that nobody ends"
        time.sleep(0.02)
        run_all(service)


@dataclass
class House:
    """A service in a thread of this process, with its jobs; nobody comes in from the street."""

    url: str
    folder: Path
    clock: object = time.time
    port: int = field(default_factory=free_port)
    key: str = KEY
    settings: dict = field(default_factory=dict)
    mail: object = None

    def __enter__(self):
        keys = self.folder / "keys"
        given = {"refusal_seconds": 0, **self.settings}
        settings = WebSettings(ledger=self.url, port=self.port, keys=keys, key=self.key, **given)
        self.service = Service(
            Ledger.open(self.url), Keyring(keys, b64decode(self.key)), clock=self.clock, mail=self.mail
        )
        self.app = create_app(settings, self.service)
        share_routes(self.app)
        self.thread = self._opened(settings)
        return self

    def _opened(self, settings):
        ready = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._live(ready)))
        thread.start()
        assert ready.wait(120)
        return thread

    async def _live(self, ready):
        self.loop, self.leaving = asyncio.get_running_loop(), asyncio.Event()
        async with self.app.router.lifespan_context(self.app):
            ready.set()
            await self.leaving.wait()

    def _close(self):
        self.loop.call_soon_threadsafe(self.leaving.set)

    def __exit__(self, *_):
        self._close()
        self.thread.join()
        self.service.ledger.close()
        for client in self.__dict__.pop("clients", []):
            client.close()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def visiting(self):
        """How a program comes in: the settings of its HTTP client."""
        return {"transport": Indoors(self), "trust_env": False}

    def client(self):
        new = Client(self.origin)
        new._http = httpx.Client(base_url=self.origin, **self.visiting())
        self.__dict__.setdefault("clients", []).append(new)
        return new

    def analyst(self, name="ada"):
        """An analyst, signed in; the first by the one-time secret, the others invited by the first."""
        new, secret = self.client(), first_analyst_secret(self.service)
        if secret is None:
            self.first.sign_in(self.first_name, PASSWORD)
            secret = self.first.invite_analyst()
        else:
            self.first, self.first_name = self.client(), name
        new.become_analyst(secret, name, PASSWORD)
        return new

    def person(self):
        """A person, signed up from a place of their own."""
        new, ticket = self.client(), accounts.sign_up(self.service, address=new_id()).ticket
        new._cookie, new._csrf = ticket.token, ticket.visitor.csrf
        return new

    def people(self, count):
        return [self.person() for _ in range(count)]

    def ask(self, method, path, *, cookie=None, **more):
        """A raw request, as a stranger's program could send it."""
        headers = {"Origin": self.origin, **({"Cookie": f"__Host-optin={cookie}"} if cookie else {})}
        headers |= more.pop("headers", {})
        headers = {name: value for name, value in headers.items() if value is not None}
        with httpx.Client(**self.visiting()) as stranger:
            return stranger.request(method, self.origin + path, headers=headers, **more)


class OpenHouse(House):
    """A service on a port of this machine, for browsers and for what is about connections."""

    def _opened(self, settings):
        self.server = uvicorn.Server(uvicorn.Config(self.app, **server_options(settings)))
        thread = threading.Thread(target=self.server.run)
        thread.start()
        while not self.server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        return thread

    def _close(self):
        self.server.should_exit = True

    def visiting(self):
        return {"trust_env": False, "verify": False, "timeout": 120}


class Clock:
    """A clock that stands until a test moves it."""

    now = 1_790_000_000.0

    def __call__(self):
        return self.now


@contextlib.contextmanager
def with_ada(url, folder, kind=House):
    """Open a house whose clock stands, with an analyst."""
    with kind(url, folder, key=KEY, clock=Clock()) as made:
        made.ada = made.analyst("ada")
        yield made


def registered(analyst, people, *, steps=None, **draft):
    """A campaign in which everyone has chosen a step of the ladder; return its id."""
    campaign = analyst.draft(**{**DRAFT, **draft}).id
    analyst.take(campaign, "open")
    for at, person in enumerate(people):
        person.register(campaign, (3 + at % 4) if steps is None else steps[at])
    return campaign


def answering(analyst, people, **draft):
    """A campaign that is announced and takes answers."""
    campaign = registered(analyst, people, **draft)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    return campaign


def released(analyst, people, values=None, **draft):
    """A campaign that ran to its end."""
    campaign = answering(analyst, people, **draft)
    for at, person in enumerate(people):
        person.join(campaign, 6.0 + at % 3 if values is None else values[at])
    analyst.take(campaign, "close")
    analyst.take(campaign, "release")
    return campaign


def opened_acts(ledger, campaign):
    """The announcement of a campaign with its exact numbers, and its release with what was drawn, as `optin ledger open` does."""
    numbers = {act.kind: act.number for act in ledger.acts() if act.campaign == campaign}
    offer = Announcement.from_json(opened_act(ledger, numbers["announce"]))
    return offer, Release.from_json(opened_act(ledger, numbers["release"])) if "release" in numbers else None


@dataclass(frozen=True)
class Counted:
    """Exact counts of a round, which no analyst is told."""

    redeemed: int
    registered: int
    joined: int
    declined: int


def exact_counts(service, campaign):
    """Count the people of a campaign's round in the store."""
    from optin.web.schema import invitations, registrations
    from optin.web.service.lookups import campaign_row, count, joined_count

    def look(link):
        row = campaign_row(link, campaign)
        used = (invitations.c.campaign == campaign, invitations.c.used_at.is_not(None))
        here = (registrations.c.campaign == campaign, registrations.c.round == row.round)
        answered = [joined_count(link, campaign, row.round, joined=joined) for joined in (True, False)]
        return Counted(count(link, invitations, *used), count(link, registrations, *here), *answered)

    return service.read(look)


def put_people(service, campaign, count, *, step=lambda at: 3 + at % 4):
    """Write accounts, sessions and registrations straight into the store; return (account, cookie) of each."""
    from sqlalchemy import insert

    from optin.web.schema import accounts, registrations, sessions

    now, made = time.time(), [(new_id(), new_secret(), new_id()) for _ in range(count)]
    rows = {
        accounts: [{"id": a, "kind": "person", "key": hashed(t + "k"), "created_at": now} for a, t, _ in made],
        sessions: [
            {"id": s, "account": a, "token": hashed(t), "created_at": now, "rotated_at": now, "expires_at": now + 9e4}
            for a, t, s in made
        ],
        registrations: [
            {"campaign": campaign, "round": 1, "person": a, "step": step(at), "at": now}
            for at, (a, _, _) in enumerate(made)
        ],
    }
    service.change(lambda link: [link.execute(insert(table), some) for table, some in rows.items()])
    return [(a, t, service.keys.digest("csrf", s)) for a, t, s in made]


def visitor(account, kind="person"):
    return Visitor(account, kind, None, session="", csrf="")


@dataclass
class Outpost:
    """A service in a process of its own, which can be killed; forked, so that it starts at once."""

    url: str
    folder: Path
    port: int = field(default_factory=free_port)

    def start(self):
        self.pid = os.fork()
        if self.pid == 0:  # from here on this is the child: it must never return into pytest
            try:
                self._serve()
            finally:
                os._exit(1)
        self._wait()
        return self

    def _serve(self):
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)  # pytest's own would swallow it
        serve(WebSettings(ledger=self.url, port=self.port, keys=self.folder / "keys", key=KEY))

    def _wait(self):
        for _ in range(1200):
            with contextlib.suppress(httpx.TransportError), httpx.Client(trust_env=False, verify=False) as probe:
                if probe.get(self.origin + "/ready").status_code == 200:
                    return
            assert os.waitpid(self.pid, os.WNOHANG) == (0, 0), (self.folder / "log").read_text()[-2000:]
            time.sleep(0.02)
        raise RuntimeError("the service did not start")

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def service(self):
        """The same store and keys, opened beside the running process."""
        return Service(Ledger.open(self.url), Keyring(self.folder / "keys", b"k" * 32))

    def analyst(self):
        secret = re.findall(r"/setup#(\S+)", (self.folder / "log").read_text())[-1]
        client = Client(self.origin)
        client.become_analyst(secret, f"ada-{secrets.token_hex(4)}", PASSWORD)
        return client

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def stop(self):
        """End it as a service manager does; return how it ended."""
        os.kill(self.pid, signal.SIGTERM)
        return os.waitpid(self.pid, 0)[1]
