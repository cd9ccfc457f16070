"""Failures carry a template and data; every surface fills it in itself, and no module reads a finished sentence."""

from __future__ import annotations

import ast
import copy
import math
import pickle
import string
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import typer

import optin
from optin import errors
from optin.cli.app import app
from optin.cli.speaking import NO_OPTION, spoken
from optin.errors import Argument, BadInput, Infeasible, OptinError, Place, PromiseBroken
from optin.wording.sentences import Sentence

SOURCE = Path(errors.__file__).parent
FAILURES = (
    "BadInput",
    "BudgetSpent",
    "Infeasible",
    "LedgerUnavailable",
    "MissingExtra",
    "PromiseBroken",
    "VisitFailure",
    "Refused",
)
MATCHES = {
    "database/migrations/versions/web_0012.py": "sentences of earlier logs, read once as a database is brought up to date",
    "council/browser.py": "calls in a script of ours, to list what it says",
    "client/visiting.py": "a cookie that a server sent",
    "engine/duck.py": "globs in names of files",
    "tables/table_cells.py": "cells that may be numbers",
    "tables/decimals.py": "cells that are numbers",
    "tables/headers.py": "cells of a first line that may be somebody's row",
    "engine/spark.py": "names of files that Spark skips",
    "receipts/record.py": "hashes and salts",
    "tables/plain_files.py": "ends of lines in files",
    "cli/dashes.py": "file names that begin with a dash",
    "tables/spellings.py": "how people spell a limit in a cell",
    "tables/workbooks.py": "formats of numbers in a workbook",
    "transparency/checkpoint.py": "sizes of logs in signed notes",
    "transparency/note.py": "names of keys in signed notes",
    "formats/strict_json.py": "hashes",
    "ledger/staging.py": "ids with letters that JSON spells",
    "releasing/noise.py": "the version of another library",
    "ledger/fittings.py": "statements that a database wrote",
    "council/bundle.py": "names of files in a bundle that anyone may have written",
    "ledger/streamed_hashes.py": "names of fields in a statement",
    "web/pages/entrance.py": "ids in addresses",
    "web/guards.py": "ids in addresses",
    "web/pages/spreadsheets.py": "cells that a spreadsheet would compute",
    "web/service/pasted_lists.py": "addresses as mail programs copy them, and cells that a spreadsheet would compute",
    "web/service/mailer.py": "addresses that people typed",
    "web/pages/recovery.py": "keys in recovery links",
    "web/pages/sheet_rows.py": "edges of a histogram that people typed",
    "web/service/entering_again.py": "keys that a browser made",
    "web/pages/numbers.py": "numbers that people typed",
    "web/service/keys.py": "names of key files",
    "web/service/lookups.py": "ids in addresses",
}
"""Who matches text by regular expressions, and what text that is: no sentence of ours that is written today."""


@cache
def modules() -> dict[str, ast.Module]:
    return {str(file.relative_to(SOURCE)): ast.parse(file.read_text()) for file in sorted(SOURCE.rglob("*.py"))}


def matching(tree: ast.Module) -> bool:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return "re" in names or any(isinstance(node, ast.ImportFrom) and node.module == "re" for node in ast.walk(tree))


def test_nobody_matches_our_own_sentences():
    assert {name for name, tree in modules().items() if matching(tree)} == set(MATCHES)
    assert matching(ast.parse("def f():\n    import re")), "a module that does would be found"
    assert matching(ast.parse("from re import sub"))


def raised(tree: ast.Module) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [call for call in calls if call.func.id in FAILURES and call.args]  # type: ignore[attr-defined]


def literal(node: ast.expr) -> str | None:
    """Return a template that is written out, so far as it is."""
    if isinstance(node, ast.BinOp):
        parts = [literal(node.left), literal(node.right)]
        return "".join(part for part in parts if part is not None)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_templates_are_written_out_and_never_mixed_with_what_they_are_filled_with():
    """A name with braces in it would otherwise be taken for a field."""
    for name, tree in modules().items():
        for call in raised(tree):
            parts = list(ast.walk(call.args[0]))
            assert not any(isinstance(part, ast.JoinedStr) for part in parts), f"{name} line {call.lineno}"


def test_a_template_names_what_it_is_given():
    for name, tree in modules().items():
        for call in raised(tree):
            given = {keyword.arg for keyword in call.keywords}
            text = literal(call.args[0])
            if text is not None and isinstance(call.args[0], ast.Constant) and given:
                wanted = {field for _, field, _, _ in string.Formatter().parse(text) if field}
                assert wanted <= given, f"{name} line {call.lineno}"


