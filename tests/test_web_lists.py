"""Lists and mails: a reload invites nobody twice, a real SMTP server takes, delays and refuses, and mails say nothing private."""

import contextlib
import csv
import io
import itertools
import re
import time
from dataclasses import replace
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from browser import Watch, chromium
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, insert, select
from trying import examples
from web_steps import KEY, PASSWORD, House, OpenHouse, exact_counts, free_port

import optin
from optin.errors import BadInput, LedgerUnavailable, PromiseBroken
from optin.web.pages import inviting
from optin.web.schema import invitations, invitees, mails
from optin.web.service import lists
from optin.web.service.campaigns import show
from optin.web.service.mailer import Mailer
from optin.web.service.mails import PAUSES, queue, send_mails, sendings, unwritten
from optin.web.service.pasted_lists import Entry, entries_in
from optin.web.service.records import Visitor

SHEET = optin.Sheet(
    [optin.YesNo("break", text="Did you skip a break?")], title="Breaks", purpose="The rota.", asked_by="The council"
)


class Clock:
    now = 1_800_000_000.0

    def __call__(self):
        return self.now


class Post:
    """A real SMTP server's memory: what came, and whom it refuses, for now or for good."""

    def __init__(self):
        self.came, self.refuses = [], {}

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 - aiosmtpd's name
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.came.append((envelope.rcpt_tos, message_from_bytes(envelope.content, policy=policy.default)))
        return "250 OK"


@pytest.fixture
def post_office():
    post = Post()
    controller = Controller(post, hostname="127.0.0.1", port=free_port())
    controller.start()
    post.port, post.stop = controller.port, controller.stop
    yield post
    if controller._thread is not None:
        controller.stop()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY, clock=Clock()) as made:
        made.ada = made.analyst("ada")
        yield made


def owner(house, campaign):
    from optin.web.schema import campaigns

    query = select(campaigns.c.owner).where(campaigns.c.id == campaign)
    return Visitor(house.service.read(lambda link: link.scalar(query)), "analyst", "ada", session="", csrf="")


def asking(house, *, opened=True):
    campaign = house.ada.draft(SHEET, sealed=True, quorum_people=10).id
    if opened:
        house.ada.take(campaign, "open")
    return campaign


def ask(house, method, path, **form):
    more = {"data": {"csrf": house.ada._csrf, **form}} if method == "POST" else {}
    return house.ask(method, path, cookie=house.ada._cookie, **more)


def many(house, table, campaign):
    query = select(func.count()).select_from(table).where(table.c.campaign == campaign)
    return house.service.read(lambda link: link.scalar(query))


def test_lists_are_read_as_people_write_them():
    assert [each.known_by for each in entries_in("\ufeffAda@example.org\n\n7\n")] == ["ada@example.org", "7"]
    (one,) = entries_in("group\tid\taddress\nICU\t7\tada@example.org")
    assert (one.address, one.id, one.group) == ("ada@example.org", "7", "ICU")
    assert entries_in(" \n") == []
    for wrong in ("a@b@c", "@", "id,group\n,ICU", "x@y z", "a@b\x00c", "x" * 140_000):
        with pytest.raises(BadInput, match="line"):
            entries_in(wrong)


@pytest.mark.parametrize(
    "pasted",
    [
        "ada@example.org; bea@example.org",
        "Ada Byron <ada@example.org>, bea@example.org",
        "E-Mail-Adresse;Name\nada@example.org;Ada\nbea@example.org;Bea",
        "sep=,\nEmail Address,Name\nada@example.org,Ada\nbea@example.org,Bea",
    ],
)
def test_addresses_are_read_as_other_programs_write_them(pasted):
    """Pasted from a mail's recipients, the second address was the first one's public group, and the rest were dropped."""
    found = [(each.address, each.id, each.group) for each in entries_in(pasted)]
    assert found == [("ada@example.org", "", None), ("bea@example.org", "", None)]


def test_headings_may_be_german():
    (one,) = entries_in("Personalnummer;E-Mail-Adresse;Abteilung\n7;ada@example.org;ICU")
    assert (one.address, one.id, one.group) == ("ada@example.org", "7", "ICU")
    assert entries_in("Gruppe;Kennung;Adresse\nICU;7;ada@example.org") == [one], "as the German refusal calls them"


