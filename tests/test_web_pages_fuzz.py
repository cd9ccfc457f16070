"""Whatever a form or an address holds, no page answers with a server error: every page route, as everyone, with odd texts."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from web_steps import House, answering, registered, released

import optin

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "reference"))
PAGES = [(method, path) for path, method, _ in import_module("generate").page_routes()]
LAST = ("/sign-out", "/me/leave")
NAMES = (
    "answer_by",
    "round",
    "step",
    "list",
    "ids",
    "count",
    "group",
    "number",
    "do",
    "toml",
    "title",
    "q0-low",
    "q0-high",
)
NAMES += ("q0-kind", "q0-sd", "q0-options", "expected", "groups", "mix", "campaigns", "of", "again", "begin", "wished")
NAMES += (
    "open_link",
    "window_hours",
    "quorum_people",
    "automatic",
    "sealed",
    "secret",
    "key",
    "name",
    "role",
    "epsilon",
)
ODD = (
    "",
    "0",
    "-1",
    "1e309",
    "nan",
    "²",
    "9" * 30,
    "2026-02-30",
    "9999-12-31",
    "\x00",
    "\ud7ff",
    "open",
    "add-number",
    "import",
)
ODD += (
    "number",
    "keep",
    "look",
    "up-0",
    "help-0",
    "out-99",
    "a@b;c\n\nd;",
    '[[question]]\nname = "x"',
    "'",
    "%s",
    "{{7*7}}",
)
COUNTS = [pytest.param(1, id="few", marks=pytest.mark.slow), pytest.param(60, id="many", marks=pytest.mark.soak)]
TEXTS = st.sampled_from(ODD) | st.text(max_size=12)
FORMS = st.dictionaries(st.sampled_from(NAMES), TEXTS, max_size=6)
SHEET = optin.Sheet([optin.YesNo("break"), optin.Number("hours", bounds=(0, 80), sd=9)], title="Two")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd-forms")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder) as opened:
        opened.owner, opened.crowd = opened.analyst(), opened.people(22)
        for person in opened.crowd:
            person.raise_allowance(8.0)
        opened.campaigns = [
            opened.owner.draft(SHEET, sealed=True, answer_by="2099-01-01", window_hours=5.0, open_link=5).id,
            registered(opened.owner, opened.crowd),
            answering(opened.owner, opened.crowd),
            released(opened.owner, opened.crowd),
        ]
        yield opened


def address(path, campaign, text):
    filled = path.replace("{campaign}", campaign)
    return re.sub(r"\{[^}]+\}", lambda _: re.sub(r"[^A-Za-z0-9.-]", "", text) or "x", filled)


@pytest.mark.parametrize("examples", COUNTS)
@pytest.mark.parametrize("role", ["nobody", "analyst", "person"])
def test_no_page_answers_with_a_server_error(house, role, examples):
    client = {"nobody": lambda: None, "analyst": lambda: house.owner, "person": lambda: house.crowd[0]}[role]()
    for method, path in PAGES:
        if client is None or path not in LAST:
            _try(house, client, method, path, examples)


def _try(house, client, method, path, examples):
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples < 10,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(campaign=st.sampled_from([*house.campaigns, "0" * 32, "x"]), text=TEXTS, form=FORMS)
    def trying(campaign, text, form):
        more = {"params": form} if method == "GET" else {"data": form | ({"csrf": client._csrf} if client else {})}
        cookie = client._cookie if client else None
        answer = house.ask(method, address(path, campaign, text), cookie=cookie, **more)
        assert answer.status_code < 500, (method, path, form, answer.status_code)

    trying()
