"""Every sentence of the pages has a German one; none is said twice, none stands in a template unsaid, and files stay English."""

import ast
import collections
import io
import re
import string

import numpy as np
import pytest
from babel.messages.pofile import write_po

import optin
from optin.releasing.useless import useless_words
from optin.report.answer_sections import accuracy_notes
from optin.web import languages, translating
from optin.web.languages import language, tags, wanted
from optin.web.pages.numbers import spelled, typed_number
from optin.web.pages.rendering import sentence
from optin.web.pages.times import plan_of_times, told_to_people
from optin.web.service.drafts import Draft
from optin.wording.language import ENGLISH, Language, _, speaking
from optin.wording.numbers import at_most, count, hours, percent, short
from optin.wording.sentences import Sentence

OTHERS = [tag for tag in tags() if tag != ENGLISH.tag]
TEMPLATES = sorted((translating.SOURCE / "web" / "templates").rglob("*.html"))
FILES = "sheet|bundle|receipt|announcement|release|results"
NAMES = re.compile(rf"\b(optin|check|explain|({FILES})\.\w+)\b")
"""What is called the same in every language: commands and files."""
HIDDEN = (
    r"\{#.*?#\}",
    r"\{% block body %\}.*?\{% endblock %\}",
    r"\{%[-+]?\s*trans\b.*?endtrans\s*[-+]?%\}",
    r"<meta[^>]*>",
    r"<(script|style|pre|code)\b.*?</\1>",
)
"""What nobody reads, or reads as it is: comments, what is looked up, scripts and commands."""
FEWEST = 5
"""So many words are a sentence; shorter labels are written in small and in capital letters."""


def ids_of(message):
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def said_by(message):
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def fields_of(text):
    """What is filled in: of a template's text %(name)s, of Python's {name:format}."""
    named = re.findall(r"%\((\w+)\)s", text)
    if named or "%%" in text:
        return sorted(set(named))
    return sorted(
        {f"{name}!{how}:{spec}" for _own, name, spec, how in string.Formatter().parse(text) if name is not None}
    )


def alike(text):
    """A sentence without what may differ where it is written twice: capitals, punctuation, markup, names of what is filled in."""
    text = re.sub(r"%\(\w+\)s|\{\w+[^}]*\}", " {} ", re.sub(r"<[^>]+>", "", text)).replace("&nbsp;", " ")
    return tuple(re.sub(r"[^\w{}]+", " ", text.lower()).split())


def doubled(messages):
    """Sentences that say the same in two ways."""
    found = collections.defaultdict(set)
    for each in messages:
        found[alike(each)].add(each)
    return [sorted(them) for words, them in found.items() if len(them) > 1 and len(words) - words.count("{}") >= FEWEST]


def unsaid(template):
    """Words of a template that a reader sees and that are not looked up in any language."""
    for hidden in HIDDEN:
        template = re.sub(hidden, " ", template, flags=re.DOTALL)
    read = re.findall(r'(?:aria-label|alt|placeholder|title|data-linked-words)="([^"{]*)"', template)
    tags_of = re.sub(r"(?s)\{\{.*?\}\}|\{%.*?%\}", " ", template)
    shown = re.sub(r"&\w+;", " ", re.sub(r"<[^<>]*>", " ", tags_of))
    return re.findall(r"[A-Za-z]{2,}", NAMES.sub(" ", " ".join([shown, *read, *written_in(template)])))


def written_in(template):
    """Texts that an expression between tags writes out itself: in no call, such as _("…"), and compared with nothing."""
    between = re.sub(r"(?s)<(?:\{\{.*?\}\}|\{%.*?%\}|[^<>{}])*>", " ", template)
    for expression in re.findall(r"(?s)\{\{(.*?)\}\}", between):
        words, before = re.sub(r"""("[^"]*")|'[^']*'""", r"\1", expression), None
        while words != before:
            before, words = words, re.sub(r'[\w.]+\((?:"[^"]*"|[^()"])*\)', " ", words)
            words = re.sub(r'(?<![\w.])\(((?:"[^"]*"|[^()"])*)\)', r" \1 ", words) if words == before else words
        yield from re.findall(r'"([^"]*)"', re.sub(r'(?:==|!=|\bin)\s*(?:"[^"]*"|\([^)]*\))', " ", words))


@pytest.mark.parametrize("tag", OTHERS)
def test_a_catalogue_is_what_the_sources_say_and_nothing_of_it_is_missing(tag):
    written = io.BytesIO()
    write_po(written, translating.updated(tag), width=120, sort_output=True, omit_header=True)
    path = languages.CATALOGUES / tag / "LC_MESSAGES" / "optin.po"
    assert path.read_bytes().endswith(written.getvalue()), "run python -m optin.web.translating"
    assert [each.id for each in translating.missing(tag)] == []


