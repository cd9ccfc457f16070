"""``optin plan --certify``: what a certificate shows is printed, in memory and in an engine alike, with the factor of E30."""

from __future__ import annotations

import numpy as np
import pytest
from cli_steps import optin as run
from cli_steps import optin_ok

import optin

CLASS = "weighted means with fixed weights and one Laplace noise"
ASKED = ("--limits", "limit", "--bounds", 0, 1)


@pytest.fixture
def people(tmp_path):
    limits = np.repeat([0.1, 0.5, 1.0], [34, 43, 23])
    rows = [f"p{place},{limit},{'ab'[place % 2]}" for place, limit in enumerate(limits.tolist())]
    path = tmp_path / "people.csv"
    path.write_text("id,limit,ward\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_factor_between_the_plan_and_the_bound_is_printed(people, engine):
    agents = optin.PrivacyConstrained(np.repeat([0.1, 0.5, 1.0], [34, 43, 23]))
    proof = optin.plan(agents, bounds=(0, 1)).certificate(agents)
    given = optin_ok("plan", people, *ASKED, "--engine", engine, "--certify", "--json").json["certificate"]
    assert given["of_any_kind"] == proof.beyond
    assert given["holds"] is True
    assert given["factor"] == pytest.approx(proof.factor, rel=1e-9)
    assert given["any_mechanism"] == pytest.approx(proof.any_mechanism, rel=1e-9)


def test_people_read_what_is_shown_and_of_which_kind_the_plan_is_best(people):
    told = optin_ok("plan", people, *ASKED, "--certify").out
    assert "The certificate" in told
    assert f"best among {CLASS}: " in told
    assert "no private mechanism of any kind has a worst error below" in told
    assert "times that" in told


def test_of_groups_every_one_has_its_own(people):
    told = optin_ok("plan", people, *ASKED, "--by", "ward", "--certify")
    assert "The certificates" in told.out
    given = optin_ok("plan", people, *ASKED, "--by", "ward", "--certify", "--json").json["certificate"]["groups"]
    assert list(given) == ["a", "b"]
    assert all(each["holds"] and each["factor"] > 1 for each in given.values())


def test_without_being_asked_nothing_is_certified(people):
    assert "ertificate" not in optin_ok("plan", people, *ASKED).out
    assert "certificate" not in optin_ok("plan", people, *ASKED, "--json").json


def test_a_certificate_is_not_written_into_the_plan(people, tmp_path):
    path = tmp_path / "plan.json"
    optin_ok("plan", people, *ASKED, "--certify", "-o", path)
    assert "certificate" not in path.read_text()


def test_of_several_questions_nothing_is_said_of_other_kinds(people, tmp_path):
    sheet = tmp_path / "sheet.toml"
    sheet.write_text('[[question]]\nname = "a"\nkind = "yes-no"\n\n[[question]]\nname = "b"\nkind = "yes-no"\n')
    told = run("plan", people, "--limits", "limit", "--sheet", sheet, "--certify")
    assert "nothing is shown of mechanisms of other kinds here" in told.out


def test_a_plan_over_a_given_noise_is_not_called_the_best_of_all():
    """At a rate of 2 the worked example has six times the optimum's variance: only its weights are the best."""
    agents = optin.PrivacyConstrained([1.0, 4.0, 9.0, 9.0])
    proof = optin.plan(agents, bounds=(0, 1), eta=2).certificate(agents)
    assert proof.holds
    assert proof.objective > 6 * optin.plan(agents, bounds=(0, 1)).variance
    assert proof.claim.startswith("best weights for the noise that was given: ")


@pytest.mark.parametrize("eta", [None, 450.0])
def test_the_factor_counts_the_bias_of_a_declared_gap_whoever_chose_the_noise(eta):
    agents = optin.PrivacyConstrained([0.1] * 340 + [0.5] * 430 + [1.0] * 230)
    plan = optin.plan(agents, bounds=(0, 1), eta=eta, max_gap=0.2)
    proof = plan.certificate(agents)
    assert plan.tilt > 0.01
    assert proof.holds
    assert proof.factor == pytest.approx(plan.worst_case_mse / proof.any_mechanism, rel=1e-9)