@pytest.mark.parametrize(
    ("pasted", "says"),
    [
        ("Ada, ada@example.org", "line 1: a group is public, and no address"),
        ("id,group\n7,ada@example.org", "line 2: a group is public, and no address"),
        ("7;ICU;night", "line 1 holds more than an address or id and a group"),
        ("Contact;Tribe\nada@example.org;ICU", "line 1: no column of these is known"),
        ('7\n"8\n9', "line 2: a quotation mark opens there and does not close"),
        ('id;name\n7;"Otto\n8;Bea', "line 2: a quotation mark opens there and does not close"),
        ("E-Mail;Team;Abteilung\nada@example.org;Sales;Bonn", "columns “Team” and “Abteilung” mean the same here"),
        ("id;Mail;E-Mail\n7;ada@example.org;", "columns “Mail” and “E-Mail” mean the same here"),
        ("Personalnummer;Work mail\n7;ada@example.org", "line 2 holds an address under a heading that is not known"),
        ("id,name,group\n7,Coe, Bea,ICU", "line 2 has more cells than there are headings"),
        ("7\n8, ICU, night", "line 2 holds more than an address or id and a group"),
    ],
)
def test_a_list_that_would_publish_addresses_drop_cells_or_invite_its_headings_is_refused(pasted, says):
    with pytest.raises(BadInput, match=says):
        entries_in(pasted)


@pytest.mark.parametrize(
    "pasted",
    [
        "Coe, Bea <bea@example.org>; Byron, Ada <ada@example.org>",
        "Coe, Bea <bea@example.org>\n\n'Byron, Ada' <ada@example.org>;\n",
        'email;name\nbea@example.org;"Bea\nCoe"\nada@example.org;Ada\n;\n;\n',
    ],
)
def test_names_with_commas_or_two_lines_and_rows_of_nothing_keep_nobody_out(pasted):
    assert [each.known_by for each in entries_in(pasted)] == ["bea@example.org", "ada@example.org"]


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("\nada@example.org\n\n\nbroken@\n", 5),
        ("sep=;\nid;email\n\n7;broken@", 4),
        ('id;name;email\n7;"Ada\nByron";ada@example.org\n8;Bea;broken@', 4),
    ],
)
def test_a_refused_line_is_counted_as_whoever_pasted_it_counts(pasted, line):
    with pytest.raises(BadInput, match=f"^line {line}: the address cannot be written to"):
        entries_in(pasted)


@settings(max_examples=examples(150), deadline=None)
@given(text=st.text(st.sampled_from("a1@.<>;,\t\n\" ='+"), max_size=40))
def test_whoever_is_read_stands_in_the_list_and_no_group_holds_an_address(text):
    with contextlib.suppress(BadInput):
        for each in entries_in(text):
            assert each.known_by in text.casefold() or each.id in text
            assert "@" not in (each.group or "")


def test_ids_that_a_spreadsheet_would_compute_come_back_from_our_own_file_as_they_were(house):
    """In the file they have an apostrophe: brought again with it, everyone would be a second person with a second total."""
    campaign, ids = asking(house, opened=False), ["+49170555", "=7", "-7;=8", "@ada", "'quoted'"]
    ada = owner(house, campaign)
    lists.add(house.service, ada, campaign, [Entry(id=each) for each in ids])
    written = ask(house, "GET", f"/a/c/{campaign}/links.csv").text
    kept = "\n".join(",".join(row[:3]) for row in csv.reader(io.StringIO(written)))
    assert [each.id for each in entries_in(kept)] == ids


