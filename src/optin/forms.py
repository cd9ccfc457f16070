"""The limit question for other people's forms, in the words of the web pages: as text, on paper, for REDCap and LimeSurvey.

Whatever a form stores of the answer (a step's code, its name, or the whole line that was shown) is read as its epsilon where
a column of limits is asked for. Codes are never numbers: a form's own 5 would be read as an epsilon of 5.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Literal
from xml.etree import ElementTree

from optin.errors import Argument, BadInput
from optin.wording.beliefs import unsure_words
from optin.wording.limit_steps import ADVICE, LIMIT_STEPS, QUESTION, UNSURE

FIELD, LANGUAGE = "optinlimit", "en"
"""What the question is called in a form: letters alone, which both take."""
FormKind = Literal["text", "paper", "redcap", "limesurvey"]
KINDS: tuple[FormKind, ...] = ("text", "paper", "redcap", "limesurvey")
_REDCAP = (
    "Variable / Field Name",
    "Form Name",
    "Section Header",
    "Field Type",
    "Field Label",
    "Choices, Calculations, OR Slider Labels",
    "Field Note",
    "Text Validation Type OR Show Slider Number",
    "Text Validation Min",
    "Text Validation Max",
    "Identifier?",
    "Branching Logic (Show field only if...)",
    "Required Field?",
    "Custom Alignment",
    "Question Number (surveys only)",
    "Matrix Group Name",
    "Matrix Ranking?",
    "Field Annotation",
)


def limit_form(kind: FormKind | str = "text") -> str:
    """Write the limit question as text, for paper, as a REDCap data dictionary or as a LimeSurvey question (lsq).

    >>> print(limit_form("text").splitlines()[0])
    How much may the published result give away about your answer, at most?
    """
    forms = {"text": _text, "paper": _paper, "redcap": _redcap, "limesurvey": _limesurvey}
    if kind not in forms:
        raise BadInput("{kind} must be one of {known}", kind=Argument("kind"), known=", ".join(KINDS))
    return forms[kind]()


def _text() -> str:
    rungs = [f"  {rung.line}" for rung in LIMIT_STEPS]
    return "\n".join([QUESTION, "", UNSURE, "", *rungs, "", ADVICE]) + "\n"


def _paper() -> str:
    """Write boxes to tick; whoever types the sheets in writes down the words beside the box."""
    rungs = [f"  [ ]  {rung.label}\n       {_plain(unsure_words(rung.epsilon))}" for rung in LIMIT_STEPS]
    lines = [QUESTION, f"{UNSURE} Tick one box.", "", *rungs, "", ADVICE, "", _TYPED]
    return "\n".join(lines) + "\n"


def _plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


_TYPED = (
    "(For whoever types this in: write the words beside the box, as far as the bracket. No box ticked: leave the cell empty;"
    " optin asks what that counts as.)"
)


def _redcap() -> str:
    """Write a data dictionary: the id that REDCap wants first, and the question."""
    choices = " | ".join(f"{rung.code}, {rung.label}" for rung in LIMIT_STEPS)
    rows = [
        {"Variable / Field Name": "record_id", "Field Type": "text", "Field Label": "Record ID"},
        {
            "Variable / Field Name": FIELD,
            "Field Type": "radio",
            "Field Label": QUESTION,
            "Choices, Calculations, OR Slider Labels": choices,
            "Field Note": UNSURE,
            "Required Field?": "y",
            "Custom Alignment": "LV",
        },
    ]
    text = StringIO()
    writer = csv.DictWriter(text, _REDCAP, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"Form Name": "privacy_limit"} | row for row in rows)
    return text.getvalue()


def _limesurvey() -> str:
    """Write one question of kind L (a list of radio buttons) with its answers, as LimeSurvey exports and imports one."""
    document = ElementTree.Element("document")
    for name, text in (("LimeSurveyDocType", "Question"), ("DBVersion", "366")):
        ElementTree.SubElement(document, name).text = text
    ElementTree.SubElement(ElementTree.SubElement(document, "languages"), "language").text = LANGUAGE
    ids = {"qid": "1", "sid": "1"}
    asked = {
        **ids, "parent_qid": "0", "gid": "1", "type": "L", "title": FIELD, "preg": "", "other": "N", "mandatory": "Y",
        "encrypted": "N", "question_order": "1", "scale_id": "0", "same_default": "0", "relevance": "1", "modulename": "",
    }  # fmt: skip
    words = {"id": "1", "qid": "1", "question": QUESTION, "help": UNSURE, "language": LANGUAGE}
    answers = [_answer(rung.index, rung.code) for rung in LIMIT_STEPS]
    texts = [
        {"id": f"{rung.index + 1}", "aid": f"{rung.index + 1}", "answer": rung.label, "language": LANGUAGE}
        for rung in LIMIT_STEPS
    ]
    for name, rows in (
        ("questions", [asked]), ("question_l10ns", [words]), ("answers", answers), ("answer_l10ns", texts),
    ):  # fmt: skip
        _table(document, name, rows)
    ElementTree.indent(document, " ")
    return ElementTree.tostring(document, encoding="unicode", xml_declaration=True) + "\n"


def _answer(index: int, code: str) -> dict[str, str]:
    place = str(index + 1)
    return {
        "aid": place, "qid": "1", "code": code, "sortorder": str(index), "assessment_value": "0", "scale_id": "0",
    }  # fmt: skip


def _table(document: ElementTree.Element, name: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Write a table of LimeSurvey's database: the names of its fields, then its rows."""
    table = ElementTree.SubElement(document, name)
    fields, inside = ElementTree.SubElement(table, "fields"), ElementTree.SubElement(table, "rows")
    for field in rows[0]:
        ElementTree.SubElement(fields, "fieldname").text = field
    for row in rows:
        written = ElementTree.SubElement(inside, "row")
        for field, text in row.items():
            ElementTree.SubElement(written, field).text = text
