"""Well-known questionnaires as sheets: every file is read, and no number in the pages is one that optin does not compute."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import optin
from optin.planning.assumed import MIXES
from optin.planning.size import verdict
from optin.wording.numbers import at_most

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples/questionnaires"
FILES = sorted(FOLDER.glob("*.toml"))
PAGE = ROOT / "docs/how-to/questionnaires.md"
FOR_YOU = ROOT / "docs/how-to/is-it-for-you.md"
SHEETS = (
    *("phq-9", "phq-9-items", "gad-7", "gad-7-items", "who-5", "who-5-items", "sf-12", "sf-12-items"),
    *("pulse", "employee"),
)
PEOPLE = (400, 5000)
CROWDS = (50, 100, 200, 500, 1000, 5000)
VERDICTS = ("good", "poor", "useless")


def asked(name):
    return optin.Sheet.from_toml(FOLDER / f"{name}.toml")


def said(sheet, sized):
    """Return ± and the verdict of a question as `optin size` prints them."""
    question = sheet[sized.name]
    if question.kind in ("number", "score"):
        return f"± {at_most(sized.half_width)} {question.unit}".strip() + f", {mark(sized.verdict)}"
    return f"± {at_most(100 * sized.half_width)} points, {mark(sized.verdict)}"


def mark(verdict):
    return f"*{verdict}*" if verdict == "useless" else verdict


def rows_of(name):
    """Write a row for each run of questions of one kind with one ±."""
    sheet = asked(name)
    sizes = [optin.size(sheet, people=people) for people in PEOPLE]
    lines = [
        (question.name, question.kind, *(said(sheet, size[question.name]) for size in sizes)) for question in sheet
    ]
    for (kind, *cells), group in itertools.groupby(lines, key=lambda line: line[1:]):
        names = [line[0] for line in group]
        many = f"{kind}, {len(names)} of them" if len(names) > 1 else kind
        link = f"[{name}](../../examples/questionnaires/{name}.toml)"
        yield f"| {link} | {', '.join(names)} | {many} | {' | '.join(cells)} |"


def questionnaire_table():
    head = ["| sheet | questions | kind | 400 people | 5,000 people |", "|---|---|---|---|---|"]
    return "\n".join([*head, *itertools.chain.from_iterable(map(rows_of, SHEETS))])


def agree(name, options=("never", "rarely", "sometimes", "often", "always")):
    return optin.Scale(name, options=options)


FIXED = {
    "one yes or no": [optin.YesNo("a")],
    "one number (0 to 80, sd 9)": [optin.Number("a", bounds=(0, 80), sd=9)],
    "a score of nine items (PHQ-9, sd 5)": [optin.Score("a", items=9, each=(0, 3), sd=5)],
    "five questions: number, yes or no, scale, choice of four, histogram of six bins": [
        optin.Number("a", bounds=(0, 80), sd=9),
        optin.YesNo("b"),
        agree("c"),
        optin.Choice("d", options=("early", "late", "night", "rather not say")),
        optin.Histogram("e", edges=(16, 25, 35, 45, 55, 65, 80)),
    ],
    "ten scales of five options": [agree(name) for name in "abcdefghij"],
}


def sized(questions, people, limits):
    found = optin.size(questions, people=people, limits=limits).questions
    return max((each.verdict for each in found), key=VERDICTS.index)


def worst(questions, people, limits):
    """Return what `optin size` says; for hundreds of people from a plan, which does not search for the people needed."""
    if people % 100:
        return sized(questions, people, limits)
    levels, parts = zip(*MIXES[limits], strict=True)
    crowd = optin.PrivacyConstrained(np.repeat(levels, [part * people // 100 for part in parts]))
    plan = optin.plan(crowd, questions)
    return max((verdict(plan[each.name].half_width(), each.yardstick) for each in questions), key=VERDICTS.index)


def for_you_table(limits):
    head = ["| sheet | " + " | ".join(f"{people:,}" for people in CROWDS) + " |", "|---|" + "---|" * len(CROWDS)]
    rows = [
        f"| {name} | " + " | ".join(mark(worst(questions, people, limits)) for people in CROWDS) + " |"
        for name, questions in FIXED.items()
    ]
    return "\n".join(head + rows)


def test_there_is_a_sheet_for_each_of_the_six_questionnaires():
    assert {file.stem for file in FILES} == set(SHEETS)
    assert {re.sub("-items$", "", name) for name in SHEETS} == {"phq-9", "gad-7", "who-5", "sf-12", "pulse", "employee"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_questionnaire_is_read_and_says_what_why_and_by_whom(file):
    sheet = optin.Sheet.from_toml(file)
    assert sheet.title
    assert sheet.purpose
    assert sheet.asked_by
    assert all(question.text for question in sheet)


def answers_to(question, people, rng):
    """Make up answers of a kind; every fifth person leaves the question out."""
    if question.kind in ("number", "score", "histogram"):
        low, high = (question.edges[0], question.edges[-1]) if question.kind == "histogram" else question.bounds
        found = rng.uniform(low, high, people).tolist()
    elif question.kind == "multiple-choice":
        found = [list(rng.choice(question.options, question.at_most, replace=False)) for _ in range(people)]
    else:
        found = rng.choice(question.options, people).tolist()
    return [None if n % 5 == 0 else answer for n, answer in enumerate(found)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_questionnaire_can_be_planned_announced_and_released(file):
    sheet, people = optin.Sheet.from_toml(file), optin.PrivacyConstrained([0.5, 1.0, 3.0] * 100)
    rng = np.random.default_rng(9)
    answers = {}
    for question in sheet:
        answers.setdefault(question.column, answers_to(question, 300, rng))
    offer = optin.plan(people, sheet).announce(people, campaign=file.stem)
    release = optin.release(offer, people, answers)
    assert set(release.results) == {question.name for question in sheet}
    assert release.question_people == (240,) * len(sheet)
    assert optin.Release.from_json(release.to_json()).table().rows == release.table().rows


@pytest.mark.parametrize(
    ("name", "questions"), [("phq-9", 10), ("gad-7", 8), ("who-5", 5), ("sf-12", 12)], ids=lambda value: str(value)
)
def test_item_by_item_a_questionnaire_has_all_its_items(name, questions):
    assert len(asked(f"{name}-items")) == questions


@pytest.mark.parametrize(
    ("name", "bounds"), [("phq-9", (0, 27)), ("gad-7", (0, 21)), ("who-5", (0, 25))], ids=["phq-9", "gad-7", "who-5"]
)
def test_a_total_has_the_range_of_the_published_instrument(name, bounds):
    assert asked(name)["total"].bounds == bounds


def test_the_table_of_questionnaires_says_what_is_computed():
    assert questionnaire_table() in PAGE.read_text(), f"{PAGE.name} should have:\n{questionnaire_table()}"


def test_the_table_of_questionnaires_does_not_hide_what_is_useless():
    assert PAGE.read_text().count("*useless*") >= 10


@pytest.mark.parametrize("name", SHEETS)
def test_every_question_of_every_sheet_is_named_in_the_page(name):
    for question in asked(name):
        assert question.name in PAGE.read_text(), question.name


@pytest.mark.parametrize("limits", ["careful", "mixed", "open"])
def test_is_it_for_you_says_what_is_computed(limits):
    section = FOR_YOU.read_text().split(f"## {limits.capitalize()} limits\n")[1].split("\n## ")[0]
    assert for_you_table(limits) in section, f"{FOR_YOU.name}, {limits}:\n{for_you_table(limits)}"


@pytest.mark.parametrize(("people", "limits"), [(100, "careful"), (200, "mixed"), (1000, "open")])
def test_is_it_for_you_is_what_size_says(people, limits):
    for questions in FIXED.values():
        assert sized(questions, people, limits) == worst(questions, people, limits)


def test_is_it_for_you_sums_its_tables_up_as_they_are():
    """The page's last section, sentence by sentence: fifty people, five hundred, thousands."""
    said = {limits: {n: [worst(q, n, limits) for q in FIXED.values()] for n in (50, 500, 5000)} for limits in MIXES}
    assert [said[limits][50][0] for limits in ("careful", "mixed", "open")] == ["useless", "poor", "poor"]
    assert all(set(each[50][1:]) == {"useless"} for each in said.values())
    assert all(each[500][0] == "good" for each in said.values())
    careful = optin.size([optin.YesNo("ill")], people=500, limits=0.03).questions[0]
    assert (careful.verdict, round(100 * careful.half_width)) == ("poor", 21)
    assert said["careful"][500][1:3] == ["poor", "poor"]
    assert said["mixed"][500][1:3] == said["open"][500][1:3] == ["good", "good"]
    assert said["careful"][500][3:] == said["mixed"][500][3:] == ["useless", "useless"]
    assert said["open"][500][3:] == ["good", "good"]
    assert all(set(each[5000]) == {"good"} for each in said.values())


def test_is_it_for_you_also_says_where_it_is_not():
    assert FOR_YOU.read_text().count("*useless*") >= 10
