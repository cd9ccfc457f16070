"""What the README shows is what happens: its commands and code run, and its numbers are computed."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_steps import optin_ok

import optin

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
MIXES, ASKED = ("careful", "mixed", "open"), (1, 5)


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def rows(text):
    """Read rows of a printed table: names, then numbers."""
    found = [re.split(r"\s{2,}", line.strip()) for line in text[text.index("question") :].splitlines()]
    return found[0], {tuple(row[:2]): [float(number) for number in row[2:]] for row in found[1:]}


def test_the_two_commands_stand_first_and_are_targets():
    assert re.match(r"# optin\n\n```sh\nmake demo .*\nmake test .*\n```\n", TEXT)
    assert {"demo", "test"} <= set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_code_runs_and_prints_the_table_that_is_shown_up_to_noise():
    """Noise is drawn anew: a number may differ from the one shown by six times what 95 % intervals allow for, and no more."""
    (code,) = [block for block in blocks("python") if not block.startswith(">>>")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    heads, now = rows(printed.getvalue())
    (shown,) = [block for block in blocks("text") if re.search("^ *question  answer", block, re.MULTILINE)]
    assert (heads, list(now)) == (rows(shown)[0], list(rows(shown)[1]))
    for name, (estimate, low, high) in rows(shown)[1].items():
        assert low <= estimate <= high
        assert abs(now[name][0] - estimate) <= 6 * (high - low) / 2, name
    assert len([line for line in code.splitlines() if line]) == 20


def cell(people, asked, limits):
    sheet = optin.Sheet([optin.YesNo(f"q{at}") for at in range(asked)])
    each = optin.size(sheet, people=people, limits=limits).questions[0]
    if each.verdict == "useless":
        return "*useless*"
    return f"± {100 * each.half_width:.1f}" + (" (poor)" if each.verdict == "poor" else "")


def test_whether_it_is_for_you_is_computed():
    lines = re.findall(r"^\| ([\d,]+) \| (.*) \|$", TEXT, re.MULTILINE)
    assert len(lines) == 4
    assert any("useless" in cells for _, cells in lines)
    for people, cells in lines:
        expected = [cell(int(people.replace(",", "")), asked, limits) for limits in MIXES for asked in ASKED]
        assert cells.split(" | ") == expected


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme") / "demo"
    return folder, optin_ok("demo", "--folder", folder)


def test_the_lines_of_the_demo_are_lines_that_it_prints(demo):
    (shown,) = [block for block in blocks("text") if block.startswith("The plan")]
    printed = demo[1].out.splitlines()
    assert [line for line in shown.splitlines() if line not in printed] == []
    assert 10 <= len(shown.splitlines()) <= 12


def test_the_commands_of_a_campaign_run_in_order(demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "sheet.toml"):
        shutil.copy(demo[0] / name, tmp_path)
    (commands,) = [block for block in blocks("sh") if "optin plan" in block]
    for line in commands.splitlines():
        optin_ok(*line.partition("#")[0].split()[1:])
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_installing_names_extras_that_there_are():
    from optin.extras import PACKAGES

    for extra in re.findall(r"optin\[(\w+)\]", TEXT):
        assert extra in (*PACKAGES, "all")


@pytest.mark.slow
def test_the_picture_can_be_made_again(tmp_path):
    made = tmp_path / "again.png"
    subprocess.run([sys.executable, ROOT / "examples" / "readme_screens.py", made], check=True, capture_output=True)
    assert made.read_bytes().startswith(b"\x89PNG")
    assert made.stat().st_size > 50_000
