"""Who runs the service is named on every page and in every mail, from files that were looked at first; unsaid, nowhere."""

import re
import struct
import zlib

import pytest
from web_steps import House

from optin.errors import BadInput
from optin.web.app import create_app, mailer_of
from optin.web.organisation import MOST_LOGO_BYTES, organisation_of
from optin.web.settings import WebSettings

NAME, CONTACT = "Ward & Council <Marker>", "desk@example.org"
SAFE_NAME = "Ward &amp; Council &lt;Marker&gt;"


def png(width=90, height=60, colour=(36, 88, 140)):
    """A picture of one colour, as a file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def said(tmp_path):
    """Everything an organisation can say of itself, as settings."""
    (tmp_path / "logo").write_bytes(png())
    (tmp_path / "notice.txt").write_text("# Who reads what\nWe <b>read</b> nothing.\n\nWrite to us.\n")
    (tmp_path / "imprint.txt").write_text("Council\nMarket 1\n")
    files = {"logo": "logo", "privacy_notice": "notice.txt", "imprint": "imprint.txt"}
    return {"organisation": NAME, "contact": CONTACT, **{name: tmp_path / file for name, file in files.items()}}


def pages_of(house):
    """Pages of every kind: for anyone, for an analyst, for a person, for a council, and what is not there."""
    ada, person = house.analyst(), house.person()
    campaign = ada.draft(title="Sleep", question="How many hours?", bounds=(0, 12), public=True).id
    ada.take(campaign, "open")
    for path in ("/", "/about", "/i", "/login", "/nowhere", f"/c/{campaign}"):
        yield house.ask("GET", path)
    for path in ("/a", "/admin", "/a/start", f"/a/c/{campaign}", f"/a/c/{campaign}/people"):
        yield house.ask("GET", path, cookie=ada._cookie)
    yield house.ask("GET", "/me", cookie=person._cookie)


def test_every_page_names_the_organisation_its_contact_notice_and_imprint(tmp_path, said):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, settings=said) as house:
        for page in pages_of(house):
            assert page.text.count(SAFE_NAME) >= 2, page.url
            assert f'href="mailto:{CONTACT}"' in page.text
            assert 'href="/privacy-notice"' in page.text
            assert 'href="/imprint"' in page.text
            assert 'src="/static/organisation-logo"' in page.text
        logo = house.ask("GET", "/static/organisation-logo")
        assert (logo.headers["content-type"], logo.content) == ("image/png", png())
        notice, imprint = (house.ask("GET", path).text for path in ("/privacy-notice", "/imprint"))
    assert "<h2>Who reads what</h2>" in notice
    assert "We &lt;b&gt;read&lt;/b&gt; nothing." in notice
    assert "Council<br>Market 1" in imprint


def test_where_nothing_is_said_nothing_is_shown(tmp_path):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path) as house:
        for page in pages_of(house):
            for unsaid in ("mailto:", "/privacy-notice", "/imprint", "organisation"):
                assert unsaid not in page.text, page.url
        for path in ("/privacy-notice", "/imprint", "/static/organisation-logo"):
            assert house.ask("GET", path).status_code == 404


def test_services_in_one_process_are_not_taken_for_each_other(tmp_path, said):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with (
        House(f"sqlite:///{first / 'web.sqlite'}", first, settings=said) as theirs,
        House(f"sqlite:///{second / 'web.sqlite'}", second, settings={"organisation": "Others"}) as others,
    ):
        for _ in range(3):
            assert SAFE_NAME in theirs.ask("GET", "/").text
            assert SAFE_NAME not in others.ask("GET", "/").text


def test_every_mail_ends_with_who_writes(tmp_path, said):
    settings = WebSettings(**said, smtp_host="127.0.0.1", smtp_from="a@example.org", origin="https://ward.example")
    end = f"--\n{NAME}\n{CONTACT}\nPrivacy notice: https://ward.example/privacy-notice\n"
    end += "Imprint: https://ward.example/imprint\n"
    for stop in (None, "https://ward.example/u/x"):
        mail = mailer_of(settings).message("b@example.org", "Sleep", "Hello\n", name="n", stop=stop)
        assert mail.get_content() == f"Hello\n\n{end}"
    silent = WebSettings(smtp_host="127.0.0.1", smtp_from="a@example.org")
    assert mailer_of(silent).message("b@example.org", "Sleep", "Hello\n", name="n").get_content() == "Hello\n"


def test_a_mail_ends_in_the_language_it_is_written_in(tmp_path, said):
    settings = WebSettings(**said, smtp_host="127.0.0.1", smtp_from="a@example.org", origin="https://ward.example")
    mailer = mailer_of(settings)
    ends = {
        tag: mailer.message("b@example.org", "S", "T\n", name="n", language=tag).get_content() for tag in ("en", "de")
    }
    assert "Privacy notice: https" in ends["en"]
    assert "Datenschutzhinweise: https://ward.example/privacy-notice\nImpressum: https" in ends["de"]
    assert not re.search("Privacy|Imprint", ends["de"])


def test_the_text_of_a_mail_to_copy_ends_with_who_writes(tmp_path, said):
    with House(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, settings=said) as house:
        ada = house.analyst()
        campaign = ada.draft(title="Sleep", question="How many hours?", bounds=(0, 12)).id
        page = house.ask("GET", f"/a/c/{campaign}/people", cookie=ada._cookie).text
    assert f"--\n{SAFE_NAME}\n{CONTACT}\nPrivacy notice: " in page


@pytest.mark.parametrize(
    "data", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"", b"GIF89a", png() + bytes(MOST_LOGO_BYTES)]
)
def test_a_logo_that_is_no_small_picture_is_refused_before_anyone_is_served(tmp_path, data):
    (tmp_path / "logo.png").write_bytes(data)
    with pytest.raises(BadInput, match="OPTIN_WEB_LOGO"):
        create_app(WebSettings(ledger=str(tmp_path / "web.sqlite"), logo=tmp_path / "logo.png"))
    assert not (tmp_path / "web.sqlite").exists()


@pytest.mark.parametrize("data", [b"", b" \n", b"\xff\xfe", b"a\0b"])
def test_a_notice_that_is_no_text_is_refused(tmp_path, data):
    (tmp_path / "notice.txt").write_bytes(data)
    with pytest.raises(BadInput, match="OPTIN_WEB_PRIVACY_NOTICE"):
        organisation_of(WebSettings(privacy_notice=tmp_path / "notice.txt"))
    with pytest.raises(BadInput, match="cannot be read"):
        organisation_of(WebSettings(imprint=tmp_path / "nowhere.txt"))
    with pytest.raises(BadInput, match="one line"):
        organisation_of(WebSettings(organisation="a\nBcc: b"))
