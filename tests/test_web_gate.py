"""Strangers cannot stop the service: what takes long is done a little at a time, and nobody holds a connection for ever."""

import asyncio
import os
import re
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from argon2 import PasswordHasher, extract_parameters, profiles
from web_steps import AS_SERVED, PASSWORD, OpenHouse, Outpost

from optin.errors import BadInput
from optin.web import guards
from optin.web.pages import pictures
from optin.web.service import passwords
from optin.web.service.failures import TooSoon
from optin.web.service.gates import DRAWING, Gate
from optin.web.settings import WebSettings

STRANGERS = 24


class Counting(PasswordHasher):
    """Hashes as ever, but each hash waits until it is let go; counts how many run, and how many ran at most."""

    def __init__(self):
        super().__init__(time_cost=1, memory_cost=64, parallelism=1)
        self.go, self.guard, self.begun = threading.Event(), threading.Lock(), threading.Semaphore(0)
        self.running = self.most = self.all = 0
        self.places = []

    @contextmanager
    def counted(self):
        with self.guard:
            self.places.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            self.running += 1
            self.all += 1
            self.most = max(self.most, self.running)
        self.begun.release()
        self.go.wait()
        try:
            yield
        finally:
            with self.guard:
                self.running -= 1

    def hash(self, *given, **more):
        with self.counted():
            return super().hash(*given, **more)

    def verify(self, *given):
        with self.counted():
            return super().verify(*given)


@pytest.fixture
def hashes(monkeypatch):
    passwords._nobodys_hash()  # made once, before anything is counted
    counting = Counting()
    monkeypatch.setattr(passwords, "_hasher", lambda: counting)
    yield counting
    counting.go.set()


def test_a_password_is_hashed_as_argon2_advises_and_then_lets_its_analyst_in(lodge, monkeypatch):
    assert extract_parameters(AS_SERVED().hash(PASSWORD)) == profiles.RFC_9106_LOW_MEMORY
    monkeypatch.setattr(passwords, "_hasher", AS_SERVED)
    ada = lodge.analyst("ada")
    ada.sign_in("ada", PASSWORD)
    with pytest.raises(BadInput, match="password"):
        ada.sign_in("ada", PASSWORD + "s")


SIGNING_IN = {
    "/api/session": lambda at: {"json": {"name": f"name {at}", "password": PASSWORD}},
    "/login": lambda at: {"data": {"name": f"name {at}", "password": PASSWORD}},
}


@pytest.mark.parametrize("path", SIGNING_IN)
def test_strangers_who_sign_in_at_once_do_not_stop_the_pages(house, hashes, path):
    with ThreadPoolExecutor(STRANGERS) as crowd:
        try:
            asked = [crowd.submit(house.ask, "POST", path, **SIGNING_IN[path](at)) for at in range(STRANGERS)]
            hashes.begun.acquire()
            assert house.ask("GET", "/").status_code == 200, "while hashes run"
            assert house.ask("GET", "/ready").status_code == 200
            while sum(one.done() for one in asked) < STRANGERS - house.service.strangers_door.most:
                assert hashes.most <= 2
        finally:
            hashes.go.set()
        answers = [one.result() for one in asked]
    assert hashes.most <= 2
    assert {answer.status_code for answer in answers} == {403, 429}
    assert {answer.headers["retry-after"] for answer in answers if answer.status_code == 429} == {"1"}


def test_a_strangers_hash_stands_behind_those_who_are_served_and_that_of_a_known_browser_does_not(lodge, hashes):
    hashes.go.set()
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    ada = lodge.analyst("ada")
    hashes.places.clear()
    assert ada.sign_in("ada", PASSWORD)
    with pytest.raises(BadInput):
        lodge.client().sign_in("ada", PASSWORD + "s")
    assert ada.sign_in("ada", PASSWORD)
    behind = (
        ours + passwords.BEHIND if sys.platform == "linux" else ours
    )  # elsewhere a place belongs to the whole process
    assert hashes.places == [ours, behind, ours]
    assert os.getpriority(os.PRIO_PROCESS, 0) == ours


