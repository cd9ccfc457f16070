"""Pages in their reader's language: German throughout, chosen by a cookie or by the browser; longer ones and others fit too."""

import ast
import html
import io
import json
import re
import string
import zipfile
from pathlib import Path

import pytest
from language_walk import SHEET, walk, words_of
from other_languages import LONGER, longer, speak
from web_steps import KEY, House

import optin
from optin.council.browser import check_script, check_words
from optin.council.browser import sentences as check_sentences
from optin.web.languages import language
from optin.web.service.drafts import Draft
from optin.web.service.mails import mail_text
from optin.wording.language import speaking
from optin.wording.spoken import WORDS

ENGLISH_WORDS = re.compile(
    r"\b(the|and|of|with|your|you|is|are|not|people|from|their|were|least|answers?|limit|published|campaigns?|on|by|to|"
    r"who|what|this|that|has|have|it|each|can|be|if|estimate|question|noise|weight|mean)\b"
)
AS_THEY_ARE = ("optin sheet example", "optin web backup", "optin web status", "own-data")


class Clock:
    now = 1_790_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY, clock=Clock()) as made:
        yield made


@pytest.fixture(scope="module")
def german(house):
    return walk(house, "de-AT, en;q=0.5")


def sentences():
    """The English words of the catalogue, between what is filled in, that no German sentence has."""
    said = "\n".join(text for forms in language("de").messages.values() for text in forms)
    for template in language("de").messages:
        plain = re.sub(r"<[^>]+>|%\(\w+\)s", "\0", template.replace("%%", "%").replace("&nbsp;", "\N{NO-BREAK SPACE}"))
        parts = [own for own, *_ in string.Formatter().parse(plain)] if "\0" not in plain else plain.split("\0")
        yield from (part.strip() for part in parts if len(part.split()) >= 3 and part.strip() not in said)


def test_a_german_page_has_no_english_sentence(german):
    wanted = set(sentences())
    assert len(wanted) > 1000
    for name, page in german.items():
        words = words_of(page)
        assert [sentence for sentence in wanted if sentence in words] == [], name


def own_words(page):
    """What a page says beside names of commands and files, and beside what was drawn: letters of a key can be a word."""
    words = re.sub(r"\S*://\S*|[\w-]{40,}|\b[0-9a-f]{8,}\b", " ", words_of(page))
    words = re.sub(r"\b\w+\.(?:json|csv|toml|zip|html)\b", " ", words)
    for kept in AS_THEY_ARE:
        words = words.replace(kept, "")
    return words


def english_words():
    """Every word of an English sentence of the catalogue that is in no German one, in no offer's fingerprint, and
    that is no German word of a sheet."""
    plain = re.compile(r"<[^>]+>|%\(\w+\)s|\{[^}]*\}|&\w+;")
    english, said = (
        {word for text in texts for word in re.findall(r"[A-Za-z]{2,}", plain.sub(" ", text))}
        for texts in (
            language("de").messages,
            [text for forms in language("de").messages.values() for text in forms],
        )
    )
    return {word.lower() for word in english} - {word.lower() for word in said} - {*WORDS, "fair", "last"}


