"""What a plain install holds, and what is said of everything that it does not."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from optin import extras
from optin.errors import Argument, BadInput, MissingExtra

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
HEAVY = {"pandas", "pyarrow", "duckdb", "ibis-framework", "matplotlib", "psycopg", "fastapi", "pyspark"}


def named(requirements):
    return {each.split(">")[0].split("<")[0].split("[")[0].strip() for each in requirements}


def test_every_extra_that_a_message_names_can_be_installed_and_all_holds_each():
    assert set(extras.PACKAGES) == set(OPTIONAL) - {"all", "dev", "docs"}
    listed = OPTIONAL["all"][0].removeprefix("optin[").removesuffix("]").split(",")
    assert set(listed) == set(extras.PACKAGES)


def test_nothing_heavy_is_in_a_plain_install():
    assert not HEAVY & named(PROJECT["dependencies"])


IMPORTED = {"argon2-cffi": "argon2", "ibis-framework": "ibis", "python-multipart": "multipart"}
NEVER_IMPORTED = {"packaging", "pyarrow-hotfix", "sqlglot"}
"""What Spark and Ibis load."""


@pytest.mark.parametrize("extra", extras.PACKAGES)
def test_every_package_that_an_extra_brings_is_missed_where_it_is_not_there(extra):
    brought = named(OPTIONAL[extra]) - {"optin", *NEVER_IMPORTED}
    assert {IMPORTED.get(name, name.replace("-", "_")) for name in brought} == set(extras.PACKAGES[extra])


@pytest.mark.parametrize("extra", extras.PACKAGES)
def test_everything_is_installed_where_tests_run(extra):
    assert extras.installed(extra)
    extras.expect(extra, "nothing")


def test_what_is_missing_is_bad_input_with_the_line_as_data():
    with pytest.raises(MissingExtra) as caught:
        extras.expect_package("no_such_package_at_all", "a data frame")
    assert isinstance(caught.value, BadInput)
    assert caught.value.extra == "no_such_package_at_all"
    assert caught.value.data["line"] == "pip install no_such_package_at_all"
    said = extras.missing("engine duckdb", package="ibis", extra="optin[duckdb]", instead=Argument("engine", "memory"))
    assert said.data["line"] == "pip install 'optin[duckdb]'"
    assert "pip install 'optin[duckdb]'" in str(said)


OPTIONAL_MODULES = {package for packages in extras.PACKAGES.values() for package in packages}
LATER = ("engine/", "web/", "client/", "figures/", "grains/", "questions/", "tables/stored_")
"""Rooms that are entered with a table, an axes or a service in hand, which only an extra could have made."""


def local_imports(tree):
    """List functions that load an optional package, each with what it called before."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for at, step in enumerate(function.body):
                names = [alias.name for alias in getattr(step, "names", [])] if isinstance(step, ast.Import) else []
                names += [step.module or ""] if isinstance(step, ast.ImportFrom) else []
                if {name.split(".")[0] for name in names} & OPTIONAL_MODULES:
                    yield function.name, " ".join(ast.unparse(before) for before in function.body[:at])


def test_whoever_loads_an_optional_package_asks_for_it_first():
    source = ROOT / "src" / "optin"
    found = {
        (str(file.relative_to(source)), name): before
        for file in source.rglob("*.py")
        for name, before in local_imports(ast.parse(file.read_text()))
        if not str(file.relative_to(source)).startswith(LATER)
    }
    asked = [place for place, before in found.items() if "expect" in before]
    assert len(asked) >= 8
    assert set(found) - set(asked) == {
        ("report/images.py", "_our_settings"),  # of a picture that is being drawn
        ("tables/parquetfiles.py", "_damage"),  # of a file that was opened before
        ("tables/parquetfiles.py", "_opened"),
        ("tables/sources.py", "_frame"),  # of a table that was handed over before
    }


@pytest.mark.slow
def test_a_clean_environment_from_the_wheel_is_light_lives_a_campaign_and_names_every_missing_extra():
    """It builds the wheel and installs it where nothing else is; the others: packaging/try_extras.py."""
    words = [sys.executable, ROOT / "packaging" / "try_extras.py", "base", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (base,) = json.loads(done.stdout)
    assert base["packages"] < 20
    assert base["megabytes"] < 400
    assert not HEAVY & set(base["names"])


@pytest.mark.slow
def test_the_table_of_extras_counts_what_would_be_installed():
    """Dependencies are resolved and nothing is installed; sizes are printed by packaging/try_extras.py."""
    sys.path.insert(0, str(ROOT / "packaging"))
    from resolve import resolved

    listed = re.findall(r"\| `optin(?:\[(\w+)\])?` \| (\d+) \| \d+ \|", (ROOT / "docs" / "install.md").read_text())
    assert {extra for extra, _ in listed} == {"", "all", *extras.PACKAGES}
    for extra, packages in listed:
        assert resolved("3.11", extra, ("--constraint", "constraints.txt")) == f"{packages} packages"
    assert f"A plain install is {dict(listed)['']} packages;" in (ROOT / "README.md").read_text()
