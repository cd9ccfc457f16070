"""How long others wait while strangers do their worst: 10,000 idle sockets or slow heads, 400 slow bodies, 24 wrong passwords.

The usual wait is the median of two quiet times, before and after, which also say what the machine alone does; each siege is
measured in it. Whoever is hung up on or answered comes again. Others come with a connection of their own for each request, as new
visitors do. The service runs in a process of its own, with what is set where nothing is; the strangers in another.
"""

import multiprocessing
import resource
import selectors
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from web_steps import AS_SERVED, DRAFT, Outpost, put_people

from benchmarks.service import Waiting
from optin.web.service import passwords

IDLE, SLOW, HOSTILE, SECONDS, MOST, AGAIN = 10_000, 400, 24, 15.0, 5, 500
HEAD = "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
PASSWORD = "name=nobody&password=wrong+horse+battery"
SIEGES = {
    "idle sockets": (IDLE, ""),
    "slow heads": (IDLE, HEAD),
    "slow bodies": (SLOW, HEAD + "Content-Length: 1000\r\n\r\nx"),
    "wrong passwords": (HOSTILE, HEAD + f"Content-Length: {len(PASSWORD)}\r\n\r\n{PASSWORD}"),
}
"""How many come, and what each sends before it waits for an answer or for the end."""


def main() -> None:
    """Print the waits of others in usual ones."""
    passwords._hasher = AS_SERVED
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as folder:
        post = Outpost(f"sqlite:///{Path(folder) / 'web.sqlite'}", Path(folder)).start()
        try:
            for name, where in visits(post).items():
                for siege, (count, sent) in SIEGES.items():
                    report(f"{siege} ({count:,}), {name}", post, where, count, sent)
        finally:
            post.stop()


def visits(post):
    """Someone who reads a page of everyone's, and someone who looks at their own."""
    with post.analyst() as analyst:
        campaign = analyst.draft(**DRAFT).id
        analyst.take(campaign, "open")
    service = post.service()
    _, cookie, _ = put_people(service, campaign, 1)[0]
    service.ledger.close()
    own = {"Cookie": f"__Host-optin={cookie}", "Connection": "close"}
    return {"home": ("/", {"Connection": "close"}), "own campaign": (f"/c/{campaign}", own)}


def report(name, post, where, count, sent):
    """Measure quiet, siege, quiet; print the siege's waits in quiet ones."""
    path, headers = where
    client = Waiting(lambda http: http.get(post.origin + path, headers=headers))
    client.start()
    first = during()
    come, leave = multiprocessing.Event(), multiprocessing.Event()
    strangers = multiprocessing.Process(target=besiege, args=(post.port, count, sent, come, leave))
    strangers.start()
    come.wait()
    siege = during()
    leave.set()
    strangers.join()
    second = during()
    client.over.set()
    client.join()
    quiet, busy = [*client.waits(*first), *client.waits(*second)], client.waits(*siege)
    usual = statistics.median(quiet)
    print(
        f"{name}: median {statistics.median(busy) / usual:.1f} usual waits (target <= {MOST}), 99 in 100 within "
        f"{quantile(busy) / usual:.1f}, longest {max(busy) / usual:.1f}, of {len(busy)}; quiet: 99 in 100 within "
        f"{quantile(quiet) / usual:.1f}, longest {max(quiet) / usual:.1f}; usual {usual * 1000:.1f} ms",
        flush=True,
    )


def during():
    began = time.perf_counter()
    time.sleep(SECONDS)
    return began, time.perf_counter()


def quantile(waits):
    return statistics.quantiles(waits, n=100)[-1]


def besiege(port, count, sent, come, leave):
    """Hold so many sockets; whoever is answered or hung up on comes again, five hundred of them in a second."""
    text, chosen = sent.format(host=f"127.0.0.1:{port}").encode(), selectors.DefaultSelector()

    def knock():
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(text)
        one.setblocking(False)
        chosen.register(one, selectors.EVENT_READ)

    come.set()
    for at in range(count):
        knock()
        time.sleep(0.02 if at % 20 == 0 else 0)
    while not leave.is_set():
        time.sleep(0.02)
        for key, _ in chosen.select(timeout=0.1)[: AGAIN // 50]:
            chosen.unregister(key.fileobj)
            key.fileobj.close()
            knock()
    for key in list(chosen.get_map().values()):
        key.fileobj.close()


if __name__ == "__main__":
    main()
