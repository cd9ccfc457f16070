"""How far a reader walks: which functions of optin answer a command or a request, in the order in which each is first called.

Each walk is made twice, so that what is imported or made once is not counted, and the second time is recorded. A function is
what a ``def`` made, counted once; the file changes where the next function stands in another file than the one before; a room
is a folder of src/optin, or a file beside them. Calls are all that were made, so that work done twice shows. The other counts
are taken from the syntax alone, by rules that stand below.
"""

import ast
import contextlib
import inspect
import io
import itertools
import os
import sys
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import optin

HOME = Path(optin.__file__).parent
PEOPLE = 200
VISITORS = 12
PLAN = ("--limits", "limit", "--bounds", "0", "40", "--sd", "9")
KEY = "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


@dataclass
class Walk:
    """The functions called, each once, in order."""

    steps: dict = field(default_factory=dict)
    calls: int = 0

    def take(self, code):
        if code.co_filename.startswith(f"{HOME}{os.sep}") and _is_function(code):
            self.steps.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno))
            self.calls += 1

    @property
    def files(self):
        return [Path(file).relative_to(HOME) for file, _, _ in self.steps]

    def counts(self):
        files = self.files
        changes = sum(one != other for one, other in itertools.pairwise(files))
        return len(files), len(set(files)), len({file.parts[0] for file in files}), changes


def _is_function(code):
    """Leave out bodies of modules and classes, and what has no name of its own."""
    return bool(code.co_flags & inspect.CO_NEWLOCALS) and code.co_name not in NAMELESS


