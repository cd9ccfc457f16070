"""There is no path from a real value to noise in floats: mechanisms take simulated values, and these can only be drawn."""

import ast
import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import optin
from optin.baselines import NAMES, SimulatedValues, ValueLaw, designs
from optin.cli.app import COMMANDS

SRC = Path(optin.__file__).parent
LIMITS = np.array([0.1, 0.1, 0.5, 1.0, 2.0])
PEOPLE = optin.PrivacyConstrained(LIMITS)
RNG = np.random.default_rng(4)


def drawn(law=None, limits=LIMITS, campaigns=3, seed=1):
    return SimulatedValues(law or ValueLaw(), limits, campaigns=campaigns, generator=np.random.default_rng(seed))


class Pretender:
    """Has every attribute that mechanisms use."""

    campaigns, limits, law, everyone, target = 1, LIMITS, ValueLaw(), True, 0.5

    def sums(self, amounts):
        return np.array([1.0])

    sums_of_kept = joined_sums = joined_sums_below = sums


COLUMNS = [
    np.array([[0.2, 0.4, 0.1, 0.9, 0.3]]),
    [0.2, 0.4, 0.1, 0.9, 0.3],
    pd.Series([0.2, 0.4, 0.1, 0.9, 0.3]),
    pd.DataFrame({"value": [0.2, 0.4, 0.1, 0.9, 0.3]}),
    Pretender(),
    None,
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: type(c).__name__)
def test_no_mechanism_takes_a_column_of_values(name, column):
    plan = optin.plan(PEOPLE, bounds=(0, 1))
    design = {d.name: d for d in designs(plan, PEOPLE)}[name]
    for draw in (design.draw, design.rule.draw):
        with pytest.raises(optin.BadInput, match=r"optin\.campaign\.release"):
            draw(column, np.random.default_rng(1))


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_takes_simulated_values_and_a_generator_only(name):
    plan = optin.plan(PEOPLE, bounds=(0, 1))
    design = {d.name: d for d in designs(plan, PEOPLE)}[name]
    assert design.draw(drawn(), np.random.default_rng(1)).shape == (3,)
    assert list(inspect.signature(design.draw).parameters) == ["values", "generator"]
    for wrong in (None, 7, np.random.RandomState(1), np.random):
        with pytest.raises(optin.BadInput, match="numpy Generator"):
            design.draw(drawn(), wrong)


def test_values_are_drawn_when_they_are_made_from_numbers_and_words():
    assert list(inspect.signature(SimulatedValues).parameters) == ["law", "limits", "campaigns", "generator"]
    for field in (ValueLaw(), ValueLaw(shape="uniform", sd=0.1, gap=0.2, turnout=(0.5, 0.9))):
        for value in vars(field).values():
            assert np.size(value) <= 2
    with pytest.raises(optin.BadInput):
        ValueLaw(mean=np.array([0.1, 0.2, 0.9]))
    with pytest.raises(optin.BadInput, match="ValueLaw"):
        SimulatedValues(np.array([0.1, 0.2]), LIMITS, campaigns=1, generator=RNG)
    with pytest.raises(optin.BadInput, match="numpy Generator"):
        SimulatedValues(ValueLaw(), LIMITS, campaigns=1, generator=Pretender())


def test_limits_touch_values_by_their_order_alone():
    law = ValueLaw(gap=0.4)
    squeezed = np.argsort(np.argsort(LIMITS, kind="stable"), kind="stable") * 1e-3
    squeezed[1] = squeezed[0]
    ours, theirs = drawn(law), drawn(law, squeezed)
    assert (ours.sums(np.arange(5.0)) == theirs.sums(np.arange(5.0))).all()


def test_simulated_values_cannot_be_changed_replaced_or_extended():
    values = drawn()
    with pytest.raises(AttributeError, match="as they were drawn"):
        values.limits = LIMITS
    with pytest.raises(AttributeError, match="as they were drawn"):
        values._summed = np.ones((3, 5))
    with pytest.raises(AttributeError):
        values.values = np.ones((3, 5))
    with pytest.raises(ValueError, match="read-only"):
        values._summed[0, 0] = 0.25
    with pytest.raises(TypeError, match="no subclasses"):
        type("Real", (SimulatedValues,), {})


def test_copies_hold_what_was_drawn():
    values = drawn(campaigns=20)
    for again in (copy.copy(values), pickle.loads(pickle.dumps(values))):
        assert (again.sums(LIMITS) == values.sums(LIMITS)).all()


def test_noise_in_floats_is_drawn_for_simulated_values_alone():
    """Who calls a numpy Generator's noise: the mechanisms here, and nobody who reads files, ledgers or releases."""
    callers = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("laplace", "standard_exponential"):
                callers.add(path.relative_to(SRC).parts[0].removesuffix(".py"))
    assert callers == {"baselines"}


def test_the_commands_of_the_laboratory_read_no_values():
    for name in ("compare", "simulate"):
        assert "values" not in inspect.signature(COMMANDS[name]).parameters
    assert "people" in inspect.signature(COMMANDS["compare"]).parameters


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"shape": "bell"}, "coin"),
        ({"sd": 0.1}, "not with coins"),
        ({"shape": "uniform"}, "give sd"),
        ({"shape": "uniform", "sd": 0.3}, "sd of uniform"),
        ({"shape": "uniform", "sd": 0.2, "mean": 0.1}, "leave the bounds"),
        ({"gap": 0.5, "mean": 0.2}, "leave the bounds"),
        ({"mean": float("nan")}, "leave the bounds"),
        ({"turnout": (0.0, 1.0)}, "turnout"),
        ({"turnout": (0.5, 1.5)}, "turnout"),
    ],
)
def test_laws_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(optin.BadInput, match=words):
        ValueLaw(**wrong)


@pytest.mark.parametrize("law", [ValueLaw(mean=0.3, gap=0.4), ValueLaw(shape="uniform", sd=0.1, gap=-0.2)])
def test_drawn_values_have_the_means_and_variances_of_their_law(law):
    """False alarm about 1 in 1,000 for all ten numbers together, at five standard errors of a fourth moment at most 1/4."""
    values = drawn(law, campaigns=40_000)
    for person in range(5):
        column = values.sums(np.eye(5)[person])
        variance = law.variances(LIMITS)[person]
        assert column.mean() == pytest.approx(law.means(LIMITS)[person], abs=4.5 * np.sqrt(variance / 40_000))
        assert column.var() == pytest.approx(variance, abs=4.5 * 0.25 / np.sqrt(40_000))
    assert law.variances(LIMITS).max() <= law.most_variance + 1e-12
    assert law.means(LIMITS).mean() == pytest.approx(law.mean)
    assert np.ptp(law.means(LIMITS)) <= abs(law.gap) + 1e-12
