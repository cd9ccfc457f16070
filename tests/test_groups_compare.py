"""Designs used for every public group, and the whole put together from them (E27)."""

import json

import numpy as np
import pytest
from cli_steps import optin as run

import optin
from optin.baselines import designs, whole_errors
from optin.errors import BadInput


def people(limits=(0.25, 0.5, 1.0, 4.0)):
    rng = np.random.default_rng(3)
    return rng.choice(limits, size=300), np.array(["ER", "ICU", "lab"])[rng.integers(3, size=300)]


@pytest.mark.parametrize("max_gap", [0.0, 0.1])
def test_a_design_by_group_errs_as_its_groups_do_alone(max_gap):
    limits, wards = people()
    divided = optin.PrivacyConstrained(limits, groups=wards)
    found = whole_errors(optin.plan(divided, bounds=(0, 1), max_gap=max_gap), divided, mean=0.3)
    parts = [optin.PrivacyConstrained(limits[wards == ward]) for ward in np.unique(wards)]
    alone = [designs(optin.plan(part, bounds=(0, 1), max_gap=max_gap), part, mean=0.3) for part in parts]
    shares = [len(part) / 300 for part in parts]
    for each, groups in zip(found, zip(*alone, strict=True), strict=True):
        assert {group.name for group in groups} == {each.name}
        assert each.variance == pytest.approx(sum(s**2 * g.variance for s, g in zip(shares, groups, strict=True)))
        bound = sum(s * g.bias_bound for s, g in zip(shares, groups, strict=True))
        assert each.mse == pytest.approx(each.variance + bound**2)


def test_the_optimum_by_group_errs_as_the_plan_says_of_the_whole():
    limits, wards = people()
    divided = optin.PrivacyConstrained(limits, groups=wards)
    plan = optin.plan(divided, bounds=(0, 1))
    first = whole_errors(plan, divided)[0]
    assert first.name == "optimum"
    assert first.mse == pytest.approx(plan.total("value").standard_error ** 2)


def test_there_is_no_whole_where_nobody_in_a_group_allows_anything():
    divided = optin.PrivacyConstrained([0.0] * 20 + [1.0] * 20, groups=["a"] * 20 + ["b"] * 20)
    with pytest.raises(BadInput, match=r'nobody in group "?a"? allows anything'):
        whole_errors(optin.plan(divided, bounds=(0, 1)), divided)


def test_people_in_groups_are_told_how_their_designs_are_compared():
    limits, wards = people()
    with pytest.raises(BadInput, match=r"these people are in 3 groups: .*whole_errors\(plan, people\)"):
        optin.compare(optin.PrivacyConstrained(limits, groups=wards), bounds=(0, 1))


@pytest.fixture
def people_file(tmp_path):
    rows = [f"p{at},{limit},{ward}" for at, (limit, ward) in enumerate(zip(*people(), strict=True))]
    (tmp_path / "people.csv").write_text("id,limit,ward\n" + "\n".join(rows) + "\n")
    return tmp_path / "people.csv"


def test_the_command_puts_designs_by_group_beside_those_of_undivided_people(people_file):
    asked = ("compare", people_file, "--limits", "limit", "--bounds", 0, 1)
    plain, told = run(*asked), run(*asked, "--by", "ward")
    assert told.code == 0, told.err
    assert told.out.startswith(plain.out.rstrip())
    more = told.out[len(plain.out.rstrip()) :]
    assert "The whole, put together from groups" in more
    undivided = optin.compare(optin.PrivacyConstrained(people()[0]), bounds=(0, 1)).loc["optimum", "mse"]
    (line,) = (line.split() for line in more.splitlines() if line.split()[:1] == ["optimum"])
    assert line[-2:] == ["1", f"{undivided:.4g}"]


def test_the_command_finds_the_same_by_group_in_an_engine(people_file):
    asked = ("compare", people_file, "--limits", "limit", "--bounds", 0, 1, "--by", "ward", "--json")
    kept, held = (json.loads(run(*asked, "--engine", engine).out)["by_group"] for engine in ("duckdb", "memory"))
    assert [row["name"] for row in kept] == [row["name"] for row in held]
    assert [row["mse"] for row in kept] == pytest.approx([row["mse"] for row in held], rel=5e-3)
