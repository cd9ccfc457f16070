"""What the README and the tutorial show in Python is right for whoever checks types: mypy --strict, and pyright."""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", *(f"docs/tutorial/{name}.md" for name in ("README", "participant", "researcher")))
BIN = Path(sys.executable).parent
MYPY = "[mypy]\nstrict = true\n[mypy-pandas.*]\nignore_missing_imports = true\n"
WHOLE = re.compile(r"^```python\n(?!>>>)(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block that is a program, without prompts."""
WRONG = (
    "import optin\noptin.plan(optin.PrivacyConstrained([1, 4]), bounds='0 1', sd=None)\noptin.plan(3, bounds=(0, 1))\n"
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The Python of each page as a module of somebody's own."""
    folder = tmp_path_factory.mktemp("shown")
    for page in PAGES:
        text = (ROOT / page).read_text()
        examples = doctest.DocTestParser().get_examples(text)
        name = page.removesuffix(".md").replace("/", "_").lower()
        (folder / f"{name}.py").write_text("".join(each.source for each in examples))
        for at, block in enumerate(WHOLE.findall(text)):
            (folder / f"{name}_{at}.py").write_text(block)
    assert (folder / "readme_0.py").exists()
    assert sum(len(path.read_text().splitlines()) for path in folder.iterdir()) > 60
    (folder / "mypy.ini").write_text(MYPY)
    settings = {"typeCheckingMode": "standard", "reportUnusedExpression": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return folder


def checked(folder, *command):
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)


def mypy(folder, *files):
    return checked(folder, BIN / "mypy", "--python-executable", sys.executable, *files)


def pyright(folder, *files):
    return checked(folder, BIN / "basedpyright", "--pythonpath", sys.executable, "--level", "error", *files)


@pytest.mark.parametrize(
    "check", [pytest.param(mypy, marks=pytest.mark.slow), pyright], ids=["mypy --strict", "pyright"]
)
def test_what_the_docs_show_passes_as_code_of_a_user(shown, check):
    found = check(shown, *sorted(path.name for path in shown.glob("*.py")))
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    "check", [pytest.param(mypy, marks=pytest.mark.slow), pyright], ids=["mypy --strict", "pyright"]
)
def test_a_wrong_call_is_told_by_its_types(tmp_path, check):
    (tmp_path / "wrong.py").write_text(WRONG)
    found = check(tmp_path, "wrong.py")
    assert found.returncode == 1
    assert "wrong.py:2" in found.stdout
    assert "wrong.py:3" in found.stdout
