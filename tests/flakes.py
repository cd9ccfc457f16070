"""Run every test that starts processes, waits or races many times over, in four ways, and list what failed.

``python tests/flakes.py --rounds 50``: with and without bytecode, on an idle machine and under load. A test is among them if it,
or a function or fixture it uses, says one of the words below. Logs are kept.
"""

import argparse
import ast
import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
WORDS = {
    *("subprocess", "Popen", "fork", "kill", "killpg", "waitpid", "signal", "SIGKILL", "multiprocessing"),
    *("threading", "Thread", "ThreadPoolExecutor", "Barrier", "sleep", "wait", "wait_for", "timeout", "monotonic"),
    *("Outpost", "SlammingDoor", "SparkCluster", "socket", "run_state_machine_as_test"),
}
EVERYWHERE = {"House", "OpenHouse", "PostgresServer", "postgres", "optin", "migrated"}
"""What nearly every test stands on: a race of theirs shows wherever it is used."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[| - |$)", re.MULTILINE)
BURNER = "import time; end = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"


@cache
def said_in(path):
    """Map each function, class and fixture of a file to the names it says, arguments (fixtures) included."""
    return {
        node.name: {*_names(node)}
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _names(node):
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute) and part.attr in WORDS:  # other attributes are of things, not of this file
            yield part.attr
        elif isinstance(part, ast.arg):
            yield part.arg


@cache
def homes(path):
    """Map each name to the file of these tests that defines it, as this file sees it: its own, imported, or a fixture."""
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    files = {node.module: TESTS / f"{node.module}.py" for node in imports if node.module}
    found = dict.fromkeys(said_in(TESTS / "conftest.py"), TESTS / "conftest.py")
    for node in imports:
        if node.module in files and files[node.module].exists():
            found |= {alias.asname or alias.name: files[node.module] for alias in node.names}
    return found | dict.fromkeys(said_in(path), path)


def races(path, name, seen=frozenset()):
    """Whether a function says one of the words, by itself or through what it names among these tests."""
    if name in seen or name in EVERYWHERE or name not in homes(path):
        return False
    home = homes(path)[name]
    said = said_in(home).get(name, set())
    return bool(said & WORDS) or any(races(home, other, seen | {name}) for other in said - {name})


def racing_tests():
    """List the tests that start processes, wait or race, file by file."""
    return [
        f"tests/{path.name}::{name}"
        for path in sorted(TESTS.glob("test_*.py"))
        for name in said_in(path)
        if name.startswith("test_") and races(path, name)
    ]


class Again:
    """Runs each test many times in one session, one round after another."""

    def __init__(self, rounds):
        self.rounds = rounds

    @pytest.fixture(autouse=True)
    def flakes_round(self, request):
        return getattr(request, "param", 0)

    def pytest_generate_tests(self, metafunc):
        metafunc.fixturenames.append("flakes_round")
        metafunc.parametrize("flakes_round", range(self.rounds), indirect=True, ids=lambda at: f"round {at}")


@contextlib.contextmanager
def burning(busy):
    """Keep every core busy beside the tests, for an hour at most."""
    burners = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(os.cpu_count() if busy else 0)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def run(tests, *, rounds, bytecode, busy, log):
    """Run the tests in one way and count the failures of each."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if not bytecode:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        for kept in (*(ROOT / "src").rglob("__pycache__"), *TESTS.rglob("__pycache__")):
            shutil.rmtree(kept, ignore_errors=True)
    command = [sys.executable, __file__, "--inside", str(rounds), *tests]
    with burning(busy), log.open("w") as said:
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=said, stderr=subprocess.STDOUT, check=False)
    failed = Counter(FAILED.findall(log.read_text()))
    return failed if failed or not ended.returncode else Counter(["the session itself"])


def inside(rounds, tests):
    """Be the session in which the tests run."""
    chosen = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not soak", "--rootdir", str(ROOT)]
    return pytest.main([*chosen, *tests], plugins=[Again(rounds)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--list", action="store_true", help="list the tests and leave")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("tests", nargs="*")
    asked = parser.parse_args()
    if asked.inside:
        sys.exit(inside(asked.inside, asked.tests))
    tests = asked.tests or racing_tests()
    if asked.list:
        print(*tests, sep="\n")
        return
    folder = Path(tempfile.mkdtemp(prefix="optin-flakes-"))
    found = Counter()
    for bytecode, busy in itertools.product((True, False), (False, True)):
        way = f"{'with' if bytecode else 'without'} bytecode, {'under load' if busy else 'idle'}"
        failed = run(tests, rounds=asked.rounds, bytecode=bytecode, busy=busy, log=folder / f"{way}.log")
        summary = (folder / f"{way}.log").read_text().rstrip().rpartition("\n")[2]
        print(f"{way}: {summary}", flush=True)
        for test, times in failed.most_common():
            print(f"  {times} of {asked.rounds}: {test}", flush=True)
        found += failed
    print(f"logs: {folder}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
