"""What is stored as a sentence is said again from its template and its data; nobody reads its words."""

import json

import pytest
from sqlalchemy import text
from web_steps import House, registered

from optin.web.languages import language
from optin.web.pages.rendering import said_again
from optin.wording.language import Day, speaking
from optin.wording.sentences import Sentence
from optin.wording.stored_sentences import stored, stored_sentence

SENTENCES = [
    Sentence("to be closed within {days:g} days, or else it is cancelled", days=60.0),
    Sentence("the last day to answer was moved to {day}", day=Day.of("2026-03-04")),
    Sentence("the step {step} failed: {words}", step=Sentence("release"), words=Sentence("too few people answered it")),
    Sentence.listing([Sentence("{people} people from {low!r} to {high!r}", people=12, low=0.1, high=1.5)] * 2),
    Sentence("registration was opened"),
    Sentence("words with {braces} of someone else"),
]


def again(words):
    return stored_sentence(str(words), stored(words))


@pytest.mark.parametrize("words", SENTENCES, ids=str)
def test_a_stored_sentence_reads_the_same_in_english_and_is_said_in_the_language_of_a_page(words):
    assert again(words) == str(words)
    with speaking(language("de")):
        assert said_again(again(words)) == said_again(words)
        assert again(words) == str(words), "what is stored stays English, whoever reads it"


def test_days_and_digits_of_what_was_stored_are_those_of_the_page():
    with speaking(language("de")):
        assert said_again(again(SENTENCES[1])).endswith("auf den 4. März 2026 verschoben")
        assert said_again(again(SENTENCES[2])).endswith("zu wenige Personen haben sie beantwortet")
        assert "0,1" in said_again(again(SENTENCES[3]))
        assert said_again("registration was opened") == "die Anmeldung wurde geöffnet"
        assert said_again("words of someone else") == "words of someone else"


def test_no_more_of_a_number_is_stored_than_its_sentence_says():
    told = stored(Sentence("± {error:.2g} of {people}", error=0.123456789, people=3, unsaid=17.5))
    assert json.loads(told)["data"] == {"error": {"digits": "0.12"}, "people": {"digits": "3"}}


def test_where_something_else_was_told_the_words_stand():
    assert stored_sentence("3 people", stored(Sentence("{n} people", n=4))) == "3 people"
    assert stored(Sentence("nothing filled in")) is None


def test_a_database_of_before_keeps_its_cells_and_counts(lodge, tmp_path):
    analyst, crowd = lodge.analyst(), lodge.people(24)
    campaign = registered(analyst, crowd, steps=[3] * 12 + [5] * 12)
    analyst.take(campaign, "close-registration")
    before = (analyst.cells(campaign), analyst.able(campaign), [line.words for line in analyst.log(campaign)])
    assert before[0]
    assert before[1]
    lodge.service.change(_as_before)
    with House(lodge.url, tmp_path, port=lodge.port) as newer:
        newer.service.read(lambda link: link.execute(text("SELECT told FROM web_jobs")))
        found = (analyst.cells(campaign), analyst.able(campaign), [line.words for line in analyst.log(campaign)])
    assert found == before


def _as_before(link):
    for table in ("web_events", "web_jobs", "web_mails"):
        link.execute(text(f"ALTER TABLE {table} DROP COLUMN told"))
    link.execute(text("UPDATE alembic_version SET version_num = '0011'"))
