"""One visit under load, in a process of its own, on both databases: no accepted answer is lost, none counts twice."""

import random
import threading
import time

import httpx
import numpy as np
import pytest
from sqlalchemy import select, text
from test_web_one_visit import FIVE, TYPED
from web_steps import Outpost, exact_counts

from optin.web.schema import invitations
from optin.web.service.core import hashed, new_secret


@pytest.fixture
def post(url, tmp_path):
    outpost = Outpost(url, tmp_path).start()
    yield outpost
    outpost.stop()


def asking(analyst, people):
    """A campaign by invitation; return its id and the links' secrets."""
    campaign = analyst.draft(FIVE, quorum_people=10, sealed=True).id
    analyst.take(campaign, "open")
    batches = [min(1000, people - start) for start in range(0, people, 1000)]
    return campaign, [secret for number in batches for secret in analyst.invite(campaign, number)]


def hours_of(secret):
    return int(hashed(secret)[:6], 16) % 800 / 10


class Sender(threading.Thread):
    """One client that answers for people, one after another, as their phones would; patient, it sends again what failed."""

    def __init__(self, origin, secrets, *, patient=False):
        super().__init__()
        self.origin, self.secrets, self.patient = origin, secrets, patient
        self.accepted, self.seconds, self.refused = {}, [], []

    def run(self):
        with httpx.Client(trust_env=False, verify=False, timeout=120) as http:
            for secret in self.secrets:
                form = {"secret": secret, "key": new_secret(), "round": "1", "step": "5", "before": "no", "do": "send"}
                form |= {**TYPED, "a0": f"{hours_of(secret):g}"}
                while not self._send(http, form) and self.patient:
                    time.sleep(0.05)

    def _send(self, http, form):
        began = time.perf_counter()
        try:
            answer = http.post(f"{self.origin}/i/send", data=form, headers={"Origin": self.origin})
        except httpx.TransportError:
            return False
        self.seconds.append(time.perf_counter() - began)
        if answer.status_code != 200 or "<h1>Sent</h1>" not in answer.text:
            self.refused.append(answer.status_code)
            return False
        self.accepted[form["secret"]] = hours_of(form["secret"])
        return True


def send(origin, secrets, clients, **more):
    senders = [Sender(origin, secrets[at::clients], **more) for at in range(clients)]
    for sender in senders:
        sender.start()
    return senders


def stored(service, campaign):
    """Every joined person's hours, by the hash of the invitation they came with."""
    query = text("SELECT person, value FROM web_answers WHERE campaign = :campaign AND joined = :yes")
    rows = service.read(lambda link: link.execute(query, {"campaign": campaign, "yes": True}).all())
    tied = select(invitations.c.account, invitations.c.secret).where(invitations.c.campaign == campaign)
    links = dict(service.read(lambda link: [tuple(row) for row in link.execute(tied)]))
    return {
        links[row.person]: service.keys.unseal(bytes(row.value), campaign=campaign, round=1, person=row.person)[0]
        for row in rows
    }


def accepted_by(senders):
    return {hashed(secret): hours for sender in senders for secret, hours in sender.accepted.items()}


@pytest.mark.parametrize(
    ("people", "clients"),
    [
        pytest.param(60, 6, marks=pytest.mark.slow),
        pytest.param(10_000, 50, marks=pytest.mark.soak),
    ],
)
def test_visits_by_many_clients_are_neither_lost_nor_doubled(post, people, clients):
    analyst, service = post.analyst(), post.service()
    campaign, secrets = asking(analyst, people)
    senders = send(post.origin, secrets, clients)
    for sender in senders:
        sender.join()
    assert [sender.refused for sender in senders if sender.refused] == []
    accepted = accepted_by(senders)
    assert len(accepted) == people
    assert stored(service, campaign) == accepted
    middle, slow = np.quantile([second for sender in senders for second in sender.seconds], [0.5, 0.99])
    print(f"{people} visits by {clients} clients: p50 {middle:.4f} s, p99 {slow:.4f} s, ratio {slow / middle:.1f}")
    found = exact_counts(service, campaign)
    assert (found.registered, found.joined, found.redeemed) == (people, people, people)
    for step in ("close-registration", "announce", "close", "release"):
        found = analyst.take(campaign, step)
    assert found.release.joined_people == people
    assert service.ledger.verify([found.release]).ok
    service.ledger.close()
    analyst.close()


@pytest.mark.parametrize(
    "kills",
    [pytest.param(2, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.soak)],
    ids=lambda kills: f"{kills} kills",
)
def test_a_killed_server_loses_no_sent_answer_and_counts_none_twice(post, kills):
    """Phones send again what nobody confirmed; the same link and page lead to the same account."""
    rng = random.Random(kills)
    analyst, service = post.analyst(), post.service()
    for _ in range(kills):
        campaign, secrets = asking(analyst, 24)
        senders = send(post.origin, secrets, 4, patient=True)
        time.sleep(rng.uniform(0.02, 0.3))
        post.kill()
        post.start()
        for sender in senders:
            sender.join()
        accepted = accepted_by(senders)
        assert len(accepted) == 24
        assert stored(service, campaign) == accepted
        found = exact_counts(service, campaign)
        assert (found.registered, found.joined) == (24, 24)
        analyst.take(campaign, "cancel")
    service.ledger.close()
    analyst.close()