@pytest.mark.parametrize(("path", "how"), [("/api/analysts", "json"), ("/setup", "data")])
def test_without_a_one_time_secret_nothing_is_hashed(house, hashes, path, how):
    body = {"secret": "x" * 43, "name": "eve", "password": PASSWORD}
    assert house.ask("POST", path, **{how: body}).status_code == 403
    assert hashes.all == 0
    hashes.go.set()
    house.analyst("ada")
    secret = house.first.invite_analyst() if house.first._cookie else house.clients[0].invite_analyst()
    before = hashes.all
    answer = house.ask("POST", path, **{how: {**body, "secret": secret, "name": "ada"}})
    assert (answer.status_code, hashes.all) == (422, before), "a taken name costs nothing either"


def test_one_place_cannot_fill_the_door_of_strangers_nor_strangers_that_of_known_browsers(lodge, hashes):
    hashes.go.set()
    ada = lodge.analyst("ada")
    hashes.go.clear()
    flood = lodge.service.strangers_door
    with ThreadPoolExecutor(flood.most + 2) as crowd:
        held = threading.Event()

        def stay(place):
            with flood.passing(place):
                held.wait()

        try:
            here = [crowd.submit(stay, "here") for _ in range(3)]
            while flood._here["here"] < 3:
                pass
            with pytest.raises(TooSoon), flood.passing("here"):
                pass
            there = [crowd.submit(stay, f"there {at}") for at in range(flood.most - 3)]
            while flood._here.total() < flood.most:
                pass
            with pytest.raises(TooSoon), flood.passing("anywhere"):
                pass
            hashes.go.set()
            assert ada.sign_in("ada", PASSWORD), "a browser that is known has a door of its own"
        finally:
            held.set()
        for one in (*here, *there):
            one.result()
    with flood.passing("here"):
        assert flood._here.total() == 1


def test_a_gate_is_open_again_after_a_failure():
    gate = Gate(inside=1, waiting=0, words="busy")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), gate.passing("x"):
            raise ZeroDivisionError
    assert gate._here.total() == 0


def test_pictures_that_are_being_drawn_do_not_stop_the_pages(lodge, monkeypatch):
    go, begun = threading.Event(), threading.Event()

    def slowly(*_):
        begun.set()
        go.wait()
        return b"a picture"

    monkeypatch.setattr(pictures, "_draw", slowly)
    section = SimpleNamespace(name="limits")
    lodge.app.add_api_route("/picture", lambda: pictures.png(section, "light", key=lodge.origin))
    strangers = 2 * DRAWING.most
    with ThreadPoolExecutor(strangers) as crowd:
        try:
            asked = [crowd.submit(lodge.ask, "GET", "/picture") for _ in range(strangers)]
            begun.wait()
            assert lodge.ask("GET", "/").status_code == 200, "while a picture is drawn"
            while sum(one.done() for one in asked) < strangers - DRAWING.most:
                time.sleep(0.01)
        finally:
            go.set()
        statuses = [one.result().status_code for one in asked]
    assert set(statuses) == {200, 429}


def test_browsers_that_ask_for_all_pictures_of_a_page_at_once_get_them(lodge, monkeypatch):
    together = threading.Barrier(18)  # three browsers, six connections each

    def picture(name: str):
        together.wait()
        return pictures.png(SimpleNamespace(name=name), "light", key=lodge.origin)

    monkeypatch.setattr(pictures, "_draw", lambda *_: b"a picture")
    lodge.app.add_api_route("/picture", picture)
    with ThreadPoolExecutor(18) as browsers:
        asked = [browsers.submit(lodge.ask, "GET", f"/picture?name=p{at}") for at in range(18)]
        assert [one.result().status_code for one in asked] == [200] * 18


def test_guessing_a_secret_takes_no_writers_lock(lodge):
    with lodge.service.ledger.engine.connect() as writer:  # SQLite has one writer at a time
        writer.exec_driver_sql("BEGIN IMMEDIATE")
        for path, body in (
            ("/api/entry", {"secret": "x" * 43}),
            ("/api/analysts", {"secret": "x" * 43, "name": "eve", "password": PASSWORD}),
        ):
            assert lodge.ask("POST", path, json=body).status_code == 403
        writer.rollback()