def test_a_list_stays_and_never_doubles(house):
    campaign = asking(house, opened=False)
    text = "ada@example.org\nbea@example.org\nADA@example.org\n"
    for _ in range(3):
        last = ask(house, "POST", f"/a/c/{campaign}/people", list=text)
        assert last.status_code == 303
    assert "New: 0 people. In it before, or twice: 3 people." in ask(house, "GET", last.headers["location"]).text
    assert many(house, invitees, campaign) == many(house, invitations, campaign) == 2
    shown = [ask(house, "GET", f"/a/c/{campaign}/people").text for _ in range(2)]
    links = [re.findall(r"/i#([0-9a-f]{64})", page) for page in shown]
    assert links[0] == links[1]
    assert len(set(links[0])) == 2
    written = ask(house, "GET", f"/a/c/{campaign}/links.csv").text
    assert all(secret in written for secret in links[0])
    assert written.startswith("\ufeffaddress,id,group,link\r\n"), "by its first mark Excel knows the alphabet of a file"
    more = ask(house, "POST", f"/a/c/{campaign}/people", list="cleo@example.org; ICU")
    assert (more.status_code, "in a group, or nobody is" in more.text) == (422, True)
    assert "cleo@example.org" in more.text, "what was typed stays"


def test_who_is_pasted_by_address_and_again_with_an_id_is_invited_once(house):
    campaign = asking(house, opened=False)
    by_address, with_ids = "ada@example.org\nbea@example.org", "id,email\n7,ADA@example.org\n8,bea@example.org"
    for text in (by_address, with_ids, by_address):
        assert ask(house, "POST", f"/a/c/{campaign}/people", list=text).status_code == 303
    assert many(house, invitees, campaign) == 2
    other = asking(house, opened=False)
    for text in (with_ids, by_address, "id,email\n9,ada@example.org\n7,new@example.org"):
        assert ask(house, "POST", f"/a/c/{other}/people", list=text).status_code == 303
    assert many(house, invitees, other) == 3, "two ids at one address are two people; one id is one"


@pytest.mark.parametrize(
    ("pasted", "lines"),
    [
        ("id;group\nX1;A\nX2;A\nX1;B", "lines 2 and 4"),
        ("ada@example.org; A\nADA@example.org; B", "lines 1 and 2"),
        ("id,email,group\n7,ada@example.org,A\n,ada@example.org,B", "lines 2 and 3"),
        ("X1; A\nX1", "lines 1 and 2"),
    ],
)
def test_a_list_that_puts_one_person_into_two_groups_is_refused_with_both_lines(house, pasted, lines):
    campaign = asking(house, opened=False)
    refused = ask(house, "POST", f"/a/c/{campaign}/people", list=pasted)
    assert (refused.status_code, f"{lines[1:]} are of one person, in two groups" in refused.text) == (422, True)
    assert many(house, invitees, campaign) == 0
    twice = "id;group\nX1;A\nX1;A"
    assert ask(house, "POST", f"/a/c/{campaign}/people", list=twice).status_code == 303, (
        "said twice is no contradiction"
    )


def test_three_thousand_people_are_listed_in_one_go_and_no_field_cuts_off_what_is_pasted(house):
    """A field that held 60,000 letters took the first of a longer list, and dropped the rest without a word."""
    campaign = asking(house, opened=False)
    crowd = [f"{at:06};maria.mustermann-{at}@stadtwerke.example.org;Team {at % 9}" for at in range(3000)]
    sent = ask(house, "POST", f"/a/c/{campaign}/people", list="\r\n".join(["Kennung;E-Mail;Gruppe", *crowd]))
    assert sent.status_code == 303
    page = ask(house, "GET", f"/a/c/{campaign}/people").text
    assert len(set(re.findall(r"/i#([0-9a-f]{64})", page))) == many(house, invitees, campaign) == 3000
    for path, name in ((f"c/{campaign}/people", "list"), (f"c/{campaign}", "ids"), ("new-sheet", "toml")):
        fields = re.findall(r"<textarea [^>]*>", ask(house, "GET", f"/a/{path}").text)
        assert ["maxlength" in each for each in fields if f'name="{name}"' in each] == [False], name
    too_long = ask(house, "POST", f"/a/c/{campaign}/people", list="x" * 300_000)
    assert (too_long.status_code, "send a long list in parts" in too_long.text) == (413, True)
    assert ask(house, "POST", f"/a/c/{campaign}/people/mail", list="x" * 70_000).status_code == 413, "lists alone"