NAMELESS = ("<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
_walking: list[Walk] = []


def _look(frame, event, _):
    if event == "call" and _walking:
        _walking[-1].take(frame.f_code)


@contextlib.contextmanager
def walking():
    """Record what is called in this thread and in threads that start meanwhile, or started under ``_look``."""
    walk, before = Walk(), (sys.getprofile(), threading.getprofile())
    threading.setprofile(_look)
    sys.setprofile(_look)
    _walking.append(walk)
    try:
        yield walk
    finally:
        _walking.remove(walk)
        sys.setprofile(before[0])
        threading.setprofile(before[1])


def walks():
    """Take every walk and yield its name and what was seen."""
    for name in [name for name in os.environ if name.startswith("OPTIN_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield from _by_command()
        yield from _by_page(Path(folder))


def _by_command():
    Path("people.csv").write_text(_people())
    for number in (1, 2):
        plan = ("plan", "people.csv", *PLAN)
        ledger = ("--ledger", f"ledger{number}.sqlite")
        offer, release = f"offer{number}.json", f"release{number}.json"
        commands = {
            "optin plan people.csv": (*plan, "-o", f"plan{number}.json"),
            "optin plan --engine duckdb": (*plan, "--engine", "duckdb", "-o", f"same{number}.json"),
            "optin announce --ledger": ("announce", f"plan{number}.json", "people.csv", *ledger, "-o", offer),
            "optin release --ledger": ("release", offer, "people.csv", *TAKEN, *ledger, "-o", release),
        }
        for name, arguments in commands.items():
            with walking() as walk:
                _run(arguments)
            if number == 2:
                yield name, walk


TAKEN = ("--values", "units", "--joined", "joined")


def _people():
    rows = (f"p{at:03},{0.05 * (1 + at % 37)},{at % 41},{'no' if at % 10 == 0 else 'yes'}\n" for at in range(PEOPLE))
    return "id,limit,units,joined\n" + "".join(rows)


def _run(arguments):
    from optin.cli import main

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main(list(arguments))
    except SystemExit as leaving:
        if leaving.code:
            raise RuntimeError(said.getvalue()) from None


def _by_page(folder):
    """Join by the page, as a browser without scripts does, and look at the page that follows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Starlette would rather have installed
        from starlette.testclient import TestClient

    from optin.web.app import create_app, open_service
    from optin.web.service.accounts import first_analyst_secret
    from optin.web.settings import WebSettings

    settings = WebSettings(ledger=str(folder / "web.sqlite"), keys=folder / "keys", key=KEY)
    service, _ = open_service(settings)
    at = {"base_url": "http://127.0.0.1:8000", "follow_redirects": False}
    threading.setprofile(_look)  # the service answers in threads that it keeps
    with TestClient(create_app(settings, service), **at) as door:
        campaign, people = _announced(door, first_analyst_secret(service))
        for number, person in enumerate(people[:2]):
            with walking() as posting:
                posted = person.ask(
                    "POST", f"/c/{campaign}/join", data={"csrf": person.csrf, "value": "7", "round": "1"}
                )
            if posted.status_code != 303:
                raise RuntimeError(posted.text)
            with walking() as looking:
                person.ask("GET", posted.headers["location"])
            if number == 1:
                yield "web: POST /c/…/join", posting
                yield "web: the GET after it", looking
    threading.setprofile(None)
    service.ledger.close()


@dataclass
class Visitor:
    """Someone with a session of their own."""

    door: object
    cookie: str = ""
    csrf: str = ""

    def ask(self, method, path, **more):
        headers = {
            "Origin": "http://127.0.0.1:8000",
            "X-CSRF-Token": self.csrf,
            "Cookie": f"__Host-optin={self.cookie}",
        }
        self.door.cookies.clear()
        found = self.door.request(method, path, headers=headers, **more)
        if found.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {found.text}")
        return found

    def enter(self, path, **body):
        found = self.ask("POST", path, json=body or None)
        given = found.headers.get_list("set-cookie")
        self.cookie = next(line for line in given if line.startswith("__Host-optin=")).split("=", 1)[1].split(";")[0]
        self.csrf = found.json()["csrf_token"]
        return self


def _announced(door, secret):
    """A campaign that takes answers, and the people who registered."""
    ada = Visitor(door).enter("/api/analysts", secret=secret, name="ada", password="correct horse battery")
    draft = {
        "title": "Sleep",
        "question": "How long?",
        "lower": 0.0,
        "upper": 12.0,
        "public": True,
        "quorum_people": 10,
    }
    campaign = ada.ask("POST", "/api/campaigns", json=draft).json()["id"]
    people = [Visitor(door).enter("/api/people") for _ in range(VISITORS)]
    for step in ("open", None, "close-registration", "announce", "open-answers"):
        if step is None:
            for at, person in enumerate(people):
                person.ask("PUT", f"/api/me/campaigns/{campaign}/registration", json={"step": 3 + at % 4})
            continue
        ada.ask("POST", f"/api/campaigns/{campaign}/steps/{step}")
        while (job := ada.ask("GET", f"/api/campaigns/{campaign}").json().get("job")) and job["state"] in UNDER_WAY:
            threading.Event().wait(0.02)
    return campaign, people


UNDER_WAY = ("queued", "running")


IN_AN_ENGINE = ("kept", "engine", "overlay")
"""Files about people in an engine, by a word of their path; they may ask which kind of such people they have."""
NOISE = {"noise_constant", "kappa", "KAPPA"}


def asks_where_people_are(path, node):
    """Memory or engine? Asked by ``is_kept(x)``, ``x.kept``, ``hasattr(x, "rows")``, by a class of people in an engine, or, in
    the command line, by whether there is a table in memory."""
    match node:
        case ast.Call(func=ast.Name(id="is_kept")):
            return True
        case ast.Attribute(value=ast.Name(id="agents" | "people"), attr="kept"):
            return True
        case ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value="rows")]):
            return path.name != "kept.py"  # there it is what is_kept means
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
            named = ast.unparse(kind)
            return ("Kept" in named or "Engine" in named) and not any(word in str(path) for word in IN_AN_ENGINE)
        case ast.If(test=test) | ast.IfExp(test=test):
            return path.parts[0] == "cli" and ast.unparse(test) in ("table is None", "table is not None")
    return False


def writes_out_the_variance(path, node):
    """A product or quotient of the noise's constant with something squared, outside the kernel."""
    if path.parts[0] == "kernel" or not isinstance(node, ast.BinOp):
        return False
    parts = list(_operands(node))
    named = {getattr(part, "attr", getattr(part, "id", "")) for part in parts}
    return bool(NOISE & named) and ("** 2" in ast.unparse(node) or _twice(parts))


def _operands(node):
    """What stands in an arithmetic expression, looking into brackets and roots."""
    if isinstance(node, ast.BinOp):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "math.sqrt":
        yield from _operands(node.args[0])
    else:
        yield node


def _twice(parts):
    names = [ast.unparse(part) for part in parts if not isinstance(part, ast.Constant)]
    return len(set(names)) < len(names)


def places(rule):
    """List the places where a rule holds, each outermost expression once."""
    return [
        f"{path}:{node.lineno}"
        for path in sorted(file.relative_to(HOME) for file in HOME.rglob("*.py"))
        for node in _outermost(
            ast.parse((HOME / path).read_text(encoding="utf-8")), lambda node, path=path: rule(path, node)
        )
    ]


def _outermost(node, holds):
    for child in ast.iter_child_nodes(node):
        if holds(child):
            yield child
        else:
            yield from _outermost(child, holds)


def lines():
    """Count the lines of every file."""
    return {file.relative_to(HOME): len(file.read_text(encoding="utf-8").splitlines()) for file in HOME.rglob("*.py")}


def main():
    """Print the walks, and what else can be counted."""
    print(f"{'walk':28}{'functions':>10}{'files':>7}{'rooms':>7}{'changes of file':>17}{'calls':>9}")
    for name, walk in walks():
        functions, files, rooms, changes = walk.counts()
        print(f"{name:28}{functions:>10}{files:>7}{rooms:>7}{changes:>17}{walk.calls:>9,}")
    found = lines()
    largest = max(found, key=found.get)
    print(
        f"lines of src: {sum(found.values()):,} in {len(found)} files; the largest is {largest} with {found[largest]}"
    )
    for words, rule in (
        ("places that ask whether people are in memory or in an engine", asks_where_people_are),
        ("places that write out the variance", writes_out_the_variance),
    ):
        where = places(rule)
        print(f"{words}: {len(where)}{': ' if where else ''}{', '.join(where)}")
