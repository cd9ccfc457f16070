"""One word, one thing: names in the code keep to the dictionary of docs/theory/notation.md."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "optin"
DICTIONARY = (ROOT / "docs/theory/notation.md").read_text().split("## One word, one thing\n")[1]

FORMS = {
    "kept": {"kept"},
    "reach": {"reach", "reaches"},
    "level": {"level", "levels"},
    "ladder": {"ladder", "ladders"},
    "step": {"step", "steps"},
    "spread": {"spread", "spreads"},
    "offers": {"offers"},
    "drawing": {"drawing", "drawings"},
    "whole": {"whole", "wholes"},
    "People": {"People"},
}
"""The forms in which a word stands in a name; people, in small letters, are people wherever they are."""

INTERVALS = "announcement/ planning/ questions/ releasing/ report/ simulation/ cli/simulate.py"
DISTINCT = "baselines/ campaign/ grains/"
RUNS = "web/ client/"
PLACES: dict[str, dict[str, str]] = {
    "kept": {
        "kept": "baselines/ cli/reading_options.py engine/ figures/histograms.py formats/names.py kernel/ simulation/"
        " tables/table.py wording/records.py announcement/deal.py incentives/false_limits.py",
        "_kept": "ledger/packed_holds.py",
        "sums_of_kept": "baselines/simulated.py",
        "numbers_kept": "baselines/simulated.py",
        "promise_kept": "participation.py",
    },
    "reach": {
        "reach": "announcement/ baselines/ dynamics/ figures/curves.py kernel/ planning/ questions/ relations.py",
        "reaches": "baselines/ kernel/ releasing/",
        "exact_reach": "questions/counted.py",
        "AtReach": "kernel/pricing.py",
        "best_at_reach": "kernel/optimum.py",
        "cap_at_reach": "kernel/cap.py",
    },
    "level": {
        "level": f"{INTERVALS} kernel/spreads.py baselines/answer_laws.py",
        "chosen_level": "questions/multiple_choice.py",
        "number_levels": "questions/cells.py",
        "level_expression": "questions/cells.py",
        "_levels": "grains/engine_split.py",
        "levels": f"{DISTINCT} kernel/halves.py questions/cells.py",
        "grains_of_levels": "grains/units.py",
        "Levels": "baselines/levels.py",
        "levels_of": "baselines/levels.py",
        "levels_for": "baselines/levels.py",
        "levels_of_buckets": "baselines/levels.py",
        "TwoLevel": "simulation/populations.py",
        "Level": "cli/simulate_options.py",
        "each_level": "releasing/across.py",
        "level_of": "figures/accuracy.py",
        "log_level": "web/",
    },
    "ladder": {
        "ladder": "client/",
        "ladder_of": "web/service/ladder.py",
        "show_ladder": "web/api/public.py",
        "LadderOut": "web/api/given.py",
        "LadderStep": "client/records.py",
    },
    "step": {
        "step": f"{RUNS} cli/how_far.py",
        "steps": f"{RUNS} planning/certificate.py cli/announcing.py",
        "next_step": RUNS,
        "record_step": "web/service/steps.py",
        "take_step": "web/",
        "take_due_steps": "web/service/punctual.py",
        "campaign_steps": "web/service/long_steps.py",
        "StepName": "web/api/campaigns.py",
        "StepIn": "web/api/taken.py",
        "StepOut": "web/api/given.py",
        "StepShown": "web/pages/desk_steps.py",
        "LadderStep": "client/records.py",
        "LimitStep": "wording/limit_steps.py",
    },
    "spread": {
        "spread": "baselines/ kernel/ planning/ questions/ simulation/groups.py",
        "Spread": "kernel/spreads.py",
        "_spread": "questions/proportions.py",
        "uses_spread": "kernel/combining.py",
        "_without_spread": "kernel/quasilinear.py",
        "_prices_without_spread": "kernel/bound.py",
        "spread_words": "questions/",
    },
    "offers": {
        "offers": "announcement/ campaign/ grains/ ledger/ releasing/ report/",
        "exact_offers": "ledger/",
        "Offers": "announcement/",
    },
    "drawing": {"drawing": "campaign/steps.py ledger/charging.py"},
    "whole": {
        "whole": "cli/across_groups.py cli/compare.py figures/by_group.py planning/size.py report/ baselines/levels.py",
        "_whole_rows": "cli/across_groups.py",
        "_wholes": "cli/across_groups.py",
        "_whole_record": "cli/compare.py",
        "_show_whole": "cli/compare.py",
        "_planned_whole": "report/group_page.py",
        "whole_of": "report/group_sections.py",
        "whole_numbers": "report/group_sections.py",
        "WholeError": "baselines/by_group.py",
        "whole_errors": "baselines/by_group.py",
    },
    "People": {
        "People": "grains/people.py",
        "ArrayPeople": "grains/array_people.py",
        "EnginePeople": "grains/engine_people.py",
        "ReadPeople": "cli/people_files.py",
        "RoundPeople": "web/service/lookups.py",
        "MadePeople": "cli/made_people.py",
        "PeopleShown": "figures/merged_cells.py",
        "PeopleCount": "cli/",
        "PeoplePath": "cli/options.py",
        "LeastPeople": "cli/",
    },
}
"""Where each name that has such a word in it may be given to something: everywhere else the word would mean another thing."""


def given_names(tree):
    """Every name that a file gives: to functions, classes, arguments, variables, attributes and what it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def words_of(name):
    """The words of the dictionary that a name is made of; constants are shouted, and say themselves what they are."""
    parts = [] if name.isupper() else re.findall(r"[a-z]+|[A-Z][a-z]*", name)
    for word, forms in FORMS.items():
        if forms & set(parts if word == "People" else map(str.lower, parts)):
            yield word


