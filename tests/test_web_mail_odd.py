"""Mail under bad servers, odd addresses and words that pretend to be headers: nobody's mail waits for another's."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from dataclasses import replace
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update
from test_web_lists import Post, asking, house, mailing, owner  # noqa: F401 - a fixture
from trying import examples
from web_steps import free_port

import optin
from optin.errors import BadInput
from optin.web.schema import invitees
from optin.web.service import lists
from optin.web.service import mailer as posting
from optin.web.service import mails as sending
from optin.web.service.mailer import Mailer, looks_like_address
from optin.web.service.mails import queue, send_mails, sendings
from optin.web.service.pasted_lists import entries_in

MAILER = Mailer("127.0.0.1", 1, "survey@example.org", "https://survey.example.org", security="none")
OURS = {"from", "to", "subject", "date", "message-id", "list-unsubscribe", "auto-submitted"}
OURS |= {"content-type", "content-transfer-encoding", "mime-version"}
NEAR = st.from_regex(r"[=?.a-zé'%_Qq!0-]{1,14}@[a-z.-]{1,8}", fullmatch=True)
WORD = "=?utf-8?q?=0aBcc=3A_spy=40example.com=0a=0aPay_here?="


class OddPost(Post):
    """A server that breaks the line at one mail of many, or says no to whoever writes, or takes its time."""

    breaks, asked, sender, slow, greeting = -1, 0, "250 OK", 0.0, "250 HELP"

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 - aiosmtpd's name
        self.asked += 1
        if self.asked - 1 == self.breaks:
            server.transport.close()
        await asyncio.sleep(self.slow)
        return await super().handle_RCPT(server, session, envelope, address, options)

    async def handle_EHLO(self, server, session, envelope, hostname, responses):  # noqa: N802
        session.host_name = hostname
        return [*responses[:-1], self.greeting] if self.greeting.startswith("250") else [self.greeting]

    async def handle_HELO(self, server, session, envelope, hostname):  # noqa: N802
        session.host_name = hostname
        return self.greeting

    async def handle_MAIL(self, server, session, envelope, address, options):  # noqa: N802
        envelope.mail_from = address
        return self.sender


@pytest.fixture
def odd_office():
    post = OddPost()
    controller = Controller(post, hostname="127.0.0.1", port=free_port(), enable_SMTPUTF8=False)
    controller.start()
    post.port = controller.port
    yield post
    controller.stop()


def posted(house, port, text):  # noqa: F811
    """A list whose invitation is in the queue, and what it takes to look at how it went."""
    campaign, service = asking(house), mailing(house, port)
    ada = owner(house, campaign)
    lists.add(service, ada, campaign, entries_in(text))
    queue(service, ada, campaign, 0)
    return service, lambda: sendings(service, ada, campaign)[0], campaign


def crowd(count, *more):
    return "\n".join([*(f"p{at}@example.org" for at in range(count)), *more])


@settings(max_examples=examples(200), deadline=None)
@given(address=NEAR)
def test_an_address_that_is_taken_is_the_one_that_is_written_to_and_adds_no_header(address):
    if looks_like_address(address):
        mail = MAILER.message(address, "Breaks", "Hello\n", name="n", stop="https://survey.example.org/u/x")
        assert mail["To"].addresses[0].addr_spec == address
        if address.isascii():
            back = message_from_bytes(mail.as_bytes(policy=policy.SMTP), policy=policy.default)
            assert ({name.lower() for name in back}, back["To"]) == (OURS, address)


def test_a_title_that_is_written_as_codes_ends_no_line_of_a_mail():
    for title in (WORD, f"Breaks {WORD}", "Breaks\r\nBcc: spy@example.com", "=?utf-8?b?CkJjYzogeEB5?="):
        raw = MAILER.message("ada@example.org", title, "Hello\n", name="n").as_bytes(policy=policy.SMTP)
        mail = message_from_bytes(raw, policy=policy.default)
        assert {name.lower() for name in mail} <= OURS
        assert mail.get_content().strip() == "Hello"


def test_where_to_ask_for_no_more_mail_stands_on_one_line_as_programs_for_mail_read_it():
    """Written in pieces and as codes, as long headers are, no program offered it."""
    stop = "https://survey.of-a-town-with-a-long-name.example.org/u/" + "ab" * 32
    raw = MAILER.message("ada@example.org", "Ärger " * 20, "Hello\n", name="n" * 64, stop=stop).as_bytes(policy=None)
    assert f"\nList-Unsubscribe: <{stop}>\n".encode() in raw
    assert max(map(len, raw.splitlines())) < 998
    assert raw.isascii()


@pytest.mark.parametrize("address", [f"{WORD}@example.org", "a.@example.org", "a@b..org", "a@-b.org", ".a@b.org"])
def test_an_address_that_mail_has_no_way_to_write_is_refused_with_its_line(address):
    with pytest.raises(BadInput, match="line 2: the address cannot be written to"):
        entries_in(f"ada@example.org\n{address}")


def test_an_odd_address_comes_back_and_keeps_no_other_mail_waiting(house, odd_office):  # noqa: F811
    service, told, campaign = posted(house, odd_office.port, crowd(6, "jörg@example.org", "late@example.org"))
    row = lists.listed(service, owner(house, campaign), campaign)[-1]
    sealed = service.keys.hidden(json.dumps([f"{WORD}@b.org", ""]), campaign=campaign, bound=f"invitee:{row.name}")
    service.change(lambda link: link.execute(update(invitees).where(invitees.c.id == row.name).values(sealed=sealed)))
    assert send_mails(service) == 6
    assert {reason for _, reason in told().back} == {"the address cannot be written to"}
    assert (told().sent, told().waiting, len(told().back)) == (6, 0, 2)


@pytest.mark.parametrize("place", range(4))
def test_a_line_that_breaks_at_one_mail_keeps_no_other_waiting(house, odd_office, place):  # noqa: F811
    odd_office.breaks = place
    service, told, _ = posted(house, odd_office.port, crowd(4))
    assert send_mails(service) == 3
    assert (told().sent, told().waiting, told().back) == (3, 1, ())
    house.service.clock.now += sending.PAUSES[0] + 1
    assert send_mails(service) == 1, "and is tried again"
    assert sorted(to for (to,), _ in odd_office.came) == [f"p{at}@example.org" for at in range(4)]


def test_a_server_that_takes_nothing_from_us_sends_nobodys_mail_back(house, odd_office):  # noqa: F811
    odd_office.sender = "550 authenticate first"
    service, told, _ = posted(house, odd_office.port, crowd(2))
    assert send_mails(service) == 0
    assert (told().waiting, told().back) == (2, ()), "no fault of theirs"
    odd_office.sender = "250 OK"
    house.service.clock.now += sending.PAUSES[0] + 1
    assert send_mails(service) == 2


def test_a_server_that_does_not_greet_us_sends_nobodys_mail_back(house, odd_office):  # noqa: F811
    odd_office.greeting = "550 who are you"
    service, told, _ = posted(house, odd_office.port, crowd(3))
    assert send_mails(service) == 0
    assert (told().waiting, told().back) == (3, ()), "no fault of theirs"
    odd_office.greeting = "250 HELP"
    house.service.clock.now += sending.PAUSES[0] + 1
    assert send_mails(service) == 3


class Drip:
    """A server that answers as it should up to a word of ours, and then sends one byte after another, a thousand at most."""

    def __init__(self, until):
        self.until, self.cut = until, threading.Event()
        self.line = socket.create_server(("127.0.0.1", 0))
        self.port = self.line.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        there, _ = self.line.accept()
        with there, contextlib.suppress(OSError):
            word = ""
            while word != self.until:
                there.sendall(b"354 go on\r\n" if word == "data" else b"250 yes\r\n" if word else b"220 here\r\n")
                word = there.recv(4096)[:4].decode() or self.until
            for _ in range(1000):
                there.sendall(b"2")
                time.sleep(0.01)
            return
        self.cut.set()

    def end(self):
        self.thread.join()
        self.line.close()


@pytest.mark.parametrize("word", ["", "ehlo", "mail", "data"])
def test_a_server_that_drips_is_cut_off_and_keeps_no_other_work_waiting(house, monkeypatch, word):  # noqa: F811
    """Of a line that comes byte by byte each one began the time anew, and every deadline of the service waited for its end."""
    monkeypatch.setattr(posting, "MOST_SECONDS", 0.3)
    server = Drip(word)
    service, told, _ = posted(house, server.port, crowd(1))
    assert send_mails(service) == 0
    server.end()
    assert server.cut.is_set(), "it was still dripping"
    assert (told().waiting, told().back) == (1, ())


def test_a_slow_server_keeps_other_work_waiting_for_a_while_and_no_longer(house, odd_office, monkeypatch):  # noqa: F811
    monkeypatch.setattr(sending, "SECONDS_AT_A_TIME", 0.05)
    odd_office.slow = 0.1
    service, told, _ = posted(house, odd_office.port, crowd(3))
    assert [send_mails(service) for _ in range(4)] == [1, 1, 1, 0]
    assert (told().sent, told().waiting) == (3, 0)


def test_a_title_that_is_written_as_codes_reaches_people_as_it_was_typed(house, odd_office):  # noqa: F811
    sheet = replace(asking_sheet(), title=f"Breaks {WORD}")
    campaign = house.ada.draft(sheet, sealed=True, quorum_people=10).id
    house.ada.take(campaign, "open")
    service = mailing(house, odd_office.port)
    lists.add(service, owner(house, campaign), campaign, entries_in("ada@example.org"))
    queue(service, owner(house, campaign), campaign, 0)
    assert send_mails(service) == 1
    ((to, mail),) = odd_office.came
    assert (to, mail["Bcc"], mail["To"]) == (["ada@example.org"], None, "ada@example.org")
    assert "Your own link" in mail.get_content()


def asking_sheet():
    return optin.Sheet([optin.YesNo("break", text="Did you skip a break?")], title="Breaks")