@pytest.mark.parametrize("tag", OTHERS)
def test_a_translation_is_sure_and_fills_in_what_the_english_sentence_does(tag):
    for message in translating.catalogue(tag):
        if not message.id:
            continue
        assert not message.fuzzy, message.id
        for said in said_by(message):
            assert fields_of(said) == fields_of(ids_of(message)[-1]), message.id
            assert re.findall(r"<[^>]+>", said) == re.findall(r"<[^>]+>", ids_of(message)[-1]), message.id


def test_no_sentence_is_written_twice():
    assert doubled(text for message in translating.extracted() if message.id for text in ids_of(message)[:1]) == []
    assert doubled(["Nothing of yours was used here.", "nothing of yours <b>was</b> used, here"]) != []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_says_nothing_that_is_not_looked_up(path):
    assert unsaid(path.read_text(encoding="utf-8")) == []


def test_words_that_are_not_looked_up_are_found():
    assert unsaid('<p>{% trans %}Said{% endtrans %} <b aria-label="Also">unsaid</b> {{ name }}</p>') == [
        "unsaid",
        "Also",
    ]
    page = '<p class="{{ "one" if a == "b" else "two" }}">{{ "late" if many == "all" else _("said") }} {{ field("f", b) }}</p>'
    assert unsaid(page) == ["late"]


def test_a_sentence_without_a_translation_is_missed():
    german = language("de")
    assert "Sent" in german.messages
    with speaking(german):
        assert _("Nobody ever said this.") == "Nobody ever said this."


def test_numbers_and_days_are_written_as_the_language_does():
    with speaking(language("de")):
        assert (short(1234.5), at_most(0.2501), percent(0.034), count(1200)) == (
            "1.230",
            "0,251",
            "3,4 %",
            "1.200 Personen",
        )
        assert (count(1), count(3, "question", "questions")) == ("1 Person", "3 Fragen")
        assert spelled(7.5) == "7,5"
    assert (short(1234.5), at_most(0.2501), percent(0.034), count(1200)) == ("1,230", "0.251", "3.4 %", "1,200 people")


def test_a_number_is_told_back_where_it_is_not_typed_as_its_reader_writes_it():
    def plain(text):
        return typed_number(text, "your answer").plain

    assert (plain("7.5"), plain("7,5"), plain("7")) == (True, False, True)
    with speaking(language("de")):
        assert (plain("7.5"), plain("7,5"), plain("7")) == (False, True, True)
        assert [typed_number(text, "your answer").number for text in ("7.5", "7,5", "7")] == [7.5, 7.5, 7.0]


def test_failures_are_said_in_the_reader_s_language_with_what_is_within_them():
    with pytest.raises(optin.BadInput) as caught:
        typed_number("viele", Sentence("your answer"))
    with speaking(language("de")):
        assert sentence(caught.value) == "Ihre Antwort muss eine Zahl sein."
    assert sentence(caught.value) == "Your answer must be a number."


def test_the_language_that_a_browser_asks_for_most_is_spoken():
    assert [
        wanted(asked, otherwise="en") for asked in ("de", "de-CH, en;q=0.9", "en, de;q=0.9", "xx", "", "de;q=x")
    ] == [
        *("de", "de", "en", "en", "en", "en"),
    ]


def made(people=300):
    limits = np.random.default_rng(5).choice([0.1, 0.5, 1.0], people)
    table = {
        "hours": np.linspace(0, 80, people),
        "break": np.arange(people) % 3 == 0,
        "mood": np.array(["bad", "fair", "good"])[np.arange(people) % 3],
        "age": np.linspace(18, 80, people),
    }
    return optin.PrivacyConstrained(limits), table


SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=9, unit="hours"),
        optin.YesNo("break"),
        optin.Scale("mood", options=("bad", "fair", "good")),
        optin.Histogram("age", edges=(18, 40, 80)),
    ],
    title="Breaks",
)


def test_files_and_fingerprints_do_not_depend_on_the_language():
    people, table = made()
    plan = optin.plan(people, SHEET)
    announcement = plan.announce(people, campaign="breaks")
    release = optin.release(announcement, people, table)
    english = (plan.to_json(), announcement.to_json(), release.to_json(), announcement.fingerprint)
    with speaking(language("de")):
        again = optin.plan(people, SHEET)
        assert again.announce(people, campaign="breaks").terms == announcement.terms
        assert (again.to_json(), announcement.to_json(), release.to_json(), announcement.fingerprint) == english
        assert optin.Release.from_json(english[2]).fingerprint == release.fingerprint


GERMAN = {
    "title": "Pausen",
    "purpose": "Für den Dienstplan.",
    "questions": {
        "hours": {"text": "Wie viele Stunden?", "unit": "Stunden"},
        "mood": {"text": "Wie ging es Ihnen?", "labels": ["schlecht", "mittel", "gut"]},
    },
}


