"""What fails below the pages, a database or a whole release, is said in its reader's language, every word of it."""

import sqlite3

import pytest
from language_walk import words_of
from test_web_languages import ENGLISH_WORDS
from web_steps import DRAFT, House, answering

from optin.database import connection
from optin.errors import OptinError
from optin.web.languages import tags

GERMAN = {"Accept-Language": "de"}


@pytest.fixture
def house(tmp_path, migrated):
    place = tmp_path / "web.sqlite"
    place.write_bytes(migrated)
    place.chmod(0o600)
    with House(f"sqlite:///{place}", tmp_path) as opened:
        yield opened


def _alert(page):
    """What a page says went wrong, in which no English word is expected but the sheet's own."""
    words = words_of(page.text)
    return words[: words.find("How many hours")].partition("Bitte prüfen Sie das")[2]


@pytest.mark.parametrize("sign", ["database or disk is full", "disk I/O error", "of a kind that nobody knows"])
def test_a_page_on_which_the_database_failed_says_so_in_one_language(house, monkeypatch, sign):
    person = house.people(12)
    campaign = answering(house.analyst(), person)

    def failing(link):
        raise sqlite3.OperationalError(sign)

    join = {"csrf": person[0]._csrf, "round": "1", "value": "5"}
    with monkeypatch.context() as patched:
        patched.setattr("optin.web.transactions.take_head_lock", failing)
        page = house.ask("POST", f"/c/{campaign}/join", cookie=person[0]._cookie, data=join, headers=GERMAN)
    assert page.status_code == 503
    assert "nicht bekannt" in _alert(page)
    assert ENGLISH_WORDS.findall(_alert(page)) == [], _alert(page)


def test_every_way_in_which_a_database_fails_has_words_in_every_language():
    from optin.web.languages import language

    templates = {*connection._KNOWN.values(), "the database failed ({kind})", "{failure}; nothing was written"}
    assert "de" in tags()
    for tag in tags()[1:]:
        assert templates <= language(tag).messages.keys(), tag


def test_groups_of_which_nothing_can_be_published_are_said_in_one_language(house):
    ada = house.analyst()
    campaign = ada.draft(**{**DRAFT, "public": False}).id
    ada.take(campaign, "open")
    people = house.people(24)
    for group, those in (("Nord", people[:12]), ("Ost", people[12:])):
        for person, secret in zip(those, ada.invite(campaign, 12, group=group), strict=True):
            person.enter(secret)
            person.register(campaign, 5)
    for step in ("close-registration", "announce", "open-answers"):
        ada.take(campaign, step)
    for person in people[::2]:
        person.join(campaign, 5.0)
    ada.take(campaign, "close")
    with pytest.raises(OptinError, match="nothing could be published of any of the groups"):
        ada.take(campaign, "release")
    words = words_of(house.ask("GET", f"/a/c/{campaign}", cookie=ada._cookie, headers=GERMAN).text)
    failed = words.partition("Der letzte Schritt ist fehlgeschlagen")[2].partition("Zusagen bleiben")[0]
    assert "konnte etwas veröffentlicht werden" in failed
    assert ENGLISH_WORDS.findall(failed) == [], failed