@cache
def uses():
    """Every word of the dictionary, the name it stands in, and the file."""
    files = sorted(SOURCE.rglob("*.py"))
    return {
        (word, name, str(path.relative_to(SOURCE)))
        for path in files
        for name in given_names(ast.parse(path.read_text()))
        for word in words_of(name)
    }


def is_placed(word, name, file):
    return any(file.startswith(place) for place in PLACES[word].get(name, "").split())


@pytest.mark.parametrize("word", FORMS)
def test_a_word_of_the_dictionary_names_one_thing(word):
    """Whoever needs the word for something else finds a plain word for that; see the table in docs/theory/notation.md."""
    assert not sorted(use for use in uses() if use[0] == word and not is_placed(*use))


@pytest.mark.parametrize("word", FORMS)
def test_every_name_and_place_of_the_dictionary_is_in_use(word):
    seen = {(name, place) for each, name, file in uses() if each == word for place in [file]}
    idle = [
        (name, place)
        for name, places in PLACES[word].items()
        for place in places.split()
        if not any(name == used and file.startswith(place) for used, file in seen)
    ]
    assert idle == []


@pytest.mark.parametrize(
    "line",
    [
        "def whole(column): pass",
        "kept = cache(read)",
        "def reach(plan, level): pass",
        "class Step: pass",
        "self._ladder = None",
        "import optin.campaign as drawing",
        "def round_to(number, *, step): pass",
        "class People: pass",
    ],
)
def test_a_word_that_is_given_to_something_else_is_noticed(line):
    names = [(word, name) for name in given_names(ast.parse(line)) for word in words_of(name)]
    assert any(not is_placed(word, name, "transparency/tree.py") for word, name in names)


def test_the_dictionary_says_what_each_word_means():
    rows = [line.split("|")[1].strip() for line in DICTIONARY.splitlines() if line.startswith("| ")][1:]
    assert {word for row in rows for word in row.split(", ")} == {*FORMS, "offer"}


ONE_CLASS = ("People", "Step", "Sums", "Group", "Setting", "Spread", "Pieces", "Ladder")


def test_classes_of_the_dictionary_are_one_each():
    """What two rooms would both call so is called by what it is of: a question's sums, a round's people, a step in words."""
    classes = Counter(
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: classes[name] for name in ONE_CLASS if classes[name] > 1} == {}


ONE_FILE = """captions cells drawing entries given guards guesses labels ladder offers opening options points promise rows
    running search settings spread table"""


def test_files_of_the_dictionary_are_one_each():
    """A file name that says too little says it twice; what stands in several rooms is one thing in each of them."""
    files = Counter(path.stem for path in SOURCE.rglob("*.py"))
    assert {name: files[name] for name in ONE_FILE.split() if files[name] > 1} == {}
