"""A fork, a rollback and a changed key of a running service: two services and a witness, each in a process of its own."""

import re
import shutil
import subprocess
import sys
import time

import httpx
import pytest
from web_steps import DRAFT, PASSWORD, Outpost, put_people

from optin.client import Client

pytestmark = pytest.mark.slow


def witness(origin, folder):
    """Look at a service as another process does."""
    words = [sys.executable, "-m", "optin", "witness", origin, "--folder", str(folder / "w")]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def size_of(post):
    with httpx.Client(trust_env=False) as client:
        answer = client.get(f"{post.origin}/log/checkpoint")
    return int(answer.text.split("\n")[1]) if answer.status_code == 200 else 0


def signed(post, before=0):
    """Wait until the service has signed more acts."""
    for _ in range(1500):
        if (found := size_of(post)) > before:
            return found
        time.sleep(0.02)
    raise AssertionError("nothing was signed")


def announced(analyst, post, title):
    campaign, service = analyst.draft(**{**DRAFT, "title": title}).id, post.service()
    analyst.take(campaign, "open")
    put_people(service, campaign, 12)
    service.ledger.close()
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)


def kept(folder, name):
    """A copy of the whole service: its database and its folder of keys."""
    shutil.copytree(folder, folder.parent / name)
    return folder.parent / name


def started(folder):
    return Outpost(f"sqlite:///{folder / 'web.sqlite'}", folder).start()


def test_a_fork_and_a_rollback_of_a_running_service_are_found_by_a_witness_that_follows_a_changed_key(tmp_path):
    own = tmp_path / "one"
    own.mkdir()
    post = started(own)
    secret, name = re.findall(r"/setup#(\S+)", (own / "log").read_text())[-1], "ada"
    with Client(post.origin) as analyst:
        analyst.become_analyst(secret, name, PASSWORD)
        announced(analyst, post, "First")
    first = signed(post)
    assert witness(post.origin, tmp_path).returncode == 0
    url, key = f"sqlite:///{own / 'web.sqlite'}", own / "keys" / "log.key"
    words = [sys.executable, "-m", "optin", "ledger", "key", "--rotate", "--ledger", url, "--key", str(key)]
    assert subprocess.run(words, check=False).returncode == 0
    post.stop()
    copy, old = kept(own, "two"), kept(own, "old")
    post, fork = started(own), started(copy)
    for where, title in ((post, "For some"), (fork, "For others")):
        with Client(where.origin) as ada:
            ada.sign_in(name, PASSWORD)
            announced(ada, where, title)
    assert signed(post, first) == signed(fork, first), "two logs of one length"
    seen = witness(post.origin, tmp_path)
    assert (seen.returncode, "begins with what was seen before" in seen.stdout) == (0, True), seen.stderr
    found = witness(fork.origin, tmp_path)
    assert (found.returncode, "shows different people different ledgers" in found.stderr) == (4, True)
    post.kill()
    fork.kill()
    back = started(old)
    found = witness(back.origin, tmp_path)
    assert (found.returncode, "rolled back or replaced" in found.stderr) == (4, True)
    assert len(list((tmp_path / "w").glob("evidence-*.json"))) == 2
    back.stop()