def test_what_a_sheet_says_in_another_language_is_shown_there_and_bound_with_it():
    sheet = optin.Sheet(SHEET.questions, title=SHEET.title, languages={"de": GERMAN})
    people, _table = made()
    both, one = (optin.plan(people, each).announce(people, campaign="breaks") for each in (sheet, SHEET))
    assert both.fingerprint != one.fingerprint
    assert optin.Announcement.from_json(both.to_json()).sheet.languages["de"].title == "Pausen"
    with speaking(Language("de")):
        assert (sheet.title_said, sheet.purpose_said, sheet.text_said(sheet["hours"])) == (
            *("Pausen", "Für den Dienstplan.", "Wie viele Stunden?"),
        )
        assert [sheet.answer_said(sheet["mood"], option) for option in sheet["mood"].options] == [
            "schlecht",
            "mittel",
            "gut",
        ]
        assert sheet.text_said(sheet["break"]) == "break"
    assert (sheet.title_said, sheet.text_said(sheet["hours"])) == ("Breaks", "hours")
    assert "languages" not in SHEET.to_record(), "sheets that say nothing else keep their fingerprints"


def test_what_is_said_of_a_result_counts_in_the_unit_of_its_reader():
    people, table = made(20)
    sheet = optin.Sheet(SHEET.questions, title=SHEET.title, languages={"de": GERMAN})
    release = optin.release(optin.plan(people, sheet).announce(people, campaign="breaks"), people, table)
    said = {}
    for tag in ("en", "de"):
        with speaking(language(tag)):
            said[tag] = " ".join([*useless_words(release), *accuracy_notes(release, sheet["hours"], release["hours"])])
    assert re.search(r"± [\d.]+ hours", said["en"])
    assert re.search(r"± [\d.,]+ Stunden", said["de"])
    assert not re.search(r"[\d] hours", said["de"])


def test_a_sheet_in_two_languages_is_written_as_toml_and_read_again():
    from optin.web.pages.sheet_rows import as_toml

    sheet = optin.Sheet(SHEET.questions, title=SHEET.title, languages={"de": GERMAN})
    text = as_toml(sheet)
    assert "[question.texts]" in text
    assert optin.Sheet.from_toml_text(text).to_record() == sheet.to_record()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"de": {"questions": {"nobody": {"text": "?"}}}}, 'has no "nobody"'),
        ({"de": {"questions": {"mood": {"labels": ["eins", "zwei"]}}}}, "has 3 options"),
        ({"de": {"questions": {"mood": {"labels": ["eins", "zwei", "zwei"]}}}}, "each another one"),
        ({"de": {"questions": {"mood": {"labels": ["eins", "zwei", "zwei\u200b"]}}}}, "each another one"),
        ({"not a tag": {}}, "go by tags"),
        ({"de": {"titel": "T"}}, 'has no "titel"'),
        ({"de": "T"}, "is a table"),
    ],
)
def test_what_cannot_be_said_in_another_language_is_refused(said, why):
    with pytest.raises(optin.BadInput, match=why):
        optin.Sheet(SHEET.questions, languages=said)


@pytest.mark.parametrize("tag", tags())
def test_a_single_hour_is_not_several(tag):
    draft = Draft(answer_by="2026-03-04", window_hours=1.0, automatic=True)
    with speaking(language(tag)):
        said = f"{plan_of_times(draft)} {told_to_people(draft)}"
        one, many = hours(1.0), hours(48.0)
    assert said.count(one) == 2
    assert many.removeprefix("48 ") not in said.split()


PAGES = sorted((translating.SOURCE / "web" / "pages").glob("*.py"))
SAYING = set(translating.SAYING) | set(translating.FAILING)
NOT_FOR_READERS = {"csv_file", "log_event", "getLogger", "compile"}


def unsaid_in_code(source):
    """Sentences of a module, of four words or more, that are neither looked up nor documentation."""
    tree, found, said = ast.parse(source), [], set()
    for node in ast.walk(tree):
        who = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if who in SAYING | NOT_FOR_READERS or isinstance(node, ast.Expr):
            said |= {id(each) for each in ast.walk(node) if who or isinstance(each, ast.Constant)}
    for node in ast.walk(tree):
        whole = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if whole and id(node) not in said and len(re.findall(r"\b[a-z]{2,}\b(?= )", node.value)) >= 4:
            found.append(node.value)
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_nothing_in_python_that_is_not_looked_up(path):
    assert unsaid_in_code(path.read_text(encoding="utf-8")) == []


def test_a_sentence_that_python_says_unasked_is_found():
    assert unsaid_in_code('words = f"this is said to you as it is, {name}"') == ["this is said to you as it is, "]
    assert (
        unsaid_in_code('"""This is what the module does, in words."""\nwords = _("this is said to you as it is")') == []
    )