def test_a_long_list_has_its_codes_on_several_pages_each_person_once(house, monkeypatch):
    """Three thousand on one page took sixteen seconds, in which nobody else was answered."""
    monkeypatch.setattr(inviting, "AT_ONCE", 4)
    campaign = asking(house, opened=False)
    names = [f"P{at}" for at in range(10)]
    ask(house, "POST", f"/a/c/{campaign}/people", list="\n".join(names))
    pages = [ask(house, "GET", f"/a/c/{campaign}/qr?part={part}").text for part in (1, 2, 3)]
    shown = [re.findall(r"<figcaption>(P\d)", page) for page in pages]
    assert ([len(each) for each in shown], [*itertools.chain(*shown)]) == ([4, 4, 2], names)
    assert all(pages[0].count(f"qr?part={part}") == 1 for part in (2, 3))
    for odd in ("0", "4", "-1", "x", "9" * 30, "²"):
        assert re.findall(r"<figcaption>(P\d)", ask(house, "GET", f"/a/c/{campaign}/qr?part={odd}").text) == shown[0]


def groups_of(house, campaign):
    written = ask(house, "GET", f"/a/c/{campaign}/links.csv").text.splitlines()[1:]
    return {line.split(",")[1]: line.split(",")[2] for line in written}


def test_a_group_of_a_drafts_list_is_changed_by_giving_it_again_and_later_no_more(house):
    campaign = asking(house, opened=False)
    given = f"/a/c/{campaign}/people"
    for text in ("id;group\nX1;A\nX2;A", "id;group\nX1;B", "id\nX2"):
        assert ask(house, "POST", given, list=text).status_code == 303
    assert groups_of(house, campaign) == {"X1": "B", "X2": "A"}
    house.ada.take(campaign, "open")
    page = ask(house, "GET", given).text
    people = [house.client() for _ in range(2)]
    for person, secret in zip(people, re.findall(r"/i#([0-9a-f]{64})", page), strict=True):
        person.enter(secret)
    assert [person.my_campaign(campaign).group for person in people] == ["B", "A"]
    ask(house, "POST", given, list="id;group\nX1;A")
    assert groups_of(house, campaign)["X1"] == "B"


@pytest.mark.parametrize("text", ["x" * 140_000, '"' + "a;b\n" * 40_000, "\x85\u2028;", '"', ";;;", "id\n", "a@b\t\t"])
def test_a_list_of_anything_is_answered_in_words(house, text):
    campaign = asking(house, opened=False)
    assert ask(house, "POST", f"/a/c/{campaign}/people", list=text).status_code in (303, 413, 422)


def test_a_link_of_the_list_works_and_the_list_does_not_say_so(house):
    campaign = asking(house)
    ask(house, "POST", f"/a/c/{campaign}/people", list="17\n18")
    before = ask(house, "GET", f"/a/c/{campaign}/people").text
    secret = re.findall(r"/i#([0-9a-f]{64})", before)[0]
    person = house.client()
    person.enter(secret)
    person.register(campaign, 4, answers={"break": True})
    assert exact_counts(house.service, campaign).redeemed == 1
    strip = re.compile(r'name="csrf" value="[^"]+"')
    assert strip.sub("", ask(house, "GET", f"/a/c/{campaign}/people").text) == strip.sub("", before)


def test_no_address_and_no_link_stands_in_the_database(house):
    campaign = asking(house)
    ask(house, "POST", f"/a/c/{campaign}/people", list="zoe.unique@example.org")
    secret = re.findall(r"/i#([0-9a-f]{64})", ask(house, "GET", f"/a/c/{campaign}/people").text)[0]
    stored = b"".join(path.read_bytes() for path in house.folder.glob("web.sqlite*"))
    assert b"zoe.unique" not in stored
    assert secret.encode() not in stored


def mailing(house, port):
    mailer = Mailer("127.0.0.1", port, "survey@example.org", "https://survey.example.org", security="none")
    return replace(house.service, mail=mailer)


def test_mail_goes_out_once_is_tried_again_and_comes_back(house, post_office):
    campaign, service = asking(house), mailing(house, post_office.port)
    ada = owner(house, campaign)
    lists.add(service, ada, campaign, entries_in("good@example.org\nlater@example.org\ngone@example.org\n"))
    post_office.refuses = {"later@example.org": "451 later", "gone@example.org": "550 nobody here"}
    assert queue(service, ada, campaign, 0) == 3
    assert queue(service, ada, campaign, 0) == 0, "a reload queues nothing"
    assert send_mails(service) == 1
    assert send_mails(service) == 0, "one that is refused for now waits"
    (told,) = sendings(service, ada, campaign)
    assert (told.sent, told.waiting, told.back) == (1, 1, (("gone@example.org", "refused for good (550)"),))
    assert told.why_waiting == ("refused for now (451)",)
    post_office.refuses.clear()
    house.service.clock.now += PAUSES[0] + 1
    assert send_mails(service) == 1
    assert [to for to, _ in post_office.came] == [["good@example.org"], ["later@example.org"]]
    with pytest.raises(PromiseBroken, match="out of date"):
        queue(service, ada, campaign, 5)


