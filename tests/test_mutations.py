"""Thirty-one ways to break planner and release, each found out by the test of the claim it breaks."""

import subprocess
import sys

import mutations
import pytest


def test_every_mutation_is_of_a_line_that_is_there_and_names_a_test_that_is_there():
    assert len(mutations.MUTATIONS) >= 20
    for mutation in mutations.MUTATIONS:
        text = (mutations.ROOT / "src/optin" / mutation.file).read_text()
        assert text.count(mutation.line) == 1, mutation.name
        file, name = mutation.test.split("::")
        assert f"def {name}(" in (mutations.ROOT / file).read_text(), mutation.name


def test_a_copy_comes_before_the_package_that_is_installed(tmp_path):
    (tmp_path / "optin").mkdir()
    (tmp_path / "optin" / "__init__.py").write_text("broken = True\n")
    shown = subprocess.run(
        [sys.executable, "-c", "import optin; print(optin.broken)"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "True\n"


@pytest.mark.slow
@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=[each.name for each in mutations.MUTATIONS])
def test_a_broken_line_is_found_out_by_the_test_of_its_claim(mutation):
    dead, output = mutations.killed(mutation)
    assert dead, output[-2000:]