@pytest.fixture
def brisk(tmp_path):
    """A service whose patience ends soon."""
    limits = {"header_seconds": 0.5, "body_seconds": 0.5, "answer_seconds": 0.5, "most_connections": 12}
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, settings=limits) as opened:
        yield opened


@contextmanager
def line(house):
    with socket.create_connection(("127.0.0.1", house.port)) as opened:
        opened.settimeout(60)
        yield opened


def rest(opened):
    """Read until the other side hangs up, which it must."""
    found = b""
    try:
        while part := opened.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


def dripping(opened, text):
    """Send a byte now and then, for as long as someone listens."""
    done = threading.Event()

    def drip():
        try:
            while not done.wait(0.05):
                opened.sendall(text)
        except OSError:
            pass

    thread = threading.Thread(target=drip)
    thread.start()
    return thread, done


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"G"])
def test_whoever_does_not_finish_a_requests_head_is_hung_up_on(brisk, begun):
    with line(brisk) as opened:
        opened.sendall(begun)
        assert rest(opened) == b""


def test_a_head_that_drips_in_is_hung_up_on_also_after_a_whole_request(brisk):
    host = brisk.origin.partition("//")[2].encode()
    for before in (b"", b"GET /health HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"):
        with line(brisk) as opened:
            opened.sendall(before + b"GET / HTTP/1.1\r\n")
            thread, done = dripping(opened, b"X-A: b\r\n")
            assert rest(opened).count(b"HTTP/1.1 200") == bool(before)
            done.set()
            thread.join()


@pytest.mark.parametrize("size", [b"1000", b"900000"])
def test_a_body_that_drips_in_is_refused_and_hung_up_on(brisk, size):
    host = brisk.origin.partition("//")[2].encode()
    head = b"POST /api/entry HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nContent-Length: %s\r\n\r\n"
    with line(brisk) as opened:
        opened.sendall(head % (host, host, size))
        thread, done = dripping(opened, b"x")
        assert b"408" in rest(opened).partition(b"\r\n")[0]
        done.set()
        thread.join()


def test_whoever_does_not_take_the_answer_is_hung_up_on(brisk):
    host = brisk.origin.partition("//")[2].encode()
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.connect(("127.0.0.1", brisk.port))
        opened.sendall(b"GET /static/htmx.min.js HTTP/1.1\r\nHost: %s\r\n\r\n" % host * 400)
        kept = brisk.server.server_state
        for _ in range(1200):  # nothing is read here: only there can it be seen
            if kept.total_requests and not kept.connections:
                return
            time.sleep(0.05)
        raise AssertionError("the connection is kept")


@pytest.fixture
def patient(tmp_path):
    """A service that waits for as long as a test could last, for few at once."""
    limits = {"header_seconds": 600, "body_seconds": 600, "answer_seconds": 600, "most_connections": 12}
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, settings=limits) as opened:
        yield opened


HEAD = b"POST /api/entry HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n"
SLOW = {  # what each of many connections sends before it falls silent
    "nothing": b"",
    "half a head": HEAD,
    "half a body": HEAD + b"Content-Length: 1000\r\n\r\nx",
    "a body in pieces": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    "many questions, and takes no answer": b"GET /static/htmx.min.js HTTP/1.1\r\nHost: %s\r\nX: %s\r\n\r\n" * 400,
}


@pytest.mark.parametrize("sent", SLOW)
def test_whoever_keeps_the_service_waiting_does_not_keep_others_out(patient, sent):
    host = patient.origin.partition("//")[2].encode()
    lines = []
    try:
        for _ in range(40):
            opened = socket.socket()
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            opened.connect(("127.0.0.1", patient.port))
            opened.sendall(SLOW[sent].replace(b"%s", host))
            lines.append(opened)
        kept = patient.server.server_state.connections
        for _ in range(1200):  # until what was asked for is done: whoever is being worked for stays
            if len(kept) <= 12 and all(one.keeps_us_waiting for one in list(kept)):
                break
            time.sleep(0.05)
        else:
            raise AssertionError(f"{len(kept)} are open, and twelve were set")
        with httpx.Client(trust_env=False, verify=False, timeout=60) as client:
            for _ in range(3):
                assert client.get(patient.origin + "/", headers={"Connection": "close"}).status_code == 200
    finally:
        for one in lines:
            one.close()