def test_who_is_added_after_the_invitation_went_out_is_invited_and_nobody_else_is_written_to(house, post_office):
    """There was a reminder to everyone, or nothing."""
    campaign, service = asking(house), mailing(house, post_office.port)
    ada = owner(house, campaign)
    lists.add(service, ada, campaign, entries_in("one@example.org\ntwo@example.org"))
    assert (unwritten(service, ada, campaign), queue(service, ada, campaign, 0)) == (2, 2)
    lists.add(service, ada, campaign, entries_in("late@example.org\n17"))
    assert unwritten(service, ada, campaign) == 1
    assert [queue(service, ada, campaign, 0) for _ in range(2)] == [1, 0]
    send_mails(service)
    assert sorted((to, mail["Subject"]) for (to,), mail in post_office.came) == [
        (f"{name}@example.org", "Breaks") for name in ("late", "one", "two")
    ]
    lists.add(service, ada, campaign, entries_in("last@example.org"))
    assert queue(service, ada, campaign, 1) == 4, "a reminder goes to everyone"
    assert (unwritten(service, ada, campaign), queue(service, ada, campaign, 0)) == (0, 0), "and says the same"
    send_mails(service)


def test_mail_says_nothing_private_and_reminders_go_to_everyone_but_those_who_want_none(house, post_office):
    campaign, service = asking(house), mailing(house, post_office.port)
    ada = owner(house, campaign)
    lists.add(service, ada, campaign, entries_in("one@example.org; ICU\ntwo@example.org; ICU\nsix@example.org; ER"))
    queue(service, ada, campaign, 0)
    send_mails(service)
    secret = lists.listed(service, ada, campaign)[0].secret
    person = house.client()
    person.enter(secret)
    person.register(campaign, 4, answers={"break": True})
    assert queue(service, ada, campaign, 1) == 3, "who answered is reminded like everyone"
    send_mails(service)
    for (to,), mail in post_office.came:
        text = mail.get_content()
        assert mail.get_content_type() == "text/plain"
        assert set(re.findall(r"https?://\S+?(?=[/#]\S)", text)) == {"https://survey.example.org"}
        assert not re.search(r"ICU|\bER\b|answered yet|img|pixel", text)
        assert [each for each in ("one", "two", "six") if f"{each}@" in str(mail)] == [to.split("@")[0]]
        assert mail["List-Unsubscribe"].strip("<>") in text
    assert "goes to everyone who was invited" in post_office.came[-1][1].get_content()
    stop = post_office.came[0][1]["List-Unsubscribe"].strip("<>").removeprefix("https://survey.example.org")
    assert "No more mail about this?" in house.ask("GET", stop).text
    assert queue(service, ada, campaign, 2) == 3, "looking stops nothing"
    assert house.ask("POST", stop).status_code == 200
    send_mails(service)
    assert len(post_office.came) == 3 + 3 + 2
    assert queue(service, ada, campaign, 3) == 2
    for wrong in ("/u/x", "/u/" + "0" * 64, "/u/é"):
        assert house.ask("GET", wrong).status_code == 404
        assert house.ask("POST", wrong).status_code == 404


def test_a_server_that_is_away_is_asked_again_and_at_last_given_up(house):
    campaign, service = asking(house), mailing(house, free_port())
    ada = owner(house, campaign)
    lists.add(service, ada, campaign, entries_in("one@example.org"))
    queue(service, ada, campaign, 0)
    for pause in (*PAUSES, 0.0):
        assert send_mails(service) == 0
        told = sendings(service, ada, campaign)[0]
        assert told.why_waiting == ("the server for mail cannot be reached",) * (told.waiting > 0), "not only at last"
        house.service.clock.now += pause + 1
    (told,) = sendings(service, ada, campaign)
    assert told.back == (("one@example.org", "given up: the server for mail cannot be reached"),)