def test_a_german_page_has_no_word_that_only_english_sentences_have(german):
    wanted = english_words()
    assert {"above", "between", "declared", "invitations", "their"} <= wanted
    found = {
        name: wanted & {word.lower() for word in re.findall(r"[^\W\d_]+", own_words(page))}
        for name, page in german.items()
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_what_is_drawn_is_no_word_of_a_page_and_words_beside_it_are():
    key = "we-of_" + "Ab3-" * 9 + "0"
    page = f"<p>Gib https://x.de/i/{key} weiter, {key}, of optin-ledger-0be4ff00aabb</p>"
    assert own_words(page).split() == ["Gib", "weiter,", ",", "of", "optin-ledger-"]


def test_a_german_page_has_no_english_words_of_any_other_making(german):
    for name, page in german.items():
        words = own_words(page)
        assert [words[max(0, at.start() - 30) : at.end() + 30] for at in ENGLISH_WORDS.finditer(words)] == [], name


def test_a_page_says_which_language_it_is_in_and_numbers_stand_as_there(german):
    for name, page in german.items():
        if "<html" in page:
            assert re.findall(r"<html[^>]*>", page) == ['<html lang="de">'], name
    assert "38,5" in german["told back"] or "30" in german["told back"]
    assert re.search(r"\d,\d", words_of(german["the plan so far"]))
    assert not re.search(r"\d\.\d", words_of(german["the plan so far"]))


def test_what_a_bundle_holds_is_english_and_the_sheets_own_whoever_asks(house, german):
    council = re.search(r'href="(/council/[^"]+)"', german["published"])[1]
    asked = {tag: house.ask("GET", f"{council}/bundle.zip", headers={"Accept-Language": tag}) for tag in ("de", "en")}
    assert asked["de"].content == asked["en"].content
    with zipfile.ZipFile(io.BytesIO(asked["de"].content)) as bundle:
        annex = bundle.read("annex.html").decode()
    assert "How data flows" in annex
    assert "Welchen Weg die Daten nehmen" in german["the annex"]
    for name in ("consent.json", "promise.json"):
        said = house.ask("GET", f"{council}/{name}", headers={"Accept-Language": "de"}).text
        assert said == house.ask("GET", f"{council}/{name}").text


def test_what_the_script_of_the_council_says_is_given_to_it_in_german(german):
    for name in ("the council", "checking without a network"):
        given = json.loads(html.unescape(re.search(r'data-words="([^"]*)"', german[name])[1]))
        assert list(given) == list(check_sentences(check_script()))
        assert given["It does not fit together"] == "Es passt nicht zusammen"
    with speaking(language("en")):
        assert check_words() == ""


def test_english_is_spoken_where_nothing_else_is_asked_for(house, german):
    for headers in ({}, {"Accept-Language": "xx"}, {"Accept-Language": "en-GB, de;q=0.9"}):
        page = house.ask("GET", "/", headers=headers).text
        assert '<html lang="en">' in page
        assert "Be counted, within your own limit" in page


def test_a_choice_is_kept_in_a_cookie_without_scripts_and_leads_back(house):
    there = {"Referer": f"{house.origin}/about?x=1", "Accept-Language": "en"}
    kept = house.ask("POST", "/language", data={"language": "de"}, headers=there)
    assert (kept.status_code, kept.headers["location"]) == (303, "/about?x=1")
    found = kept.headers["set-cookie"]
    assert all(word in found for word in ("__Host-optin-language=de;", "Path=/", "Secure", "HttpOnly", "SameSite=Lax"))
    spoken = {"Cookie": found.partition(";")[0], "Accept-Language": "en"}
    assert '<html lang="de">' in house.ask("GET", "/about", headers=spoken).text
    assert '<html lang="en">' in house.ask("GET", "/about", headers={"Cookie": "__Host-optin-language=xx"}).text


@pytest.mark.parametrize(
    ("before", "to"),
    [
        ("/c/1/join", "/c/1"),
        ("/i/answer", "/i/answer"),  # which leads to where a link is opened
        ("//elsewhere.example/about", "/"),
        ("https://elsewhere.example/about", "/"),
        ("/nowhere/at/all", "/"),
    ],
)
def test_a_choice_leads_to_a_page_of_this_site_that_can_be_read(house, before, to):
    address = before if before.startswith("https") else f"{house.origin}{before}"
    assert (
        house.ask("POST", "/language", data={"language": "de"}, headers={"Referer": address}).headers["location"] == to
    )


def test_a_choice_is_taken_from_our_own_pages_alone_and_of_languages_there_are(house):
    assert (
        house.ask("POST", "/language", data={"language": "de"}, headers={"Origin": "https://evil.example"}).status_code
        == 403
    )
    assert "set-cookie" not in house.ask("POST", "/language", data={"language": "xx"}).headers


def test_programs_and_files_are_answered_in_english(house, german):
    asked = {"Accept-Language": "de"}
    assert house.ask("GET", "/api/campaigns", headers=asked).json()["error"] == "sign in first"
    campaign = re.search(r'href="/r/(\w+)"', german["home with a result"])[1]
    rows = house.ask("GET", f"/r/{campaign}/results.csv", headers=asked).text
    assert rows == house.ask("GET", f"/r/{campaign}/results.csv").text
    for name in ("announcement.json", "release.json"):
        assert (
            house.ask("GET", f"/r/{campaign}/{name}", headers=asked).text
            == house.ask("GET", f"/r/{campaign}/{name}").text
        )


@pytest.mark.parametrize("path", ["/r/{}/release.json", "/r/{}/results.csv", "/static/nothing.js", "/nowhere"])
def test_a_page_that_stands_where_a_file_would_is_in_its_reader_s_language(house, path):
    page = house.ask("GET", path.format("0" * 32), headers={"Accept-Language": "de"})
    assert page.status_code == 404
    assert '<html lang="de">' in page.text
    assert "Hier ist nichts" in page.text


def test_an_organisation_s_language_is_spoken_to_whoever_asks_for_none(lodge_url, tmp_path):
    with House(lodge_url, tmp_path, settings={"language": "de"}) as other:
        assert '<html lang="de">' in other.ask("GET", "/").text
        assert '<html lang="en">' in other.ask("GET", "/", headers={"Accept-Language": "en"}).text
    with (
        pytest.raises(optin.BadInput, match="OPTIN_WEB_LANGUAGE"),
        House(lodge_url, tmp_path, settings={"language": "xx"}) as other,
    ):
        other.ask("GET", "/")


def test_mails_are_written_in_the_campaign_s_language():
    draft = Draft(title="Breaks", asked_by="Der Personalrat", answer_by="2026-03-04")
    with speaking(language("de")):
        subject, text = mail_text(draft, "LINK", "STOP", reminder=True)
    assert (
        subject,
        "Ihr eigener Link, nur für Sie:\nLINK" in text,
        "bis zum 4. März 2026 (Ende" in text,
    ) == (
        "Erinnerung: Breaks",
        True,
        True,
    )
    assert "Your own link, for you alone" in mail_text(draft, "LINK")[1]


def test_a_reader_sees_the_sheet_in_their_language_and_sends_its_own_options(house, german):
    both = optin.Sheet(
        [optin.Choice("shift", options=("früh", "spät"), text="In welcher Schicht?")],
        title="Schichten",
        languages={
            "en": {"title": "Shifts", "questions": {"shift": {"text": "Which shift?", "labels": ["early", "late"]}}},
        },
    )
    campaign = house.ada.draft(both, quorum_people=10, sealed=True).id
    house.ada.take(campaign, "open")
    secret = house.ada.invite(campaign, 1)[0]
    pages = {
        tag: house.ask("POST", "/i/answer", data={"secret": secret}, headers={"Accept-Language": tag}).text
        for tag in ("en", "de")
    }
    assert all(word in words_of(pages["en"]) for word in ("Shifts", "Which shift?", "early"))
    assert all(word in words_of(pages["de"]) for word in ("Schichten", "In welcher Schicht?", "früh"))
    assert [re.findall(r'name="a0" value="([^"]+)"', page) for page in pages.values()] == [["früh", "spät"]] * 2


@pytest.fixture(scope="module")
def others():
    with pytest.MonkeyPatch.context() as patched:
        speak(patched)
        yield


@pytest.mark.parametrize(("tag", "way"), [("eo", ""), ("he", ' dir="rtl"')])
def test_longer_languages_and_those_from_right_to_left_have_every_page(house, german, others, tag, way):
    for path in ("/", "/about", "/i", "/login", "/back"):
        page = house.ask("GET", path, headers={"Accept-Language": tag}).text
        assert f'<html lang="{tag}"{way}>' in page
    campaign = house.ada.draft(SHEET, quorum_people=10, sealed=True).id
    house.ada.take(campaign, "open")
    secret = house.ada.invite(campaign, 1)[0]
    for method, path in (("GET", f"/a/c/{campaign}"), ("GET", "/a/start"), ("POST", "/i/answer")):
        cookie = house.ada._cookie if method == "GET" else None
        more = {"data": {"secret": secret}} if method == "POST" else {}
        answer = house.ask(method, path, cookie=cookie, headers={"Accept-Language": tag}, **more)
        assert answer.status_code == 200
        assert [sentence for sentence in sentences() if sentence in words_of(answer.text)] == []


def test_the_longer_language_is_longer():
    text = "You can change %(what)s until <b>answers</b> close."
    assert len(longer(text)) >= (1 + LONGER) * len(text) - 2
    assert "%(what)s" in longer(text)
    assert "<b>" in longer(text)


def test_a_refusal_that_stands_under_a_name_is_said_in_german_too():
    """What is raised by a constant's name is not found by its call: it must be marked where it is written."""
    known = set(language("de").messages)
    unsaid = [
        f"{path.name}: {node.value.value[:60]}"
        for room in ("service", "pages")
        for path in sorted((Path(optin.__file__).parent / "web" / room).rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if len(node.value.value.split()) > 5 and node.value.value[0].islower() and node.value.value not in known
    ]
    assert unsaid == []