def test_whoever_is_told_to_wait_waits_for_that_without_a_thread_and_others_do_not(monkeypatch):
    told, slept = [], []

    async def busy(scope, receive, send):
        await send({"type": "http.response.start", "status": scope["status"], "headers": []})

    async def send(message):
        told.append(message["status"])

    async def sleep(seconds):
        slept.append((seconds, list(told)))

    monkeypatch.setattr(guards.asyncio, "sleep", sleep)
    door = guards.Unhurried(busy, seconds=1.5)
    for status in (200, 429, 403):
        asyncio.run(door({"type": "http", "status": status}, None, send))
    assert (told, slept) == ([200, 429, 403], [(1.5, [200])])
    door._held = guards.MOST_HELD
    asyncio.run(door({"type": "http", "status": 429}, None, send))
    assert len(slept) == 1, "where many wait already nobody else is held: each keeps a connection"


def test_a_request_that_has_come_and_was_not_read_yet_is_not_cut_off(patient):
    """The loop is kept busy while one visitor asks and forty idle ones come: all of them are let in before anything is read."""
    host, kept = patient.origin.partition("//")[2].encode(), patient.server.server_state.connections
    lines = []
    try:
        for _ in range(12):
            lines.append(socket.create_connection(("127.0.0.1", patient.port)))
        while len(kept) < 12:
            time.sleep(0.01)
        busy = threading.Event()
        next(iter(kept)).loop.call_soon_threadsafe(busy.wait)
        with line(patient) as visitor:
            visitor.sendall(b"GET /health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host)
            lines += [socket.create_connection(("127.0.0.1", patient.port)) for _ in range(40)]
            busy.set()
            assert rest(visitor).startswith(b"HTTP/1.1 200")
    finally:
        for one in lines:
            one.close()


def resident(pid):
    """The memory that a process holds, in MB."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


@pytest.mark.slow
def test_wrong_secrets_from_many_connections_take_no_memory(tmp_path):
    """A hash takes 64 MB: 24 at once took 677. The waits are printed; no clock is asserted."""
    post, over, said = Outpost(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path).start(), threading.Event(), set()
    body = {"secret": "x" * 43, "name": "eve", "password": PASSWORD}

    def intrude():
        with httpx.Client(trust_env=False, timeout=120, headers={"Origin": post.origin}) as client:
            while not over.is_set():
                said.add(client.post(post.origin + "/api/analysts", json=body).status_code)

    def waits(client):
        began = [time.perf_counter(), *(client.get(post.origin + "/") and time.perf_counter() for _ in range(20))]
        return sorted(later - earlier for earlier, later in pairwise(began))

    crowd = [threading.Thread(target=intrude) for _ in range(24)]
    try:
        with httpx.Client(trust_env=False, timeout=120) as client:
            quiet, before = (waits(client), waits(client))[1], resident(post.pid)
            for one in crowd:
                one.start()
            busy, after = waits(client), resident(post.pid)
    finally:
        over.set()
        for one in crowd:
            one.join()
        post.stop()
    print(
        f"home page: {busy[10] / quiet[10]:.1f} quiet waits, longest {busy[-1] / quiet[10]:.1f}; {before:.0f} to {after:.0f} MB"
    )
    assert said <= {403, 429}
    assert after - before < 64


def test_the_limits_stand_in_the_documentation():
    said = (Path(__file__).parent.parent / "docs/how-to/serve.md").read_text()
    for name, field in WebSettings.model_fields.items():
        row = re.search(rf"`OPTIN_WEB_{name.upper()}`(.*)", said)
        assert row, name
        if isinstance(field.default, int | float):
            assert f"{field.default:g}" in row[1], name