def test_mail_waits_for_registration_and_for_a_server(house):
    campaign = asking(house, opened=False)
    ada = owner(house, campaign)
    assert show(house.service, ada, campaign).state == "draft"
    with pytest.raises(PromiseBroken, match="no server"):
        queue(house.service, ada, campaign, 0)
    with pytest.raises(PromiseBroken, match="while registration is open"):
        queue(mailing(house, 1), ada, campaign, 0)
    assert many(house, mails, campaign) == 0


def test_lists_and_mails_are_closed_to_everyone_else(house):
    campaign = asking(house)
    bea, person = house.analyst("bea"), house.person()
    for path in ("people", "links.csv", "qr"):
        for other in (bea, person):
            assert house.ask("GET", f"/a/c/{campaign}/{path}", cookie=other._cookie).status_code == 404
        assert house.ask("GET", f"/a/c/{campaign}/{path}").headers["location"] == "/login"
    for path in ("people", "people/mail"):
        form = {"csrf": bea._csrf, "list": "x@example.org", "number": "0"}
        assert house.ask("POST", f"/a/c/{campaign}/{path}", cookie=bea._cookie, data=form).status_code == 404
    assert many(house, invitees, campaign) == 0


def test_lists_and_mails_are_erased_with_the_campaign_and_no_copy_of_the_database_opens_them_after(house):
    campaign = asking(house)
    ask(house, "POST", f"/a/c/{campaign}/people", list="late@example.org")
    row = house.service.read(lambda link: link.execute(select(invitees).where(invitees.c.campaign == campaign)).one())
    assert lists.opened(house.service, row).entry.address == "late@example.org"
    house.ada.take(campaign, "cancel")
    wait_until(lambda: many(house, invitees, campaign) == 0)
    assert many(house, mails, campaign) == 0
    assert "late@example.org" not in ask(house, "GET", f"/a/c/{campaign}/people").text
    wait_until(lambda: campaign not in [name for name, _ in house.service.keys.stored_rounds()])
    with pytest.raises(LedgerUnavailable):
        house.service.keys.shown(row.sealed, campaign=campaign, bound=f"invitee:{row.id}")
    assert lists.opened(house.service, row).entry.known_by == ""


def test_a_list_from_before_lists_had_keys_of_their_own_is_still_read(house):
    campaign = asking(house)
    ask(house, "POST", f"/a/c/{campaign}/people", list="new@example.org")
    keys, name = house.service.keys, "ab" * 16
    nonce, text = b"n" * 12, '["old@example.org", ""]'
    sealed = nonce + keys._outer.encrypt(nonce, text.encode(), f"optin text 1:invitee:{name}".encode())
    row = {"id": name, "campaign": campaign, "mark": "old", "sealed": sealed, "created_at": 0.0}
    house.service.change(lambda link: link.execute(insert(invitees), [row]))
    found = {each.entry.address for each in lists.listed(house.service, owner(house, campaign), campaign)}
    assert found == {"old@example.org", "new@example.org"}
    house.ada.take(campaign, "cancel")


def wait_until(happened):
    while not happened():
        time.sleep(0.01)


def test_qr_codes_on_the_rendered_page_are_the_links_of_the_list(tmp_path):
    import numpy as np
    import zxingcpp
    from PIL import Image

    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY) as house, chromium() as browser:
        house.ada = house.analyst("ada")
        campaign = asking(house)
        ask(house, "POST", f"/a/c/{campaign}/people", list="7\n8\n9")
        watch = Watch(browser, house.origin)
        page = watch.visitor()
        page.goto(house.origin + "/login")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in", exact=True).click()
        page.wait_for_url("**/a")
        page.goto(f"{house.origin}/a/c/{campaign}/qr")
        picture = np.array(Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("L"))
        read = {each.text for each in zxingcpp.read_barcodes(picture)}
        page.goto(f"{house.origin}/a/c/{campaign}/people")
        links = set(page.locator("td code").all_inner_texts())
        assert read == links
        assert len(links) == 3
        assert watch.faults == []
