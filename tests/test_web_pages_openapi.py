"""schemathesis on every page: whatever an address, a query or a form holds, and whoever sends it, no page fails."""

import contextlib
import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.openapi import from_dict
from test_web_lists import Clock
from test_web_pages_fuzz import NAMES, ODD, PAGES, SHEET
from web_steps import OpenHouse, answering, registered, released

COUNTS = [pytest.param(1, id="few", marks=pytest.mark.slow), pytest.param(60, id="many", marks=pytest.mark.soak)]
ENDS = ("/sign-out", "/me/leave")
"""What ends a visit is left out, or there would be nobody to try the rest."""
MORE = (
    "action",
    "address",
    "back",
    "before",
    "echoed",
    "mail",
    "shared",
    "sure",
    "times",
    "token",
    "wished_of",
    "a0",
    "a1",
)
TEXT = {"anyOf": [{"type": "string", "maxLength": 40}, {"type": "string", "enum": sorted({*ODD, "yes", "send", "1"})}]}
ASKED = ("done", "of", "again", "begin", "expected", "groups", "mix", "campaigns", "wished")
ASKED += ("gap", "sd", "decline", "lower", "upper", "model", "quorum_people", "campaign")
"""What pages read from an address."""
ROLES = ("nobody", "person", "owner", "colleague", "reader", "rival")

pytestmark = pytest.mark.xdist_group("pages-openapi")  # they share one house


def document():
    """Write the pages down as schemathesis reads them: a few of the names that any form has may come to any page."""
    named = {"propertyNames": {"enum": [*NAMES, *MORE]}, "additionalProperties": TEXT}
    fields = {"type": "object", "maxProperties": 8, **named}
    form = {"content": {"application/x-www-form-urlencoded": {"schema": fields}}}
    paths = {}
    for method, path in PAGES:
        inside = [_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", path)]
        asked = [_parameter(name, "query") for name in ASKED] if method == "GET" else []
        more = {"requestBody": form} if method == "POST" else {}
        operation = {"parameters": [*inside, *asked], "responses": {"default": {"description": "a page"}}, **more}
        paths.setdefault(path, {})[method.lower()] = operation
    return {"openapi": "3.1.0", "info": {"title": "pages", "version": "1"}, "paths": paths}


def _parameter(name, place):
    return {"name": name, "in": place, "required": place == "path", "schema": TEXT}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd-pages")
    with OpenHouse(f"sqlite:///{folder / 'web.sqlite'}", folder, clock=Clock()) as opened:
        opened.who = {name: opened.analyst(name) for name in ("owner", "colleague", "reader", "rival")}
        owner, crowd = opened.who["owner"], opened.people(22)
        opened.who |= {"person": crowd[0], "nobody": None}
        for person in crowd:
            person.raise_allowance(8.0)
        terms = {"sealed": True, "answer_by": "2027-02-01", "window_hours": 5.0, "open_link": 5}
        drafted, asked = (owner.draft(SHEET, **terms).id for _ in range(2))
        owner.take(asked, "open")
        opened.campaigns = [drafted, asked, registered(owner, crowd), answering(owner, crowd), released(owner, crowd)]
        for campaign in opened.campaigns:
            for role in ("colleague", "reader"):
                form = {"csrf": owner._csrf, "name": role, "role": role}
                path = f"/a/c/{campaign}/colleagues"
                assert opened.ask("POST", path, cookie=owner._cookie, data=form).status_code == 303
        yield opened


def cases(operation, house, mode):
    if "{campaign}" not in operation.path or mode is GenerationMode.NEGATIVE:
        return operation.as_strategy(generation_mode=mode)
    given_names = dict.fromkeys(re.findall(r"\{(\w+)\}", operation.path), "x") | {
        "name": "error",
        "ink": "light",
        "at": "0",
    }
    named = {name: given_names[name] for name in re.findall(r"\{(\w+)\}", operation.path)}
    return st.sampled_from(house.campaigns).flatmap(
        lambda campaign: operation.as_strategy(path_parameters={**named, "campaign": campaign})
    )


@pytest.mark.parametrize("examples", COUNTS)
@pytest.mark.parametrize("role", ROLES)
def test_whatever_is_sent_no_page_answers_with_a_server_error(house, role, examples):
    client = house.who[role]
    for result in from_dict(document()).get_all_operations():
        operation = result.ok()
        if client is None or operation.path not in ENDS:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _try(cases(operation, house, mode), client, house.origin, examples)


def _try(strategy, client, origin, examples):
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples < 10,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def trying(case):
        headers = {"Origin": origin}
        if client is not None:
            headers |= {"Cookie": f"__Host-optin={client._cookie}", "X-CSRF-Token": client._csrf}
        answer = case.call(base_url=origin, headers=headers, timeout=120, allow_redirects=False)
        case.validate_response(answer, checks=[not_a_server_error])

    with contextlib.suppress(Unsatisfiable):  # a page that takes nothing has nothing that could be wrong
        trying()
