"""The command line itself: help, speed, exit codes, JSON, pipes and terminals, settings."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
import typer
from cli_steps import PLAN, optin_ok, people_csv
from cli_steps import optin as run

import optin
from optin.cli.app import app
from optin.cli.environment import SETTINGS, settings_markdown
from optin.cli.one_command import _unexpected

ANSI = re.compile(r"\x1b\[")
ROOT = typer.main.get_command(app)


def commands(group=ROOT, path=()):
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


EVERY = dict(commands())


def spawn(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "optin", *map(str, arguments)], capture_output=True, text=True, **more)


def test_the_commands_are_those_of_the_contract():
    words = {" ".join(path) for path in EVERY}
    assert words >= {
        "demo",
        "plan",
        "announce",
        "explain",
        "release",
        "receipt",
        "check",
        "ledger show",
        "ledger verify",
        "report",
    }


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_every_command_explains_itself_and_every_option_has_words(path):
    text = run(*path, "--help")
    assert text.code == 0
    command = EVERY[path]
    assert command.help
    assert "Example: optin" in command.help or path == ("demo",)
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            assert getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize("words", [(), ("plan",), ("announce",), ("explain",)])
def test_the_help_tells_the_worked_example(words):
    text = " ".join(run(*words, "--help").out.split())
    assert "1, 4, 9, 9" in text
    assert re.search(r"cap (is |of )?5\b", text)


def test_the_version_is_the_library_s_and_the_module_runs():
    found = spawn("--version")
    assert found.stdout == f"optin {optin.__version__}\n"
    assert run("--version").out == found.stdout


def test_help_loads_nothing_heavy():
    heavy = (
        "numpy",
        "rich",
        "pyarrow",
        "sqlalchemy",
        "opendp",
        "matplotlib",
        "alembic",
        "optin.planning",
        "optin.ledger",
    )
    check = (
        "import sys, optin.cli\ntry: optin.cli.main(['--help'])\nexcept SystemExit: pass\n"
        f"found = [name for name in {heavy!r} if name in sys.modules]\nsys.exit(str(found) if found else 0)"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_neither_noise_nor_pictures_load_what_they_do_not_use():
    check = (
        "import sys\nfrom optin.releasing.noise import draw\nfrom optin.report.images import picture\n"
        "draw(), picture(lambda ax, ink: 'nothing')\n"
        "print({'polars', 'sklearn', 'matplotlib.pyplot'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert found.stdout == "set()\n", found.stderr  # where Matplotlib says that it looks for fonts, the first time


def test_reading_people_does_not_load_pandas_where_it_happens_to_be_installed(tmp_path):
    words = ["plan", str(people_csv(tmp_path)), *PLAN]
    check = (
        f"import sys, optin.cli\ntry: optin.cli.main({words!r})\nexcept SystemExit: pass\n"
        "sys.exit('pandas was loaded' if 'pandas' in sys.modules else 0)"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_completion_is_offered():
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = [sys.executable, "-m", "optin", "--show-completion", "bash"]
    assert "complete" in subprocess.run(shown, capture_output=True, text=True, env=environment).stdout
    environment = {**os.environ, "_OPTIN_COMPLETE": "complete_bash", "COMP_WORDS": "optin re", "COMP_CWORD": "1"}
    script = [os.path.join(os.path.dirname(sys.executable), "optin")]
    words = subprocess.run(script, capture_output=True, text=True, env=environment).stdout.split()
    assert {"release", "receipt", "report"} <= set(words)


def test_a_pipe_gets_plain_text_and_messages_on_standard_error(tmp_path):
    table = people_csv(tmp_path)
    found = spawn("plan", table, *PLAN, "-o", tmp_path / "plan.json")
    assert found.returncode == 0
    assert not ANSI.search(found.stdout + found.stderr)
    assert "standard error" in found.stdout
    assert found.stderr == f"wrote {tmp_path / 'plan.json'}\n"
    assert max(map(len, found.stdout.splitlines())) > 80, "lines are not broken in a pipe"


def on_a_terminal(*arguments, **environment):
    """Run a command with a terminal on both streams and return what it would show."""
    ours, theirs = pty.openpty()
    settings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "optin", *map(str, arguments)],
        stdout=theirs,
        stderr=theirs,
        env={**settings, "TERM": "xterm-256color", "COLUMNS": "120", **environment},
    )
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    process.wait()
    os.close(ours)
    return shown.decode()


def _read(handle):
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]m")


def test_designs_keep_their_names_and_numbers_on_a_narrow_terminal(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("id,limit\n" + "".join(f"p{i},{0.01234 * 1.05**i:.6f}\n" for i in range(100)))
    made = on_a_terminal("simulate", "--campaigns", 20, "--people", 50, "--all", COLUMNS="80")
    compared = on_a_terminal("compare", table, "--limits", "limit", "--bounds", 0, 1, COLUMNS="80")
    assert "…" not in made.partition("Measured")[2] + compared.partition("Errors")[2], "nothing is cut off"
    assert [made.count(name) for name in ("sampling-mean", "sampling-max", "stretching-debiased")] == [1, 1, 1]
    assert [compared.count(name) for name in ("sampling-mean", "sampling-max", "stretching-debiased")] == [3, 3, 3]


def test_a_terminal_gets_colour_unless_no_color_is_set(tmp_path):
    table = people_csv(tmp_path)
    assert COLOUR.search(on_a_terminal("plan", table, *PLAN))
    plain = on_a_terminal("plan", table, *PLAN, NO_COLOR="1")
    assert "standard error" in plain
    assert not COLOUR.search(plain)


def test_json_is_all_there_is_on_standard_output(tmp_path):
    table, ledger = people_csv(tmp_path), tmp_path / "ledger.sqlite"
    plan, offer, release, receipt = (tmp_path / f"{name}.json" for name in ("plan", "offer", "release", "receipt"))
    steps = [
        ("plan", table, *PLAN, "--without", "20%", "-o", plan),
        ("announce", plan, table, "--ledger", ledger, "-o", offer),
        ("explain", offer, "--limit", "0.5"),
        ("release", offer, table, "--values", "units", "--joined", "joined", "--ledger", ledger, "-o", release),
        ("receipt", "--ledger", ledger, "--id", "p0001", "-o", receipt),
        ("check", receipt, offer, release),
        ("ledger", "show", "--ledger", ledger),
        ("ledger", "verify", "--ledger", ledger, "--against", release, receipt),
    ]
    for step in steps:
        json.loads(optin_ok(*step, "--json").out)


def test_the_plan_names_its_reference_points_and_what_declining_costs(tmp_path):
    found = optin_ok("plan", people_csv(tmp_path), *PLAN, "--without", "20%", "--json").json["explanation"]
    errors = {r["name"]: r["standard_error"] for r in found["references"]}
    assert errors["no privacy at all"] < errors["this plan"] <= errors["best single threshold"]
    assert errors["best single threshold"] <= errors["everyone at the strictest limit"]
    left = {a["who"]: a["standard_error"] for a in found["without"]}
    assert errors["this plan"] < left["the strictest"] < left["anyone"] < left["the most willing"]
    assert {a["people"] for a in found["without"]} == {40}


def test_an_accuracy_that_is_not_reached_says_how_many_people_or_which_limit_would_do(tmp_path):
    table = people_csv(tmp_path, 2000)
    asked = optin_ok("plan", table, *PLAN, "--target-error", 0.22, "--json").json["target"]
    assert not asked["reached"]
    shown = optin_ok("plan", table, *PLAN, "--target-error", 0.22).out
    assert f"{asked['people_needed']:,} like these would reach it" in shown
    assert f"a limit of {asked['limit_needed']:.4g} for everyone" in shown
    many = people_csv(tmp_path, 2 * asked["people_needed"], name="many.csv")
    assert optin_ok("plan", many, *PLAN, "--target-error", 0.22, "--json").json["target"]["reached"]
    assert "no limit would do" in optin_ok("plan", table, *PLAN, "--target-error", 0.1).out
    assert run("plan", table, *PLAN, "--target-error", 0).code == 2


@pytest.mark.parametrize("share", ["0%", "100%", "-5%", "many", "1.5", "nan"])
def test_a_share_that_is_none_is_refused(share, tmp_path):
    assert run("plan", people_csv(tmp_path), *PLAN, "--without", share).code == 2


def test_an_engine_that_is_not_there_is_refused(tmp_path):
    outcome = run("plan", people_csv(tmp_path), *PLAN, "--engine", "abacus")
    assert outcome.code == 2
    assert "is not known" in outcome.err


@pytest.mark.parametrize(
    "way",
    [
        (),
        ("--costs", "limit"),
        ("--budgets", "limit"),
        ("--limits", "limit", "--costs", "limit"),
        ("--costs", "limit", "--benefit-base", "1"),
        ("--limits", "limit", "--benefit-base", "1", "--benefit-slope", "1"),
        ("--costs", "limit", "--benefit-base", "1", "--benefit-slope", "1", "--outside", "x"),
    ],
)
def test_what_people_accept_is_said_in_exactly_one_way(way, tmp_path):
    assert run("plan", people_csv(tmp_path), "--bounds", 0, 40, *way).code == 2


@pytest.mark.parametrize(
    "question",
    [("--bounds", 1, 1), ("--bounds", 0, "inf"), ("--bounds", 0, 1, "--sd", 3), ("--bounds", 0, 1, "--eta", 0)],
)
def test_a_question_that_makes_no_sense_is_bad_input(question, tmp_path):
    assert run("plan", people_csv(tmp_path), "--limits", "limit", *question).code == 2


@pytest.mark.parametrize("words", [("plan",), ("nonsense",), ("plan", "x", "--nonsense"), ("explain",)])
def test_a_command_that_cannot_be_read_leaves_with_2(words):
    outcome = run(*words)
    assert outcome.code == 2
    assert outcome.out == ""


def test_an_unexpected_failure_keeps_its_text_to_itself(capsys, monkeypatch):
    monkeypatch.delenv("OPTIN_DEBUG", raising=False)
    assert _unexpected(ValueError("could not convert 777123")) == 1
    said = capsys.readouterr()
    assert "777123" not in said.out + said.err
    assert "ValueError" in said.err
    monkeypatch.setenv("OPTIN_DEBUG", "1")
    with pytest.raises(ValueError, match="777123"):
        _unexpected(ValueError("could not convert 777123"))


def test_every_environment_variable_is_in_the_one_table():
    known = {setting.name: setting.option for setting in SETTINGS}
    for command in EVERY.values():
        for parameter in command.params:
            if parameter.envvar:
                assert known[parameter.envvar] in parameter.opts
    for name in known:
        assert name in settings_markdown()
        assert name in run("--help").out
