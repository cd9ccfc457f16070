"""Docs run and are complete: sessions in the pages, links, and a reference that says what the code says.

A page's ``console`` blocks are one session in a folder of its own. Lines that start with ``$`` are typed, in order; what
stands below one must be what it prints (``...`` stands for anything, such as a random draw). A command has to succeed
unless the next line asks for its exit code (``$ echo $?``). A block ``csv NAME``, ``toml NAME`` or ``python NAME`` is a
file that is there beforehand.
"""

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import optin
from optin.cli import main
from optin.errors import OptinError

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
FENCE = re.compile(r"^```(\S*) ?(.*?)\n(.*?)^```$", re.M | re.S)
PLACE = "postgresql://optin@localhost/ledger"
FILES = ("csv", "toml", "python")
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

sys.path.insert(0, str(REFERENCE))
reference = importlib.import_module("generate")


@dataclass
class Session:
    """One page's terminal: a folder, an environment, and the exit code of the last command."""

    folder: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ, PATH=_path(), NO_COLOR="1"))
    code: int = 0

    def type(self, line):
        """Run one line and return what a reader would see."""
        if line == "echo $?":
            return f"{self.code}\n"
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = shlex.split(value)[0]
            return ""
        shell = set(line) & set("|<>;&$") or not line.startswith("optin ")
        return self._in_shell(line) if shell else self._here(shlex.split(line)[1:])

    def _here(self, arguments):
        seen, before = io.StringIO(), dict(os.environ)
        os.environ.update(self.environment)
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(seen), contextlib.redirect_stderr(seen):
                self.code = _exit_code(arguments)
        finally:
            os.environ.clear()
            os.environ.update(before)
        return seen.getvalue()

    def _in_shell(self, line):
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.code = done.returncode
        return done.stdout


def _path():
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def _exit_code(arguments):
    try:
        main(arguments)
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


def blocks(page):
    """List the fenced blocks of a page: language, the rest of the opening line, text."""
    return FENCE.findall(page.read_text())


def typed(page):
    """List what is typed in a page, each with the output shown below it."""
    text = "".join(body for language, _, body in blocks(page) if language == "console")
    parts = re.split(r"^\$ ", text, flags=re.M)[1:]
    lines = [re.match(r"((?:.*\\\n)*.*)\n?((?:.|\n)*)", part).groups() for part in parts]
    return [(re.sub(r"\\\n\s*", "", line), shown) for line, shown in lines]


SESSIONS = [page for page in PAGES if typed(page)]


def names(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


@pytest.mark.parametrize("page", SESSIONS, ids=names(SESSIONS))
def test_every_session_in_the_docs_runs_and_prints_what_is_shown(page, tmp_path, request):
    where = PLACE
    if PLACE in page.read_text():
        server = request.getfixturevalue("postgres")
        where = server.url(server.new_database())
    for language, name, text in blocks(page):
        if language in FILES and name:
            (tmp_path / name).write_text(text)
    session, lines = Session(tmp_path), typed(page)
    for at, (line, shown) in enumerate(lines):
        seen = session.type(line.replace(PLACE, where))
        asked = at + 1 < len(lines) and lines[at + 1][0] == "echo $?"
        assert session.code == 0 or asked or line == "echo $?", f"$ {line}\n{seen}"
        if shown:
            assert doctest.OutputChecker().check_output(shown, seen, SAME), f"$ {line}\n{seen}"


def test_every_command_is_used_in_a_page_that_runs():
    used = " ".join(line for page in SESSIONS for line, _ in typed(page))
    for name, _ in reference.commands():
        assert re.search(rf"\b{name}\b", used), name


def test_every_option_shown_in_a_page_exists():
    commands = dict(reference.commands())
    lines = [line for page in PAGES for _, _, body in blocks(page) for line in re.sub(r"\\\n", "", body).splitlines()]
    shown = [shlex.split(line.lstrip("$ "), comments=True) for line in lines if re.match(r"(\$ )?optin [a-z]", line)]
    assert len(shown) > 40
    for words in shown:
        known = commands.get(" ".join(words[:2])) or commands[" ".join(words[:3])]
        options = {name for parameter in known.params for name in parameter.opts}
        assert {word for word in words if re.match(r"--?[a-z]", word)} <= options | {"--help"}, words


def anchors(page):
    """List the places in a page that a link can name: titles, spelled as GitHub does, and places named by hand."""
    prose = FENCE.sub("", page.read_text())
    titles = re.findall(r"^#+ (.+)$", prose, re.M)
    named = re.findall(r'<a (?:id|name)="([^"]+)">', prose)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles} | set(named)


def links(page):
    """List the places inside the project that a page links to: file, and what follows the number sign."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    found = [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]
    return [
        ((page.parent / path).resolve() if path else page, mark) for path, _, mark in (t.partition("#") for t in found)
    ]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_every_link_inside_the_project_leads_somewhere(page):
    for place, mark in links(page):
        assert place.exists(), place
        assert not mark or mark in anchors(place), (place, mark)


def test_every_page_can_be_reached_from_the_index():
    reached, ahead = set(), [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            ahead += [place for place, _ in links(page)]
    assert set(DOCS.rglob("*.md")) <= reached


@pytest.mark.parametrize("name", sorted(reference.pages()))
def test_the_reference_is_what_the_code_says(name):
    written = (REFERENCE / name).read_text()
    assert written == reference.pages()[name], "run: .venv/bin/python docs/reference/generate.py"


def test_no_page_of_the_reference_is_left_over():
    assert {page.name for page in REFERENCE.glob("*.md")} == set(reference.pages())


def test_every_command_and_option_is_in_the_reference():
    text = (REFERENCE / "commands.md").read_text().replace("\\|", "|")
    sections = dict(re.findall(r"^## (optin [a-z ]+)\n(.*?)(?=^## )", text, re.M | re.S))
    for name, command in reference.commands():
        for parameter in command.params:
            hidden = getattr(parameter, "hidden", False) or "--help" in parameter.opts
            for spelling in [] if hidden else parameter.opts:
                word = spelling if spelling.startswith("-") else parameter.metavar
                assert f"`{word}" in sections[name], (name, word)


def test_every_failure_is_in_the_reference():
    for module in pkgutil.walk_packages(optin.__path__, "optin."):
        if "migrations" not in module.name and module.name != "optin.__main__":
            importlib.import_module(module.name)
    kinds, ahead = set(), [OptinError]
    while ahead:
        kind = ahead.pop()
        kinds.add(kind)
        ahead += [below for below in kind.__subclasses__() if below.__module__.startswith("optin.")]
    assert {kind.__name__.lower() for kind in kinds} == anchors(REFERENCE / "errors.md") - {"failures"}


def test_every_public_name_is_in_the_reference_and_says_what_it_is():
    for module, page in reference.MODULES.items():
        text = (REFERENCE / page).read_text()
        for name in reference.public_names(module):
            section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
            assert section, (module, name)
            assert len(section[1].strip()) > 20, (module, name)


def test_every_attribute_in_the_reference_has_a_meaning():
    for page in set(reference.MODULES.values()):
        for row in re.findall(r"^\| `.*$", (REFERENCE / page).read_text(), re.M):
            assert re.search(r"\| [^|`]*\w.*\|$", row.replace("\\|", "")), (page, row)
