"""Catalogues kept up with the sources: what is said anywhere on a page is found, and each language is asked for it.

python -m optin.web.translating            writes what is new into every catalogue, and takes out what is said no more
python -m optin.web.translating --check    says what is missing, and changes nothing

"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from optin.council.browser import sentences
from optin.web.languages import CATALOGUES

SOURCE = Path(__file__).parent.parent
SAYING = {
    "_": (0,),
    "N_": (0,),
    "Sentence": (0,),
    "ngettext": (0, 1),
    "count": (1, 2),
    "plural": (0, 1),
    "log_event": (3,),
    "_expect": (1,),
}
"""Who says something, and which of its arguments that is; of two, one is said of one and the other of many."""
FAILING = dict.fromkeys(
    ("BadInput", "BudgetSpent", "Infeasible", "LedgerUnavailable", "PromiseBroken", "Refused", "VisitFailure"), (0,)
)
"""Failures, whose first argument is a template."""
FAILING_ON_PAGES = (
    "announcement/fitness.py",
    "announcement/making.py",
    "figures/accuracy.py",
    "figures/by_group.py",
    "figures/dial.py",
    "figures/people_by_limit.py",
    "participation.py",
    "planning/grouped.py",
    "planning/numbers.py",
    "planning/size.py",
    "planning/units.py",
    "questions/",
    "releasing/comparing.py",
    "releasing/deciding.py",
    "releasing/drawing_groups.py",
    "web/",
)
"""Where failures are made that can reach a page."""
ROOMS = (
    "announcement",
    "baselines",
    "council",
    "database",
    "figures",
    "participation.py",
    "planning",
    "questions",
    "receipts",
    "releasing",
    "report",
    "transparency",
    "web",
    "wording",
)
"""Rooms that say something on pages."""
NOT_ON_PAGES = (
    "council/checking.py",
    "planning/record.py",
    "planning/version_1.py",
    "planning/version_2.py",
    "web/alone.py",
    "web/api/",
    "web/app.py",
    "web/languages.py",
    "web/operating/backups.py",
    "web/operating/copies.py",
    "web/operating/keys_here.py",
    "web/operating/restoring.py",
    "web/organisation.py",
    "web/settings.py",
    "web/translating.py",
    "wording/language.py",
)
"""Files that someone hands over, settings, and what only an operator's terminal says: these stay English."""
_HEADER = """# What optin's pages say, by the English words. python -m optin.web.translating keeps it up with the sources.
msgid ""
msgstr ""
"Language: {tag}\\n"
"Plural-Forms: {plural}\\n"
"Content-Type: text/plain; charset=utf-8\\n"

"""
TEMPLATES = {"newstyle_gettext": "true", "trimmed": "false", "trim_blocks": "true", "lstrip_blocks": "true"}


def extracted() -> Catalog:
    """Find everything that is said on pages."""
    messages = Catalog(charset="utf-8")
    for path, message in _messages():
        messages.add(message, locations=[(path, 0)])
    return messages


def _messages() -> Iterator[tuple[str, str | tuple[str, ...]]]:
    for room in ROOMS:
        for path in _files(SOURCE / room):
            name = path.relative_to(SOURCE).as_posix()
            if not name.startswith(NOT_ON_PAGES):
                yield from ((name, message) for message in _said_in(path, name))


def _files(room: Path) -> list[Path]:
    """List the files of a room; one that is a single file is itself."""
    return (
        [room] if room.is_file() else sorted(each for kind in ("py", "html", "js") for each in room.rglob(f"*.{kind}"))
    )


def _said_in(path: Path, name: str) -> Iterator[str | tuple[str, ...]]:
    if path.suffix == ".html":
        with path.open("rb") as file:
            for _line, _who, said, _comments in babel_extract(file, ("_", "gettext", "ngettext"), (), TEMPLATES):
                forms = (said,) if isinstance(said, str) else tuple(each for each in said or () if each)
                if forms:
                    yield forms[0] if len(forms) == 1 else forms
        return
    if path.suffix == ".js":
        yield from sentences(path.read_text(encoding="utf-8"))
        return
    saying = SAYING | (FAILING if name.startswith(FAILING_ON_PAGES) else {})
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            who = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            forms = tuple(_text(node.args[at]) for at in saying.get(who, ()) if at < len(node.args))
            if forms and all(forms):
                yield forms[0] if len(forms) == 1 else forms


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def catalogue(tag: str) -> Catalog:
    """Read a catalogue."""
    with (CATALOGUES / tag / "LC_MESSAGES" / "optin.po").open("rb") as file:
        return read_po(file, locale=tag)


def updated(tag: str) -> Catalog:
    """Bring a catalogue up to what is said now; translations are kept, and nothing is guessed."""
    known, wanted = catalogue(tag), extracted()
    messages = Catalog(locale=Locale.parse(tag), charset="utf-8", fuzzy=False, project="optin")
    for message in wanted:
        if message.id:
            before = known.get(message.id)
            messages.add(message.id, before.string if before else "", locations=message.locations)
    return messages


def missing(tag: str) -> list[Message]:
    """List what a catalogue does not say yet."""
    return [each for each in updated(tag) if each.id and not _is_said(each)]


def _is_said(message: Message) -> bool:
    said = message.string
    return bool(said) if isinstance(said, str) else bool(said) and all(said or ())


def main(arguments: list[str]) -> int:
    """Write every catalogue anew, or say what is missing in it."""
    lacking = 0
    for path in sorted(CATALOGUES.glob("*/LC_MESSAGES/optin.po")):
        tag = path.parent.parent.name
        if "--check" not in arguments:
            new = updated(tag)
            written = io.BytesIO()
            write_po(written, new, width=120, sort_output=True, omit_header=True)
            path.write_bytes(_HEADER.format(tag=tag, plural=new.plural_forms).encode() + written.getvalue())
        lacking += len(missing(tag))
        print(f"{tag}: {len(missing(tag))} not said yet")  # noqa: T201
    return int("--check" in arguments and lacking > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
