"""The service under load, in a process of its own: nothing accepted is lost, nothing is done twice, nobody waits for ever."""

import contextlib
import random
import threading
import time

import httpx
import numpy as np
import pytest
from sqlalchemy import insert, text
from web_steps import DRAFT, Outpost, exact_counts, put_people

from optin.client import Client
from optin.errors import LedgerUnavailable
from optin.web.schema import answers


@pytest.fixture
def post(url, tmp_path):
    outpost = Outpost(url, tmp_path).start()
    yield outpost
    outpost.stop()


def opened(analyst, service, count, **draft):
    """A campaign of so many people that takes answers; return its id and everyone's account, cookie and token."""
    campaign = analyst.draft(**{**DRAFT, **draft}).id
    analyst.take(campaign, "open")
    crowd = put_people(service, campaign, count)
    for step in ("close-registration", "announce", "open-answers"):
        analyst.take(campaign, step)
    return campaign, crowd


def value_of(account, again=0):
    return (int(account[:8], 16) + again) % 12_000 / 1000


class Caller(threading.Thread):
    """One client that lets people join, one after another; what was accepted, and how long each took."""

    def __init__(self, origin, campaign, people, *, patient=False):
        super().__init__()
        self.origin, self.campaign, self.people, self.patient = origin, campaign, people, patient
        self.accepted, self.seconds, self.refused = {}, [], []

    def run(self):
        with httpx.Client(trust_env=False, verify=False, timeout=120) as http:
            for person in self.people:
                while not self._join(http, person) and self.patient:
                    time.sleep(0.05)

    def _join(self, http, person):
        account, cookie, token = person
        headers = {"Origin": self.origin, "Cookie": f"__Host-optin={cookie}", "X-CSRF-Token": token}
        value, began = value_of(account), time.perf_counter()
        where = f"{self.origin}/api/me/campaigns/{self.campaign}/answer"
        try:
            answer = http.put(where, headers=headers, json={"join": True, "value": value})
        except httpx.TransportError:
            return False
        self.seconds.append(time.perf_counter() - began)
        if answer.status_code != 200:
            self.refused.append(answer.status_code)
            return False
        self.accepted[account] = value
        return True


def call(origin, campaign, crowd, clients, **more):
    callers = [Caller(origin, campaign, crowd[at::clients], **more) for at in range(clients)]
    for caller in callers:
        caller.start()
    return callers


def stored(service, campaign):
    """Every joined person's value, decrypted with the round's key: what a release would add up."""
    query = text("SELECT person, value FROM web_answers WHERE campaign = :campaign AND joined = :yes")
    rows = service.read(lambda link: link.execute(query, {"campaign": campaign, "yes": True}).all())
    opened = {r.person: service.keys.unseal(bytes(r.value), campaign=campaign, round=1, person=r.person) for r in rows}
    return {person: only for person, (only,) in opened.items()}