def test_a_message_is_its_template_filled_in():
    error = BadInput("{place} is negative; {others:,} more are", place=Place(3, "limits"), others=1200)
    assert str(error) == "limits[3] is negative; 1,200 more are"
    assert error.template == "{place} is negative; {others:,} more are"
    assert error.data["place"].index == 3


def test_a_plain_sentence_is_a_template_without_fields():
    assert str(BadInput("the column {x} is empty")) == "the column {x} is empty"
    assert str(BadInput("the column {name} is empty", name="{x}")) == "the column {x} is empty"


FAILED = [
    BadInput("{place} is missing", place=Place(1, "values")),
    Infeasible("nobody joins {people}", people=3, shortfall=1.5, people_needed=7, outside_needed=0.1),
    PromiseBroken("{person} left", person=Place(2), other_people=True),
    errors.BudgetSpent("spent"),
    errors.LedgerUnavailable("{url} does not answer", url="sqlite:///x"),
]


@pytest.mark.parametrize("error", FAILED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("passed_on", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_failure_survives_being_copied_and_sent(error, passed_on):
    found = passed_on(error)
    assert type(found) is type(error)
    assert (str(found), found.template, dict(found.data)) == (str(error), error.template, dict(error.data))
    assert vars(found) == vars(error)


PRIVATE = 777.125


def _wrongly() -> list[Callable[[], object]]:
    people = optin.PrivacyConstrained([0.5] * 12)
    offer = optin.plan(people, bounds=(0, 1)).announce(people)
    return [
        lambda: optin.PrivacyConstrained([1.0, -PRIVATE]),
        lambda: optin.PrivacyConstrained([1.0, str(PRIVATE)]),
        lambda: optin.PrivacyConstrained.from_budgets([PRIVATE, 1.0], [math.nan, 1.0]),
        lambda: optin.QuasiLinear([PRIVATE, -1.0], benefit=optin.LinearBenefit(1.0, 1.0)),
        lambda: optin.release(offer, people, [PRIVATE] * 11 + [math.nan]),
        lambda: optin.release(offer, people, [str(PRIVATE)] * 12),
        lambda: optin.release(offer, people, [PRIVATE] * 12, joined=[str(PRIVATE)] * 12),
        lambda: optin.explain(offer, limit=-PRIVATE),
    ]


@pytest.mark.parametrize("at", range(len(_wrongly())))
def test_no_private_value_is_in_what_a_failure_carries(at):
    with pytest.raises(OptinError) as caught:
        _wrongly()[at]()
    carried = pickle.dumps(caught.value)
    assert str(PRIVATE).encode() not in carried
    assert struct.pack(">d", PRIVATE) not in carried
    assert struct.pack(">d", -PRIVATE) not in carried
    assert struct.pack(">d", PRIVATE) in pickle.dumps(BadInput("{value} is wrong", value=PRIVATE)), "it would be seen"


def test_a_failure_can_be_retold_where_its_place_has_a_better_name():
    error = PromiseBroken("{person} declined", person=Place(4), other_people=True)
    error.retell(lambda said: said.at("people.csv line 6") if isinstance(said, Place) else said)
    assert str(error) == "the person at people.csv line 6 declined"
    assert error.template == "{person} declined"
    assert error.other_people


def test_a_sentence_is_translated_by_its_template():
    said = Sentence("{argument} must be a number", argument=Argument("slack"))
    german = said.told(str, {"{argument} must be a number": "{argument} muss eine Zahl sein"})
    assert german == "slack muss eine Zahl sein"
    assert said.told(str, {"something else": "…"}) == said


def options() -> set[str]:
    root = typer.main.get_command(app)
    commands = [root, *root.commands.values()]  # type: ignore[attr-defined]
    commands += [each for one in commands for each in getattr(one, "commands", {}).values()]
    return {option for command in commands for parameter in command.params for option in parameter.opts}


def test_every_argument_that_a_failure_names_has_an_option():
    named = {
        call.args[0].value
        for tree in modules().values()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Argument"
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    said = {name: spoken(Sentence("{it}", it=Argument(str(name)))) for name in named - set(NO_OPTION)}
    assert {"max_gap", "sd", "min_people"} <= set(said)
    assert {name: option for name, option in said.items() if option not in options()} == {}


def test_every_failure_knows_its_exit_code_and_its_status():
    for kind in (OptinError, *OptinError.__subclasses__()):
        assert kind.exit_code in range(1, 6)
        assert kind.http_status in (409, 422, 500, 503)
