"""The OpenAPI document says what the service does: no server error, no undocumented status, no answer of another shape."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.openapi import from_url
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from web_steps import OpenHouse, answering, registered, released

from optin.web.api.taken import DraftIn, WhatIfIn

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
LAST = [("DELETE", "/api/me"), ("DELETE", "/api/session")]
COUNTS = [pytest.param(2, id="few", marks=pytest.mark.slow), pytest.param(60, id="many", marks=pytest.mark.soak)]

pytestmark = pytest.mark.xdist_group("openapi")  # they share one house


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    with OpenHouse(f"sqlite:///{folder / 'web.sqlite'}", folder) as opened:
        opened.owner, opened.crowd = opened.analyst(), opened.people(12)
        for person in opened.crowd:
            person.raise_allowance(8.0)
        opened.campaigns = [
            opened.owner.draft(title="t", question="q", bounds=(0, 1)).id,
            registered(opened.owner, opened.crowd),
            answering(opened.owner, opened.crowd),
            released(opened.owner, opened.crowd),
        ]
        yield opened


def operations(house):
    """List the operations, those that end a visit at the end."""
    found = [result.ok() for result in from_url(f"{house.origin}/api/openapi.json").get_all_operations()]
    return sorted(found, key=lambda operation: (operation.method.upper(), operation.path) in LAST)


def cases(operation, house, mode):
    """Cases of an operation, about campaigns that are there as well as about made-up ones."""
    if "{campaign}" not in operation.path or mode is GenerationMode.NEGATIVE:
        return operation.as_strategy(generation_mode=mode)
    return st.sampled_from(house.campaigns).flatmap(
        lambda campaign: operation.as_strategy(path_parameters=_parameters(operation, campaign))
    )


def _parameters(operation, campaign):
    return {"campaign": campaign} | ({"step": "open"} if "{step}" in operation.path else {})


@pytest.mark.parametrize("examples", COUNTS)
@pytest.mark.parametrize("role", ["nobody", "analyst", "person"])
def test_whatever_is_sent_the_answer_is_a_documented_one(house, role, examples):
    client = {"nobody": lambda: None, "analyst": lambda: house.owner, "person": lambda: house.crowd[0]}[role]()
    for operation in operations(house):
        if client is not None and {"analyst": "people", "person": "campaigns"}[role] in operation.tags:
            continue  # another's door: 404 whatever is sent, as other tests show
        if client is not None and (operation.method.upper(), operation.path) in LAST:
            continue  # they are needed to the end
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
        case.call_and_validate(headers=headers, checks=CHECKS, timeout=120)

    with contextlib.suppress(Unsatisfiable):  # an operation without anything that could be wrong
        trying()


def test_every_operation_says_what_it_does_and_shows_an_example_of_what_it_takes(house):
    document = house.ask("GET", "/api/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            assert {"401", "403", "404", "409", "413", "422", "429", "503"} <= set(operation["responses"]), (
                method,
                path,
            )
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("In"):
            examples = "examples" in schema or any("examples" in part for part in schema["properties"].values())
            assert examples, name


def test_how_far_answers_lie_apart_is_called_sd_and_its_earlier_name_is_read_too():
    given = {"title": "t", "question": "q", "lower": 0.0, "upper": 12.0}
    drafts = [DraftIn.model_validate_json(json.dumps(given | {name: 2.0})).draft() for name in ("sd", "data_sd")]
    assert drafts[0] == drafts[1]
    assert drafts[0].data_sd == 2.0
    assert WhatIfIn.model_validate({"data_sd": 2.0}).model_dump()["sd"] == 2.0
    assert "sd" in DraftIn.model_json_schema()["properties"]
    with pytest.raises(ValueError, match="data_sd"):
        DraftIn.model_validate(given | {"sd": 2.0, "data_sd": 3.0})