@pytest.mark.parametrize(
    ("joins", "clients"),
    [(100, 10), pytest.param(300, 10, marks=pytest.mark.slow), pytest.param(10_000, 50, marks=pytest.mark.soak)],
)
def test_joins_by_many_clients_are_neither_lost_nor_doubled(post, joins, clients):
    analyst, service = post.analyst(), post.service()
    campaign, crowd = opened(analyst, service, joins)
    callers = call(post.origin, campaign, crowd, clients)
    for caller in callers:
        caller.join()
    accepted = {account: value for caller in callers for account, value in caller.accepted.items()}
    assert [caller.refused for caller in callers if caller.refused] == []
    assert accepted == {account: value_of(account) for account, _, _ in crowd}
    assert stored(service, campaign) == accepted
    middle, slow = np.quantile([second for caller in callers for second in caller.seconds], [0.5, 0.99])
    print(f"{joins} joins by {clients} clients: p50 {middle:.4f} s, p99 {slow:.4f} s, ratio {slow / middle:.1f}")
    for step in ("close", "release"):
        found = analyst.take(campaign, step)
    assert (exact_counts(service, campaign).joined, found.release.joined_people) == (joins, joins)
    assert service.ledger.verify([found.release]).ok
    service.ledger.close()
    analyst.close()


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.soak)], ids=lambda kills: f"{kills} kills")
def test_a_killed_server_loses_no_accepted_join_and_releases_once(post, kills):
    """Half of the kills fall among joins, half into a release."""
    rng = random.Random(kills)
    analyst, service = post.analyst(), post.service()
    for _ in range(kills // 2):
        campaign, crowd = opened(analyst, service, 40)
        callers = call(post.origin, campaign, crowd, 4, patient=True)
        time.sleep(rng.uniform(0.05, 0.4))
        post.kill()
        post.start()
        for caller in callers:
            caller.join()
        accepted = {account: value for caller in callers for account, value in caller.accepted.items()}
        assert len(accepted) == 40
        assert stored(service, campaign) == accepted
        analyst.take(campaign, "close")
        asked = threading.Thread(target=ask_for_the_release, args=(analyst, campaign))
        asked.start()
        time.sleep(rng.uniform(0.0, 0.1))
        post.kill()
        asked.join()
        post.start()
        found = analyst.take(campaign, "release")
        assert (found.state, found.release.joined_people) == ("released", 40)
        acts = [act.kind for act in service.ledger.acts() if act.campaign == campaign]
        assert acts == ["announce", "release"]
        assert service.ledger.verify([found.release]).ok
        assert campaign not in [name for name, _ in service.keys.stored_rounds()]
    service.ledger.close()
    analyst.close()


def ask_for_the_release(analyst, campaign):
    with contextlib.suppress(LedgerUnavailable):  # it was killed
        analyst.take(campaign, "release")


def test_a_server_told_to_end_answers_what_it_has_begun(tmp_path):
    post = Outpost(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path).start()
    analyst, service = post.analyst(), post.service()
    campaign, crowd = opened(analyst, service, 40)
    callers = call(post.origin, campaign, crowd, 4)
    while sum(len(caller.accepted) for caller in callers) < 8:
        time.sleep(0.005)
    post.stop()
    for caller in callers:
        caller.join()
    accepted = {account: value for caller in callers for account, value in caller.accepted.items()}
    found = stored(service, campaign)
    assert accepted.items() <= found.items()
    assert len(found) - len(accepted) <= 4, "at most one answer of each client was stored without being told"
    service.ledger.close()
    analyst.close()
    log = (post.folder / "log").read_text()
    assert "Finished server process" in log
    assert '"status": 500' not in log


@pytest.mark.soak
def test_a_campaign_of_a_hundred_thousand_people_is_released_with_progress_to_see(post):
    people, service = 100_000, post.service()
    with contextlib.closing(service.ledger), post.analyst() as analyst, Client(post.origin) as watching:
        campaign, crowd = opened(analyst, service, people)
        rows = [
            {
                "campaign": campaign,
                "round": 1,
                "person": account,
                "joined": True,
                "value": service.keys.seal([value_of(account)], campaign=campaign, round=1, person=account),
                "at": 0.0,
            }
            for account, _, _ in crowd
        ]
        service.change(lambda link: link.execute(insert(answers), rows))
        analyst.take(campaign, "close")
        watching._cookie, watching._csrf = analyst._cookie, analyst._csrf
        seen, looks = watched(watching, campaign, lambda: analyst.take(campaign, "release"))
        print(f"{people} people released in {sum(looks):.1f} s, {len(looks)} looks, longest {max(looks):.2f} s")
        print("seen on the way:", ", ".join(f"{step} {done}" for step, done in seen))
        found = watching.campaign(campaign).release
        assert found.joined_people == people
        assert any(0 < done < people for step, done in seen if step == "opening answers")
        assert "releasing" in [step for step, _ in seen]
        assert service.ledger.verify([found]).ok
        exact = sum(value_of(account) for account, _, _ in crowd) / people
        assert abs(found.estimate - exact) < 0.5


def watched(client, campaign, step):
    """Look at a campaign until a step is done; return what was seen of its job, and how long each look took."""
    asked, seen, looks = threading.Thread(target=step), [], []
    asked.start()
    while asked.is_alive():
        began = time.perf_counter()
        job = client.campaign(campaign).job
        if job and job.kind == "release" and (job.step, job.done) not in seen:
            seen.append((job.step, job.done))
        time.sleep(0.02)
        looks.append(time.perf_counter() - began)
    return seen, looks
