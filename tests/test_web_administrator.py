"""An administrator reads no answer: not through any route, not after taking a campaign over, not by SQL without the keys."""

import contextlib
import re
import struct

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import inspect, select, text
from test_web_access import API, BODIES, PAGES
from web_steps import House, answering

from optin.web.schema import answers

VALUE = 7.3190246801
WRITTEN = ("7.319", "7,319")
LETTERS = [
    VALUE.hex().encode(),
    struct.pack("<d", VALUE),
    struct.pack(">d", VALUE),
    *(each.encode() for each in WRITTEN),
]


class Ward:
    """A service that rut runs, and a campaign of bea's in which everyone has answered the same."""

    def __init__(self, house):
        self.house, self.rut, self.bea = house, house.analyst("rut"), house.analyst("bea")
        self.people = house.people(12)
        self.names = [person.me().account for person in self.people]
        self.campaign = answering(self.bea, self.people)
        for person in self.people:
            person.join(self.campaign, VALUE)

    def ask(self, method, path):
        """Ask as the administrator, with the token of their own pages."""
        body = BODIES.get(f"{method} {path}")
        filled = path.replace("{campaign}", self.campaign).replace("{step}", "cancel")
        filled = filled.replace("{name}", "error").replace("{ink}", "light")
        headers = {"X-CSRF-Token": self.rut._csrf}
        return self.house.ask(method, filled, cookie=self.rut._cookie, json=body, headers=headers)


@pytest.fixture
def ward(url, tmp_path):
    with House(url, tmp_path) as house:
        yield Ward(house)


def routes(*methods):
    """Every route there is but those by which one leaves."""
    found = [(method, path) for method, path, _ in API] + PAGES
    leaving = ("/sign-out", "/api/session", "/leave", "/me/leave")
    return [(method, path) for method, path in found if method in methods and path not in leaving]


def tells(ward, answer):
    """What an answer tells that is nobody's to know: a value, or whose account is there."""
    told = answer.content
    return [each for each in LETTERS if each in told] + [name for name in ward.names if name.encode() in told]


def test_no_route_shows_an_administrator_an_answer_or_lets_them_into_a_campaign(ward):
    inside = re.compile(r"^/(a/c|api/campaigns)/\{campaign\}")
    tried = routes("GET", "POST", "PUT", "DELETE")
    assert len(tried) > 80
    for method, path in tried:
        answer = ward.ask(method, path)
        assert answer.status_code < 500, (method, path)
        assert tells(ward, answer) == [], (method, path)
        if inside.match(path):
            assert answer.status_code in (404, 422), (method, path, answer.status_code)
    assert ward.bea.campaign(ward.campaign).state == "answers"
    assert ward.ask("GET", "/admin").status_code == 200, "they are still signed in, and run the service"


def test_an_administrator_who_takes_a_campaign_over_reads_no_answer_in_it(ward):
    form = {"csrf": ward.rut._csrf, "action": "revoke", "name": "bea"}
    done = ward.house.ask("POST", "/admin/analyst", cookie=ward.rut._cookie, data=form)
    assert done.status_code == 303
    assert ward.ask("GET", "/a/c/{campaign}").status_code == 200, "now it is theirs"
    for method, path in routes("GET"):
        assert tells(ward, ward.ask(method, path)) == [], (method, path)


def cells(service):
    """Every cell of every table, as bytes: what whoever asks the database by SQL can see."""

    def look(link):
        names = inspect(link).get_table_names()
        rows = [link.execute(text(f'SELECT * FROM "{name}"')).all() for name in names]
        return [cell for table in rows for row in table for cell in row if cell is not None]

    for cell in service.read(look):
        yield bytes(cell) if isinstance(cell, bytes | memoryview) else str(cell).encode()


def keys_in(cell):
    """Every key that a cell could be: 32 of its bytes in a row, as they are or written in hexadecimal."""
    with contextlib.suppress(ValueError):
        cell = cell + bytes.fromhex(cell.decode("ascii", "ignore"))
    return {cell[at : at + 32] for at in range(len(cell) - 31)}


def opens(key, sealed, about):
    with contextlib.suppress(InvalidTag):
        return bool(AESGCM(key).decrypt(sealed[:12], sealed[12:], about))
    return False


def test_by_sql_without_the_keys_no_answer_is_read(ward):
    service = ward.house.service
    row = service.read(lambda link: link.execute(select(answers.c.person, answers.c.value)).first())
    found = list(cells(service))
    assert row.value in found, "this looks at every cell"
    assert not [each for each in LETTERS if any(each in cell for cell in found)]
    about = f"optin answer 1:{ward.campaign}:{row.person}:1".encode()
    tried = set().union(*map(keys_in, found))
    assert len(tried) > 1000
    assert not any(opens(key, row.value, about) for key in tried)
    right = service.keys.unseal(row.value, campaign=ward.campaign, round=1, person=row.person)
    assert right == (VALUE,), "with the keys it opens: that is what the page says of whoever holds them"


def test_the_page_says_what_whoever_holds_the_keys_can_read(ward):
    page = " ".join(ward.ask("GET", "/admin").text.split())
    assert "can read every answer that is not yet published" in page
    assert "addresses" in page
    assert "limit" in page
