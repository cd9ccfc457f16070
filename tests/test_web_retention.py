"""What is said to be erased is in no file of the database any more, or is locked with a key that no longer exists."""

import contextlib
import sqlite3

import pytest
from sqlalchemy import select, update
from web_steps import DRAFT, House

from optin.errors import OptinError
from optin.web.schema import (
    accounts,
    addresses,
    answers,
    delays,
    invitations,
    invited_ids,
    invitees,
    links_back,
    sessions,
)
from optin.web.service import sessions as visits
from optin.web.service.jobs import work_once
from optin.web.service.mailer import Mailer
from optin.web.service.recovering import remember
from optin.web.service.resets import reset_link

LIST = "Late.Marker@example.org\nother@example.org\n"
KEPT = {
    answers: "value",
    invitees: "sealed",
    invited_ids: "mark",
    addresses: "mark",
    links_back: "secret",
    sessions: "token",
    delays: "key",
}
"""What stands for someone in each table whose rows go."""


class Clock:
    now = 1_800_000_000.0

    def __call__(self):
        return self.now


def opened(url, folder):
    house = House(url, folder, clock=Clock())
    house.mail = Mailer("127.0.0.1", 9, "optin@example.org", house.origin, security="none")
    return house


def marks(house):
    """Everything that is to go, as it stands in the database: bytes of each, by table."""

    def look(link):
        return {table.name: link.scalars(select(table.c[name])).all() for table, name in KEPT.items()}

    found = house.service.read(look)
    return {
        name: [each if isinstance(each, bytes) else each.encode() for each in those if each]
        for name, those in found.items()
    }


def asked(house):
    """A campaign with a list, ids, answers, an address to come back by and a link to it; return its id and what will go."""
    ada, crowd = house.analyst(), house.people(12)
    campaign = ada.draft(**DRAFT).id
    ada.take(campaign, "open")
    form = {"csrf": ada._csrf, "list": LIST}
    assert house.ask("POST", f"/a/c/{campaign}/people", cookie=ada._cookie, data=form).status_code == 303
    ada.invite(campaign, ids=["nurse-1", "nurse-2"])
    for person in crowd:
        person.register(campaign, 4)
    for step in ("close-registration", "announce", "open-answers"):
        ada.take(campaign, step)
    for person in crowd:
        person.join(campaign, 6.25)
    remember(house.service, visits.find(house.service, crowd[0]._cookie).visitor, "back@example.org")
    until = {"secret": "ab" * 32, "until": house.service.clock() + 3600}
    someone = select(accounts.c.id).where(accounts.c.kind == "person").limit(1).scalar_subquery()
    house.service.change(lambda link: link.execute(links_back.insert().values(account=someone, **until)))
    house.ask("POST", "/login", data={"name": "nobody", "password": "wrong horse battery"})
    return ada, campaign


def time_passes(house):
    """A year and more goes by, in which nobody comes, and the one who works looks twice."""
    house.service.clock.now += 400 * 86400
    for _ in range(2):
        assert work_once(house.service)


def files_of(folder):
    return b"".join(path.read_bytes() for path in folder.glob("ledger.sqlite*"))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("end", ["release", "cancel"])
def test_no_file_of_sqlite_holds_a_byte_of_what_is_erased(url, tmp_path, end):
    with opened(url, tmp_path) as house:
        ada, campaign = asked(house)
        before = marks(house)
        assert all(before.values()), "each table has something to erase"
        stored = files_of(tmp_path)
        assert all(each in stored for those in before.values() for each in those), "and it is seen in the files"
        if end == "release":
            ada.take(campaign, "close")
        ada.take(campaign, end)
        time_passes(house)
        assert not any(marks(house).values())
        left = files_of(tmp_path)
    found = {name: sum(each in left for each in those) for name, those in before.items()}
    assert found == dict.fromkeys(found, 0)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_reader_who_stays_keeps_the_log_for_a_while_and_nobody_waits(url, tmp_path):
    with opened(url, tmp_path) as house:
        ada, campaign = asked(house)
        before = marks(house)["web_answers"]
        with contextlib.closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM web_answers").fetchone()
            ada.take(campaign, "cancel")
            assert work_once(house.service), "others' reading is no failure"
            assert any(each in files_of(tmp_path) for each in before), "what they read must stay until they are done"
        assert work_once(house.service)
        assert not any(each in files_of(tmp_path) for each in before)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_what_postgresql_still_holds_of_answers_and_lists_opens_with_no_key_that_is_left(url, tmp_path, request):
    server = request.getfixturevalue("postgres")
    with opened(url, tmp_path) as house:
        ada, campaign = asked(house)
        ring = house.service.keys
        sealed = house.service.read(lambda link: link.execute(select(answers.c.person, answers.c.value)).all())
        listed = house.service.read(lambda link: link.execute(select(invitees.c.id, invitees.c.sealed)).all())
        opens = ring.unseal(sealed[0].value, campaign=campaign, round=1, person=sealed[0].person)
        assert opens == (6.25,)
        shown = [ring.shown(each.sealed, campaign=campaign, bound=f"invitee:{each.id}") for each in listed]
        assert "late.marker" in "".join(shown).lower()
        ada.take(campaign, "cancel")
        time_passes(house)
        assert not any(marks(house).values())
        server.execute("CHECKPOINT")
        parts = [path for part in ("base", "pg_wal") for path in (server.folder / "data" / part).rglob("*")]
        kept = b"".join(path.read_bytes() for path in parts if path.is_file())
        assert sealed[0].value in kept, "deleting a row deletes no byte here: this is what the keys are for"
        for each in sealed:
            with pytest.raises(OptinError):
                ring.unseal(each.value, campaign=campaign, round=1, person=each.person)
        for each in listed:
            with pytest.raises(OptinError):
                ring.shown(each.sealed, campaign=campaign, bound=f"invitee:{each.id}")
        assert [path.name for path in (tmp_path / "keys").iterdir()] == ["log.key"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_link_to_a_new_password_is_forgotten_when_its_day_is_over(url, tmp_path):
    with opened(url, tmp_path) as house:
        house.analyst("ada")
        links = select(invitations.c.secret).where(invitations.c.kind == "reset")
        reset_link(house.service, "ada")
        assert work_once(house.service)
        mark = house.service.read(lambda link: link.scalar(links))
        house.service.clock.now += 86401
        assert work_once(house.service)
        assert house.service.read(lambda link: link.scalar(links)) is None
        assert mark.encode() not in files_of(tmp_path)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_session_that_goes_on_stays(url, tmp_path):
    with opened(url, tmp_path) as house:
        ada = house.analyst()
        assert work_once(house.service)
        assert house.ask("GET", "/a", cookie=ada._cookie).status_code == 200
        house.service.change(lambda link: link.execute(update(sessions).values(expires_at=0.0)))
        assert work_once(house.service)
        assert marks(house)["web_sessions"] == []
