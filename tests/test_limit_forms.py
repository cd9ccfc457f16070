"""The limit question in other people's forms: in their real formats, in the words of the web pages, and read back."""

import csv
import io
import math
from xml.etree import ElementTree

import pytest
from cli_steps import optin_ok

import optin
from optin.errors import BadInput
from optin.forms import FIELD, KINDS
from optin.web.service.ladder import LIMITS
from optin.wording.limit_steps import LIMIT_STEPS, QUESTION, STEP_TEXTS, texts_of

DICTIONARY = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type OR Show Slider Number,Text Validation Min,'
    "Text Validation Max,Identifier?,Branching Logic (Show field only if...),Required Field?,Custom Alignment,"
    "Question Number (surveys only),Matrix Group Name,Matrix Ranking?,Field Annotation"
)
"""The first line of every data dictionary that REDCap writes."""


def rows_of(document, table):
    return [{each.tag: each.text or "" for each in row} for row in document.find(table).find("rows")]


def test_web_pages_and_forms_have_the_same_steps():
    assert [(step.amount, step.name, step.words) for step in LIMITS] == [
        (step.epsilon, step.name, step.words) for step in LIMIT_STEPS
    ]


def test_a_redcap_dictionary_has_redcap_s_columns_and_one_radio_field():
    text = optin.limit_form("redcap")
    assert text.splitlines()[0] == DICTIONARY
    first, asked = csv.DictReader(io.StringIO(text))
    assert first["Variable / Field Name"] == "record_id"
    assert (asked["Variable / Field Name"], asked["Field Type"], asked["Field Label"]) == (FIELD, "radio", QUESTION)
    choices = asked["Choices, Calculations, OR Slider Labels"].split(" | ")
    assert [choice.partition(", ")[::2] for choice in choices] == [(step.code, step.label) for step in LIMIT_STEPS]


def test_a_limesurvey_question_has_what_its_importer_asks_for():
    """It takes sid, gid and qid of the question, qid of its texts, aid and qid of answers, and aid of their texts."""
    document = ElementTree.fromstring(optin.limit_form("limesurvey").encode())
    assert document.findtext("LimeSurveyDocType") == "Question"
    (asked,), (words,) = rows_of(document, "questions"), rows_of(document, "question_l10ns")
    assert {"qid", "sid", "gid", "question_order"} <= set(asked)
    assert (asked["type"], asked["title"], asked["parent_qid"]) == ("L", FIELD, "0")
    assert (words["qid"], words["question"], words["language"]) == (asked["qid"], QUESTION, "en")
    answers, texts = rows_of(document, "answers"), rows_of(document, "answer_l10ns")
    assert [answer["aid"] for answer in answers] == [told["aid"] for told in texts]
    assert {answer["qid"] for answer in answers} == {asked["qid"]}
    assert [answer["code"] for answer in answers] == [step.code for step in LIMIT_STEPS]
    assert [told["answer"] for told in texts] == [step.label for step in LIMIT_STEPS]
    assert all(len(answer["code"]) <= 5 and answer["code"].isalnum() for answer in answers)
    assert all(len(step.code) <= 5 for step in LIMIT_STEPS)


def test_text_and_paper_ask_the_question_and_name_every_step():
    for kind in ("text", "paper"):
        written = optin.limit_form(kind)
        assert written.startswith(QUESTION)
        assert all(step.name in written for step in LIMIT_STEPS)


def test_paper_says_of_every_step_what_it_means_for_someone_who_is_unsure():
    lines = optin.limit_form("paper").splitlines()
    for step in LIMIT_STEPS:
        below = lines[lines.index(f"  [ ]  {step.label}") + 1]
        low, high = (float(part.split(" ")[0]) for part in below.split("between ")[1].split("and "))
        odds = math.exp(step.epsilon)
        assert low <= 100 / (1 + odds)
        assert 100 * odds / (1 + odds) <= high
        assert below.isascii()


def test_no_code_of_a_step_could_be_taken_for_an_epsilon(tmp_path):
    for step in LIMIT_STEPS:
        with pytest.raises(ValueError, match="could not convert"):
            float(step.code)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_text_of_a_step_is_read_as_its_epsilon(engine, tmp_path):
    told = [(text, step.epsilon) for step in LIMIT_STEPS for text in (*texts_of(step), f" {step.name.upper()} ")]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "limit"), *((f"p{row}", text) for row, (text, _) in enumerate(told))])
    people = optin.read(tmp_path / "a.csv", limits="limit", engine=engine)
    for bound in (0.01, 0.3, 8.0):
        assert people.table().clipped_total(bound) == pytest.approx(sum(min(eps, bound) for _, eps in told), rel=1e-12)


def test_every_line_of_a_form_that_names_a_step_is_one_of_its_texts():
    text = [line.strip() for line in optin.limit_form("text").splitlines() if line.startswith("  ")]
    paper = [line.strip()[3:].strip() for line in optin.limit_form("paper").splitlines() if "[ ]" in line]
    for lines in (text, paper):
        assert [STEP_TEXTS[line.lower()] for line in lines] == [step.epsilon for step in LIMIT_STEPS]


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_writes_what_the_function_returns(kind, tmp_path):
    optin_ok("form", kind, "-o", tmp_path / "form")
    assert (tmp_path / "form").read_text() == optin.limit_form(kind)
    assert optin_ok("form", kind).out.rstrip("\n") == optin.limit_form(kind).rstrip("\n")


def test_an_unknown_form_is_refused():
    with pytest.raises(BadInput, match="must be one of text, paper, redcap, limesurvey"):
        optin.limit_form("word")
