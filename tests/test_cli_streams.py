"""Whatever becomes of the streams a command writes to, it ends with the right code and never with a trace."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cli_steps import PLAN, people_csv
from cli_steps import optin as run

OPTIN = [sys.executable, "-m", "optin"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return str(people_csv(tmp_path_factory.mktemp("streams"), 60))


def shell(line, *words, **environment):
    """Run a line of bash in which "$@" is the command; unbuffered or not makes no difference."""
    settings = {k: v for k, v in os.environ.items() if k not in ("PYTHONUNBUFFERED", "PYTHONIOENCODING")}
    command = ["bash", "-o", "pipefail", "-c", line, "optin", *OPTIN, *words]
    return subprocess.run(command, capture_output=True, text=True, env={**settings, **environment})


def quiet(done):
    return "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('"$@" >/dev/full', 1),
        ('"$@" >&-', 0),
        ('"$@" >&- 2>&-', 0),
        ('"$@" | true', 141),
    ],
)
def test_a_stream_that_takes_nothing_ends_a_command_quietly(line, code, unbuffered):
    done = shell(line, "--help", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == code, done.stderr
    assert quiet(done)
    assert ("standard output cannot be written: No space left" in done.stderr) == (code == 1)


def test_a_plan_does_its_work_whoever_listens(table, tmp_path):
    plan = tmp_path / "plan.json"
    for line, code in (('"$@" >&- 2>/dev/full', 0), ('"$@" | true', 141)):
        done = shell(line, "plan", table, *PLAN, "-o", str(plan))
        assert (done.returncode, done.stderr.count("Traceback")) == (code, 0)
        assert plan.stat().st_size > 100
        plan.unlink()


def test_a_failure_keeps_its_code_when_nobody_hears_it():
    assert shell('"$@" 2>&-', "nonsense").returncode == 2
    assert shell('"$@" 2>/dev/full', "nonsense").returncode == 2


def test_a_stream_that_knows_ascii_alone_gets_ascii(table):
    done = shell('"$@"', "plan", table, *PLAN, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "(log scale)" in done.stdout
    assert "\\u" not in done.stdout


def test_a_path_that_is_no_text_is_named_all_the_same(tmp_path):
    done = subprocess.run([*OPTIN, "plan", os.fsencode(tmp_path) + b"/\xff.csv", *PLAN], capture_output=True)
    assert done.returncode == 2
    assert b"\\udcff.csv" in done.stderr


@pytest.mark.parametrize("words", [(), ("plan",), ("ledger",)])
def test_help_in_a_pipe_has_no_frames(words):
    shown = run(*words, "--help")
    assert shown.code == 0
    assert shown.out.startswith("Usage: optin")
    assert not set(shown.out) & set("│╭╰─")
    assert "..." not in shown.out.replace("ARGS]...", ""), "nothing is cut short"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan",), "PEOPLE is missing. See optin plan --help"),
        (("plann",), "no such command plann. Did you mean plan, explain, annex? See optin --help"),
        (("plan", "x", "--bound", "0"), "there is no option --bound. Did you mean --bounds,"),
        (
            ("explain", "x", "--limit", "a"),
            "--limit must be a number: digits and a point, as in 0.5. See optin explain --help",
        ),
        (("plan", "x", "--bounds", "0"), "option --bounds requires 2 arguments."),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line_like_everything_else(words, message):
    outcome = run(*words)
    assert outcome.code == 2
    assert outcome.err.startswith(f"optin: {message}")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_an_interrupt_while_parts_are_loaded_leaves_with_130_and_one_line():
    halting = (
        "import builtins, optin.cli\nload = builtins.__import__\n"
        "def stop(name, *rest):\n    if name.startswith('typer'): raise KeyboardInterrupt\n    return load(name, *rest)\n"
        "builtins.__import__ = stop\noptin.cli.main(['--help'])"
    )
    done = subprocess.run([sys.executable, "-c", halting], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.startswith("optin: interrupted")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_inside_code_run_from_a_string_leaves_with_130_too(tmp_path):
    (tmp_path / "halting.py").write_text(
        "import builtins, optin.cli\nload = builtins.__import__\n"
        "def stop(name, *rest):\n    if name.startswith('typer'): exec('raise KeyboardInterrupt')\n    return load(name, *rest)\n"
        "builtins.__import__ = stop\noptin.cli.main(['--help'])"
    )
    done = subprocess.run([sys.executable, "-m", "halting"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 130, "a process that dies of the signal has -2"
    assert done.stderr.startswith("optin: interrupted")
    assert done.stderr.count("\n") == 1


def test_a_librarys_own_error_for_an_interrupt_is_an_interrupt_everywhere(tmp_path):
    stopping = (
        "import sys\nimport optin.cli\nfrom optin.cli import one_command\nfrom optin.engine.session import Session\n"
        "def query():\n    raise RuntimeError('Query interrupted') from KeyboardInterrupt()\n"
        "def inside(_):\n    Session(None, 'duckdb', None).tried(query, 'people.parquet')\n"
        "def outside(_):\n    query()\n"
        "one_command.call = {'inside': inside, 'outside': outside}[sys.argv[1]]\noptin.cli.main(['plan'])"
    )
    for where in ("inside", "outside"):
        done = subprocess.run([sys.executable, "-c", stopping, where], capture_output=True, text=True)
        assert (done.returncode, done.stderr.count("\n")) == (130, 1), done.stderr
        assert done.stderr.startswith("optin: interrupted")


def test_duckdb_says_of_an_interrupt_that_it_was_one():
    """What the test above supposes of the engine: its error for an interrupted query comes of the interrupt."""
    asking = (
        "import duckdb, os, signal, threading\nfrom optin.errors import came_of_interrupt\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\nlink = duckdb.connect()\n"
        "try:\n    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    link.execute('select sum(a.range * b.range) from range(1000000) a, range(1000000) b').fetchall()\n"
        "except BaseException as error:\n    print(came_of_interrupt(error), flush=True)\n"
        "    os._exit(0)  # the engine would end its part first"
    )
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def _hears_interrupts():
    """Listen again where these tests run in the background of a shell, which makes its children deaf to interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_demo_stops_at_an_interrupt(tmp_path):
    process = subprocess.Popen(
        [*OPTIN, "demo", "--folder", str(tmp_path / "demo")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=_hears_interrupts,
    )
    while "$ optin plan" not in process.stdout.readline():
        time.sleep(0)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted" in said
    assert "What is left" not in shown
